//! The new side of a hunk, edited where it stands.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Clear;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use crate::tui::theme::Theme;
use crate::tui::widget::caret;
use crate::workspace::{Hunk, LineKind};

/// The lines being edited.
#[derive(Debug)]
pub struct Edit {
    pub hunk: usize,
    began_with: String,
    area: TextArea<'static>,
}

/// What a key came to.
pub enum Step {
    On,
    Done(String),
    /// Goes on in an external editor.
    Elsewhere(String),
    Drop,
}

/// Returns a hunk's new side as text: each line with a newline.
pub fn new_side(hunk: &Hunk) -> String {
    let lines = hunk.lines.iter().filter(|line| line.kind != LineKind::Removed);
    lines.map(|line| format!("{}\n", line.text)).collect()
}

impl Edit {
    /// Begins with a text, the caret at its first line.
    pub fn new(hunk: usize, text: &str) -> Self {
        let mut area = TextArea::from(text.lines());
        area.set_cursor_style(Style::default());
        area.set_cursor_line_style(Style::default());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_tab_length(4);
        Self { hunk, began_with: text.to_owned(), area }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Step {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Step::Drop,
            KeyCode::Char('s') if ctrl => return Step::Done(self.text()),
            KeyCode::Char('g') if ctrl => return Step::Elsewhere(self.text()),
            KeyCode::Char('z') if ctrl => drop(self.area.undo()),
            KeyCode::Char('y') if ctrl => drop(self.area.redo()),
            KeyCode::Char('a') if ctrl => self.area.move_cursor(CursorMove::Head),
            KeyCode::Char('e') if ctrl => self.area.move_cursor(CursorMove::End),
            KeyCode::Char('w') if ctrl => drop(self.area.delete_word()),
            KeyCode::Char('k') if ctrl => drop(self.area.delete_line_by_end()),
            KeyCode::Char('u') if ctrl => drop(self.area.delete_line_by_head()),
            KeyCode::Char(_) if ctrl => {}
            KeyCode::Up => self.area.move_cursor(CursorMove::Up),
            KeyCode::Down => self.area.move_cursor(CursorMove::Down),
            KeyCode::Left => self.area.move_cursor(CursorMove::Back),
            KeyCode::Right => self.area.move_cursor(CursorMove::Forward),
            KeyCode::Home => self.area.move_cursor(CursorMove::Head),
            KeyCode::End => self.area.move_cursor(CursorMove::End),
            KeyCode::Enter => self.area.insert_newline(),
            KeyCode::Tab => self.area.insert_char('\t'),
            _ => drop(self.area.input_without_shortcuts(key)),
        }
        Step::On
    }

    /// Takes pasted text.
    pub fn paste(&mut self, text: &str) {
        self.area.insert_str(text);
    }

    /// Returns whether anything would be lost.
    pub fn is_changed(&self) -> bool {
        self.text() != self.began_with
    }

    fn text(&self) -> String {
        self.area.lines().iter().map(|line| format!("{line}\n")).collect()
    }

    /// Takes on the colours of the screen.
    pub fn lay_out(&mut self, theme: &Theme) {
        self.area.set_style(theme.text);
    }

    /// Draws the lines over what they will take the place of.
    pub fn draw(&self, frame: &mut Frame, area: Rect) {
        frame.render_widget(Clear, area);
        frame.render_widget(&self.area, area);
    }

    /// Returns the caret's cell.
    pub fn caret(&self, area: Rect) -> Position {
        caret(&self.area, area)
    }
}
