//! The transcript at a width and in the colours of the moment: cells are laid out here when they are asked for.

use std::ops::Range;

use super::search::{Match, Query};
use super::transcript::Transcript;
use crate::tui::pane::view::{Place, Rows};
use crate::tui::theme::Theme;
use crate::tui::widget::Highlighter;

/// The transcript, ready to be measured.
pub struct Sheet<'a> {
    pub transcript: &'a mut Transcript,
    pub width: u16,
    pub theme: &'a Theme,
    pub code: &'a mut Highlighter,
}

impl Sheet<'_> {
    /// Returns the row that says about the same after the width has changed.
    pub fn rescaled(&mut self, top: Place) -> Place {
        let Some(before) = self.transcript.height_at_other_width(top.cell, self.width) else {
            return top;
        };
        let after = self.height(top.cell);
        Place { line: (top.line * after / before.max(1)).min(after.saturating_sub(1)), ..top }
    }

    /// Returns where the match begins: its row, and the bytes of that line. A match in what markdown
    /// leaves out is the cell's first row.
    pub fn locate(&mut self, query: &Query, found: Match) -> Option<(Place, Range<usize>)> {
        self.height(found.cell);
        let cell = self.transcript.get(found.cell)?;
        let lines: Vec<String> = cell.lines().iter().map(ToString::to_string).collect();
        let joined = lines.join(" ");
        let all = query.ranges(&joined).take(found.nth + 1);
        let range = all.last().unwrap_or(0..0);
        let mut start = 0;
        for (index, line) in lines.iter().enumerate() {
            if range.start <= start + line.len() {
                let bytes = range.start - start..(range.end - start).min(line.len());
                return Some((Place { cell: found.cell, line: cell.gap() + index }, bytes));
            }
            start += line.len() + 1;
        }
        None
    }
}

impl Rows for Sheet<'_> {
    fn count(&self) -> usize {
        self.transcript.len()
    }

    fn height(&mut self, cell: usize) -> usize {
        self.transcript.lay_out(cell, self.width, self.theme, self.code)
    }
}
