//! What stands in the conversation's place before anything was said.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::tui::theme::Theme;
use crate::tui::widget::clip;

/// How to go on with the last session.
const GO_ON: &str = "  trefoil -c goes on";

/// Draws the trefoil, what to do, and, if there is one, a suggestion, or what the last session here began with.
pub fn draw(
    frame: &mut Frame,
    area: Rect,
    theme: &Theme,
    suggestion: Option<&str>,
    last: Option<&str>,
) {
    let mut invitation = Line::from(Span::styled("Ask for a change, or a question.", theme.text));
    let hints = [
        Span::styled("      @", theme.key),
        Span::styled(" file", theme.dim),
        Span::styled("   /", theme.key),
        Span::styled(" command", theme.dim),
    ];
    let room = usize::from(area.width).saturating_sub(invitation.width());
    if hints.iter().map(Span::width).sum::<usize>() <= room {
        invitation.spans.extend(hints);
    }
    let mut lines = vec![
        Line::styled("♣", theme.brand),
        Line::styled("plan · implement · validate", theme.dim),
        Line::default(),
        invitation,
    ];
    if let Some(suggestion) = suggestion {
        lines.push(Line::from(vec![
            Span::styled("Tab", theme.key),
            Span::styled(" to use: ", theme.dim),
            Span::styled(suggestion, theme.accent),
        ]));
    } else if let Some(last) = last {
        let taken = u16::try_from(GO_ON.len() + 16).unwrap_or(u16::MAX);
        let last = clip(last, area.width.saturating_sub(taken).min(48));
        lines.push(Line::from(vec![
            Span::styled(format!("Last here: \u{201c}{last}\u{201d}"), theme.dim),
            Span::styled(GO_ON, theme.key),
        ]));
    }
    let height = u16::try_from(lines.len()).unwrap_or(0).min(area.height);
    let y = area.y + (area.height - height) / 2;
    let text = Paragraph::new(lines).alignment(Alignment::Center);
    frame.render_widget(text, Rect { y, height, ..area });
}
