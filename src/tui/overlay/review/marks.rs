//! The person's decisions so far, part by part, and the selection that follows from them.

use std::ops::Range;

use crate::workspace::{FileDiff, FileSelection, HunkChoice, LineKind, Note, Selection};

/// The decisions on every file of a review.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    pub files: Vec<FileMarks>,
}

/// The decisions on one file.
#[derive(Debug, Clone, Default)]
pub struct FileMarks {
    pub parts: Vec<Part>,
    pub notes: Vec<Note>,
}

/// What is decided on as one: a hunk, some lines of it, or what happens to the file itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `None`: the file itself, its move, its mode, its creation without a line.
    pub hunk: Option<usize>,
    /// The lines of the hunk.
    pub lines: Range<usize>,
    pub mark: Mark,
    /// The new side as the person wants it.
    pub text: Option<String>,
}

/// What was decided on a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    Waiting,
    Accepted,
    Rejected,
}

impl Mark {
    fn toggled(self) -> Self {
        match self {
            Self::Accepted => Self::Rejected,
            Self::Waiting | Self::Rejected => Self::Accepted,
        }
    }
}

impl Marks {
    /// Begins with every part of every file at one mark.
    pub fn new(files: &[FileDiff], mark: Mark) -> Self {
        Self { files: files.iter().map(|file| FileMarks::new(file, mark)).collect() }
    }

    /// Counts the parts at a mark.
    pub fn count(&self, mark: Mark) -> usize {
        self.parts().filter(|part| part.mark == mark).count()
    }

    /// Returns whether there is only one thing to decide.
    pub fn is_single(&self) -> bool {
        self.parts().count() == 1
    }

    /// Returns whether anything was decided, edited or said.
    pub fn is_begun(&self) -> bool {
        let has_notes = self.files.iter().any(|file| !file.notes.is_empty());
        has_notes || self.parts().any(|part| part.mark != Mark::Waiting || part.text.is_some())
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.files.iter().flat_map(|file| &file.parts)
    }

    /// Decides on everything that still waits.
    pub fn decide_waiting(&mut self, mark: Mark) {
        self.files.iter_mut().for_each(|file| file.decide_waiting(mark));
    }

    /// Returns the place of the next part that waits, behind a place and then from the start.
    pub fn next_waiting(&self, file: usize, part: usize) -> Option<(usize, usize)> {
        let all: Vec<_> = self.places().collect();
        let here = all.iter().position(|place| *place == (file, part)).map_or(0, |at| at + 1);
        let mut round = all[here..].iter().chain(&all[..here]);
        round.find(|(file, part)| self.files[*file].parts[*part].mark == Mark::Waiting).copied()
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let parts =
            |(at, file): (usize, &FileMarks)| (0..file.parts.len()).map(move |part| (at, part));
        self.files.iter().enumerate().flat_map(parts)
    }

    /// Returns what stands of the files of one call.
    pub fn selection(&self, diffs: &[FileDiff], range: Range<usize>) -> Selection {
        let pairs = self.files[range.clone()].iter().zip(&diffs[range]);
        Selection { files: pairs.map(|(marks, diff)| marks.selection(diff)).collect() }
    }
}

impl FileMarks {
    fn new(file: &FileDiff, mark: Mark) -> Self {
        let itself = Part { hunk: None, lines: 0..0, mark, text: None };
        let is_itself_changed = file.from.is_some() || file.mode.is_some() || file.hunks.is_empty();
        let hunk = |(at, hunk): (usize, &crate::workspace::Hunk)| Part {
            hunk: Some(at),
            lines: 0..hunk.lines.len(),
            mark,
            text: None,
        };
        let hunks = file.hunks.iter().enumerate().map(hunk);
        let parts = is_itself_changed.then_some(itself).into_iter().chain(hunks).collect();
        Self { parts, notes: Vec::new() }
    }

