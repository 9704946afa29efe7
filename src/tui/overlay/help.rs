//! Keys and commands, made from the command table.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Overlay, Reaction, framed};
use crate::tui::command::{COMMANDS, Row};
use crate::tui::theme::Theme;

/// A scrolled list of all rows.
#[derive(Debug, Default)]
pub struct Help {
    top: u16,
    /// Rows that fit, as of the last layout.
    height: u16,
}

impl Help {
    fn scroll(&mut self, by: i32) {
        let rows = u16::try_from(COMMANDS.len()).unwrap_or(u16::MAX);
        let last = i32::from(rows.saturating_sub(self.height));
        let top = (i32::from(self.top) + by).clamp(0, last);
        self.top = u16::try_from(top).unwrap_or(0);
    }
}

impl Overlay for Help {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        let page = i32::from(self.height.max(1));
        match key.code {
            KeyCode::Esc | KeyCode::Char('q' | '?') | KeyCode::F(1) | KeyCode::Enter => {
                return Reaction::Close;
            }
            KeyCode::Up | KeyCode::Char('k') => self.scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1),
            KeyCode::PageUp => self.scroll(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(page),
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    fn layout(&mut self, area: Rect, _: &Theme, _: &mut super::Highlighter) {
        self.height = area.height.saturating_sub(2);
        self.scroll(0);
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let inner = framed(frame, area, " Help · Esc closes ", theme);
        let lines: Vec<Line> = COMMANDS.iter().map(|row| line(row, theme)).collect();
        frame.render_widget(Paragraph::new(lines).scroll((self.top, 0)), inner);
    }
}

fn line<'a>(row: &Row, theme: &Theme) -> Line<'a> {
    let slash = row.slash.map(|slash| format!("/{slash} {}", row.argument));
    let keys: Vec<&str> = row.keys.iter().map(|(key, _)| *key).collect();
    let keys = [keys.join(", "), slash.unwrap_or_default()];
    let shown = keys.iter().filter(|key| !key.is_empty()).map(|key| key.trim()).collect::<Vec<_>>();
    Line::from(vec![
        Span::styled(format!(" {:<34} ", shown.join("  ")), theme.key),
        Span::styled(row.help, theme.text),
    ])
}
