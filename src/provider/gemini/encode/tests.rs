//! What Gemini is sent.

use serde_json::{Value, json};

use super::*;
use crate::session::{CallId, Origin, Spec};

const MODEL: &str = "gemini-3.8-flash";

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn text(text: &str, signature: Option<&str>) -> Part {
    Part::Text { text: text.into(), opaque: signature.map(Value::from) }
}

fn thinking(text: &str, signature: Option<&str>) -> Part {
    Part::Thinking { text: text.into(), opaque: signature.map(Value::from) }
}

/// A call whose local id, wire id and argument are told by one letter.
fn call(letter: &str, signature: Option<&str>) -> Part {
    Part::Call(ToolCall {
        id: CallId(letter.into()),
        wire_id: Some(format!("wire-{letter}")),
        name: "read_file".into(),
        args: json!({ "path": letter }),
        fault: None,
        opaque: signature.map(Value::from),
    })
}

fn reply(provider: &str, parts: Vec<Part>) -> Message {
    let origin = Origin { provider: provider.into(), model: MODEL.into() };
    Message::Assistant(Reply { parts, origin, interrupted: false })
}

fn results(list: &[(&str, bool, &str)]) -> Message {
    let result = |&(id, ok, text): &(&str, bool, &str)| ToolResult {
        id: CallId(id.into()),
        name: "read_file".into(),
        ok,
        text: text.into(),
    };
    Message::Results { results: list.iter().map(result).collect() }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        model: MODEL.into(),
        role: "pair",
        system: "Be careful.".into(),
        tools: [Spec {
            name: "read_file".into(),
            description: "Reads a file.".into(),
            schema: json!({ "type": "object", "properties": {}, "$schema": "x" }),
        }]
        .into(),
        messages,
    }
}

fn sent(messages: Vec<Message>) -> Value {
    body(&request(messages), Signatures::Echo)["contents"].take()
}

#[test]
fn a_first_request_is_complete() {
    assert_eq!(
        body(&request(vec![user("hello")]), Signatures::Echo),
        json!({
            "systemInstruction": { "parts": [{ "text": "Be careful." }] },
            "tools": [{ "functionDeclarations": [{
                "name": "read_file",
                "description": "Reads a file.",
                "parametersJsonSchema": { "type": "object", "properties": {} },
            }] }],
            "toolConfig": { "functionCallingConfig": { "mode": "AUTO" } },
            "generationConfig": {
                "maxOutputTokens": 65536,
                "thinkingConfig": { "includeThoughts": true },
            },
            "contents": [{ "role": "user", "parts": [{ "text": "hello" }] }],
        })
    );
}

#[test]
fn limits_and_thoughts_fit_the_model() {
    let table = [
        ("gemini-4-argon", 65_536, true),
        ("gemini-9-unheard-of", 32_768, true),
        ("gemini-2.0-flash", 32_768, false),
    ];
    for (model, output, thinks) in table {
        let config = generation(model);
        assert_eq!(config["maxOutputTokens"], output, "{model}");
        assert_eq!(config.get("thinkingConfig").is_some(), thinks, "{model}");
    }
}

#[test]
fn own_parts_go_back_with_ids_and_signatures_where_they_were() {
    let talk = vec![
        user("go"),
        reply(
            "gemini",
            vec![
                thinking("hm", None),
                text("Look.", None),
                call("a", Some("U0k=")),
                call("b", None),
            ],
        ),
        results(&[("b", false, "not there"), ("a", true, "found")]),
        reply(
            "gemini",
            vec![thinking("so", Some("dA==")), text("Done.", None), text("", Some("ZQ=="))],
        ),
        user("thanks"),
    ];
    assert_eq!(
        sent(talk),
        json!([
            { "role": "user", "parts": [{ "text": "go" }] },
            { "role": "model", "parts": [
                { "text": "Look." },
                { "functionCall": { "id": "wire-a", "name": "read_file", "args": { "path": "a" } },
                  "thoughtSignature": "U0k=" },
                { "functionCall": { "id": "wire-b", "name": "read_file", "args": { "path": "b" } } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "wire-a", "name": "read_file",
                    "response": { "output": "found" } } },
                { "functionResponse": { "id": "wire-b", "name": "read_file",
                    "response": { "error": "not there" } } },
            ] },
            { "role": "model", "parts": [
                { "text": "so", "thoughtSignature": "dA==", "thought": true },
                { "text": "Done." },
                { "text": "", "thoughtSignature": "ZQ==" },
            ] },
            { "role": "user", "parts": [{ "text": "thanks" }] },
        ])
    );
}

