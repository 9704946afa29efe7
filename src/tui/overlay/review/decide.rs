//! The keys that decide, what they mark, and the verdict that follows from all marks.

use crossterm::event::{KeyCode, KeyEvent};

use super::edit::{Edit, new_side};
use super::marks::Mark;
use super::stage::{Scope, Stage};
use super::{Purpose, Reaction, Review};
use crate::agent::{AgentRequest, Verdict};
use crate::tui::effect::Effect;
use crate::tui::overlay::comment::Comment;
use crate::tui::widget::Spot;
use crate::visible;
use crate::workspace::{Note, Selection};

const STOP: &str = "Esc again rejects everything and stops the work.";
const LEAVE: &str = "Esc again leaves everything as it is; Enter puts back what is marked.";
const DECIDED: &str = "Everything is decided: Enter sends it.";
const NO_TEXT: &str = "There is no text to edit here.";
const WHOLE: &str = "Always lets the whole change stand: it is offered before anything is decided.";

impl Review {
    /// Takes a key for the review itself.
    pub(super) fn first_key(&mut self, key: KeyEvent, was_leaving: bool) -> Reaction {
        let reaction = match &self.purpose {
            Purpose::Look => look_key(key),
            Purpose::Answer { .. } => self.answer_key(key, was_leaving),
            Purpose::PutBack { .. } => self.put_back_key(key, was_leaving),
        };
        match reaction {
            Reaction::Ignored if key.code == KeyCode::Char('?') => self.go(Stage::Legend),
            Reaction::Ignored if self.view.key(key) => Reaction::Taken,
            reaction => reaction,
        }
    }

    fn answer_key(&mut self, key: KeyEvent, was_leaving: bool) -> Reaction {
        match key.code {
            KeyCode::Char('y') => self.accept(),
            KeyCode::Char('n') => self.ask_why(Scope::Part),
            KeyCode::Char('R') => self.ask_why(Scope::Waiting),
            KeyCode::Char('A') => self.finish(Mark::Accepted, None),
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Char('f') => self.decide_file(Mark::Accepted),
            KeyCode::Char('F') => self.decide_file(Mark::Rejected),
            KeyCode::Char('c') => self.ask_remark(),
            KeyCode::Char('e') => self.edit(),
            KeyCode::Char('E') => self.edit_in_editor(),
            KeyCode::Char('s') => self.split(),
            KeyCode::Char('t') => self.go(Stage::Rest(true)),
            KeyCode::Char('T') => self.go(Stage::Rest(false)),
            KeyCode::Char('a') if !self.rule().is_empty() => self.offer_rule(),
            KeyCode::Enter => self.enter(),
            KeyCode::Esc => self.stop(was_leaving),
            _ => Reaction::Ignored,
        }
    }

    fn put_back_key(&mut self, key: KeyEvent, was_leaving: bool) -> Reaction {
        let (file, part) = self.here();
        let is_marked = self.marks.count(Mark::Rejected) > 0;
        match key.code {
            KeyCode::Char('n') => self.mark(file, part, Mark::Rejected),
            KeyCode::Char('y') => self.mark(file, part, Mark::Accepted),
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Char('f') => self.decide_file(Mark::Accepted),
            KeyCode::Char('F') => self.decide_file(Mark::Rejected),
            KeyCode::Char('s') => self.split(),
            KeyCode::Char('t' | 'T') if is_marked => self.advise(LEAVE),
            KeyCode::Char('t') => self.go_to_set(1),
            KeyCode::Char('T') => self.go_to_set(-1),
            KeyCode::Enter if is_marked => self.put_back(),
            KeyCode::Esc | KeyCode::Char('q') if is_marked && !was_leaving => {
                self.is_leaving = true;
                self.advise(LEAVE)
            }
            KeyCode::Enter | KeyCode::Esc | KeyCode::Char('q') => Reaction::Close,
            _ => Reaction::Ignored,
        }
    }

    fn mark(&mut self, file: usize, part: usize, mark: Mark) -> Reaction {
        if let Some(file) = self.marks.files.get_mut(file) {
            file.decide(part, mark);
        }
        self.changed()
    }

    fn changed(&mut self) -> Reaction {
        self.state += 1;
        Reaction::Taken
    }

    /// Lets the part stand; a single one is all there is to decide.
    fn accept(&mut self) -> Reaction {
        let (file, part) = self.here();
        self.mark(file, part, Mark::Accepted);
        if self.marks.is_single() { self.send(None) } else { self.advance(file, part) }
    }

    fn ask_why(&mut self, scope: Scope) -> Reaction {
        self.go(Stage::WhyNot(Box::new(Comment::why_not()), scope))
    }

