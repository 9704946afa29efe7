//! One line to search the conversation with. The conversation itself finds; this only asks.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use crate::tui::theme::Theme;

/// The text that is looked for.
#[derive(Debug, Default)]
pub struct Search {
    pub typed: String,
}

/// What a key asks of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The text changed: look anew.
    Find,
    Next,
    Previous,
    Close,
    /// The key means something else.
    Ignored,
}

impl Search {
    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Step {
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => Step::Close,
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::SHIFT) => Step::Previous,
            KeyCode::Enter | KeyCode::Down => Step::Next,
            KeyCode::Up => Step::Previous,
            KeyCode::Backspace => {
                self.typed.pop();
                Step::Find
            }
            KeyCode::Char(c) if plain => {
                self.typed.push(c);
                Step::Find
            }
            _ => Step::Ignored,
        }
    }

    /// Draws the line and returns the caret's cell; `matches` are the current one and how many there are.
    pub fn draw(
        &self,
        frame: &mut Frame,
        area: Rect,
        theme: &Theme,
        matches: (usize, usize),
    ) -> Position {
        let count = match matches {
            _ if self.typed.is_empty() => "  type to search".to_owned(),
            (_, 0) => "  not found".to_owned(),
            (current, all) => format!("  {current} of {all}   Enter next  Up previous  Esc close"),
        };
        let line = Line::from(vec![
            Span::styled(" Search ", theme.key),
            Span::styled(self.typed.as_str(), theme.text),
            Span::styled(count, theme.dim),
        ]);
        frame.render_widget(Clear, area);
        frame.render_widget(line, area);
        let typed = u16::try_from(Span::raw(self.typed.as_str()).width()).unwrap_or(0);
        let x = (area.x + 8 + typed).min(area.right().saturating_sub(1));
        Position { x, y: area.y }
    }
}
