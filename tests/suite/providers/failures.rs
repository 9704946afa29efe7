//! What goes wrong on the wire: what is asked again, what is told, and in which words.

use super::*;

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
    assert!(heard.error().message.contains("The model is overloaded"));
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
