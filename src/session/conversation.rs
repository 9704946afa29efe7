//! The conversation as a fold over records: what the next request to a model holds.
//!
//! It is valid after every record (protocols §10.3): every call has exactly one result right after
//! its reply, in call order; neighbours of one role are merged; what belongs to nothing is dropped.

use super::{CallId, Entry, Message, Part, Record, Reply, Restore, ToolCall, ToolResult, Touch};
use crate::config::Mode;

/// The messages so far, and what else the next turn starts from.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    messages: Vec<Message>,
    /// The calls of the last reply while any has no result.
    open: Vec<Slot>,
    model: String,
    mode: Mode,
    allowed: Vec<String>,
}

/// A call and what is known of its end.
#[derive(Debug, Clone)]
struct Slot {
    call: ToolCall,
    /// Whether it has begun to act.
    is_acting: bool,
    result: Option<ToolResult>,
}

impl Conversation {
    /// Takes all facts of a log in.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut conversation = Self::default();
        for entry in entries {
            conversation.apply(&entry.record);
        }
        conversation
    }

    /// Takes one fact in.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Started { model, mode, .. } | Record::Resumed { model, mode } => {
                self.model.clone_from(model);
                self.mode = *mode;
            }
            Record::ModelChanged { model } => self.model.clone_from(model),
            Record::ModeChanged { mode } => self.mode = *mode,
            Record::Allowed { rule } => self.allow(rule),
            Record::Prompted { text } => self.prompted(text),
            Record::Replied { reply, .. } => self.replied(reply),
            Record::Acting { call, .. } => self.acting(call),
            Record::Finished { result, .. } => self.finished(result),
            Record::Cleared => self.clear(),
            Record::Restored { restore, touches, .. } => self.restored(*restore, touches),
            Record::Proposed { .. }
            | Record::Touched { .. }
            | Record::Decided { .. }
            | Record::TurnEnded { .. }
            | Record::Noticed { .. } => {}
        }
    }

    /// Returns the messages for the next request; calls without a result get one that says so.
    pub fn messages(&self) -> Vec<Message> {
        let mut settled = self.clone();
        settled.settle();
        settled.messages
    }

    /// Returns the calls of the last reply that have no result yet, in call order.
    pub fn unanswered(&self) -> Vec<&ToolCall> {
        self.unsettled().map(|slot| &slot.call).collect()
    }

    /// Returns the model last chosen, as `PROVIDER/MODEL`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the mode last chosen.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the rules granted in this session.
    pub fn allowed(&self) -> &[String] {
        &self.allowed
    }

    fn unsettled(&self) -> impl Iterator<Item = &Slot> {
        self.open.iter().filter(|slot| slot.result.is_none())
    }

    fn allow(&mut self, rule: &str) {
        if !self.allowed.iter().any(|known| known == rule) {
            self.allowed.push(rule.into());
        }
    }

    fn prompted(&mut self, text: &str) {
        self.settle();
        self.say(text);
    }

    /// The model has to know that files are no longer as it left them.
    fn restored(&mut self, restore: Restore, touches: &[Touch]) {
        if self.messages.is_empty() || touches.is_empty() {
            return;
        }
        let what = match restore {
            Restore::Undo { .. } => "took changes back",
            Restore::Redo { .. } => "brought changes back that had been taken back",
            Restore::PutBack => "put parts of files back as they were",
        };
        let paths: Vec<_> = touches.iter().map(|touch| touch.path.as_str()).collect();
        self.settle();
        self.say(&format!(
            "[The person {what}. Read these files again before you change them: {}.]",
            paths.join(", ")
        ));
    }

    fn replied(&mut self, reply: &Reply) {
        self.settle();
        let reply = cleaned(reply);
        // What came before was cleared or lost: a conversation begins with the person.
        if self.messages.is_empty() || !says_anything(&reply) {
            return;
        }
        let slot = |call: &ToolCall| Slot { call: call.clone(), is_acting: false, result: None };
        self.open = reply.calls().map(slot).collect();
        match self.messages.last_mut() {
            Some(Message::Assistant(before)) => join(before, reply),
            _ => self.messages.push(Message::Assistant(reply)),
        }
    }

    fn acting(&mut self, call: &CallId) {
        if let Some(slot) = self.slot(call) {
            slot.is_acting = true;
        }
    }

    fn finished(&mut self, result: &ToolResult) {
        let Some(slot) = self.slot(&result.id) else { return };
        slot.result = Some(result.clone());
        if self.unsettled().next().is_none() {
            self.settle();
        }
    }

    /// Finds an open call that has no result yet.
    fn slot(&mut self, id: &CallId) -> Option<&mut Slot> {
        self.open.iter_mut().find(|slot| slot.call.id == *id && slot.result.is_none())
    }

    fn clear(&mut self) {
        self.messages.clear();
        self.open.clear();
    }

    /// Answers what is open.
    fn settle(&mut self) {
        if !self.open.is_empty() {
            let results = self.open.drain(..).map(Slot::into_result).collect();
            self.messages.push(Message::Results { results });
        }
    }

    /// Adds a user's text, joined to the one before it.
    fn say(&mut self, more: &str) {
        if more.trim().is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(Message::User { text }) => {
                text.push_str("\n\n");
                text.push_str(more);
            }
            _ => self.messages.push(Message::User { text: more.into() }),
        }
    }
}

impl Slot {
    fn into_result(self) -> ToolResult {
        let Self { call, is_acting, result } = self;
        let text = if is_acting {
            "Interrupted; the tool may have partly run."
        } else {
            "Interrupted before the tool could act."
        };
        let text = text.to_owned();
        result.unwrap_or(ToolResult { id: call.id, name: call.name, ok: false, text })
    }
}

/// Returns the reply without what no provider takes back: empty text, and unsigned thinking that was cut off.
fn cleaned(reply: &Reply) -> Reply {
    let keep = |part: &&Part| match part {
        Part::Text { text, opaque } => !text.is_empty() || opaque.is_some(),
        Part::Thinking { opaque, .. } => !reply.interrupted || opaque.is_some(),
        Part::Call(_) => true,
    };
    Reply { parts: reply.parts.iter().filter(keep).cloned().collect(), ..reply.clone() }
}

fn says_anything(reply: &Reply) -> bool {
    reply.parts.iter().any(|part| !matches!(part, Part::Thinking { opaque: None, .. }))
}

/// Joins a reply to the one right before it, which has no calls.
fn join(before: &mut Reply, reply: Reply) {
    // Opaque data counts only for its own model, and a message has one origin.
    if before.origin != reply.origin {
        before.parts.iter_mut().for_each(forget_opaque);
        before.parts.retain(|part| !matches!(part, Part::Text { text, .. } if text.is_empty()));
    }
    before.parts.extend(reply.parts);
    before.origin = reply.origin;
    before.interrupted = reply.interrupted;
}

fn forget_opaque(part: &mut Part) {
    match part {
        Part::Text { opaque, .. } | Part::Thinking { opaque, .. } => *opaque = None,
        Part::Call(call) => call.opaque = None,
    }
}

#[cfg(test)]
mod tests;
