use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::session::{Origin, TurnEnd, Usage, View};

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

fn acting(id: &str) -> Record {
    Record::Acting { call: CallId(id.into()), staged: vec!["/w/.tmp".into()], touches: vec![] }
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
        finished("2"),
        finished("1"),
        replied(vec![text("ok")]),
    ]);
    let expected = vec![
        user("go"),
        Message::Assistant(reply(parts, false)),
        Message::Results { results: vec![result("1", true, "done"), result("2", true, "done")] },
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
    assert!(conversation.unanswered().is_empty());
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
