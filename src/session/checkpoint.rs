//! What happened to files, turn by turn: a fold over records that says what can be taken back.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{CallId, Entry, Record};

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// Relative to the workspace.
    pub path: String,
    /// `None`: the file was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Image>,
    /// `None`: the file is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Image>,
}

/// A content by its hash; the bytes are in the session's blobs, if they were kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// BLAKE3, as hexadecimal digits.
    pub hash: String,
    /// Permission bits.
    pub mode: u32,
}

/// What the person did to files without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Restore {
    /// A turn was taken back.
    Undo { turn: usize },
    /// The taking back was taken back.
    Redo { turn: usize },
    /// Parts of earlier changes were put back as they were.
    PutBack,
}

/// The files that one turn touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// From 1.
    pub number: usize,
    /// What the person asked, as written.
    pub title: String,
    /// When it began, in Unix milliseconds.
    pub at: i64,
    /// One for each file: from before the turn to after it.
    pub touches: Vec<Touch>,
}

/// All turns that touched files, and what of them was taken back.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    turns: Vec<Turn>,
    is_open: bool,
    /// Calls that have begun to act.
    acting: HashMap<CallId, Vec<Touch>>,
    /// Turns taken back, the last one last; a new change forgets them.
    undone: Vec<usize>,
    done: Vec<usize>,
}

impl Checkpoints {
    /// Takes all facts of a log in.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut checkpoints = Self::default();
        entries.into_iter().for_each(|entry| checkpoints.apply(entry));
        checkpoints
    }

    /// Takes one fact in.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Prompted { text } if !self.is_open => self.begin(text, entry.at),
            Record::TurnEnded { .. } => self.is_open = false,
            Record::Acting { call, touches, .. } => {
                self.acting.insert(call.clone(), touches.clone());
            }
            Record::Finished { result, .. } => {
                let touches = self.acting.remove(&result.id);
                self.touched(touches.filter(|_| result.ok).unwrap_or_default());
            }
            Record::Touched { call, touches } => {
                self.acting.remove(call);
                self.touched(touches.clone());
            }
            Record::Restored { call, restore, touches, .. } => {
                self.acting.remove(call);
                self.restored(*restore, touches, entry.at);
            }
            _ => {}
        }
    }

    fn begin(&mut self, title: &str, at: i64) {
        self.is_open = true;
        let number = self.turns.len() + 1;
        self.turns.push(Turn { number, title: title.to_owned(), at, touches: Vec::new() });
    }

    fn touched(&mut self, touches: Vec<Touch>) {
        if touches.is_empty() {
            return;
        }
        if self.turns.is_empty() {
            self.begin("", 0);
        }
        let Some(turn) = self.turns.last_mut() else { return };
        touches.into_iter().for_each(|touch| turn.add(touch));
        if self.done.last() != Some(&turn.number) {
            self.done.push(turn.number);
        }
        self.undone.clear();
    }

    fn restored(&mut self, restore: Restore, touches: &[Touch], at: i64) {
        match restore {
            Restore::Undo { turn } => {
                self.done.retain(|done| *done != turn);
                self.undone.push(turn);
            }
            Restore::Redo { turn } => {
                self.undone.retain(|undone| *undone != turn);
                self.done.push(turn);
            }
            Restore::PutBack => {
                let was_open = self.is_open;
                self.begin("put back", at);
                self.is_open = was_open;
                self.touched(touches.to_vec());
            }
        }
    }

    /// Returns the turn that would be taken back next.
    pub fn last_done(&self) -> Option<&Turn> {
        self.done.last().and_then(|number| self.turns.get(number - 1))
    }

    /// Returns the turn whose taking back would be taken back next.
    pub fn last_undone(&self) -> Option<&Turn> {
        self.undone.last().and_then(|number| self.turns.get(number - 1))
    }

    /// Returns the turns that touched files and stand, oldest first.
    pub fn standing(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(|turn| self.done.contains(&turn.number))
    }

    /// Returns every file ever touched, as it was before the session touched it first.
    pub fn beginnings(&self) -> Vec<(&str, Option<&Image>)> {
        let mut files: Vec<(&str, Option<&Image>)> = Vec::new();
        for touch in self.turns.iter().flat_map(|turn| &turn.touches) {
            if !files.iter().any(|(path, _)| *path == touch.path) {
                files.push((&touch.path, touch.before.as_ref()));
            }
        }
        files
    }

    /// Returns calls that had begun to change files when the process ended, with what they would do.
    pub fn unfinished(&self) -> impl Iterator<Item = (&CallId, &[Touch])> {
        let acting = self.acting.iter().filter(|(_, touches)| !touches.is_empty());
        acting.map(|(call, touches)| (call, touches.as_slice()))
    }
}

