//! A person's word on each hunk of a change, and the change that is left of it.
//!
//! The accepted part is again a [`Change`] against the same bytes, so what is written is still
//! what was seen; lines that nobody decided on stay as the file has them, byte for byte.

use std::ops::Range;

use similar::TextDiff;

use super::text::{self, Text, ending_of, split_ending};
use super::{Change, FileChange, FileDiff, Hunk, LineKind};

/// How much of a change may stand, file by file, in the order of its diffs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub files: Vec<FileSelection>,
}

/// How much of one file's change may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSelection {
    /// Whether anything happens to the file at all: its creation, deletion, move or mode.
    pub stands: bool,
    /// One for each hunk of the diff, in order.
    pub hunks: Vec<HunkChoice>,
    pub notes: Vec<Note>,
}

/// A person's word on a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkChoice {
    Accept,
    Reject,
    /// For each line of the hunk, whether it may stand as proposed; context lines do not count.
    Lines(Vec<bool>),
    /// Accepted with another new side: whole lines, `\n` between them.
    Text(String),
}

/// A person's remark on a file, a hunk of it or a line of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// From 0.
    pub hunk: Option<usize>,
    /// From 0, within the hunk.
    pub line: Option<usize>,
    pub text: String,
}

/// Why the accepted part cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The part of '{path}' that was let stand cannot be written: {reason}")]
pub struct SelectError {
    path: String,
    reason: String,
}

impl Selection {
    /// Lets everything stand.
    pub fn all(diffs: &[FileDiff]) -> Self {
        Self { files: diffs.iter().map(FileSelection::all).collect() }
    }

    /// Returns whether everything stands as proposed, with no remark.
    pub fn is_all(&self) -> bool {
        self.files.iter().all(FileSelection::is_all)
    }

    /// Returns whether nothing of the change stands.
    pub fn is_none(&self) -> bool {
        self.files.iter().all(FileSelection::is_none)
    }
}

impl FileSelection {
    /// Lets all of a file's change stand.
    pub fn all(diff: &FileDiff) -> Self {
        let hunks = vec![HunkChoice::Accept; diff.hunks.len()];
        Self { stands: true, hunks, notes: Vec::new() }
    }

    fn is_all(&self) -> bool {
        let stand = self.hunks.iter().all(|choice| *choice == HunkChoice::Accept);
        self.stands && stand && self.notes.is_empty()
    }

    fn is_none(&self) -> bool {
        !self.stands
    }
}

impl Change {
    /// Returns the change that is left when only the selected part stands.
    pub fn select(&self, selection: &Selection) -> Result<Self, SelectError> {
        let mut files = Vec::new();
        for (file, selected) in self.files.iter().zip(&selection.files) {
            let kept = file.select(selected)?;
            files.extend(Some(kept).filter(|file| selected.stands && !file.is_nothing()));
        }
        Ok(Self { files })
    }
}

impl FileChange {
    fn select(&self, selected: &FileSelection) -> Result<Self, SelectError> {
        if selected.hunks.iter().all(|choice| *choice == HunkChoice::Accept) {
            return Ok(self.clone());
        }
        let error = |reason: String| SelectError { path: self.place.shown.clone(), reason };
        let read = |bytes: &[u8]| Text::decode(bytes).map_err(|bad| error(format!("it is {bad}.")));
        let old = read(self.base().map_or(&[], |version| &version.bytes))?;
        let new = read(self.after.as_deref().unwrap_or_default())?;
        let content = Sides::of(&old.content, &new.content).select(&self.diff(), &selected.hunks);
        let keeps_nothing = self.after.is_none() && content.is_empty();
        // A file that is created or deleted in part is written as the side that has a content.
        let side = if self.after.is_some() { &new } else { &old };
        let after = (!keeps_nothing).then(|| side.encode(&content)).transpose();
        let after = after.map_err(|lacks| error(lacks.to_string()))?;
        Ok(Self { after, ..self.clone() })
    }
}

/// Both sides as lines with their endings.
struct Sides<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ending: &'static str,
}

impl<'a> Sides<'a> {
    fn of(old: &'a str, new: &'a str) -> Self {
        let ending = ending_of(if old.is_empty() { new } else { old });
        Self { old: text::lines(old).collect(), new: text::lines(new).collect(), ending }
    }

