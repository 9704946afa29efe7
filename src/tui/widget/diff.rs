//! A file's differences as rows, unified or side by side; only the rows that are asked for are styled.
//!
//! Texts are safe to show already; tabs are expanded here.

mod pen;

use std::ops::Range;

use ratatui::text::Line;

use self::pen::Pen;
use super::Highlighter;
use crate::tui::theme::Theme;
use crate::workspace::{FileDiff, FileKind, Line as DiffLine, LineKind};

/// How the two sides stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// One under the other.
    #[default]
    Unified,
    /// Old on the left, new on the right.
    Split,
}

/// What part of the lines is seen: `columns` in all, the text from its column `offset` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub columns: u16,
    pub offset: usize,
}

/// The rows of one file's diff.
#[derive(Debug, Clone)]
pub struct DiffRows {
    file: FileDiff,
    rows: Vec<Row>,
    remarks: Vec<Remark>,
    /// Columns of a line number.
    digits: usize,
}

/// What stands in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// The head of a hunk.
    Hunk(usize),
    /// A line of a hunk, with its numbers, and the line it is compared with.
    Line { hunk: usize, line: usize, old: usize, new: usize, partner: Option<usize> },
    /// A line of each side.
    Pair { hunk: usize, left: Option<(usize, usize)>, right: Option<(usize, usize)> },
    /// What happens to the file itself.
    Itself,
    /// A remark on what stands above.
    Remark(usize),
}

/// What a row shows: a hunk, a line of it, or the file itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spot {
    pub hunk: Option<usize>,
    pub line: Option<usize>,
}

/// What somebody said of a spot; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub spot: Spot,
    pub text: String,
}

impl DiffRows {
    /// Lays a diff out as rows; cheap, whatever its length.
    pub fn new(file: &FileDiff, layout: Layout) -> Self {
        let mut rows = Vec::new();
        let mut last = 1;
        if !about_itself(file).is_empty() || file.hunks.is_empty() {
            rows.push(Row::Itself);
        }
        for (number, hunk) in file.hunks.iter().enumerate() {
            rows.push(Row::Hunk(number));
            let numbered = numbered(&hunk.lines, hunk.old_start, hunk.new_start);
            last = last.max(hunk.old_start.max(hunk.new_start) + hunk.lines.len());
            match layout {
                Layout::Unified => rows.extend(numbered.iter().map(|line| line.row(number))),
                Layout::Split => rows.extend(pairs(number, &hunk.lines, &numbered)),
            }
        }
        let (file, remarks) = (file.clone(), Vec::new());
        Self { file, rows, remarks, digits: last.to_string().len().max(2) }
    }

    /// Lays a diff out with what was said of it, each remark under its spot.
    pub fn with_remarks(file: &FileDiff, layout: Layout, remarks: &[Remark]) -> Self {
        let mut laid = Self::new(file, layout);
        for (number, remark) in remarks.iter().enumerate() {
            let at = laid.rows.iter().position(|row| row.shows(remark.spot)).unwrap_or(0);
            laid.rows.insert(at + usize::from(!laid.rows.is_empty()), Row::Remark(number));
        }
        laid.remarks = remarks.to_vec();
        laid
    }

    /// Returns what a row shows.
    pub fn spot(&self, row: usize) -> Spot {
        match self.rows.get(row) {
            Some(Row::Hunk(hunk)) => Spot { hunk: Some(*hunk), line: None },
            Some(Row::Line { hunk, line, .. }) => Spot { hunk: Some(*hunk), line: Some(*line) },
            Some(Row::Pair { hunk, left, right }) => {
                let line = right.or(*left).map(|(line, _)| line);
                Spot { hunk: Some(*hunk), line }
            }
            Some(Row::Remark(number)) => self.remarks[*number].spot,
            Some(Row::Itself) | None => Spot::default(),
        }
    }

    /// Returns whether a row is a line that is the same on both sides.
    pub fn is_unchanged(&self, row: usize) -> bool {
        let spot = self.spot(row);
        let line = spot.hunk.zip(spot.line).map(|(hunk, line)| self.line(hunk, line));
        line.is_some_and(|line| line.kind == LineKind::Context)
    }

    /// Returns how many rows there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the row at which each hunk begins.
    pub fn hunks(&self) -> Vec<usize> {
        let is_head = |(at, row): (usize, &Row)| matches!(row, Row::Hunk(_)).then_some(at);
        self.rows.iter().enumerate().filter_map(is_head).collect()
    }

