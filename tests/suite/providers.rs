//! Gemini's wire, against a server that answers and refuses as Gemini does.

use std::time::Duration;

use futures::StreamExt;
use secrecy::SecretString;
use serde_json::{Value, json};
use trefoil::provider::gemini::Gemini;
use trefoil::provider::http::Timing;
use trefoil::provider::retry::{Patience, Retry};
use trefoil::provider::{Completion, Delta, ErrorKind, Provider, ProviderError, Request, Stop};
use trefoil::session::{
    CallId, Conversation, Entry, Message, Origin, Part, Record, Reply, Spec, ToolResult, Usage,
    View,
};

use crate::support::server::{Answer, KEY, Server, chunk, finish};

const MODEL: &str = "gemini-3.8-flash";

/// Text that breaks wherever bytes are taken for characters.
const HARD: &str = "北京 — 😀\u{2028}é";

fn gemini_with(server: &Server, key: &str, idle: Duration) -> Gemini {
    let timing = Timing { connect: Duration::from_secs(5), idle };
    Gemini::new(SecretString::from(key), Some(&server.address), timing).unwrap()
}

fn gemini(server: &Server) -> Gemini {
    gemini_with(server, KEY, Duration::from_secs(20))
}

/// Gemini, asked again up to four times without a wait of its own.
fn patient(server: &Server) -> Retry {
    let first_wait = Duration::from_millis(1);
    let longest_wait = Duration::from_secs(10);
    Retry::new(gemini(server), Patience { retries: 4, first_wait, longest_wait })
}

fn request(messages: Vec<Message>) -> Request {
    let schema = json!({ "type": "object", "properties": { "path": { "const": "a" } },
        "$schema": "https://json-schema.org/draft/2020-12/schema" });
    let spec = Spec { name: "read_file".into(), description: "Reads.".into(), schema };
    Request {
        model: MODEL.into(),
        role: "pair",
        system: "Be careful.".into(),
        tools: [spec].into(),
        messages,
    }
}

fn said(text: &str) -> Message {
    Message::User { text: text.into() }
}

/// What one request came to.
struct Heard {
    deltas: Vec<Delta>,
    end: Result<Completion, ProviderError>,
}

impl Heard {
    fn completion(&self) -> &Completion {
        self.end.as_ref().unwrap()
    }

    fn error(&self) -> &ProviderError {
        self.end.as_ref().unwrap_err()
    }

    fn text(&self) -> String {
        Reply { parts: self.completion().parts.clone(), ..Reply::default() }.text()
    }

    fn retries(&self) -> Vec<Duration> {
        let wait = |delta: &Delta| match delta {
            Delta::Retry { wait, .. } => Some(*wait),
            _ => None,
        };
        self.deltas.iter().filter_map(wait).collect()
    }

    fn reply(&self) -> Reply {
        let origin = Origin { provider: "gemini".into(), model: MODEL.into() };
        Reply { parts: self.completion().parts.clone(), origin, interrupted: false }
    }
}

async fn ask(provider: &impl Provider, messages: Vec<Message>) -> Heard {
    let mut items: Vec<_> = provider.stream(request(messages)).collect().await;
    let end = match items.pop().expect("a stream ends with something") {
        Ok(Delta::Done(completion)) => Ok(completion),
        Err(error) => Err(error),
        Ok(delta) => panic!("the stream ended with {delta:?}"),
    };
    Heard { deltas: items.into_iter().map(Result::unwrap).collect(), end }
}

async fn ask_once(answer: Answer) -> Heard {
    let server = Server::start([answer]).await;
    ask(&gemini(&server), vec![said("go")]).await
}

fn results(reply: &Reply) -> Message {
    let result = |call: &trefoil::session::ToolCall| ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        ok: true,
        text: "found".into(),
    };
    Message::Results { results: reply.calls().map(result).collect() }
}

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

