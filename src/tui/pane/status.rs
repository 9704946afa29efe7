//! The last line: the keys that matter now, and what the conversation has cost.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::{Record, Usage};
use crate::tui::command::Command;
use crate::tui::theme::Theme;

/// Tokens and money.
#[derive(Debug, Default)]
pub struct Status {
    /// Tokens that the last request and its reply took of the window.
    pub tokens: u64,
    pub window: Option<u64>,
    pub cost: Option<f64>,
}

impl Status {
    /// Takes a fact in; `price` says what a reply cost.
    pub fn apply(&mut self, record: &Record, price: impl Fn(&Usage) -> Option<f64>) {
        match record {
            Record::Replied { usage, .. } => {
                self.tokens = usage.input + usage.output;
                if let Some(price) = price(usage) {
                    *self.cost.get_or_insert(0.0) += price;
                }
            }
            Record::Cleared => self.tokens = 0,
            _ => {}
        }
    }

    /// Draws hints at the left and numbers at the right; the hints give way.
    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme, hints: &[(Command, &str)]) {
        let numbers = Line::styled(self.numbers(), theme.status);
        let width = u16::try_from(numbers.width()).unwrap_or(u16::MAX).min(area.width);
        let left = Rect { width: area.width - width, ..area };
        frame.render_widget(hint_line(hints, left.width, theme), left);
        frame.render_widget(numbers, Rect { x: left.right(), width, ..area });
    }

    fn numbers(&self) -> String {
        let of = self.window.map(|window| format!(" / {}", short(window))).unwrap_or_default();
        let cost = self.cost.map(|cost| format!("   ${cost:.3}")).unwrap_or_default();
        format!("  {}{of} tokens{cost} ", short(self.tokens))
    }
}

/// Whole hints only: half a hint helps nobody.
fn hint_line<'a>(hints: &[(Command, &'a str)], width: u16, theme: &Theme) -> Line<'a> {
    let mut line = Line::default();
    for (command, word) in hints {
        let Some(key) = command.row().key() else { continue };
        let spans = [
            Span::styled(format!(" {key} "), theme.key),
            Span::styled(*word, theme.status),
            Span::raw(" "),
        ];
        let more: usize = spans.iter().map(Span::width).sum();
        if line.width() + more > usize::from(width) {
            break;
        }
        line.spans.extend(spans);
    }
    line
}

fn short(tokens: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let tokens_f = tokens as f64;
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => format!("{:.1}k", tokens_f / 1e3),
        100_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens_f / 1e6).replace(".0M", "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        for (tokens, text) in [
            (0, "0"),
            (999, "999"),
            (12_340, "12.3k"),
            (200_000, "200k"),
            (1_048_576, "1M"),
            (2_500_000, "2.5M"),
        ] {
            assert_eq!(short(tokens), text);
        }
    }
}