impl Turn {
    /// Joins what happens to a file now to what happened to it earlier in this turn.
    fn add(&mut self, touch: Touch) {
        match self.touches.iter_mut().find(|known| known.path == touch.path) {
            Some(known) => known.after = touch.after,
            None => self.touches.push(touch),
        }
        self.touches.retain(|touch| touch.before != touch.after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ToolResult, TurnEnd, View};

    fn image(content: &str) -> Option<Image> {
        let hash = blake3::hash(content.as_bytes()).to_hex().to_string();
        (!content.is_empty()).then_some(Image { hash, mode: 0o644 })
    }

    fn touch(path: &str, before: &str, after: &str) -> Touch {
        Touch { path: path.into(), before: image(before), after: image(after) }
    }

    fn acting(id: &str, touches: Vec<Touch>) -> Record {
        Record::Acting { call: CallId(id.into()), staged: vec![], touches }
    }

    fn finished(id: &str, ok: bool) -> Record {
        let result =
            ToolResult { id: CallId(id.into()), name: String::new(), ok, text: String::new() };
        Record::Finished { result, view: View::Text, millis: 0 }
    }

    fn turn(title: &str, records: Vec<Record>) -> Vec<Record> {
        let begin = Record::Prompted { text: title.into() };
        let end = Record::TurnEnded { end: TurnEnd::Done };
        [vec![begin], records, vec![end]].concat()
    }

    fn restored(restore: Restore, touches: Vec<Touch>) -> Record {
        Record::Restored { call: CallId("undo".into()), restore, touches, files: vec![] }
    }

    fn fold(records: &[Record]) -> Checkpoints {
        let entries: Vec<_> =
            records.iter().map(|record| Entry { at: 0, record: record.clone() }).collect();
        Checkpoints::replay(&entries)
    }

    #[test]
    fn a_turn_knows_each_file_from_before_it_to_after_it() {
        let first = touch("a", "one", "two");
        let records = turn(
            "go",
            vec![
                acting("1", vec![first]),
                finished("1", true),
                acting("2", vec![touch("a", "two", "three"), touch("b", "", "new")]),
                finished("2", true),
                acting("3", vec![touch("c", "x", "y")]),
                finished("3", false),
                Record::Touched { call: CallId("4".into()), touches: vec![touch("d", "gone", "")] },
            ],
        );
        let checkpoints = fold(&records);
        let expected = [touch("a", "one", "three"), touch("b", "", "new"), touch("d", "gone", "")];
        let last = checkpoints.last_done().unwrap();
        assert_eq!((last.title.as_str(), last.touches.as_slice()), ("go", &expected[..]));
        assert_eq!(checkpoints.unfinished().count(), 0);
    }

    #[test]
    fn turns_are_taken_back_in_order_and_brought_back_until_something_new_is_done() {
        let change = |id: &str, path: &str| {
            vec![acting(id, vec![touch(path, "1", "2")]), finished(id, true)]
        };
        let mut records =
            [turn("one", change("1", "a")), turn("talk", vec![]), turn("two", change("2", "b"))]
                .concat();
        let next = |records: &[Record]| {
            let checkpoints = fold(records);
            let number = |turn: Option<&Turn>| turn.map(|turn| turn.number);
            (number(checkpoints.last_done()), number(checkpoints.last_undone()))
        };
        assert_eq!(next(&records), (Some(3), None));
        for (restore, expected) in [
            (Restore::Undo { turn: 3 }, (Some(1), Some(3))),
            (Restore::Undo { turn: 1 }, (None, Some(1))),
            (Restore::Redo { turn: 1 }, (Some(1), Some(3))),
        ] {
            records.push(restored(restore, vec![]));
            assert_eq!(next(&records), expected, "{restore:?}");
        }
        records.extend(turn("three", change("3", "c")));
        assert_eq!(next(&records), (Some(4), None), "what is new cannot be overtaken by a redo");
        records.push(restored(Restore::PutBack, vec![touch("c", "2", "1")]));
        assert_eq!(next(&records), (Some(5), None));
        assert_eq!(fold(&records).beginnings().len(), 3);
    }

    #[test]
    fn what_a_kill_cut_short_is_known() {
        let records =
            [Record::Prompted { text: "go".into() }, acting("1", vec![touch("a", "1", "2")])];
        let checkpoints = fold(&records);
        assert_eq!(checkpoints.unfinished().count(), 1);
        assert_eq!(checkpoints.last_done(), None);
    }
}