/// No half reply is ever a reply, and no call of it can run.
#[tokio::test]
async fn a_reply_that_does_not_end_is_no_reply() {
    let begun = [chunk(json!([{ "text": "I will" }, { "functionCall": { "name": "read_file" } }]))];
    let half = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"wri"#;
    let table = [
        (Answer::stream(&begun), ErrorKind::Cut),
        (Answer::stream(&begun).broken(), ErrorKind::Cut),
        (Answer::raw(200, "text/event-stream", ""), ErrorKind::Cut),
        (Answer::raw(200, "text/event-stream", ": ping\n\n: ping\n\n"), ErrorKind::Cut),
        (Answer::raw(200, "text/event-stream", half), ErrorKind::Transient),
        (Answer::raw(200, "text/event-stream", half).broken(), ErrorKind::Cut),
        (Answer::raw(200, "text/event-stream", "data: oops\n\n"), ErrorKind::Transient),
        (Answer::raw(200, "text/html", "<title>Sign in</title>"), ErrorKind::Transient),
        (Answer::reply(json!([{ "text": "" }])), ErrorKind::Empty),
        (
            Answer::stream(&[begun[0].clone(), finish("MALFORMED_FUNCTION_CALL")]),
            ErrorKind::BadCall,
        ),
    ];
    for (answer, kind) in table {
        let heard = ask_once(answer.clone()).await;
        assert_eq!(heard.error().kind, kind, "{answer:?}");
    }
}

#[tokio::test]
async fn a_cut_reply_is_asked_again_and_the_second_counts() {
    let begun = Answer::stream(&[chunk(json!([{ "text": "I wi" }]))]);
    let whole = Answer::reply(json!([{ "text": "I will." }]));
    let server = Server::start([begun.clone(), begun.broken(), whole]).await;
    let heard = ask(&patient(&server), vec![said("go")]).await;
    assert_eq!(heard.text(), "I will.");
    assert_eq!(heard.retries().len(), 2);
    let requests = server.requests();
    assert!(requests.iter().all(|request| *request == requests[0]), "only the same is sent");
}

#[tokio::test]
async fn an_unreadable_call_is_asked_again_with_a_word_about_it() {
    let bad = Answer::stream(&[finish("MALFORMED_FUNCTION_CALL")]);
    let server = Server::start([bad, Answer::reply(json!([{ "text": "Better." }]))]).await;
    let heard = ask(&patient(&server), vec![said("go")]).await;
    assert_eq!(heard.text(), "Better.");
    let parts = &server.requests()[1]["contents"][0]["parts"];
    assert!(parts[1]["text"].as_str().unwrap().contains("MALFORMED_FUNCTION_CALL"), "{parts}");
}

fn limited(details: Value) -> Answer {
    let error = json!({ "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded.",
        "details": details });
    Answer::raw(429, "application/json", json!({ "error": error }).to_string())
}

#[tokio::test]
async fn waits_that_the_server_names_are_kept() {
    let info =
        json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20ms" }]);
    let busy = json!([{ "error": { "code": 503, "status": "UNAVAILABLE", "message": "busy" } }]);
    let in_stream = json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "busy" } });
    let server = Server::start([
        limited(info),
        Answer::error(429, "RESOURCE_EXHAUSTED", "Slow down.").header("retry-after-ms", "30"),
        Answer::raw(503, "application/json", busy.to_string()),
        Answer::stream(&[chunk(json!([{ "text": "Hm" }])), in_stream]),
        Answer::reply(json!([{ "text": "At last." }])),
    ])
    .await;
    let heard = ask(&patient(&server), vec![said("go")]).await;
    assert_eq!(heard.text(), "At last.");
    let waits = heard.retries();
    assert_eq!(waits[..2], [Duration::from_millis(20), Duration::from_millis(30)]);
    assert_eq!((waits.len(), server.requests().len()), (4, 5));
}

