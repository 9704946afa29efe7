//! Every key of the review: shown by `?` here, and in the help.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::tui::theme::Theme;

/// Keys, and what they do.
pub const KEYS: &[(&str, &str)] = &[
    ("y  n", "Accept this part; reject it and say why"),
    ("Space", "Turn this part's decision round"),
    ("f  F", "Accept, reject what waits in this file"),
    ("A  R", "Accept, reject all that waits, and send"),
    ("t  T", "The same for the rest of this turn"),
    ("a", "Always: the rule is shown first"),
    ("e  E", "Edit the new text here, or in $EDITOR"),
    ("c", "Comment this line or hunk"),
    ("s", "Split this hunk, in the end line by line"),
    ("Enter", "Send what is decided"),
    ("Esc", "Reject everything and stop"),
    ("j k g G PgUp PgDn", "Move"),
    ("[ ]  { }", "Other hunks, other files"),
    ("v  h l", "Split or unified; sideways"),
    ("Tab", "Put aside to read what is behind, and back"),
];

/// The same where what stands already is put back.
pub const PUT_BACK: &[(&str, &str)] = &[
    ("n  y", "Put this part back; leave it"),
    ("Space", "Turn that round"),
    ("F  f", "Put this file back; leave it"),
    ("s", "Split this hunk, in the end line by line"),
    ("t  T", "The next turn's changes, the ones before"),
    ("Enter", "Put back what is marked"),
    ("Esc", "Close"),
    ("j k g G PgUp PgDn", "Move"),
    ("[ ]  { }", "Other hunks, other files"),
    ("v  h l", "Split or unified; sideways"),
];

/// Columns of the keys.
const COLUMN: usize = 19;

/// Draws keys over an area, as many as fit.
pub fn draw(frame: &mut Frame, area: Rect, keys: &[(&str, &str)], theme: &Theme) {
    let line = |(key, help): &(&str, &str)| {
        let key = Span::styled(format!(" {key:<COLUMN$} "), theme.key);
        Line::from(vec![key, Span::styled((*help).to_owned(), theme.text)])
    };
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(keys.iter().map(line).collect::<Vec<_>>()), area);
}
