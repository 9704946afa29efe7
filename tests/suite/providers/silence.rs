//! Servers that say nothing, and people who do not wait for them.

use super::*;

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
