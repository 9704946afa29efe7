//! The transcript as a fold over agent events: what was said and done, in order, without any layout.
//!
//! What belongs to the reply under way stands apart (`open`) until its record settles it, so that
//! a live session and a resumed one come to the same cells.

use std::collections::HashMap;

use super::cell::{Cell, Entry};
use crate::agent::{AgentEvent, Live};
use crate::session::{CallId, Level, Part, Record, Reply, Restore, TurnEnd};
use crate::tui::pane::call::Call;
use crate::tui::theme::Theme;
use crate::tui::widget::Highlighter;
use crate::visible;
use crate::workspace::{FileDiff, FileKind};

/// Everything said and done, oldest first.
#[derive(Debug, Default)]
pub struct Transcript {
    settled: Vec<Cell>,
    open: Vec<Cell>,
    calls: HashMap<CallId, usize>,
}

impl Transcript {
    /// Takes one event in and returns the first cell that it may have changed.
    pub fn apply(&mut self, event: &AgentEvent) -> usize {
        let first = self.first_touched(event);
        match event {
            AgentEvent::Recorded(entry) => self.record(&entry.record),
            AgentEvent::Live(live) => self.live(live),
        }
        first
    }

    fn first_touched(&self, event: &AgentEvent) -> usize {
        let call = match event {
            AgentEvent::Recorded(entry) => match &entry.record {
                Record::Proposed { call, .. } | Record::Decided { call, .. } => Some(call),
                Record::Finished { result, .. } => Some(&result.id),
                Record::Cleared => return 0,
                _ => None,
            },
            AgentEvent::Live(Live::OutputDelta { call, .. }) => Some(call),
            AgentEvent::Live(_) => None,
        };
        call.and_then(|call| self.calls.get(call)).copied().unwrap_or(self.settled.len())
    }

    /// Returns how many cells there are.
    pub fn len(&self) -> usize {
        self.settled.len() + self.open.len()
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a cell by its place.
    pub fn get(&self, index: usize) -> Option<&Cell> {
        self.settled.get(index).or_else(|| self.open.get(index.checked_sub(self.settled.len())?))
    }

    /// Returns a cell by its place, to lay it out or to fold it.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Cell> {
        let settled = self.settled.len();
        if index < settled {
            return self.settled.get_mut(index);
        }
        self.open.get_mut(index - settled)
    }