#[tokio::test]
async fn patience_is_bounded_and_ends_with_the_servers_words() {
    let busy = Answer::error(503, "UNAVAILABLE", "The model is overloaded.");
    let server = Server::start(vec![busy; 9]).await;
    let heard = ask(&patient(&server), vec![said("go")]).await;
    assert_eq!(heard.error().kind, ErrorKind::Overloaded);
    assert!(heard.error().message.contains("The model is overloaded."));
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn what_waiting_cannot_help_is_asked_once() {
    let daily = json!([{ "violations": [{ "quotaId": "GenerateRequestsPerDayPerProject" }] }]);
    let long = "The input token count (9) exceeds the maximum number of tokens allowed (5).";
    let table = [
        (limited(daily), ErrorKind::Quota),
        (Answer::error(400, "INVALID_ARGUMENT", long), ErrorKind::ContextOverflow),
        (Answer::error(403, "PERMISSION_DENIED", "No."), ErrorKind::Auth),
        (
            Answer::raw(302, "text/html", "").header("location", "http://127.0.0.1:1/"),
            ErrorKind::BadRequest,
        ),
        (
            Answer::stream(&[json!({ "promptFeedback": { "blockReason": "SAFETY" } })]),
            ErrorKind::Blocked,
        ),
    ];
    for (answer, kind) in table {
        let server = Server::start([answer]).await;
        let heard = ask(&patient(&server), vec![said("go")]).await;
        assert_eq!(heard.error().kind, kind);
        assert_eq!(server.requests().len(), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_named_by_its_variable_and_never_shown() {
    let server = Server::start([]).await;
    let model = gemini_with(&server, "wrong-key-123", Duration::from_secs(20));
    let heard = ask(&model, vec![said("go")]).await;
    let error = heard.error();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert!(error.message.contains("GEMINI_API_KEY"), "{error}");
    assert!(error.message.contains("[redacted]") && !error.message.contains("wrong-key-123"));

    let model = gemini_with(&server, "a\nkey", Duration::from_secs(20));
    let heard = ask(&model, vec![said("go")]).await;
    assert_eq!(heard.error().kind, ErrorKind::Auth);
    assert!(heard.error().message.contains("GEMINI_API_KEY"), "{}", heard.error());
}

#[tokio::test]
async fn an_unknown_model_and_an_absent_server_are_told_in_sentences() {
    let server = Server::start([]).await;
    let unknown = Request { model: "gemini-0".into(), ..request(vec![said("go")]) };
    let end = gemini(&server).stream(unknown).collect::<Vec<_>>().await.pop().unwrap();
    let error = end.unwrap_err();
    assert!(
        error.message.contains("no such model") && error.message.contains("gemini-0"),
        "{error}"
    );

    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://user:secret@{}", closed.local_addr().unwrap());
    drop(closed);
    let timing = Timing { connect: Duration::from_secs(5), idle: Duration::from_secs(20) };
    let model = Gemini::new(SecretString::from(KEY), Some(&address), timing).unwrap();
    let heard = ask(&model, vec![said("go")]).await;
    assert_eq!(heard.error().kind, ErrorKind::Network);
    assert!(heard.error().message.starts_with("127.0.0.1 cannot be reached ("));
    assert!(!heard.error().message.contains("secret"));
}

#[tokio::test]
async fn silence_counts_as_a_stall_however_many_comments_it_has() {
    let begun = Answer::stream(&[chunk(json!([{ "text": "Hm" }]))]);
    let table = [
        (begun.clone().silent(), ErrorKind::Stalled),
        (begun.murmuring(), ErrorKind::Stalled),
        (Answer::raw(500, "text/plain", "oops").silent(), ErrorKind::Transient),
    ];
    for (answer, kind) in table {
        let mut server = Server::start([answer]).await;
        let model = gemini_with(&server, KEY, Duration::from_millis(200));
        assert_eq!(ask(&model, vec![said("go")]).await.error().kind, kind);
        server.is_left().await;
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let timing = Timing { connect: Duration::from_secs(5), idle: Duration::from_millis(100) };
    let model = Gemini::new(SecretString::from(KEY), Some(&address), timing).unwrap();
    let heard = ask(&model, vec![said("go")]).await;
    assert_eq!(heard.error().kind, ErrorKind::Stalled);
    assert!(heard.error().message.contains("network.idle_seconds"));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let begun = Answer::stream(&[chunk(json!([{ "text": "Hm" }]))]).silent();
    let mut server = Server::start([begun]).await;
    let mut stream = patient(&server).stream(request(vec![said("go")]));
    assert_eq!(stream.next().await, Some(Ok(Delta::Text("Hm".into()))));
    drop(stream);
    server.is_left().await;
}

#[tokio::test]
async fn dropping_the_stream_ends_a_wait() {
    let server = Server::start([
        Answer::error(503, "UNAVAILABLE", "busy").header("retry-after", "9"),
        Answer::reply(json!([{ "text": "Too late." }])),
    ])
    .await;
    let mut stream = patient(&server).stream(request(vec![said("go")]));
    assert!(matches!(stream.next().await, Some(Ok(Delta::Retry { attempt: 1, .. }))));
    drop(stream);
    assert_eq!(server.requests().len(), 1);
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