    /// Returns the part that a line of the diff belongs to.
    pub fn part_at(&self, hunk: Option<usize>, line: Option<usize>) -> usize {
        let holds =
            |part: &Part| part.hunk == hunk && line.is_none_or(|line| part.lines.contains(&line));
        self.parts.iter().position(holds).unwrap_or(0)
    }

    /// Decides on everything in this file that still waits.
    pub fn decide_waiting(&mut self, mark: Mark) {
        let waiting = self.parts.iter_mut().filter(|part| part.mark == Mark::Waiting);
        waiting.for_each(|part| part.mark = mark);
    }

    /// Decides on what waits in this file; where nothing does, on all of it.
    pub fn sweep(&mut self, mark: Mark) {
        match self.count(Mark::Waiting) {
            0 => self.parts.iter_mut().for_each(|part| part.mark = mark),
            _ => self.decide_waiting(mark),
        }
    }

    /// Counts the parts at a mark.
    pub fn count(&self, mark: Mark) -> usize {
        self.parts.iter().filter(|part| part.mark == mark).count()
    }

    pub fn toggle(&mut self, part: usize) {
        if let Some(part) = self.parts.get_mut(part) {
            part.mark = part.mark.toggled();
        }
    }

    pub fn decide(&mut self, part: usize, mark: Mark) {
        if let Some(part) = self.parts.get_mut(part) {
            part.mark = mark;
        }
    }

    /// Puts an edited new side of so many lines in the place of a hunk's, or the proposed one back;
    /// the hunk is one part again, and stands.
    pub fn edit(&mut self, hunk: usize, lines: usize, text: Option<String>) {
        let Some(first) = self.parts.iter().position(|part| part.hunk == Some(hunk)) else {
            return;
        };
        self.parts.retain(|part| part.hunk != Some(hunk));
        let mark = Mark::Accepted;
        self.parts.insert(first, Part { hunk: Some(hunk), lines: 0..lines, mark, text });
        // What was said of a line is said of the hunk: the line may be gone.
        let notes = self.notes.iter_mut().filter(|note| note.hunk == Some(hunk));
        notes.for_each(|note| note.line = None);
    }

    /// Splits a part at the unchanged lines within it, or else line by line; returns whether it could be.
    pub fn split(&mut self, at: usize, diff: &FileDiff) -> bool {
        let Some(part) = self.parts.get(at).filter(|part| part.text.is_none()) else {
            return false;
        };
        let Some(hunk) = part.hunk.and_then(|hunk| diff.hunks.get(hunk)) else { return false };
        let is_changed = |line: &usize| hunk.lines[*line].kind != LineKind::Context;
        let changed: Vec<usize> = part.lines.clone().filter(is_changed).collect();
        let mut starts: Vec<usize> =
            changed.windows(2).filter(|pair| pair[1] != pair[0] + 1).map(|pair| pair[1]).collect();
        if starts.is_empty() {
            starts = changed.iter().skip(1).copied().collect();
        }
        let ends = starts.iter().copied().chain([part.lines.end]);
        let begins = [part.lines.start].into_iter().chain(starts.iter().copied());
        let pieces: Vec<_> =
            begins.zip(ends).map(|(from, to)| Part { lines: from..to, ..part.clone() }).collect();
        let is_split = pieces.len() > 1;
        self.parts.splice(at..=at, pieces);
        is_split
    }

    fn selection(&self, diff: &FileDiff) -> FileSelection {
        let hunks: Vec<_> = (0..diff.hunks.len()).map(|hunk| self.choice(hunk, diff)).collect();
        let itself = self.parts.iter().find(|part| part.hunk.is_none());
        let is_left = hunks.is_empty() || hunks.iter().any(|choice| *choice != HunkChoice::Reject);
        // A move can stand without the lines that were to change with it.
        let stands = match itself {
            Some(part) => part.mark == Mark::Accepted,
            None => is_left,
        };
        FileSelection { stands, hunks, notes: self.notes.clone() }
    }