    /// Returns what all cells say, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.settled.iter().chain(&self.open).map(Cell::entry)
    }

    /// Lays a cell out and returns how many rows it takes.
    pub fn lay_out(
        &mut self,
        index: usize,
        width: u16,
        theme: &Theme,
        code: &mut Highlighter,
    ) -> usize {
        let above = index.checked_sub(1).and_then(|above| self.get(above)).map(Cell::is_call);
        let Some(cell) = self.get_mut(index) else { return 0 };
        cell.lay_out(width, above, theme, code);
        cell.height()
    }

    /// Returns how many rows a cell took when it was laid out last, if that was for another width.
    pub fn height_at_other_width(&self, index: usize, width: u16) -> Option<usize> {
        let cell = self.get(index)?;
        cell.is_laid_out_otherwise(width).then(|| cell.height())
    }

    /// Makes every line anew at the next layout.
    pub fn restyle(&mut self) {
        self.settled.iter_mut().chain(&mut self.open).for_each(Cell::restyle);
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::Prompted { text } => self.push(Entry::Prompt(owned(text))),
            Record::Noticed { level, text } => self.note(*level, text),
            Record::Resumed { model, .. } => self.note(Level::Info, &format!("resumed · {model}")),
            Record::ModelChanged { model } => self.note(Level::Info, &format!("model {model}")),
            Record::Allowed { rule } => {
                self.note(Level::Info, &format!("allowed for this session: {rule}"));
            }
            Record::Replied { reply, usage, .. } => self.settle(reply, usage.thinking),
            Record::Proposed { call, proposal, .. } => {
                self.change(call, |call| call.propose(proposal));
            }
            Record::Decided { call, allowed, why } => {
                self.change(call, |call| call.decide(*allowed, why));
            }
            Record::Finished { result, view, millis } => {
                self.change(&result.id, |call| call.finish(result, view, *millis));
            }
            Record::Restored { restore, files, .. } => self.restored(restore, files),
            Record::TurnEnded { end } => self.end(end),
            Record::Cleared => *self = Self::default(),
            Record::Started { .. }
            | Record::Acting { .. }
            | Record::Touched { .. }
            | Record::ModeChanged { .. } => {}
        }
    }

    fn live(&mut self, live: &Live) {
        match live {
            Live::TextDelta { text } => self.stream(Entry::Reply(owned(text))),
            Live::ThinkingDelta { text } => {
                self.stream(Entry::Thinking { text: owned(text), tokens: None });
            }
            Live::Calling { tool } => {
                self.open.push(Cell::new(Entry::Calling(visible::line(tool).into_owned())));
            }
            Live::Retrying { attempt, wait_ms, reason } => self.retry(*attempt, *wait_ms, reason),
            Live::OutputDelta { call, text } => self.change(call, |call| call.output(text)),
            Live::Idle => self.open.clear(),
            Live::Asking { .. }
            | Live::Writing { .. }
            | Live::Changes(_)
            | Live::Approval(_)
            | Live::Queued { .. }
            | Live::Unqueued { .. } => {}
        }
    }

    fn restored(&mut self, restore: &Restore, files: &[FileDiff]) {
        let what = match restore {
            Restore::Undo { turn } => format!("turn {turn} taken back"),
            Restore::Redo { turn } => format!("turn {turn} brought back"),
            Restore::PutBack => "put back".to_owned(),
        };
        let files: Vec<_> = files.iter().map(brief).collect();
        self.note(Level::Info, &format!("{what}: {}", files.join(", ")));
    }

    fn push(&mut self, entry: Entry) {
        self.settled.push(Cell::new(entry));
    }

    fn note(&mut self, level: Level, text: &str) {
        self.push(Entry::Note { level, text: owned(text) });
    }

    fn change(&mut self, call: &CallId, how: impl FnOnce(&mut Call)) {
        let Some(&index) = self.calls.get(call) else { return };
        let Some(cell) = self.settled.get_mut(index) else { return };
        cell.change_call(how);
    }

    /// Adds to the last cell of the reply under way if it is of this kind, else begins one.
    fn stream(&mut self, entry: Entry) {
        if !self.open.last_mut().is_some_and(|cell| cell.continues_with(&entry)) {
            self.open.push(Cell::new(entry));
        }
    }

    fn retry(&mut self, attempt: u32, wait_ms: u64, reason: &str) {
        self.open.clear();
        let seconds = wait_ms.div_ceil(1_000);
        let text = format!("{} Asking again in {seconds} s (attempt {attempt}).", owned(reason));
        self.open.push(Cell::new(Entry::Note { level: Level::Warning, text }));
    }

    /// Puts the reply as recorded in the place of what was streamed; equal text keeps its layout.
    fn settle(&mut self, reply: &Reply, thinking: u64) {
        let mut streamed = std::mem::take(&mut self.open);
        for entry in entries(reply, thinking) {
            if let Entry::Call(call) = &entry {
                self.calls.insert(call.id.clone(), self.settled.len());
            }
            let same = streamed.iter().position(|cell| *cell.entry() == entry);
            let cell = same.map_or_else(|| Cell::new(entry), |at| streamed.swap_remove(at));
            self.settled.push(cell);
        }
    }

    fn end(&mut self, end: &TurnEnd) {
        self.open.clear();
        match end {
            TurnEnd::Done => {}
            TurnEnd::Interrupted => self.push(Entry::Ended("stopped".into())),
            TurnEnd::Stopped => self.push(Entry::Ended("rejected and stopped".into())),
            TurnEnd::Limit { requests } => self.push(Entry::Ended(format!(
                "limit reached: {requests} model requests in one turn; send a message to go on"
            ))),
            TurnEnd::Failed { message, .. } => self.push(Entry::Failed(owned(message))),
        }
    }
}

/// Names a file and what happened to it.
fn brief(file: &FileDiff) -> String {
    match file.kind {
        FileKind::Deleted => format!("{} is gone", file.path),
        FileKind::Created => format!("{} is there", file.path),
        FileKind::Modified | FileKind::Replaced => {
            format!("{} +{} −{}", file.path, file.added, file.removed)
        }
    }
}

fn owned(text: &str) -> String {
    visible::text(text).into_owned()
}

/// Returns what a reply shows, in order: neighbouring texts joined, empty ones left out.
fn entries(reply: &Reply, tokens: u64) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for part in &reply.parts {
        match (part, entries.last_mut()) {
            (Part::Text { text, .. }, Some(Entry::Reply(open))) => *open += &visible::text(text),
            (Part::Text { text, .. }, _) => entries.push(Entry::Reply(owned(text))),
            (Part::Thinking { text, .. }, Some(Entry::Thinking { text: open, .. })) => {
                *open += &visible::text(text);
            }
            (Part::Thinking { text, .. }, _) => {
                entries.push(Entry::Thinking { text: owned(text), tokens: Some(tokens) });
            }
            (Part::Call(call), _) => entries.push(Entry::Call(Box::new(Call::new(call)))),
        }
    }
    entries.retain(|entry| !entry.is_blank());
    entries
}
