//! Draws plain data.
//!
//! Markdown, highlighting and diffs stand in here until the widgets themselves land.

mod wrap;

pub use wrap::{clip, wrap};

use ratatui::text::Line;

use super::theme::Theme;
use crate::workspace::{FileDiff, LineKind};

/// Colours code.
#[derive(Debug, Default)]
pub struct Highlighter {
    _to_come: (),
}

/// Markdown that grows: a token lays out its own block only.
#[derive(Debug, Default)]
pub struct Markdown {
    text: String,
    lines: Vec<Line<'static>>,
}

impl Markdown {
    /// Adds text at the end.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Makes the lines for a width.
    pub fn lay_out(&mut self, width: u16, _theme: &Theme, _code: &mut Highlighter) {
        self.lines = wrap(self.text.trim_end(), width).into_iter().map(Line::from).collect();
    }

    /// Returns the lines as they were laid out last.
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }
}

/// Returns a unified diff as lines.
pub fn diff_lines(
    file: &FileDiff,
    width: u16,
    theme: &Theme,
    code: &mut Highlighter,
) -> Vec<Line<'static>> {
    diff_rows(file, false, width, theme, code).0
}

/// Returns a diff as lines, unified or split, and where each hunk begins.
pub fn diff_rows(
    file: &FileDiff,
    _split: bool,
    width: u16,
    theme: &Theme,
    _code: &mut Highlighter,
) -> (Vec<Line<'static>>, Vec<usize>) {
    let (mut lines, mut hunks) = (Vec::new(), Vec::new());
    for hunk in &file.hunks {
        hunks.push(lines.len());
        for line in &hunk.lines {
            let (sign, style) = match line.kind {
                LineKind::Added => ("  + ", theme.added),
                LineKind::Removed => ("  − ", theme.removed),
                LineKind::Context => ("    ", theme.text),
            };
            let text = wrap(&line.text, width.saturating_sub(4).max(1)).into_iter();
            lines.extend(text.map(|text| Line::styled(format!("{sign}{text}"), style)));
        }
    }
    (lines, hunks)
}
