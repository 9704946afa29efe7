//! Replies that arrive, and what of them goes back with the next request.

use trefoil::config::{Environment, Keys, Network};
use trefoil::provider::connect;
use trefoil::provider::scripted::Pace;

use super::*;

fn hard_reply() -> Vec<Value> {
    vec![
        chunk(json!([{ "text": "So.", "thought": true }, { "text": HARD }])),
        chunk(
            json!([{ "functionCall": { "id": "fc1", "name": "read_file", "args": { "path": HARD } },
            "thoughtSignature": "c2ln" }]),
        ),
        finish("STOP"),
    ]
}

#[tokio::test]
async fn a_reply_is_the_same_in_whatever_pieces_it_comes() {
    let stream = Answer::stream(&hard_reply());
    let array = Answer::raw(200, "application/json", json!(hard_reply()).to_string());
    let pretty = serde_json::to_string_pretty(&hard_reply()).unwrap();
    let pretty = Answer::raw(200, "application/json", format!("\n\n{pretty}"));
    for answer in [
        stream.clone(),
        stream.clone().in_pieces(1),
        stream.clone().in_pieces(7),
        stream.clone().crlf().in_pieces(1),
        array.in_pieces(1),
        pretty.in_pieces(3),
    ] {
        let heard = ask_once(answer).await;
        let completion = heard.completion();
        assert_eq!(heard.text(), HARD);
        let Part::Call(call) = &completion.parts[2] else { panic!("{completion:?}") };
        assert_eq!(call.args, json!({ "path": HARD }));
        assert_eq!((call.wire_id.as_deref(), &call.opaque), (Some("fc1"), &Some(json!("c2ln"))));
        assert_eq!(completion.usage, Usage { input: 10, cached: 0, output: 5, thinking: 0 });
        assert_eq!(
            heard.deltas,
            [
                Delta::Thinking("So.".into()),
                Delta::Text(HARD.into()),
                Delta::Calling { name: "read_file".into() },
            ]
        );
    }
}

/// Plays a conversation of two steps and a second prompt, through the log and back before each request.
#[tokio::test]
async fn signatures_and_ids_go_back_as_they_came_also_after_a_resume() {
    let call = |id: Value, path: &str, signature: Value| {
        let mut part = json!({ "functionCall": { "name": "read_file", "args": { "path": path } } });
        if !id.is_null() {
            part["functionCall"]["id"] = id;
        }
        if !signature.is_null() {
            part["thoughtSignature"] = signature;
        }
        part
    };
    let steps = [
        json!([call("fc1".into(), "a", "c2ln".into()), call("fc2".into(), "b", Value::Null)]),
        json!([{ "text": "And." }, call(Value::Null, "c", "c2ln+/Mg==".into())]),
        json!([{ "text": "Done." }, { "text": "", "thoughtSignature": "ZW5k" }]),
        json!([{ "text": "Welcome." }]),
    ];
    let server = Server::start(steps.iter().cloned().map(Answer::reply)).await;
    let model = gemini(&server);
    let mut log = vec![prompted("go")];
    for step in 0..4 {
        if step == 3 {
            log.push(prompted("thanks"));
        }
        let resumed: Vec<Entry> = log.iter().map(through_disk).collect();
        let talk = Conversation::replay(&resumed).messages().to_vec();
        let heard = ask(&model, talk).await;
        let reply = heard.reply();
        log.push(replied(reply.clone()));
        log.extend(reply.calls().map(|call| finished(&call.id)));
    }
    let last = server.requests().pop().unwrap();
    let sent: Vec<&Value> = last["contents"].as_array().unwrap().iter().collect();
    for (step, at) in [(0, 1), (1, 3), (2, 5)] {
        assert_eq!(sent[at]["parts"], steps[step], "step {step}");
    }
    assert_eq!(sent[2]["parts"][1]["functionResponse"]["id"], "fc2");
    assert_eq!(sent[4]["parts"][0]["functionResponse"].get("id"), None);
}

fn entry(record: Record) -> Entry {
    Entry { at: 0, record }
}

fn prompted(text: &str) -> Entry {
    entry(Record::Prompted { text: text.into() })
}

fn replied(reply: Reply) -> Entry {
    let usage = Usage::default();
    entry(Record::Replied { reply, usage, millis: 1, first_token_millis: None })
}

fn finished(id: &CallId) -> Entry {
    let result =
        ToolResult { id: id.clone(), name: "read_file".into(), ok: true, text: "found".into() };
    entry(Record::Finished { result, view: View::Text, millis: 1 })
}

