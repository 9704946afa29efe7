//! Where the person writes: a text area, the history behind it, and the caret's true cell.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::{Block, BorderType, Widget};
use tui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

use crate::tui::theme::Theme;
use crate::tui::widget::caret;

/// Columns taken by the border, the prompt and a free cell for the caret behind a full row.
const AROUND: u16 = 6;

/// The draft and what was sent before.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    history: Vec<String>,
    /// Where in the history we are, and the draft that waits meanwhile.
    recalled: Option<(usize, String)>,
    width: u16,
    /// Rows of the wrapped draft, as of the last layout.
    rows: u16,
}

impl Composer {
    /// Makes an empty draft with a history, oldest first.
    pub fn new(history: Vec<String>) -> Self {
        Self { area: text_area(""), history, recalled: None, width: 0, rows: 1 }
    }

    /// Returns the draft, lines joined by `\n`.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Returns whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the draft; the caret goes to its end.
    pub fn set(&mut self, text: &str) {
        self.area = text_area(text);
        if self.width > 0 {
            self.layout(self.width);
        }
    }

    /// Empties the draft and returns what it was.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.set("");
        self.recalled = None;
        text
    }

    /// Keeps a message that Up brings back.
    pub fn remember(&mut self, text: &str) {
        if self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_owned());
        }
    }

    /// Inserts pasted text: every line ending becomes `\n`, other control characters go.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let keep = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        self.area.insert_str(text.chars().filter(keep).collect::<String>());
    }

    /// Begins a new line.
    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Takes a `\` before the caret away and begins a new line; returns whether there was one.
    pub fn continue_line(&mut self) -> bool {
        let asked = self.before_caret().ends_with('\\');
        if asked {
            self.area.delete_char();
            self.area.insert_newline();
        }
        asked
    }

    /// Takes a key that edits; returns whether it meant something.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl, alt) {
            (KeyCode::Char(c), true, false) => self.control(c),
            (KeyCode::Char(c), false, true) => self.meta(c),
            (KeyCode::Char(c), false, false) => self.area.insert_char(c),
            (KeyCode::Backspace, false, false) => self.erase_before(),
            (KeyCode::Backspace, ..) => drop(self.area.delete_word()),
            (KeyCode::Delete, false, false) => self.erase_after(),
            (KeyCode::Delete, ..) => drop(self.area.delete_next_word()),
            (KeyCode::Left, false, false) => self.left(),
            (KeyCode::Left, ..) => self.area.move_cursor(CursorMove::WordBack),
            (KeyCode::Right, false, false) => self.right(),
            (KeyCode::Right, ..) => self.area.move_cursor(CursorMove::WordForward),
            (KeyCode::Home, ..) => self.area.move_cursor(CursorMove::Head),
            (KeyCode::End, ..) => self.area.move_cursor(CursorMove::End),
            _ => return false,
        }
        true
    }

    /// The keys that shells know.
    fn control(&mut self, c: char) {
        match c.to_ascii_lowercase() {
            'a' => self.area.move_cursor(CursorMove::Head),
            'e' => self.area.move_cursor(CursorMove::End),
            'b' => self.left(),
            'd' => self.erase_after(),
            'h' => self.erase_before(),
            'w' => drop(self.area.delete_word()),
            'u' => drop(self.area.delete_line_by_head()),
            'k' => drop(self.area.delete_line_by_end()),
            'y' => drop(self.area.paste()),
            // Terminals send Ctrl+_ as Ctrl+7.
            '7' | '_' => drop(self.area.undo()),
            _ => {}
        }
    }

    fn meta(&mut self, c: char) {
        match c {
            'b' => self.area.move_cursor(CursorMove::WordBack),
            'f' => self.area.move_cursor(CursorMove::WordForward),
            'd' => drop(self.area.delete_next_word()),
            _ => {}
        }
    }

    /// Goes a row up; on the first row brings back what was sent before.
    pub fn up(&mut self) {
        if self.area.screen_cursor().row > 0 {
            return self.area.move_cursor(CursorMove::Up);
        }
        let at = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(earlier) = at.checked_sub(1) else { return };
        self.recall(earlier);
    }

    /// Goes a row down; on the last row goes forward in the history, to the draft in the end.
    pub fn down(&mut self) {
        let before = self.area.cursor();
        self.area.move_cursor(CursorMove::Down);
        if self.area.cursor() != before {
            return;
        }
        let Some((at, _)) = &self.recalled else { return };
        if at + 1 < self.history.len() {
            return self.recall(at + 1);
        }
        if let Some((_, draft)) = self.recalled.take() {
            self.set(&draft);
        }
    }

    fn recall(&mut self, at: usize) {
        let draft = match self.recalled.take() {
            Some((_, draft)) => draft,
            None => self.text(),
        };
        let text = self.history[at].clone();
        self.set(&text);
        self.recalled = Some((at, draft));
    }

    /// Returns what stands before the caret on its line.
    pub fn before_caret(&self) -> &str {
        let cursor = self.area.cursor();
        let line = &self.area.lines()[cursor.0];
        &line[..byte_of(line, cursor.1)]
    }

    /// Returns whether the caret is on the first line.
    pub fn is_on_first_line(&self) -> bool {
        self.area.cursor().0 == 0
    }

    /// Replaces `chars` characters before the caret.
    pub fn replace_before(&mut self, chars: usize, text: &str) {
        for _ in 0..chars {
            self.area.delete_char();
        }
        self.area.insert_str(text);
    }

    /// Removes the whole grapheme before the caret, however many characters it is made of.
    fn erase_before(&mut self) {
        let chars = last_grapheme(self.before_caret()).max(1);
        for _ in 0..chars {
            self.area.delete_char();
        }
    }

    fn erase_after(&mut self) {
        let chars = first_grapheme(self.after_caret()).max(1);
        for _ in 0..chars {
            self.area.delete_next_char();
        }
    }

    fn left(&mut self) {
        for _ in 0..last_grapheme(self.before_caret()).max(1) {
            self.area.move_cursor(CursorMove::Back);
        }
    }

    fn right(&mut self) {
        for _ in 0..first_grapheme(self.after_caret()).max(1) {
            self.area.move_cursor(CursorMove::Forward);
        }
    }

    fn after_caret(&self) -> &str {
        let cursor = self.area.cursor();
        let line = &self.area.lines()[cursor.0];
        &line[byte_of(line, cursor.1)..]
    }

    /// Wraps for a screen of this width and returns the rows of the draft.
    pub fn layout(&mut self, width: u16) -> u16 {
        self.width = width;
        let mut probe = text_area(&self.text());
        let row = Rect::new(0, 0, width.saturating_sub(AROUND).max(1), 1);
        (&probe).render(row, &mut Buffer::empty(row));
        probe.move_cursor(CursorMove::Bottom);
        probe.move_cursor(CursorMove::End);
        let rows = u16::try_from(probe.screen_cursor().row + 1).unwrap_or(u16::MAX);
        if rows < self.rows {
            self.scroll_to_top(row);
        }
        self.rows = rows;
        rows
    }

    /// The text area never scrolls back by itself when its text shrinks.
    fn scroll_to_top(&mut self, row: Rect) {
        let at = self.area.cursor();
        self.area.move_cursor(CursorMove::Jump(0, 0));
        (&self.area).render(row, &mut Buffer::empty(row));
        let clamp = |index| u16::try_from(index).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(clamp(at.0), clamp(at.1)));
    }

    /// Draws the draft and returns the caret's cell.
    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme, focused: bool) -> Position {
        let text = text_rect(area);
        let border = if focused { theme.border_focused } else { theme.border };
        if area.height >= 3 {
            Block::bordered()
                .border_type(BorderType::Rounded)
                .border_style(border)
                .render(area, frame.buffer_mut());
        }
        if text.x >= 2 && !text.is_empty() {
            let prompt = Span::styled("›", theme.accent);
            frame.buffer_mut().set_span(text.x - 2, text.y, &prompt, 1);
        }
        frame.render_widget(&self.area, text);
        caret(&self.area, text)
    }
}

fn text_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::from(text.split('\n'));
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_style(Style::default());
    area.set_cursor_line_style(Style::default());
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

fn text_rect(area: Rect) -> Rect {
    let border = u16::from(area.height >= 3);
    Rect {
        x: area.x + (border + 3).min(area.width),
        y: area.y + border,
        width: area.width.saturating_sub(AROUND).max(u16::from(area.width > 3)),
        height: area.height - 2 * border,
    }
    .intersection(area)
}

fn byte_of(line: &str, chars: usize) -> usize {
    line.char_indices().nth(chars).map_or(line.len(), |(byte, _)| byte)
}

fn last_grapheme(text: &str) -> usize {
    text.graphemes(true).next_back().map_or(0, |grapheme| grapheme.chars().count())
}

fn first_grapheme(text: &str) -> usize {
    text.graphemes(true).next().map_or(0, |grapheme| grapheme.chars().count())
}

#[cfg(test)]
mod tests;
