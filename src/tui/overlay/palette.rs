//! Every command, found by a few letters of its name.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::completion::rank;
use super::{Overlay, Reaction, framed};
use crate::tui::command::{COMMANDS, Command, Row};
use crate::tui::theme::Theme;
use crate::tui::widget::clip;

/// A typed filter over the commands.
#[derive(Debug)]
pub struct Palette {
    typed: String,
    found: Vec<&'static Row>,
    selected: usize,
}

impl Palette {
    /// Opens with every command that makes sense without a caret.
    pub fn open() -> Self {
        Self { typed: String::new(), found: offered(""), selected: 0 }
    }

    fn filter(&mut self) {
        self.found = offered(&self.typed);
        self.selected = 0;
    }

    fn select(&mut self, by: isize) {
        let count = self.found.len().max(1).cast_signed();
        self.selected = (self.selected.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    fn area(body: Rect) -> Rect {
        let width = body.width.min(64);
        let height = body.height.min(16);
        Rect {
            x: body.x + (body.width - width) / 2,
            y: body.y + (body.height - height) / 4,
            width,
            height,
        }
    }
}

/// Moving the caret is no business of the palette.
fn offered(typed: &str) -> Vec<&'static Row> {
    let is_typing =
        |command| matches!(command, Command::Send | Command::Newline | Command::Palette);
    let rows = COMMANDS.iter().filter(|row| !is_typing(row.command)).collect();
    rank(typed, rows, |row| row.name)
}

impl Overlay for Palette {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => return Reaction::Close,
            KeyCode::Enter => {
                let Some(row) = self.found.get(self.selected) else { return Reaction::Taken };
                return Reaction::Run(row.command);
            }
            KeyCode::Up => self.select(-1),
            KeyCode::Down => self.select(1),
            KeyCode::Backspace => {
                self.typed.pop();
                self.filter();
            }
            KeyCode::Char(c) if plain => {
                self.typed.push(c);
                self.filter();
            }
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let inner = framed(frame, Self::area(area), " Palette ", theme);
        let mut rows = inner.rows();
        let Some(first) = rows.next() else { return };
        let prompt = vec![Span::styled("› ", theme.accent), Span::styled(&self.typed, theme.text)];
        frame.render_widget(Line::from(prompt), first);
        let height = usize::from(inner.height.saturating_sub(1)).max(1);
        let top = (self.selected + 1).saturating_sub(height);
        for (index, (area, row)) in rows.zip(self.found.iter().skip(top)).enumerate() {
            let style = if index + top == self.selected { theme.selection } else { theme.text };
            let key = row.key().map(str::to_owned).or(row.slash.map(|slash| format!("/{slash}")));
            let name = Span::styled(format!(" {:<20}", row.name), style);
            let key = Span::styled(format!(" {:<14}", key.unwrap_or_default()), theme.key);
            let taken = u16::try_from(name.width() + key.width()).unwrap_or(u16::MAX);
            let help = clip(row.help, area.width.saturating_sub(taken));
            frame.render_widget(Line::from(vec![name, key, Span::styled(help, theme.dim)]), area);
        }
    }

    fn cursor(&self, area: Rect) -> Option<Position> {
        let area = Self::area(area);
        let typed = u16::try_from(Span::raw(&self.typed).width()).unwrap_or(0);
        let x = (area.x + 3 + typed).min(area.right().saturating_sub(1));
        (area.height > 2).then_some(Position { x, y: area.y + 1 })
    }
}
