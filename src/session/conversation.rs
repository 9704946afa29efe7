//! The conversation as a fold over records: what the next request to a model holds.
//!
//! It is valid after every record (protocols §10.3): every call has exactly one result right after
//! its reply, in call order; neighbours of one role are merged; what belongs to nothing is dropped.

use std::path::PathBuf;

use super::{CallId, Entry, Message, Part, Record, Reply, ToolCall, ToolResult, Usage};
use crate::config::Mode;

/// The messages so far, and what else the next turn starts from.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    messages: Vec<Message>,
    /// The calls of the last reply while any has no result.
    open: Vec<Slot>,
    /// Nudges that came while calls were open: they follow the results.
    held: Vec<String>,
    last_usage: Usage,
    total_usage: Usage,
    model: String,
    mode: Mode,
    allowed: Vec<String>,
}

/// A call and what is known of its end.
#[derive(Debug, Clone)]
struct Slot {
    call: ToolCall,
    /// The temporary files, once it is about to act.
    acting: Option<Vec<PathBuf>>,
    result: Option<ToolResult>,
}

/// A call that had begun to act when the process ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Caught<'a> {
    pub call: &'a ToolCall,
    /// Temporary files that may have been left.
    pub staged: &'a [PathBuf],
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
            Record::Nudged { text } => self.nudged(text),
            Record::Replied { reply, usage, .. } => self.replied(reply, *usage),
            Record::Acting { call, staged } => self.acting(call, staged),
            Record::Finished { result, .. } => self.finished(result),
            Record::Cleared => self.clear(),
            Record::Proposed { .. }
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

    /// Returns the calls that had begun to act and have no result: after loading, those that a kill caught.
    pub fn caught(&self) -> Vec<Caught<'_>> {
        self.unsettled().filter_map(Slot::caught).collect()
    }

    /// Returns the tokens of the last request.
    pub fn last_usage(&self) -> Usage {
        self.last_usage
    }

    /// Returns the tokens of all requests.
    pub fn total_usage(&self) -> Usage {
        self.total_usage
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

    fn nudged(&mut self, text: &str) {
        if self.open.is_empty() {
            self.say(text);
        } else {
            self.held.push(text.into());
        }
    }

    fn replied(&mut self, reply: &Reply, usage: Usage) {
        self.last_usage = usage;
        self.total_usage += usage;
        self.settle();
        let reply = cleaned(reply);
        // What came before was cleared or lost: a conversation begins with the person.
        if self.messages.is_empty() || !says_anything(&reply) {
            return;
        }
        let slot = |call: &ToolCall| Slot { call: call.clone(), acting: None, result: None };
        self.open = reply.calls().map(slot).collect();
        match self.messages.last_mut() {
            Some(Message::Assistant(before)) => join(before, reply),
            _ => self.messages.push(Message::Assistant(reply)),
        }
    }

    fn acting(&mut self, call: &CallId, staged: &[PathBuf]) {
        if let Some(slot) = self.slot(call) {
            slot.acting = Some(staged.to_vec());
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
        self.held.clear();
        self.last_usage = Usage::default();
    }

    /// Answers what is open and says what was held.
    fn settle(&mut self) {
        if !self.open.is_empty() {
            let results = self.open.drain(..).map(Slot::into_result).collect();
            self.messages.push(Message::Results { results });
        }
        for text in std::mem::take(&mut self.held) {
            self.say(&text);
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
    fn caught(&self) -> Option<Caught<'_>> {
        let staged = self.acting.as_deref()?;
        Some(Caught { call: &self.call, staged })
    }

    fn into_result(self) -> ToolResult {
        let Self { call, acting, result } = self;
        let text = match acting {
            Some(_) => "Interrupted; the tool may have partly run.",
            None => "Interrupted before the tool could act.",
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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::session::{Origin, TurnEnd, View};

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: CallId(id.into()),
            wire_id: None,
            name: "read_file".into(),
            args: json!({}),
            fault: None,
            opaque: None,
        }
    }

    fn text(text: &str) -> Part {
        Part::Text { text: text.into(), opaque: None }
    }

    fn thinking(opaque: Option<&str>) -> Part {
        Part::Thinking { text: "hm".into(), opaque: opaque.map(|opaque| json!(opaque)) }
    }

    fn reply(parts: Vec<Part>, interrupted: bool) -> Reply {
        Reply { parts, origin: Origin { provider: "p".into(), model: "m".into() }, interrupted }
    }

    fn replied(parts: Vec<Part>) -> Record {
        said(reply(parts, false))
    }

    fn said(reply: Reply) -> Record {
        let usage = Usage { input: 10, cached: 4, output: 2, thinking: 1 };
        Record::Replied { reply, usage, millis: 1, first_token_millis: None }
    }

    fn prompted(text: &str) -> Record {
        Record::Prompted { text: text.into() }
    }

    fn nudged(text: &str) -> Record {
        Record::Nudged { text: text.into() }
    }

    fn acting(id: &str) -> Record {
        Record::Acting { call: CallId(id.into()), staged: vec!["/w/.tmp".into()] }
    }

    fn result(id: &str, ok: bool, text: &str) -> ToolResult {
        ToolResult { id: CallId(id.into()), name: "read_file".into(), ok, text: text.into() }
    }

    fn finished(id: &str) -> Record {
        Record::Finished { result: result(id, true, "done"), view: View::Text, millis: 1 }
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn fold(records: &[Record]) -> Conversation {
        let mut conversation = Conversation::default();
        records.iter().for_each(|record| conversation.apply(record));
        conversation
    }

    #[test]
    fn results_follow_their_reply_in_call_order() {
        let parts = vec![text("both"), Part::Call(call("1")), Part::Call(call("2"))];
        let conversation = fold(&[
            prompted("go"),
            replied(parts.clone()),
            nudged("careful"),
            finished("2"),
            finished("1"),
            replied(vec![text("ok")]),
        ]);
        let expected = vec![
            user("go"),
            Message::Assistant(reply(parts, false)),
            Message::Results {
                results: vec![result("1", true, "done"), result("2", true, "done")],
            },
            user("careful"),
            Message::Assistant(reply(vec![text("ok")], false)),
        ];
        assert_eq!(conversation.messages(), expected);
    }

    #[test]
    fn unanswered_calls_get_a_result_that_says_so() {
        let parts = vec![Part::Call(call("1")), Part::Call(call("2")), Part::Call(call("3"))];
        let mut conversation =
            fold(&[prompted("go"), replied(parts.clone()), finished("1"), acting("2")]);
        assert_eq!(conversation.unanswered(), [&call("2"), &call("3")]);
        let staged = [PathBuf::from("/w/.tmp")];
        assert_eq!(conversation.caught(), [Caught { call: &call("2"), staged: &staged }]);
        let results = vec![
            result("1", true, "done"),
            result("2", false, "Interrupted; the tool may have partly run."),
            result("3", false, "Interrupted before the tool could act."),
        ];
        let mut expected =
            vec![user("go"), Message::Assistant(reply(parts, false)), Message::Results { results }];
        assert_eq!(conversation.messages(), expected);

        conversation.apply(&prompted("again"));
        conversation.apply(&finished("2"));
        expected.push(user("again"));
        assert_eq!(conversation.messages(), expected);
        assert!(conversation.unanswered().is_empty() && conversation.caught().is_empty());
    }

    #[test]
    fn an_interrupted_reply_keeps_its_text_and_signed_thinking_only() {
        let parts = vec![thinking(None), thinking(Some("sig")), text("half")];
        let cut = fold(&[prompted("a"), said(reply(parts, true)), prompted("b")]);
        let kept = Message::Assistant(reply(vec![thinking(Some("sig")), text("half")], true));
        assert_eq!(cut.messages(), [user("a"), kept, user("b")]);
    }

    #[test]
    fn a_reply_that_says_nothing_leaves_nothing() {
        for parts in [vec![], vec![text("")], vec![thinking(None)]] {
            let silent = fold(&[prompted("a"), said(reply(parts, true)), prompted("b")]);
            assert_eq!(silent.messages(), [user("a\n\nb")]);
        }
    }

    #[test]
    fn clearing_empties_the_messages_and_keeps_the_settings() {
        let conversation = fold(&[
            Record::ModelChanged { model: "p/m".into() },
            Record::ModeChanged { mode: Mode::AcceptEdits },
            Record::Allowed { rule: "run_command(ls)".into() },
            Record::Allowed { rule: "run_command(ls)".into() },
            prompted("go"),
            replied(vec![Part::Call(call("1"))]),
            Record::Cleared,
            finished("1"),
            replied(vec![text("late")]),
        ]);
        assert_eq!(conversation.messages(), []);
        assert_eq!((conversation.model(), conversation.mode()), ("p/m", Mode::AcceptEdits));
        assert_eq!(conversation.allowed(), ["run_command(ls)"]);
        assert_eq!(conversation.total_usage().input, 20);
    }

    #[test]
    fn a_reply_of_another_model_takes_no_foreign_signature_with_it() {
        let signed = Part::Text { text: "a".into(), opaque: Some(json!("sig")) };
        let other = Reply { origin: Origin::default(), ..reply(vec![text("b")], false) };
        let joined = fold(&[prompted("go"), replied(vec![signed]), said(other.clone())]);
        let expected = Reply { parts: vec![text("a"), text("b")], ..other };
        assert_eq!(joined.messages(), [user("go"), Message::Assistant(expected)]);
    }

    fn any_part() -> impl Strategy<Value = Part> {
        prop_oneof![
            "[ab]?".prop_map(|said| text(&said)),
            proptest::option::of("s").prop_map(|signed| thinking(signed.as_deref())),
            "[1-4]".prop_map(|id| Part::Call(call(&id))),
        ]
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let parts = proptest::collection::vec(any_part(), 0..4);
        let origin = "[pq]".prop_map(|provider| Origin { provider, model: "m".into() });
        prop_oneof![
            "[xy ]?".prop_map(|text| prompted(&text)),
            "[xy]".prop_map(|text| nudged(&text)),
            (parts, origin, any::<bool>()).prop_map(|(parts, origin, interrupted)| said(Reply {
                parts,
                origin,
                interrupted
            })),
            "[1-4]".prop_map(|id| acting(&id)),
            "[1-4]".prop_map(|id| finished(&id)),
            Just(Record::TurnEnded { end: TurnEnd::Interrupted }),
            Just(Record::Cleared),
        ]
    }

    /// Says what is wrong with a conversation that would be sent.
    fn fault(messages: &[Message]) -> Option<String> {
        if messages.first().is_some_and(|first| !matches!(first, Message::User { .. })) {
            return Some("does not begin with the user".into());
        }
        let following = messages.iter().skip(1).map(Some).chain([None]);
        messages.iter().zip(following).find_map(|(message, next)| match (message, next) {
            (Message::User { text }, _) if text.trim().is_empty() => Some("empty text".into()),
            (Message::User { .. }, Some(Message::User { .. })) => Some("two users".into()),
            (Message::User { .. }, Some(Message::Results { .. })) => Some("orphans".into()),
            (Message::Assistant(reply), next) => reply_fault(reply, next),
            (Message::Results { .. }, Some(Message::Results { .. })) => Some("orphans".into()),
            _ => None,
        })
    }

    fn reply_fault(reply: &Reply, next: Option<&Message>) -> Option<String> {
        let calls: Vec<_> = reply.calls().map(|call| &call.id).collect();
        let results: Vec<_> = match next {
            Some(Message::Results { results }) => results.iter().map(|result| &result.id).collect(),
            Some(Message::Assistant(_)) => return Some("two replies".into()),
            _ => Vec::new(),
        };
        if calls != results {
            return Some(format!("calls {calls:?} with results {results:?}"));
        }
        (!says_anything(reply)).then(|| "an empty reply".into())
    }

    proptest! {
        #[test]
        fn any_order_of_facts_makes_a_valid_conversation(
            records in proptest::collection::vec(any_record(), 0..40)
        ) {
            let mut conversation = Conversation::default();
            for record in &records {
                conversation.apply(record);
                prop_assert_eq!(fault(&conversation.messages()), None);
            }
        }
    }
}
