//! The diff of the file that is read, as rows, and the part of it that is in sight as lines.

use ratatui::text::Line;

use super::marks::FileMarks;
use crate::tui::foreign;
use crate::tui::theme::Theme;
use crate::tui::widget::{DiffRows, Highlighter, Layout, Remark, Spot, Window};
use crate::workspace::FileDiff;

/// The rows of one file.
#[derive(Debug, Default)]
pub struct Sheet {
    /// The file, whether the sides stand beside each other, and the state of the decisions.
    made_for: Option<(usize, bool, u64)>,
    diff: Option<DiffRows>,
    /// Where each hunk begins.
    pub hunks: Vec<usize>,
    /// The first line in sight, how many are, and what part of them.
    in_sight: Option<(usize, usize, Window)>,
    pub lines: Vec<Line<'static>>,
}

impl Sheet {
    /// Lays a file out, unless it stands already.
    pub fn lay_out(
        &mut self,
        made_for: (usize, bool, u64),
        file: Option<&FileDiff>,
        marks: &FileMarks,
    ) {
        if self.made_for == Some(made_for) {
            return;
        }
        let layout = if made_for.1 { Layout::Split } else { Layout::Unified };
        let diff =
            file.map(|file| DiffRows::with_remarks(&edited(file, marks), layout, &remarks(marks)));
        let hunks = diff.as_ref().map(DiffRows::hunks).unwrap_or_default();
        *self = Self { made_for: Some(made_for), diff, hunks, ..Self::default() };
    }

    pub fn count(&self) -> usize {
        self.diff.as_ref().map_or(0, DiffRows::count)
    }

    /// Returns what a row shows.
    pub fn spot(&self, row: usize) -> Spot {
        self.diff.as_ref().map(|diff| diff.spot(row)).unwrap_or_default()
    }

    /// Returns whether a row is a line that is the same on both sides.
    pub fn is_unchanged(&self, row: usize) -> bool {
        self.diff.as_ref().is_some_and(|diff| diff.is_unchanged(row))
    }

    /// Returns the first row of a part.
    pub fn row_of(&self, hunk: Option<usize>, line: usize) -> usize {
        let is_it = |row: &usize| {
            let spot = self.spot(*row);
            spot.hunk == hunk && (line == 0 || spot.line.is_some_and(|at| at >= line))
        };
        (0..self.count()).find(is_it).unwrap_or(0)
    }

    /// Makes the lines in sight, unless they stand already.
    pub fn show(
        &mut self,
        top: usize,
        rows: usize,
        window: Window,
        theme: &Theme,
        code: &Highlighter,
    ) {
        let in_sight = Some((top, rows, window));
        if self.in_sight == in_sight {
            return;
        }
        self.in_sight = in_sight;
        let diff = self.diff.as_ref();
        self.lines =
            diff.map(|diff| diff.rows(top..top + rows, window, theme, code)).unwrap_or_default();
    }
}

/// Returns the file with every edited hunk as it was edited.
fn edited(file: &FileDiff, marks: &FileMarks) -> FileDiff {
    let mut file = file.clone();
    for part in &marks.parts {
        if let (Some(at), Some(text)) = (part.hunk, &part.text) {
            file.hunks[at] = foreign::hunk(&file.hunks[at].with_new_side(text));
        }
    }
    file
}

fn remarks(marks: &FileMarks) -> Vec<Remark> {
    let remark = |note: &crate::workspace::Note| Remark {
        spot: Spot { hunk: note.hunk, line: note.line },
        text: crate::visible::line(&note.text).into_owned(),
    };
    marks.notes.iter().map(remark).collect()
}
