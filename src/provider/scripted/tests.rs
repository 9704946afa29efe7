//! Scripts read, walked and played.

use futures::{FutureExt, StreamExt};
use serde_json::json;

use super::*;
use crate::provider::{ErrorKind, Stop};
use crate::session::{Message, Origin, Part, Reply, ToolCall, ToolResult, Usage};

fn model(script: &str) -> Scripted {
    Scripted::new(Script::parse(script).expect("the script is well written"), Pace::Instant)
}

fn request(messages: &[Message]) -> Request {
    Request {
        model: "test".into(),
        role: "pair",
        system: "".into(),
        tools: [].into(),
        messages: messages.to_vec(),
    }
}

fn played(model: &Scripted, request: Request) -> Vec<Result<Delta, ProviderError>> {
    model.stream(request).collect().now_or_never().expect("an instant script never waits")
}

/// Plays one request to its end and returns the reply as the agent would keep it.
fn reply(model: &Scripted, messages: &[Message]) -> Reply {
    let Some(Ok(Delta::Done(done))) = played(model, request(messages)).pop() else {
        panic!("the reply did not end well");
    };
    let origin = Origin { provider: NAME.into(), model: "test".into() };
    Reply { parts: done.parts, origin, interrupted: false }
}

fn said(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn results(reply: &Reply, ok: bool, text: &str) -> Message {
    let result = |call: &ToolCall| ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        ok,
        text: text.into(),
    };
    Message::Results { results: reply.calls().map(result).collect() }
}

const FIX: &str = r#"
[[reply]]
text = "First the tests."
calls = [{ tool = "run_command", args = { command = "python3 tests.py" } }]

[[reply]]
when = { tool = "run_command", contains = "OK" }
text = "Nothing is broken."
then = "end"

[[reply]]
label = "edit"
calls = [{ tool = "edit_file", args = { path = "a.py", old_str = "2", new_str = "1" } }]

[[reply]]
when = { tool = "edit_file", ok = false }
text = "What should I do instead?"
then = "edit"

[[reply]]
text = "Done."

[[reply]]
label = "end"
when = { user = "thank" }
text = "You are welcome."
then = "end"
"#;

#[test]
fn a_reply_streams_word_by_word_and_ends_whole() {
    let model = model(
        r#"
        [[reply]]
        thinking = "Hm, so."
        text = "Two words"
        calls = [{ tool = "read_file", args = { path = "a", start_line = 3 } }]
        usage = { input = 10, output = 5, thinking = 2 }
        "#,
    );
    let mut deltas: Vec<Delta> =
        played(&model, request(&[said("go")])).into_iter().map(Result::unwrap).collect();
    let Some(Delta::Done(mut done)) = deltas.pop() else { panic!("no end") };
    assert_eq!(
        deltas,
        [
            Delta::Thinking("Hm, ".into()),
            Delta::Thinking("so.".into()),
            Delta::Text("Two ".into()),
            Delta::Text("words".into()),
            Delta::Calling { name: "read_file".into() },
        ]
    );
    let Some(Part::Call(call)) = done.parts.pop() else { panic!("no call") };
    assert_eq!(
        done.parts,
        [
            Part::Thinking { text: "Hm, so.".into(), opaque: None },
            Part::Text { text: "Two words".into(), opaque: None },
        ]
    );
    assert_eq!(call.args, json!({ "path": "a", "start_line": 3 }));
    assert_eq!((call.fault, call.wire_id), (None, None));
    assert_eq!(done.usage, Usage { input: 10, cached: 0, output: 5, thinking: 2 });
    assert_eq!(done.stop, Stop::Done);
}

#[test]
fn the_conversation_chooses_what_is_played() {
    let model = model(FIX);
    let mut talk = vec![said("fix it")];
    let tests = reply(&model, &talk);
    assert_eq!(tests.text(), "First the tests.");
    talk.extend([Message::Assistant(tests.clone()), results(&tests, false, "FAILED")]);

    let edit = reply(&model, &talk);
    assert_eq!(edit.calls().next().map(|call| call.name.as_str()), Some("edit_file"));
    talk.extend([Message::Assistant(edit.clone()), results(&edit, false, "no, thanks")]);

    let asks = reply(&model, &talk);
    assert_eq!(asks.text(), "What should I do instead?");
    talk.extend([Message::Assistant(asks), said("again")]);

    let again = reply(&model, &talk);
    assert_ne!(again.calls().next().map(|call| &call.id), edit.calls().next().map(|call| &call.id));
    talk.extend([Message::Assistant(again.clone()), results(&again, true, "written")]);

    let done = reply(&model, &talk);
    assert_eq!(done.text(), "Done.");
    talk.extend([Message::Assistant(done), said("Thanks!")]);
    assert_eq!(reply(&model, &talk).text(), "You are welcome.");
}

#[test]
fn a_restarted_process_goes_on_where_the_conversation_stands() {
    let before = model(FIX);
    let mut talk = vec![said("fix it")];
    let tests = reply(&before, &talk);
    talk.extend([Message::Assistant(tests.clone()), results(&tests, true, "OK")]);
    assert_eq!(reply(&model(FIX), &talk).text(), "Nothing is broken.");
}