    fn select(&self, diff: &FileDiff, choices: &[HunkChoice]) -> String {
        let mut made = Lines { text: String::new(), ending: self.ending };
        let mut at = 0;
        for (hunk, choice) in diff.hunks.iter().zip(choices) {
            let (old, new) = (hunk.old_range(), hunk.new_range());
            made.extend(&self.old[at..old.start]);
            at = old.end;
            match choice {
                HunkChoice::Accept => made.extend(&self.new[new]),
                HunkChoice::Reject => made.extend(&self.old[old]),
                HunkChoice::Lines(stand) => self.pick(hunk, stand, &mut made),
                HunkChoice::Text(text) => self.edited(new, text, &mut made),
            }
        }
        made.extend(&self.old[at..]);
        made.text
    }

    /// Takes a hunk line by line: a removed line that may not go stays, an added one that may not come is left out.
    fn pick(&self, hunk: &Hunk, stand: &[bool], made: &mut Lines) {
        let (mut old, mut new) = (hunk.old_range().start, hunk.new_range().start);
        for (line, stands) in hunk.lines.iter().zip(stand) {
            match line.kind {
                LineKind::Context => made.push(self.old[old]),
                LineKind::Removed if !stands => made.push(self.old[old]),
                LineKind::Added if *stands => made.push(self.new[new]),
                LineKind::Removed | LineKind::Added => {}
            }
            old += usize::from(line.kind != LineKind::Added);
            new += usize::from(line.kind != LineKind::Removed);
        }
    }

    /// Takes an edited new side: lines that were not edited keep their bytes.
    fn edited(&self, range: Range<usize>, text: &str, made: &mut Lines) {
        let proposed = &self.new[range];
        let known: Vec<&str> = proposed.iter().map(|line| split_ending(line).0).collect();
        let text = text.strip_suffix('\n').unwrap_or(text);
        let edited: Vec<&str> =
            if text.is_empty() { Vec::new() } else { text.split('\n').collect() };
        let was_open = proposed.last().is_some_and(|line| split_ending(line).1.is_empty());
        let diff = TextDiff::from_slices(&known, &edited);
        for change in diff.iter_all_changes() {
            let is_last = change.new_index() == edited.len().checked_sub(1);
            match (change.old_index(), change.new_index()) {
                (Some(at), Some(_)) => made.push(proposed[at]),
                (None, Some(at)) if is_last && was_open => made.push(edited[at]),
                (None, Some(at)) => made.push(&format!("{}{}", edited[at], self.ending)),
                _ => {}
            }
        }
    }
}

/// Lines put one behind another; what follows a line without an ending still stands on its own line.
struct Lines {
    text: String,
    ending: &'static str,
}

