//! Approvals that open by themselves, and the grace that keeps typing from answering them.
//!
//! The rule, in this one place: a key reaches an approval only after it was drawn and [`GRACE`]
//! passed without typing; while a draft stands, only after Tab went to it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::agent::{AgentEvent, Approval, Live};
use crate::session::{CallId, Record};
use crate::tui::overlay::Overlay;

/// How long nothing may be typed before a key counts as an answer.
pub const GRACE: Duration = Duration::from_millis(300);

/// What makes the overlay that asks.
pub type Ask = fn(Approval) -> Box<dyn Overlay>;

/// The approval that is open, and those that wait behind it.
pub struct Approvals {
    ask: Ask,
    open: Option<Open>,
    waiting: VecDeque<Approval>,
    last_typed: Option<Instant>,
}

struct Open {
    call: CallId,
    overlay: Box<dyn Overlay>,
    drawn: Option<Instant>,
    /// Whether the person went to it with Tab, past a draft.
    chosen: bool,
    /// Whether the person put it aside with Tab, to read what is behind it.
    aside: bool,
}

impl Approvals {
    /// Makes an empty queue.
    pub fn new(ask: Ask) -> Self {
        Self { ask, open: None, waiting: VecDeque::new(), last_typed: None }
    }

    /// Takes an event in: queues what is asked, closes what is settled.
    pub fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Live(Live::Approval(approval)) => self.waiting.push_back(approval.clone()),
            AgentEvent::Live(Live::Idle) => self.clear(),
            AgentEvent::Recorded(entry) => match &entry.record {
                Record::Decided { call, .. } => self.settle(call),
                Record::Finished { result, .. } => self.settle(&result.id),
                Record::TurnEnded { .. } => self.clear(),
                _ => {}
            },
            AgentEvent::Live(_) => {}
        }
        self.open_next();
    }

    /// Closes the open approval: it was answered.
    pub fn close(&mut self) {
        self.open = None;
        self.open_next();
    }

    /// Closes everything: nobody waits for an answer any more.
    pub fn clear(&mut self) {
        self.open = None;
        self.waiting.clear();
    }

    fn settle(&mut self, call: &CallId) {
        self.waiting.retain(|approval| approval.call != *call);
        self.open.take_if(|open| open.call == *call);
    }

    fn open_next(&mut self) {
        if self.open.is_some() {
            return;
        }
        self.open = self.waiting.pop_front().map(|approval| Open {
            call: approval.call.clone(),
            overlay: (self.ask)(approval),
            drawn: None,
            chosen: false,
            aside: false,
        });
    }

    /// Returns whether an approval waits, in sight or aside.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the open approval, unless it was put aside.
    pub fn overlay(&self) -> Option<&dyn Overlay> {
        self.open.as_ref().filter(|open| !open.aside).map(|open| &*open.overlay)
    }

    /// Returns the open approval, to lay it out or hand it a key.
    pub fn overlay_mut(&mut self) -> Option<&mut Box<dyn Overlay>> {
        self.open.as_mut().map(|open| &mut open.overlay)
    }

    /// Notes that the open approval is on the screen from now on.
    pub fn drawn(&mut self, now: Instant) {
        if let Some(open) = &mut self.open {
            open.drawn.get_or_insert(now);
        }
    }

    /// Notes that something was typed into the draft.
    pub fn typed(&mut self, now: Instant) {
        self.last_typed = Some(now);
        if let Some(open) = &mut self.open {
            open.chosen = false;
        }
    }

    /// Returns whether a key would reach the open approval.
    pub fn takes_keys(&self, draft_is_empty: bool, now: Instant) -> bool {
        let is_meant = |open: &Open| !open.aside && (open.chosen || draft_is_empty);
        self.open.as_ref().is_some_and(is_meant) && self.is_quiet(now)
    }

    /// Goes to the open approval past a draft and back; without a draft, puts it aside and takes it up again.
    /// Returns whether there was one.
    pub fn choose(&mut self, draft_is_empty: bool, now: Instant) -> bool {
        let is_quiet = self.is_quiet(now);
        let Some(open) = &mut self.open else { return false };
        if open.aside {
            open.aside = false;
            open.chosen = !draft_is_empty;
        } else if draft_is_empty {
            open.aside = is_quiet;
        } else {
            open.chosen = !open.chosen && is_quiet;
        }
        true
    }

    /// Returns whether the grace has passed.
    pub fn is_quiet(&self, now: Instant) -> bool {
        self.quiet_at().is_some_and(|at| now >= at)
    }

    /// Returns when a key will begin to count; `None` before the approval was drawn.
    pub fn quiet_at(&self) -> Option<Instant> {
        let drawn = self.open.as_ref()?.drawn?;
        Some(self.last_typed.map_or(drawn, |typed| typed.max(drawn)) + GRACE)
    }
}
