//! One line to say why not, or what else: it goes to the model.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};
use tui_textarea::{CursorMove, TextArea};
use unicode_width::UnicodeWidthStr;

use crate::tui::theme::Theme;

/// A line being typed.
#[derive(Debug)]
pub struct Comment {
    prompt: &'static str,
    /// What stands there while nothing is typed.
    empty: &'static str,
    area: TextArea<'static>,
}

impl Comment {
    /// Asks why something is rejected.
    pub fn why_not() -> Self {
        Self::asking("Why not? ", "what to do instead; may stay empty")
    }

    /// Asks for a remark.
    pub fn remark() -> Self {
        Self::asking("Comment: ", "goes to the model with what you decide")
    }

    fn asking(prompt: &'static str, empty: &'static str) -> Self {
        Self { prompt, empty, area: TextArea::default() }
    }

    /// Takes a key that edits the line; others are left alone.
    pub fn key(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Left => self.area.move_cursor(CursorMove::Back),
            KeyCode::Right => self.area.move_cursor(CursorMove::Forward),
            KeyCode::Home => self.area.move_cursor(CursorMove::Head),
            KeyCode::End => self.area.move_cursor(CursorMove::End),
            KeyCode::Char('a') if ctrl => self.area.move_cursor(CursorMove::Head),
            KeyCode::Char('e') if ctrl => self.area.move_cursor(CursorMove::End),
            KeyCode::Char('u') if ctrl => self.edit(TextArea::delete_line_by_head),
            KeyCode::Char('w') if ctrl => self.edit(TextArea::delete_word),
            KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete => {
                self.area.input_without_shortcuts(key);
            }
            _ => {}
        }
    }

    fn edit(&mut self, how: fn(&mut TextArea<'static>) -> bool) {
        how(&mut self.area);
    }

    /// Takes pasted text, on one line.
    pub fn paste(&mut self, text: &str) {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.area.insert_str(line.trim_end());
    }

    /// Returns what was typed; `None` when that is nothing.
    pub fn text(&self) -> Option<String> {
        let text = self.line().trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn line(&self) -> &str {
        self.area.lines().first().map_or("", String::as_str)
    }

    /// Returns the line with its question and the column of the caret, the caret always in sight.
    pub fn shown(&self, width: u16, theme: &Theme) -> (Line<'static>, u16) {
        let caret = self.area.cursor().1;
        let before: String = self.line().chars().take(caret).collect();
        let room = usize::from(width).saturating_sub(self.prompt.width() + 1);
        let from = cut(&before, room);
        let column = self.prompt.width() + before[from..].width();
        let text = match self.line() {
            "" => Span::styled(self.empty, theme.dim),
            line => Span::styled(line[from..].to_owned(), theme.text),
        };
        let line = Line::from(vec![Span::styled(self.prompt, theme.key), text]);
        (line, u16::try_from(column).unwrap_or(u16::MAX).min(width.saturating_sub(1)))
    }
}

/// Returns where to begin so that the end of the text stands within `room` columns.
fn cut(text: &str, room: usize) -> usize {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.chain([text.len()]).find(|&at| text[at..].width() <= room).unwrap_or(text.len())
}
