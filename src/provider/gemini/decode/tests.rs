//! What Gemini answers, hop by hop.

use super::*;
use crate::provider::ErrorKind;

/// Takes chunks in and judges the end.
fn read(chunks: &[Value]) -> (Vec<Delta>, Result<End, ProviderError>) {
    let mut reading = Reading::default();
    let mut deltas = Vec::new();
    for chunk in chunks {
        match reading.take(&chunk.to_string()) {
            Ok(more) => deltas.extend(more),
            Err(error) => return (deltas, Err(error)),
        }
    }
    let end = reading.end();
    (deltas, end)
}

fn chunk(parts: Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] })
}

fn finish(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

fn complete(end: Result<End, ProviderError>) -> Completion {
    match end {
        Ok(End::Complete(completion)) => completion,
        other => panic!("{other:?}"),
    }
}

fn text(text: &str, signature: Option<&str>) -> Part {
    Part::Text { text: text.into(), opaque: signature.map(Value::from) }
}

#[test]
fn increments_join_and_signed_parts_stay_apart() {
    let (deltas, end) = read(&[
        chunk(json!([{ "text": "Let me", "thought": true }])),
        chunk(json!([{ "text": " see.", "thought": true }, { "text": "Hel" }])),
        chunk(json!([{ "text": "lo" }, { "text": "" }])),
        chunk(json!([{ "text": "!", "thoughtSignature": "YQ==" }, { "text": " Bye" }])),
        chunk(json!([{ "text": "", "thoughtSignature": "Yg==" }, { "inlineData": {} }])),
        chunk(json!([{ "thoughtSignature": "Yw==" }])),
        finish("STOP"),
    ]);
    assert_eq!(
        deltas,
        [
            Delta::Thinking("Let me".into()),
            Delta::Thinking(" see.".into()),
            Delta::Text("Hel".into()),
            Delta::Text("lo".into()),
            Delta::Text("!".into()),
            Delta::Text(" Bye".into()),
        ]
    );
    assert_eq!(
        complete(end).parts,
        [
            Part::Thinking { text: "Let me see.".into(), opaque: None },
            text("Hello", None),
            text("!", Some("YQ==")),
            text(" Bye", None),
            text("", Some("Yg==")),
            text("", Some("Yw==")),
        ]
    );
}

#[test]
fn calls_are_read_with_what_they_carry() {
    let (deltas, end) = read(&[
        chunk(json!([
            { "functionCall": { "id": "fc1", "name": "read_file", "args": { "path": "é" } },
              "thoughtSignature": "U0k=" },
            { "functionCall": { "name": "git_status" } },
        ])),
        chunk(json!([{ "functionCall": { "id": "", "name": "x", "args": "{\"a\"" } }])),
        finish("STOP"),
    ]);
    let name = |name: &str| Delta::Calling { name: name.into() };
    assert_eq!(deltas, [name("read_file"), name("git_status"), name("x")]);
    let parts = complete(end).parts;
    let calls: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Call(call) => {
                (call.wire_id.as_deref(), call.args.clone(), call.fault.is_some(), &call.opaque)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        calls,
        [
            (Some("fc1"), json!({ "path": "é" }), false, &Some(json!("U0k="))),
            (None, json!({}), false, &None),
            (None, json!({}), true, &None),
        ]
    );
}

#[test]
fn every_finish_reason_has_its_consequence() {
    let said = || chunk(json!([{ "text": "Hi" }]));
    let called = || chunk(json!([{ "functionCall": { "name": "x" } }]));
    let thought = || chunk(json!([{ "text": "hm", "thought": true }]));
    let bad = [
        ("MALFORMED_FUNCTION_CALL", ErrorKind::BadCall),
        ("UNEXPECTED_TOOL_CALL", ErrorKind::BadCall),
        ("MALFORMED_RESPONSE", ErrorKind::BadCall),
        ("TOO_MANY_TOOL_CALLS", ErrorKind::BadCall),
        ("MISSING_THOUGHT_SIGNATURE", ErrorKind::BadRequest),
        ("CONTINUATION", ErrorKind::Cut),
    ];
    for (reason, kind) in bad {
        let (_, end) = read(&[said(), called(), finish(reason)]);
        assert_eq!(end.unwrap_err().kind, kind, "{reason}");
    }
    for reason in [
        "SAFETY",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "RECITATION",
        "LANGUAGE",
        "PUP_LIMITED_DISABLED",
        "ESCALATION",
    ] {
        let completion = complete(read(&[said(), called(), finish(reason)]).1);
        assert!(matches!(&completion.stop, Stop::Blocked(why) if why.contains(reason)));
        assert_eq!(completion.parts, [text("Hi", None)], "{reason}");
        let error = read(&[called(), finish(reason)]).1.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Blocked, "{reason}");
    }
    for reason in ["OTHER", "FINISH_REASON_UNSPECIFIED", "NEW_ONE"] {
        let completion = complete(read(&[said(), called(), finish(reason)]).1);
        assert_eq!((completion.parts.len(), completion.stop), (1, Stop::Done), "{reason}");
        assert_eq!(read(&[called(), finish(reason)]).1.unwrap_err().kind, ErrorKind::Empty);
    }
    let truncated = complete(read(&[said(), called(), finish("MAX_TOKENS")]).1);
    assert_eq!((truncated.parts.len(), truncated.stop), (2, Stop::Truncated));
    assert_eq!(read(&[thought(), finish("STOP")]).1.unwrap_err().kind, ErrorKind::Empty);
    assert_eq!(read(&[finish("STOP")]).1.unwrap_err().kind, ErrorKind::Empty);
    assert_eq!(read(&[said(), called()]).1.unwrap_err().kind, ErrorKind::Cut);
    assert_eq!(read(&[]).1.unwrap_err().kind, ErrorKind::Cut);
}