#[test]
fn replies_of_other_models_do_not_move_the_script() {
    let model = model(FIX);
    let origin = Origin { provider: "gemini".into(), model: "g".into() };
    let foreign = Reply { origin, ..Reply::default() };
    let talk = [said("hello"), Message::Assistant(foreign), said("fix it")];
    assert_eq!(reply(&model, &talk).text(), "First the tests.");
}

#[test]
fn a_script_that_has_no_step_left_says_so() {
    let model = model("[[reply]]\nwhen = { user = \"fix\" }\ntext = \"Fixed.\"");
    let talk = [said("hello")];
    let lost = reply(&model, &talk);
    assert!(lost.text().starts_with("The script has nothing more"), "{}", lost.text());
    let talk = [said("hello"), Message::Assistant(lost), said("Fix it")];
    assert_eq!(reply(&model, &talk).text(), "Fixed.");
}

#[test]
fn a_role_plays_its_own_section() {
    let model = model("[[reply]]\ntext = \"any\"\n[[roles.validator.reply]]\ntext = \"strict\"");
    let as_role = |role| {
        let request = Request { role, ..request(&[said("go")]) };
        played(&model, request).pop()
    };
    let text = |end| match end {
        Some(Ok(Delta::Done(done))) => Reply { parts: done.parts, ..Reply::default() }.text(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(as_role("validator")), "strict");
    assert_eq!(text(as_role("pair")), "any");
}

#[test]
fn a_fault_is_played_so_many_times_and_then_the_reply() {
    let model = model(
        r#"
        [[reply]]
        text = "At last."
        fault = { kind = "rate_limit", times = 2, wait = 1.5, message = "Slow down." }
        "#,
    );
    let refused = ProviderError {
        kind: ErrorKind::RateLimit,
        message: "Slow down.".into(),
        retry_after: Some(std::time::Duration::from_millis(1500)),
    };
    for _ in 0..2 {
        assert_eq!(played(&model, request(&[said("go")])), [Err(refused.clone())]);
    }
    assert_eq!(reply(&model, &[said("go")]).text(), "At last.");
}

#[test]
fn a_cut_comes_in_the_middle_and_silence_never_ends() {
    let script = |kind: &str| {
        model(&format!("[[reply]]\ntext = \"one two three four\"\nfault.kind = \"{kind}\""))
    };
    let cut = played(&script("cut"), request(&[said("go")]));
    assert_eq!(cut.len(), 3);
    assert!(matches!(&cut[2], Err(error) if error.kind == ErrorKind::Cut));

    let mut silent = script("hang").stream(request(&[said("go")]));
    assert!(silent.next().now_or_never().is_some());
    assert!(silent.next().now_or_never().is_some());
    assert!(silent.next().now_or_never().is_none());
}

#[test]
fn a_reply_without_words_and_calls_is_a_failure() {
    let end = played(&model("[[reply]]\nthinking = \"hm\""), request(&[said("go")])).pop();
    assert!(matches!(end, Some(Err(error)) if error.kind == ErrorKind::Empty));
}

#[test]
fn malformed_arguments_never_become_arguments() {
    let model = model(
        "[[reply]]\ncalls = [{ tool = \"write_file\", malformed = '{\"path\": \"a' }]\ntruncated = true",
    );
    let reply = reply(&model, &[said("go")]);
    let call = reply.calls().next().expect("a call");
    assert_eq!(call.args, json!({}));
    assert!(call.fault.as_ref().is_some_and(|fault| fault.contains("{\"path\": \"a")));
}

#[tokio::test(start_paused = true)]
async fn a_realistic_pace_takes_time() {
    let before = tokio::time::Instant::now();
    let script = Script::parse("[[reply]]\ntext = \"Two words.\"").unwrap();
    let deltas = Scripted::new(script, Pace::Realistic).stream(request(&[said("go")]));
    assert_eq!(deltas.count().await, 3);
    assert!(before.elapsed() > std::time::Duration::from_millis(350));
}

#[test]
fn errors_name_the_line_and_the_reason() {
    let table = [
        ("[[reply]]\ntxt = \"a\"", "The script, line 2: unknown field `txt`"),
        ("[[reply]]\ntext = \"a\n", "The script, line 2: invalid basic string"),
        ("[[reply]]\nthen = \"lost\"", "The script, line 2: no reply here has the label \"lost\"."),
        ("[[reply]]\nfault.kind = \"fire\"", "The script, line 2: unknown variant `fire`"),
    ];
    for (script, wanted) in table {
        let error = Script::parse(script).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
    let error = Script::load(std::path::Path::new("no/such.toml")).unwrap_err().to_string();
    assert!(error.starts_with("The script no/such.toml cannot be read ("), "{error}");
}

#[test]
fn every_script_of_the_reference_can_be_played() {
    let reference = include_str!("../../../docs/scripted.md");
    let scripts: Vec<&str> =
        reference.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        Script::parse(script).unwrap();
    }
}