    fn choice(&self, hunk: usize, diff: &FileDiff) -> HunkChoice {
        let parts: Vec<_> = self.parts.iter().filter(|part| part.hunk == Some(hunk)).collect();
        let stands = |part: &&&Part| part.mark == Mark::Accepted;
        let accepted = parts.iter().filter(stands).count();
        match parts.as_slice() {
            [Part { text: Some(text), mark: Mark::Accepted, .. }] => HunkChoice::Text(text.clone()),
            all if accepted == all.len() => HunkChoice::Accept,
            _ if accepted == 0 => HunkChoice::Reject,
            all => {
                let mut lines = vec![true; diff.hunks[hunk].lines.len()];
                for part in all {
                    lines[part.lines.clone()].fill(part.mark == Mark::Accepted);
                }
                HunkChoice::Lines(lines)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff() -> FileDiff {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let new =
            old.replace("\n3\n", "\nthree\n").replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        FileDiff::between("f", Some(old.as_bytes()), Some(new.as_bytes()))
    }

    #[test]
    fn a_part_splits_at_unchanged_lines_and_then_line_by_line() {
        let diff = diff();
        let mut marks = Marks::new(std::slice::from_ref(&diff), Mark::Waiting);
        let ranges = |marks: &Marks| {
            marks.files[0]
                .parts
                .iter()
                .map(|part| (part.hunk.unwrap(), part.lines.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(ranges(&marks), [(0, 0..10), (1, 0..7)]);
        assert!(marks.files[0].split(0, &diff));
        assert_eq!(ranges(&marks), [(0, 0..5), (0, 5..10), (1, 0..7)]);
        assert!(marks.files[0].split(0, &diff));
        assert_eq!(ranges(&marks), [(0, 0..3), (0, 3..5), (0, 5..10), (1, 0..7)]);
        assert!(!marks.files[0].split(0, &diff), "a line is not split");
        assert_eq!(marks.files[0].part_at(Some(0), Some(4)), 1);
    }

    #[test]
    fn decisions_become_a_selection() {
        let diff = diff();
        let diffs = [diff.clone()];
        let mut marks = Marks::new(&diffs, Mark::Waiting);
        marks.files[0].split(0, &diff);
        marks.files[0].decide(0, Mark::Accepted);
        assert_eq!(marks.next_waiting(0, 0), Some((0, 1)));
        marks.files[0].decide(1, Mark::Rejected);
        marks.decide_waiting(Mark::Accepted);
        let lines = [[true; 5], [false; 5]].concat();
        let expected = vec![HunkChoice::Lines(lines), HunkChoice::Accept];
        assert_eq!(marks.selection(&diffs, 0..1).files[0].hunks, expected);
        marks.files[0].edit(0, 10, Some("x".into()));
        assert_eq!(marks.files[0].parts.len(), 2, "an edited hunk is one part again");
        let selection = marks.selection(&diffs, 0..1);
        assert_eq!(selection.files[0].hunks[0], HunkChoice::Text("x".into()));
        marks.files[0].parts.iter_mut().for_each(|part| part.mark = Mark::Rejected);
        assert!(marks.selection(&diffs, 0..1).is_none());
    }

    #[test]
    fn what_happens_to_the_file_itself_is_a_part_of_its_own() {
        let moved = FileDiff { from: Some("a".into()), ..diff() };
        let mut marks = Marks::new(std::slice::from_ref(&moved), Mark::Accepted);
        assert_eq!(marks.files[0].parts.len(), 3);
        marks.files[0].decide(1, Mark::Rejected);
        marks.files[0].decide(2, Mark::Rejected);
        assert!(
            marks.selection(std::slice::from_ref(&moved), 0..1).files[0].stands,
            "it still moves"
        );
        marks.files[0].decide(0, Mark::Rejected);
        assert!(!marks.selection(&[moved], 0..1).files[0].stands);
    }
}