    /// Returns some of the rows as lines of a width.
    pub fn rows(
        &self,
        range: Range<usize>,
        window: Window,
        theme: &Theme,
        code: &Highlighter,
    ) -> Vec<Line<'static>> {
        let Window { columns, offset } = window;
        let pen = Pen { rows: self, theme, code, language: self.language(), offset };
        let range = range.start.min(self.rows.len())..range.end.min(self.rows.len());
        self.rows[range].iter().map(|row| pen.row(row, columns)).collect()
    }

    fn language(&self) -> String {
        let name = self.file.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(_, ending)| ending).to_owned()
    }

    fn line(&self, hunk: usize, line: usize) -> &DiffLine {
        &self.file.hunks[hunk].lines[line]
    }
}

impl Row {
    fn shows(&self, spot: Spot) -> bool {
        let at = |number: usize| (spot.hunk == Some(number)).then_some(spot.line);
        match self {
            Self::Itself => spot.hunk.is_none(),
            Self::Hunk(number) => at(*number) == Some(None),
            Self::Line { hunk, line, .. } => at(*hunk) == Some(Some(*line)),
            Self::Pair { hunk, left, right } => {
                let is_it = |side: &Option<(usize, usize)>| {
                    side.is_some_and(|(line, _)| at(*hunk) == Some(Some(line)))
                };
                is_it(left) || is_it(right)
            }
            Self::Remark(_) => false,
        }
    }
}

/// Says what happens to a file besides its lines; empty when that is nothing.
pub fn about_itself(file: &FileDiff) -> String {
    let mut said = Vec::new();
    if let Some(from) = &file.from {
        said.push(format!("moved from {from}"));
    }
    match file.kind {
        FileKind::Replaced => said.push("takes the place of the file that stands there".to_owned()),
        FileKind::Created if file.hunks.is_empty() && file.binary.is_none() => {
            said.push("an empty file is created".to_owned());
        }
        FileKind::Deleted if file.hunks.is_empty() && file.binary.is_none() => {
            said.push("an empty file is deleted".to_owned());
        }
        _ => {}
    }
    said.extend(file.binary.map(|(old, new)| format!("a binary file: {old} → {new} bytes")));
    said.extend(file.encoding.map(|(old, new)| format!("{} → {}", old.name(), new.name())));
    said.extend(file.mode.map(|(old, new)| format!("mode {old:03o} → {new:03o}")));
    if file.links > 1 {
        said.push(format!(
            "{} names (hard links), written in place: all of them change",
            file.links
        ));
    }
    said.join(" · ")
}

/// Returns a whole diff, unified: for places that show all of it.
pub fn diff_lines(
    file: &FileDiff,
    columns: u16,
    theme: &Theme,
    code: &Highlighter,
) -> Vec<Line<'static>> {
    let rows = DiffRows::new(file, Layout::Unified);
    rows.rows(0..rows.count(), Window { columns, offset: 0 }, theme, code)
}

/// A hunk's line with its numbers on both sides and the line it is compared with.
struct Numbered {
    line: usize,
    old: usize,
    new: usize,
    partner: Option<usize>,
}

impl Numbered {
    fn row(&self, hunk: usize) -> Row {
        Row::Line { hunk, line: self.line, old: self.old, new: self.new, partner: self.partner }
    }
}

/// Numbers the lines of a hunk; removed lines are compared with the added ones right behind them, in order.
fn numbered(lines: &[DiffLine], old_start: usize, new_start: usize) -> Vec<Numbered> {
    let (mut old, mut new) = (old_start, new_start);
    let mut all: Vec<Numbered> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        all.push(Numbered { line: at, old, new, partner: None });
        old += usize::from(line.kind != LineKind::Added);
        new += usize::from(line.kind != LineKind::Removed);
    }
    for (removed, added) in runs(lines) {
        for (left, right) in removed.zip(added) {
            all[left].partner = Some(right);
            all[right].partner = Some(left);
        }
    }
    all
}

/// Returns each run of removed lines with the run of added lines behind it.
fn runs(lines: &[DiffLine]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs = Vec::new();
    let mut at = 0;
    let count = |from: usize, kind: LineKind| {
        lines[from..].iter().take_while(|line| line.kind == kind).count()
    };
    while at < lines.len() {
        let removed = at..at + count(at, LineKind::Removed);
        let added = removed.end..removed.end + count(removed.end, LineKind::Added);
        at = added.end.max(at + 1);
        if !removed.is_empty() && !added.is_empty() {
            runs.push((removed, added));
        }
    }
    runs
}