    /// Rejects the part, perhaps with the reason.
    pub(super) fn reject(&mut self, comment: Option<String>) -> Reaction {
        let (file, part) = self.here();
        let is_all = self.marks.is_single() && !self.has_notes();
        self.mark(file, part, Mark::Rejected);
        if is_all {
            return self.say(Verdict::Reject { comment });
        }
        if let Some(text) = comment {
            let spot = self.spot_of(file, part);
            self.note(file, spot, Some(text));
        }
        if self.marks.is_single() { self.send(None) } else { self.advance(file, part) }
    }

    /// Rejects all that waits, perhaps with the reason, and sends the answer.
    pub(super) fn reject_waiting(&mut self, comment: Option<String>) -> Reaction {
        if self.marks.count(Mark::Accepted) == 0 && !self.has_notes() {
            return self.say(Verdict::Reject { comment });
        }
        let waits = |file: &super::marks::FileMarks| {
            file.parts.iter().any(|part| part.mark == Mark::Waiting)
        };
        let file = self.marks.files.iter().position(waits).unwrap_or(0);
        self.note(file, Spot::default(), comment);
        self.finish(Mark::Rejected, None)
    }

    /// Lets later changes of the turn stand, or fall, as those here do that wait.
    pub(super) fn decide_rest(&mut self, stands: bool) -> Reaction {
        self.finish(if stands { Mark::Accepted } else { Mark::Rejected }, Some(stands))
    }

    /// Decides on all that waits and sends the answer.
    fn finish(&mut self, mark: Mark, rest: Option<bool>) -> Reaction {
        self.marks.decide_waiting(mark);
        self.send(rest)
    }

    fn toggle(&mut self) -> Reaction {
        let (file, part) = self.here();
        if let Some(file) = self.marks.files.get_mut(file) {
            file.toggle(part);
        }
        self.changed()
    }

    /// Decides on what waits in the file; where nothing does, on all of it.
    fn decide_file(&mut self, mark: Mark) -> Reaction {
        let (file, part) = self.here();
        if let Some(marks) = self.marks.files.get_mut(file) {
            marks.sweep(mark);
        }
        self.changed();
        match self.purpose {
            Purpose::Answer { .. } => self.advance(file, part),
            _ => Reaction::Taken,
        }
    }

    fn split(&mut self) -> Reaction {
        let (file, part) = self.here();
        let (Some(marks), Some(diff)) = (self.marks.files.get_mut(file), self.raw.get(file)) else {
            return Reaction::Taken;
        };
        let is_split = marks.split(part, diff);
        self.changed();
        if is_split { Reaction::Taken } else { self.advise("This cannot be split any further.") }
    }

    /// Goes to the next part that waits, or says that none does.
    fn advance(&mut self, file: usize, part: usize) -> Reaction {
        match self.marks.next_waiting(file, part) {
            Some(next) => {
                self.view.go_to(next);
                Reaction::Taken
            }
            None => self.advise(DECIDED),
        }
    }

    fn offer_rule(&mut self) -> Reaction {
        if self.marks.is_begun() { self.advise(WHOLE) } else { self.go(Stage::Rule) }
    }

    /// Enter sends what is decided, never what is not.
    fn enter(&mut self) -> Reaction {
        match self.marks.count(Mark::Waiting) {
            0 => self.send(None),
            _ if self.marks.is_single() => self.advise("Press y to accept or n to reject."),
            count => {
                self.advise(format!("{count} still wait: y or n each, A accepts all of them."))
            }
        }
    }

    fn stop(&mut self, was_leaving: bool) -> Reaction {
        if self.marks.is_begun() && !was_leaving {
            self.is_leaving = true;
            return self.advise(STOP);
        }
        self.say(Verdict::Stop)
    }

    /// Asks what to say of the spot the reader is at; what was said of it before stands there already.
    fn ask_remark(&mut self) -> Reaction {
        let (file, part) = self.here();
        let Some(marks) = self.marks.files.get(file) else { return Reaction::Taken };
        let is_edited = marks.parts.get(part).is_some_and(|part| part.text.is_some());
        let spot = self.view.spot();
        // The lines of an edited hunk are not those the model knows.
        let spot = if is_edited { Spot { line: None, ..spot } } else { spot };
        let mut comment = Comment::remark();
        let said = marks.notes.iter().find(|note| is_at(note, spot));
        said.into_iter().for_each(|note| comment.paste(&note.text));
        self.go(Stage::Remark(Box::new(comment), spot))
    }

    /// Keeps what was said of a spot of the file that is read.
    pub(super) fn remark(&mut self, spot: Spot, text: Option<String>) -> Reaction {
        self.note(self.view.file, spot, text);
        self.changed()
    }

    fn note(&mut self, file: usize, spot: Spot, text: Option<String>) {
        let Some(marks) = self.marks.files.get_mut(file) else { return };
        marks.notes.retain(|note| !is_at(note, spot));
        marks.notes.extend(text.map(|text| Note { hunk: spot.hunk, line: spot.line, text }));
    }

    fn has_notes(&self) -> bool {
        self.marks.files.iter().any(|file| !file.notes.is_empty())
    }