impl Lines {
    fn extend(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.push(line));
    }

    fn push(&mut self, line: &str) {
        let is_open = !self.text.is_empty() && split_ending(&self.text).1.is_empty();
        if is_open && !line.is_empty() {
            self.text.push_str(self.ending);
        }
        self.text.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workspace::{Place, Version};

    fn change(before: &str, after: &str) -> FileChange {
        let place = Place { absolute: "/w/f".into(), shown: "f".into() };
        let before = Some(Version::new(before.into(), 0o644));
        FileChange::to(place, before, Some(after.into()))
    }

    fn select(file: &FileChange, hunks: Vec<HunkChoice>) -> String {
        let files = vec![FileSelection { stands: true, hunks, notes: vec![] }];
        let change = Change { files: vec![file.clone()] }.select(&Selection { files }).unwrap();
        let after = change
            .files
            .first()
            .map_or(&file.base().unwrap().bytes, |file| file.after.as_ref().unwrap());
        String::from_utf8(after.clone()).unwrap()
    }

    fn numbered() -> (String, String) {
        let old: String = (1..=40).map(|n| format!("{n}\r\n")).collect();
        let new = old
            .replace("\n3\r\n", "\nthree\r\n")
            .replace("\n20\r\n", "\n")
            .replace("\n38\r\n", "\n38\r\n38b\r\n");
        (old, new)
    }

    #[test]
    fn only_the_hunks_that_stand_are_in_what_is_left() {
        use HunkChoice::{Accept, Reject, Text};
        let (old, new) = numbered();
        let file = change(&old, &new);
        assert_eq!(file.diff().hunks.len(), 3);
        for (choices, expected) in [
            (vec![Accept, Accept, Accept], new),
            (vec![Reject, Reject, Reject], old.clone()),
            (vec![Accept, Reject, Reject], old.replace("\n3\r\n", "\nthree\r\n")),
            (vec![Reject, Accept, Reject], old.replace("\n20\r\n", "\n")),
            (
                vec![Reject, Reject, Text("36\n37\n38\nedited\n39\n40\n".into())],
                old.replace("\n38\r\n", "\n38\r\nedited\r\n"),
            ),
            (vec![Reject, Reject, Text("36\n37\n38\n39\n40".into())], old.clone()),
        ] {
            assert_eq!(select(&file, choices.clone()), expected, "{choices:?}");
        }
    }

    #[test]
    fn a_line_of_a_hunk_can_stand_without_the_others() {
        let file = change("a\nb\nc\n", "a\nB\nB2\nc\n");
        let kinds: Vec<_> = file.diff().hunks[0].lines.iter().map(|line| line.kind).collect();
        use LineKind::{Added, Context, Removed};
        assert_eq!(kinds, [Context, Removed, Added, Added, Context]);
        for (stand, expected) in [
            ([true, true, true, false, true], "a\nB\nc\n"),
            ([true, false, true, false, true], "a\nb\nB\nc\n"),
            ([true, true, false, false, true], "a\nc\n"),
            ([false, false, false, false, false], "a\nb\nc\n"),
        ] {
            let lines = vec![HunkChoice::Lines(stand.to_vec())];
            assert_eq!(select(&file, lines), expected, "{stand:?}");
        }
    }

    #[test]
    fn a_missing_last_newline_never_joins_two_lines() {
        let file = change("a\nb", "a\nb\nc");
        let kept = vec![HunkChoice::Lines(vec![true, false, false, true])];
        assert_eq!(select(&file, kept), "a\nb\nc");
        let edited = vec![HunkChoice::Text("a\nb\nx".into())];
        assert_eq!(select(&file, edited), "a\nb\nx");
    }

    #[test]
    fn a_file_that_does_not_stand_is_left_out_and_a_deletion_can_stand_in_part() {
        let mut deleted = change("a\nb\n", "");
        deleted.after = None;
        let stands = |stands, hunks| Selection {
            files: vec![FileSelection { stands, hunks, notes: vec![] }],
        };
        let change = Change { files: vec![deleted] };
        let select = |selection: Selection| change.select(&selection).unwrap().files;
        assert_eq!(select(stands(false, vec![HunkChoice::Accept])), []);
        assert_eq!(select(stands(true, vec![HunkChoice::Accept]))[0].after, None);
        let half = stands(true, vec![HunkChoice::Lines(vec![true, false])]);
        assert_eq!(select(half)[0].after, Some(b"b\n".to_vec()));
        assert_eq!(select(stands(true, vec![HunkChoice::Reject])), []);
    }

    proptest! {
        /// Any part of the hunks leaves every line outside of them as it was, and all or none is either side.
        #[test]
        fn every_part_of_a_change_lies_between_its_sides(
            old in "([a-d]{0,2}(\r\n|\n)){0,40}[a-d]?",
            new in "([a-d]{0,2}(\r\n|\n)){0,40}[a-d]?",
            picks in proptest::collection::vec(any::<bool>(), 40),
        ) {
            let file = change(&old, &new);
            let hunks = file.diff().hunks.len();
            let all = |choice: HunkChoice| vec![choice; hunks];
            prop_assert_eq!(&select(&file, all(HunkChoice::Accept)), &new);
            prop_assert_eq!(&select(&file, all(HunkChoice::Reject)), &old);
            let lines = |stands: bool| {
                let of = |hunk: &Hunk| HunkChoice::Lines(vec![stands; hunk.lines.len()]);
                file.diff().hunks.iter().map(of).collect::<Vec<_>>()
            };
            prop_assert_eq!(&select(&file, lines(true)), &new);
            prop_assert_eq!(&select(&file, lines(false)), &old);
            let choice = |stands: &bool| if *stands { HunkChoice::Accept } else { HunkChoice::Reject };
            let some: Vec<_> = picks.iter().take(hunks).map(choice).collect();
            let made = select(&file, some.clone());
            // What is left to propose afterwards is what was declined.
            let rest = change(&made, &new).diff();
            let declined: usize = file.diff().hunks.iter().zip(&some)
                .filter(|(_, choice)| **choice == HunkChoice::Reject).count();
            prop_assert_eq!(rest.hunks.is_empty(), declined == 0);
        }
    }
}