#[test]
fn an_early_stop_does_not_end_the_reading() {
    let mut early = chunk(json!([{ "text": "" }]));
    early["candidates"][0]["finishReason"] = "STOP".into();
    let (_, end) = read(&[early, chunk(json!([{ "text": "Hi" }]))]);
    assert_eq!(complete(end).parts, [text("Hi", None)]);
}

#[test]
fn a_blocked_prompt_says_why() {
    let error = read(&[json!({ "promptFeedback": { "blockReason": "OTHER" } })]).1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Blocked);
    assert!(error.message.contains("OTHER"), "{error}");
}

#[test]
fn the_last_count_is_the_count_and_thoughts_are_output() {
    let counted = |usage: Value| json!({ "usageMetadata": usage });
    let (_, end) = read(&[
        counted(json!({ "promptTokenCount": 41, "totalTokenCount": 41 })),
        chunk(json!([{ "text": "Hi" }])),
        finish("STOP"),
        counted(json!({ "promptTokenCount": 41, "cachedContentTokenCount": 30,
            "candidatesTokenCount": 2, "thoughtsTokenCount": 12, "totalTokenCount": 55 })),
    ]);
    let wanted = Usage { input: 41, cached: 30, output: 14, thinking: 12 };
    assert_eq!(complete(end).usage, wanted);

    let inside = json!({ "promptTokenCount": 41, "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 14, "thoughtsTokenCount": 12, "totalTokenCount": 56 });
    assert_eq!(usage(&inside), Usage { input: 42, cached: 0, output: 14, thinking: 12 });
}

#[test]
fn a_continued_reply_is_one_reply() {
    let mut reading = Reading::default();
    let hop = |text: &str, reason: &str| {
        json!({
            "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": reason,
                "continuationToken": "tok" }],
            "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 },
        })
        .to_string()
    };
    reading.take(&hop("Hel", "CONTINUATION")).unwrap();
    assert_eq!(reading.end().unwrap(), End::Continue("tok".into()));
    reading.take(&hop("lo", "STOP")).unwrap();
    let completion = complete(reading.end());
    assert_eq!(completion.parts, [text("Hello", None)]);
    assert_eq!(completion.usage, Usage { input: 20, cached: 0, output: 10, thinking: 0 });
}

#[test]
fn errors_and_garbage_in_a_stream_are_failures() {
    let busy = json!({ "error": { "code": 503, "message": "busy", "status": "UNAVAILABLE" } });
    let table = [
        (busy.to_string(), ErrorKind::Overloaded),
        (json!([busy]).to_string(), ErrorKind::Overloaded),
        (format!("{}{busy}", finish("STOP")), ErrorKind::Overloaded),
        (json!({ "error": "sorry" }).to_string(), ErrorKind::Transient),
        ("<oops>".into(), ErrorKind::Transient),
        ("{\"candidates\": [".into(), ErrorKind::Transient),
    ];
    for (data, kind) in table {
        assert_eq!(Reading::default().take(&data).unwrap_err().kind, kind, "{data}");
    }
}

#[test]
fn two_objects_in_one_event_are_both_read() {
    let mut reading = Reading::default();
    let data = format!("{}\n{}", chunk(json!([{ "text": "a" }])), chunk(json!([{ "text": "b" }])));
    assert_eq!(reading.take(&data).unwrap().len(), 2);
}