    /// Returns what a part is about: its hunk, or the first line that it changes of one that was split.
    fn spot_of(&self, file: usize, part: usize) -> Spot {
        let marks = self.marks.files.get(file);
        let Some(part) = marks.and_then(|marks| marks.parts.get(part)) else {
            return Spot::default();
        };
        let line = part.hunk.filter(|_| part.lines.start > 0).map(|_| part.lines.start);
        Spot { hunk: part.hunk, line }
    }

    /// Opens the hunk's new side where it stands, if all of it can be seen; else in an editor.
    fn edit(&mut self) -> Reaction {
        let Some((hunk, text)) = self.editable() else { return self.advise(NO_TEXT) };
        if visible::text(&text) != text {
            return self.edit_elsewhere(hunk, text);
        }
        self.go(Stage::Edit(Box::new(Edit::new(hunk, &text))))
    }

    fn edit_in_editor(&mut self) -> Reaction {
        match self.editable() {
            Some((hunk, text)) => self.edit_elsewhere(hunk, text),
            None => self.advise(NO_TEXT),
        }
    }

    pub(super) fn edit_elsewhere(&mut self, hunk: usize, text: String) -> Reaction {
        self.awaited = Some(hunk);
        let path = self.raw.get(self.view.file).map_or("", |file| &file.path);
        let name = path.rsplit('/').next().unwrap_or_default();
        let suffix = name.rsplit_once('.').map(|(_, ending)| format!(".{ending}"));
        let suffix = suffix.filter(|ending| ending[1..].chars().all(char::is_alphanumeric));
        let edit = Effect::Edit { text, suffix: suffix.unwrap_or_default() };
        Reaction::Effects { close: false, effects: vec![edit] }
    }

    /// Returns the hunk that the reader is at and its new side as it would stand now.
    fn editable(&self) -> Option<(usize, String)> {
        let (file, part) = self.here();
        let part = self.marks.files.get(file)?.parts.get(part)?;
        let hunk = part.hunk?;
        let proposed = || new_side(&self.raw[file].hunks[hunk]);
        Some((hunk, part.text.clone().unwrap_or_else(proposed)))
    }

    /// Puts another new side in the place of a hunk's.
    pub(super) fn replace(&mut self, hunk: usize, text: &str) {
        let file = self.view.file;
        let (Some(marks), Some(diff)) = (self.marks.files.get_mut(file), self.raw.get(file)) else {
            return;
        };
        let proposed = &diff.hunks[hunk];
        let is_edited = new_side(proposed) != text;
        let lines =
            if is_edited { proposed.with_new_side(text).lines.len() } else { proposed.lines.len() };
        marks.edit(hunk, lines, is_edited.then(|| text.to_owned()));
        self.changed();
        self.advise("This is what would stand now: Enter sends it, e edits again.");
    }

    /// Sends the answer that follows from the marks.
    fn send(&mut self, rest: Option<bool>) -> Reaction {
        let Purpose::Answer { calls, .. } = &self.purpose else { return Reaction::Taken };
        let selection =
            |range: &std::ops::Range<usize>| self.marks.selection(&self.raw, range.clone());
        self.say(verdict(calls.iter().map(selection).collect(), rest))
    }

    /// Answers, and closes the review.
    pub(super) fn say(&self, verdict: Verdict) -> Reaction {
        let Purpose::Answer { call, .. } = &self.purpose else { return Reaction::Taken };
        let answer = AgentRequest::Answer { call: call.clone(), verdict };
        Reaction::Effects { close: true, effects: vec![Effect::Send(answer)] }
    }

    fn put_back(&self) -> Reaction {
        let Purpose::PutBack { set, .. } = self.purpose else { return Reaction::Taken };
        let selection = self.marks.selection(&self.raw, 0..self.raw.len());
        let request = AgentRequest::PutBack { set, selection };
        Reaction::Effects { close: true, effects: vec![Effect::Send(request)] }
    }
}

fn look_key(key: KeyEvent) -> Reaction {
    match key.code {
        KeyCode::Enter | KeyCode::Esc | KeyCode::Char('q') => Reaction::Close,
        _ => Reaction::Ignored,
    }
}

fn is_at(note: &Note, spot: Spot) -> bool {
    (note.hunk, note.line) == (spot.hunk, spot.line)
}

/// Says in the plainest way what all selections come to.
fn verdict(selections: Vec<Selection>, rest: Option<bool>) -> Verdict {
    let has_notes =
        |selection: &Selection| selection.files.iter().any(|file| !file.notes.is_empty());
    if rest.is_none() && selections.iter().all(Selection::is_all) {
        return Verdict::Accept;
    }
    if rest.is_none() && selections.iter().all(|one| one.is_none() && !has_notes(one)) {
        return Verdict::Reject { comment: None };
    }
    Verdict::Select { selections, rest }
}