/// Puts a hunk's lines side by side.
fn pairs(hunk: usize, lines: &[DiffLine], numbered: &[Numbered]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (line, numbers) in lines.iter().zip(numbered) {
        let left = Some((numbers.line, numbers.old));
        let right = |at: usize| Some((at, numbered[at].new));
        match (line.kind, numbers.partner) {
            (LineKind::Context, _) => {
                rows.push(Row::Pair { hunk, left, right: right(numbers.line) })
            }
            (LineKind::Removed, partner) => {
                rows.push(Row::Pair { hunk, left, right: partner.and_then(right) });
            }
            (LineKind::Added, None) => {
                rows.push(Row::Pair { hunk, left: None, right: right(numbers.line) });
            }
            (LineKind::Added, Some(_)) => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Depth;

    fn diff(old: &str, new: &str) -> FileDiff {
        FileDiff::between("a.py", Some(old.as_bytes()), Some(new.as_bytes()))
    }

    fn shown(file: &FileDiff, layout: Layout, columns: u16) -> Vec<String> {
        let rows = DiffRows::new(file, layout);
        let theme = Theme::built_in("dark", Depth::True).unwrap();
        let lines = rows.rows(
            0..rows.count(),
            Window { columns, offset: 0 },
            &theme,
            &Highlighter::default(),
        );
        for line in &lines[1..] {
            assert_eq!(line.width(), usize::from(columns), "{line}");
        }
        lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn unified_rows_carry_numbers_and_signs() {
        let file = diff("a\nx = 1\nc\n", "a\nx = 2\nc\n");
        assert_eq!(
            shown(&file, Layout::Unified, 30),
            ["@@ −1,3 +1,3 @@", " 1  1   a", " 2    − x = 1", "    2 + x = 2", " 3  3   c"]
        );
    }

    #[test]
    fn split_rows_stand_side_by_side() {
        let file = diff("a\nx = 1\nc\n", "a\nx = 2\nnew\nc\n");
        assert_eq!(
            shown(&file, Layout::Split, 31),
            [
                "@@ −1,3 +1,4 @@",
                " 1   a         │ 1   a",
                " 2 − x = 1     │ 2 + x = 2",
                "               │ 3 + new",
                " 3   c         │ 4   c",
            ]
        );
    }

    #[test]
    fn changed_words_are_brighter_than_changed_lines() {
        let file = diff("value = one\n", "value = two\n");
        let theme = Theme::built_in("dark", Depth::True).unwrap();
        let rows = DiffRows::new(&file, Layout::Unified);
        let lines = rows.rows(
            0..rows.count(),
            Window { columns: 40, offset: 0 },
            &theme,
            &Highlighter::default(),
        );
        let bright: String = lines[2]
            .spans
            .iter()
            .filter(|span| span.style.bg == theme.added_word.bg)
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(bright, "two");
    }

    #[test]
    fn what_the_eye_cannot_see_is_told() {
        let unified = |old, new| shown(&diff(old, new), Layout::Unified, 50).join("\n");
        assert!(unified("a\n", "a").contains("\\ no newline at the end"));
        assert!(unified("a\r\n", "a\n").contains("\\ CRLF"));
        assert!(unified("a\n", "\tif x:\n").contains("+     if x:"));
        assert!(unified("a b\n", "a b \n").contains("+ a b·"), "{}", unified("a b\n", "a b \n"));
        assert!(unified("é\tb\n", "é  b\n").contains("− é→   b"));
        assert!(unified("é\tb\n", "é  b\n").contains("+ é··b"));
        assert!(unified("x\n", "y z \n").contains("+ y z·"), "only the end is marked");
    }

    #[test]
    fn long_lines_are_cut_and_hunks_are_found() {
        let file = diff("x\n", &format!("{}\n", "y".repeat(200)));
        let rows = shown(&file, Layout::Unified, 20);
        assert!(rows[2].ends_with('…'), "{rows:?}");
        let far: String = (0..40).map(|n| format!("{n}\n")).collect();
        let file = diff(&far, &far.replace("3\n", "three\n"));
        let rows = DiffRows::new(&file, Layout::Unified);
        assert_eq!(rows.hunks()[..2], [0, 9]);
    }
}
