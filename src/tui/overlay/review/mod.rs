//! Changes under review, in the conversation's place: files, hunks, and the person's word on each of them.
//!
//! It asks about calls that wait, shows what stands already (`/diff`), or puts back what changed in the
//! session (`/changes`).

mod decide;
mod draw;
mod edit;
mod files;
mod legend;
mod marks;
mod sheet;
mod stage;
#[cfg(test)]
mod tests;
mod view;

pub use legend::KEYS;

use std::ops::Range;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use self::marks::{Mark, Marks};
use self::stage::Stage;
use self::view::View;
use super::{Overlay, Reaction};
use crate::agent::{Approval, ChangeSet, Changes};
use crate::session::{CallId, Proposal};
use crate::tui::foreign;
use crate::tui::theme::Theme;
use crate::tui::widget::Highlighter;
use crate::visible;
use crate::workspace::FileDiff;

/// Changes, what is decided on them, and where the reader is.
#[derive(Debug)]
pub struct Review {
    purpose: Purpose,
    /// What is under review, and why it is asked; safe to show.
    heading: String,
    reason: String,
    /// The diffs as they came, and the same made safe to show.
    raw: Vec<FileDiff>,
    files: Vec<FileDiff>,
    marks: Marks,
    /// Counts what was done to the marks, so that the diff is laid out anew.
    state: u64,
    stage: Stage,
    view: View,
    /// What a key that did nothing should have been, or what is to be done now.
    advice: Option<String>,
    /// Whether Esc was pressed once where that would lose something.
    is_leaving: bool,
    /// The hunk whose new side is open in an external editor.
    awaited: Option<usize>,
}

/// What the review is for.
#[derive(Debug)]
enum Purpose {
    /// Shows what stands already.
    Look,
    /// Answers calls that wait.
    Answer { call: CallId, calls: Vec<Range<usize>>, rule: Option<String> },
    /// Puts back parts of what changed, over the session or over a turn.
    PutBack { sets: Vec<ChangeSet>, set: usize },
}

impl Review {
    /// Asks about the changes of one or several calls.
    pub fn of(approval: Approval) -> Self {
        let mut tools: Vec<String> = Vec::new();
        let (mut raw, mut calls) = (Vec::new(), Vec::new());
        for waiting in approval.calls {
            let Proposal::Change { files } = waiting.proposal else { continue };
            calls.push(raw.len()..raw.len() + files.len());
            raw.extend(files);
            tools.push(visible::line(&waiting.tool).into_owned());
        }
        tools.dedup();
        let rule = approval.rule.map(|rule| visible::line(&rule).into_owned());
        let purpose = Purpose::Answer { call: approval.call, calls, rule };
        let reason = visible::line(&approval.reason).into_owned();
        Self { reason, ..Self::begin(purpose, tools.join(", "), raw, Mark::Waiting) }
    }

    /// Shows changes that stand already.
    pub fn read_only(files: Vec<FileDiff>) -> Self {
        Self::begin(Purpose::Look, "diff".to_owned(), files, Mark::Waiting)
    }

    /// Shows what changed in the session, to put parts of it back.
    pub fn of_session(changes: Changes) -> Self {
        let Changes { sets, notes } = changes;
        let files = sets.first().map(|set| set.files.clone()).unwrap_or_default();
        let purpose = Purpose::PutBack { sets, set: 0 };
        let reason = visible::line(&notes.join("; ")).into_owned();
        Self { reason, ..Self::begin(purpose, "this session".to_owned(), files, Mark::Accepted) }
    }

    fn begin(purpose: Purpose, heading: String, raw: Vec<FileDiff>, mark: Mark) -> Self {
        Self {
            purpose,
            heading,
            reason: String::new(),
            files: foreign::diffs(&raw),
            marks: Marks::new(&raw, mark),
            view: View::of(raw.len()),
            raw,
            state: 0,
            stage: Stage::Keys,
            advice: None,
            is_leaving: false,
            awaited: None,
        }
    }

    /// Shows the next set of changes, or the one before.
    fn go_to_set(&mut self, by: isize) -> Reaction {
        let Purpose::PutBack { sets, set } = &mut self.purpose else { return Reaction::Taken };
        *set = set.saturating_add_signed(by).min(sets.len().saturating_sub(1));
        let Some(shown) = sets.get(*set) else { return Reaction::Taken };
        self.heading = match &shown.turn {
            Some((number, title)) => format!("turn {number} “{}”", visible::line(title)),
            None => "this session".to_owned(),
        };
        self.raw = shown.files.clone();
        self.files = foreign::diffs(&self.raw);
        self.marks = Marks::new(&self.raw, Mark::Accepted);
        self.view = self.view.over(self.raw.len());
        Reaction::Taken
    }

    /// Returns the file and the part of it that the reader is at.
    fn here(&self) -> (usize, usize) {
        let spot = self.view.spot();
        let file = self.view.file;
        (file, self.marks.files.get(file).map_or(0, |marks| marks.part_at(spot.hunk, spot.line)))
    }

    fn go(&mut self, stage: Stage) -> Reaction {
        self.stage = stage;
        Reaction::Taken
    }

    fn advise(&mut self, advice: impl Into<String>) -> Reaction {
        self.advice = Some(advice.into());
        Reaction::Taken
    }
}

impl Overlay for Review {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        self.advice = None;
        self.awaited = None;
        let was_leaving = std::mem::take(&mut self.is_leaving);
        self.stage_key(key, was_leaving)
    }

    fn paste(&mut self, text: &str) {
        self.stage.paste(text);
    }

    fn edited(&mut self, text: Option<&str>) -> bool {
        let Some(hunk) = self.awaited.take() else { return false };
        match text {
            Some(text) => self.replace(hunk, text),
            None => drop(self.advise("The editor changed nothing.")),
        }
        true
    }

    fn layout(&mut self, area: Rect, theme: &Theme, highlighter: &mut Highlighter) {
        if let Stage::Edit(edit) = &mut self.stage {
            edit.lay_out(theme);
        }
        let diff = self.places(area).diff;
        self.view.lay_out(diff.height.into(), self.state, &self.files, &self.marks.files);
        self.view.show(diff.width.saturating_sub(draw::MARK), theme, highlighter);
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        self.draw_in(frame, self.places(area), theme);
    }

    fn cursor(&self, area: Rect) -> Option<Position> {
        let places = self.places(area);
        if let Stage::Edit(edit) = &self.stage {
            return Some(edit.caret(draw::edit_area(places)));
        }
        let question = places.question;
        let (_, caret) = self.question(question.width, &Theme::default());
        Some(Position { x: question.x + caret?, y: question.bottom().saturating_sub(1) })
    }
}
