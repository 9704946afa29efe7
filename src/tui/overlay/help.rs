//! Keys and commands, made from the command table.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Overlay, REVIEW_KEYS, Reaction, framed};
use crate::tui::command::{COMMANDS, Row};
use crate::tui::theme::Theme;
use crate::tui::widget::wrap;

/// Columns of the keys.
const KEYS: usize = 31;

/// The keys of a command that waits, which are no commands: they mean something only there.
const ANSWERS: &[(&str, &str)] = &[
    ("y", "Let it run"),
    ("n", "Reject it, with a comment for the model"),
    ("a", "Let this call on this target always run in this session; the rule is shown first"),
    ("Esc", "Reject it and stop the work"),
    ("Tab", "Put it aside to read what is behind it, and take it up again"),
];

/// A scrolled list of all rows.
#[derive(Debug, Default)]
pub struct Help {
    top: u16,
    lines: Vec<Line<'static>>,
    /// Rows that fit, as of the last layout.
    height: u16,
}

impl Help {
    fn scroll(&mut self, by: i32) {
        let rows = u16::try_from(self.lines.len()).unwrap_or(u16::MAX);
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

    fn layout(&mut self, area: Rect, theme: &Theme, _: &mut super::Highlighter) {
        self.height = area.height.saturating_sub(2);
        let width = area.width.saturating_sub(3);
        let commands = COMMANDS.iter().flat_map(|row| lines(&keys(row), row.help, width, theme));
        let about = |title: &'static str, keys: &'static [(&str, &str)]| {
            let title = [Line::default(), Line::styled(title, theme.title)];
            let keys = keys.iter().flat_map(|(keys, help)| lines(keys, help, width, theme));
            title.into_iter().chain(keys).collect::<Vec<_>>()
        };
        let run = about(" While a command waits", ANSWERS);
        let review = about(" While a change waits", REVIEW_KEYS);
        self.lines = commands.chain(run).chain(review).collect();
        self.scroll(0);
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let is_long = self.lines.len() > usize::from(self.height);
        let title =
            if is_long { " Help · ↑↓ scroll · Esc closes " } else { " Help · Esc closes " };
        let inner = framed(frame, area, title, theme);
        frame.render_widget(Paragraph::new(self.lines.clone()).scroll((self.top, 0)), inner);
    }
}

/// Returns keys, and beside them what they do; beneath them where there is little room.
fn lines(keys: &str, help: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let keys = Span::styled(format!(" {keys:<KEYS$} "), theme.key);
    let room = usize::from(width).saturating_sub(keys.width());
    if room < KEYS {
        let help = wrap(help, width.saturating_sub(3).max(1)).into_iter();
        let help = help.map(|line| Line::styled(format!("   {line}"), theme.text));
        return std::iter::once(Line::from(keys)).chain(help).collect();
    }
    let indent = " ".repeat(keys.width());
    let mut help = wrap(help, u16::try_from(room).unwrap_or(u16::MAX)).into_iter();
    let first = Span::styled(help.next().unwrap_or_default(), theme.text);
    let rest = help.map(|line| Line::styled(format!("{indent}{line}"), theme.text));
    std::iter::once(Line::from(vec![keys, first])).chain(rest).collect()
}

fn keys(row: &Row) -> String {
    let slash = row.slash.map(|slash| format!("/{slash} {}", row.argument));
    let keys: Vec<&str> = row.keys.iter().map(|(key, _)| *key).collect();
    let keys = [keys.join(", "), slash.unwrap_or_default()];
    keys.iter().filter(|key| !key.is_empty()).map(|key| key.trim()).collect::<Vec<_>>().join("  ")
}