fn through_disk(entry: &Entry) -> Entry {
    serde_json::from_str(&serde_json::to_string(entry).unwrap()).unwrap()
}

#[tokio::test]
async fn calls_of_another_model_are_taken_without_their_ids_and_signatures() {
    let server = Server::start([Answer::reply(json!([{ "text": "I see." }]))]).await;
    let heard = ask_once(Answer::stream(&hard_reply())).await;
    let mut reply = heard.reply();
    reply.origin = Origin { provider: "scripted".into(), model: "demo".into() };
    let talk = vec![said("go"), Message::Assistant(reply.clone()), results(&reply)];
    assert_eq!(ask(&gemini(&server), talk).await.text(), "I see.");
}

#[tokio::test]
async fn a_refused_signature_is_replaced_once() {
    // This server never issued the signature, as after a change of the backend.
    let server = Server::start([Answer::reply(json!([{ "text": "I see." }]))]).await;
    let mut parts = ask_once(Answer::stream(&hard_reply())).await.reply();
    for part in &mut parts.parts {
        if let Part::Call(call) = part {
            call.wire_id = None;
        }
    }
    let talk = vec![said("go"), Message::Assistant(parts.clone()), results(&parts)];
    let heard = ask(&gemini(&server), talk).await;
    assert_eq!(heard.text(), "I see.");
    assert_eq!(heard.retries(), [Duration::ZERO]);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn invented_tool_names_do_not_poison_the_next_request() {
    let names = ["", "read_file ", "functions.read_file", "Read_File", "read_file"];
    let call =
        |name: &&str| json!({ "functionCall": { "name": name }, "thoughtSignature": "cw==" });
    let calls: Vec<Value> = names.iter().map(call).collect();
    let answers = [Answer::reply(json!(calls)), Answer::reply(json!([{ "text": "I see." }]))];
    let server = Server::start(answers).await;
    let model = gemini(&server);
    let reply = ask(&model, vec![said("go")]).await.reply();
    let heard_names: Vec<&str> = reply.calls().map(|call| call.name.as_str()).collect();
    assert_eq!(heard_names, names);
    let talk = vec![said("go"), Message::Assistant(reply.clone()), results(&reply)];
    assert_eq!(ask(&model, talk).await.text(), "I see.");
}

#[tokio::test]
async fn a_continued_reply_is_one_reply() {
    let mut first = finish("CONTINUATION");
    first["candidates"][0]["continuationToken"] = "tok-1".into();
    let answers = [
        Answer::stream(&[chunk(json!([{ "text": "Hel" }])), first]),
        Answer::reply(json!([{ "text": "lo" }])),
    ];
    let server = Server::start(answers).await;
    let heard = ask(&gemini(&server), vec![said("go")]).await;
    assert_eq!(heard.text(), "Hello");
    assert_eq!(heard.completion().usage.input, 20);
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let mut repeated = second.clone();
    let token = repeated.as_object_mut().unwrap().shift_remove("continuationToken");
    assert_eq!((&repeated, token), (first, Some(json!("tok-1"))));
}

#[tokio::test]
async fn a_server_that_only_continues_comes_to_an_end() {
    let mut idle = finish("CONTINUATION");
    idle["candidates"][0]["continuationToken"] = "tok".into();
    let server = Server::start(vec![Answer::stream(&[idle]); 9]).await;
    let heard = ask(&gemini(&server), vec![said("go")]).await;
    assert_eq!(heard.error().kind, ErrorKind::Cut);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn the_output_limit_is_no_failure() {
    let heard = ask_once(Answer::stream(&[
        chunk(json!([{ "text": "On and on" }, { "functionCall": { "name": "read_file" } }])),
        finish("MAX_TOKENS"),
    ]))
    .await;
    assert_eq!((heard.completion().parts.len(), &heard.completion().stop), (2, &Stop::Truncated));
}

#[tokio::test]
async fn a_connection_is_made_from_a_name_a_key_and_an_endpoint() {
    let server = Server::start([Answer::reply(json!([{ "text": "Hello." }]))]).await;
    let set = Environment::from([("GEMINI_API_KEY", KEY)]);
    let keys = Keys::from(&set, &Environment::default());
    let endpoints = [("gemini".to_owned(), format!("{}/", server.address))].into();
    let network = Network::default();
    let made = connect("models/gemini-3.8-flash", &keys, &endpoints, &network, Pace::Instant);
    let connection = made.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((connection.model.as_str(), connection.scripted), (MODEL, false));
    assert_eq!(ask(&*connection.provider, vec![said("go")]).await.text(), "Hello.");
}
