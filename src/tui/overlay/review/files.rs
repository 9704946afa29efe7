//! The list of files: what happens to each, how much of it, and how far the decision has come.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::marks::{FileMarks, Mark};
use super::{Purpose, Review};
use crate::tui::theme::Theme;
use crate::tui::widget::{clip, width};
use crate::workspace::{FileDiff, FileKind};

/// How far the decision on several parts has come: a sign and a word.
pub fn state(marks: &FileMarks) -> (&'static str, &'static str) {
    let count = |mark| marks.count(mark);
    match (count(Mark::Waiting), count(Mark::Accepted), count(Mark::Rejected)) {
        (0, _, 0) => ("✓", "accepted"),
        (0, 0, _) => ("✗", "rejected"),
        (_, 0, 0) => ("◇", "waiting"),
        (0, _, _) => ("◐", "in part"),
        _ => ("◐", "begun"),
    }
}

impl Review {
    /// Returns the files around the current one that fit.
    pub(super) fn file_lines(&self, area: Rect, theme: &Theme) -> Vec<Line<'static>> {
        let rows = usize::from(area.height);
        let first = (self.view.file + 1).saturating_sub(rows);
        let files = self.files.iter().enumerate().skip(first).take(rows);
        files.map(|(index, file)| self.file_line(index, file, area.width, theme)).collect()
    }

    fn file_line(
        &self,
        index: usize,
        file: &FileDiff,
        columns: u16,
        theme: &Theme,
    ) -> Line<'static> {
        let is_current = index == self.view.file;
        let style = if is_current { theme.accent } else { theme.text };
        let (sign, word) = self.file_state(index);
        let kind = kind(file);
        let counts = [
            Span::styled(format!("  +{}", file.added), theme.ok),
            Span::styled(format!(" −{}", file.removed), theme.error),
        ];
        let taken = 3 + width(kind) + counts.iter().map(Span::width).sum::<usize>();
        let room = usize::from(columns).saturating_sub(taken);
        let longest = self.files.iter().map(|file| width(&file.path)).max().unwrap_or(0);
        let path = clip(&file.path, u16::try_from(room).unwrap_or(u16::MAX));
        let blank = longest.min(room).saturating_sub(width(&path));
        let mut line = Line::from(vec![
            Span::styled(if is_current { "▾" } else { " " }, style),
            Span::styled(format!("{sign} "), sign_style(sign, theme)),
            Span::styled(path + &" ".repeat(blank), style),
            Span::styled(kind, theme.dim),
        ]);
        line.spans.extend(counts);
        let end = if is_current { self.hunk_of(file) } else { word };
        let end = Span::styled(format!("   {end}"), theme.dim);
        if line.width() + end.width() <= columns.into() {
            line.push_span(end);
        }
        line
    }

    fn file_state(&self, index: usize) -> (&'static str, String) {
        let marks = self.marks.files.get(index);
        match (&self.purpose, marks) {
            (Purpose::Answer { .. }, Some(marks)) => {
                let (sign, word) = state(marks);
                (sign, word.to_owned())
            }
            (Purpose::PutBack { .. }, Some(marks)) => match state(marks).0 {
                "✓" => (" ", hunks(self.files[index].hunks.len())),
                sign => (sign, "goes back".to_owned()),
            },
            _ => (" ", hunks(self.files[index].hunks.len())),
        }
    }

    /// Says which hunk of the current file the reader is in.
    pub(super) fn hunk_of(&self, file: &FileDiff) -> String {
        match file.hunks.len() {
            0 => hunks(0),
            count => format!("hunk {} of {count}", self.view.hunk().min(count)),
        }
    }
}

/// Returns the colour of a decision's sign.
pub fn sign_style(sign: &str, theme: &Theme) -> ratatui::style::Style {
    match sign {
        "✓" => theme.ok,
        "✗" => theme.error,
        "◐" => theme.warn,
        _ => theme.dim,
    }
}

fn kind(file: &FileDiff) -> &'static str {
    match file.kind {
        FileKind::Created if file.from.is_none() => " new",
        FileKind::Deleted => " deleted",
        FileKind::Replaced => " replaced",
        _ if file.from.is_some() => " moved",
        FileKind::Created | FileKind::Modified => "",
    }
}

fn hunks(count: usize) -> String {
    match count {
        0 => "no text".into(),
        1 => "1 hunk".into(),
        count => format!("{count} hunks"),
    }
}