#[test]
fn foreign_parts_lose_their_opaque_data_and_their_first_call_gets_the_placeholder() {
    let talk = vec![
        user("go"),
        reply("scripted", vec![text("", Some("x")), call("a", Some("x")), call("b", Some("x"))]),
        results(&[("a", true, "1"), ("b", true, "2")]),
    ];
    let contents = sent(talk);
    assert_eq!(
        contents[1]["parts"],
        json!([
            { "functionCall": { "name": "read_file", "args": { "path": "a" } },
              "thoughtSignature": PLACEHOLDER },
            { "functionCall": { "name": "read_file", "args": { "path": "b" } } },
        ])
    );
    assert_eq!(contents[2]["parts"][0]["functionResponse"].get("id"), None);
}

#[test]
fn refused_signatures_become_placeholders_but_ids_stay() {
    let talk = vec![
        user("go"),
        reply("gemini", vec![text("Look.", Some("x")), call("a", Some("x"))]),
        results(&[("a", true, "1")]),
    ];
    let contents = body(&request(talk), Signatures::Placeholder)["contents"].take();
    assert_eq!(
        contents[1]["parts"],
        json!([
            { "text": "Look." },
            { "functionCall": { "id": "wire-a", "name": "read_file", "args": { "path": "a" } },
              "thoughtSignature": PLACEHOLDER },
        ])
    );
}

#[test]
fn whatever_was_recorded_becomes_a_conversation_that_gemini_takes() {
    let missing = json!({ "functionResponse": { "id": "wire-a", "name": "read_file",
        "response": { "error": NO_RESULT } } });
    let table = [
        // A reply that was interrupted before anything counted.
        (
            vec![user("a"), reply("gemini", vec![thinking("hm", None)]), user("b")],
            json!([{ "role": "user", "parts": [{ "text": "a" }, { "text": "b" }] }]),
        ),
        // A call without a result, and words right after it.
        (
            vec![user("a"), reply("gemini", vec![call("a", Some("s"))]), user("b")],
            json!([
                { "role": "user", "parts": [{ "text": "a" }] },
                { "role": "model", "parts": [{ "functionCall": {
                    "id": "wire-a", "name": "read_file", "args": { "path": "a" } },
                    "thoughtSignature": "s" }] },
                { "role": "user", "parts": [missing, { "text": "b" }] },
            ]),
        ),
        // An orphan result, a model that began, and a model at the end.
        (
            vec![results(&[("z", true, "lost")]), reply("gemini", vec![text("hi", None)])],
            json!([
                { "role": "user", "parts": [{ "text": "Go on." }] },
                { "role": "model", "parts": [{ "text": "hi" }] },
                { "role": "user", "parts": [{ "text": "Go on." }] },
            ]),
        ),
    ];
    for (talk, wanted) in table {
        assert_eq!(sent(talk), wanted);
    }
}

#[test]
fn a_longer_conversation_begins_with_the_same_bytes() {
    let mut talk = vec![user("go"), reply("scripted", vec![call("a", None)])];
    talk.push(results(&[("a", true, "1")]));
    let short = body(&request(talk.clone()), Signatures::Echo).to_string();
    talk.extend([reply("gemini", vec![call("b", Some("s"))]), results(&[("b", true, "2")])]);
    talk.extend([reply("gemini", vec![text("Done.", None)]), user("more")]);
    let long = body(&request(talk), Signatures::Echo).to_string();
    let prefix = short.strip_suffix("]}").unwrap();
    assert!(long.starts_with(prefix), "{prefix}\n{long}");
}

#[test]
fn invented_names_are_made_fit_to_be_sent() {
    let table = [
        ("read_file", "read_file"),
        ("", "unnamed"),
        ("read_file ", "read_file_"),
        ("functions.read_file", "functions_read_file"),
        ("9lives", "_9lives"),
        ("日", "_"),
    ];
    for (name, wanted) in table {
        assert_eq!(wire_name(name), wanted, "{name:?}");
    }
    assert_eq!(wire_name(&"1".repeat(99)).len(), 64);
}
