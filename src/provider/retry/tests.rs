//! Patience, on a paused clock.

use std::sync::Mutex;

use futures::stream;
use tokio::time::Instant;

use super::*;
use crate::session::Part;

/// Fails as told, then answers; remembers what it was asked.
struct Troubled {
    failures: Mutex<Vec<ProviderError>>,
    asked: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Provider for Troubled {
    fn name(&self) -> &'static str {
        "troubled"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        self.asked.lock().unwrap().push(request.messages);
        let mut failures = self.failures.lock().unwrap();
        let end = match failures.is_empty() {
            true => Ok(Delta::Done(answer())),
            false => Err(failures.remove(0)),
        };
        stream::iter([Ok(Delta::Text("Hi".into())), end]).boxed()
    }
}

fn answer() -> Completion {
    let parts = vec![Part::Text { text: "Hi".into(), opaque: None }];
    Completion { parts, ..Completion::default() }
}

fn failure(kind: ErrorKind, seconds: u64) -> ProviderError {
    let retry_after = (seconds > 0).then(|| Duration::from_secs(seconds));
    ProviderError { kind, message: "It failed.".into(), retry_after }
}

struct Story {
    end: Result<Delta, ProviderError>,
    waits: Vec<Duration>,
    asked: Vec<Vec<Message>>,
    took: Duration,
}

async fn tell(failures: Vec<ProviderError>) -> Story {
    let asked = Arc::default();
    let troubled = Troubled { failures: Mutex::new(failures), asked: Arc::clone(&asked) };
    let retry = Retry::new(troubled, Patience::from(&Network::default()));
    let request = Request {
        model: "m".into(),
        role: "pair",
        system: "".into(),
        tools: [].into(),
        messages: vec![Message::User { text: "go".into() }],
    };
    let before = Instant::now();
    let mut items: Vec<_> = retry.stream(request).collect().await;
    let end = items.pop().expect("a stream ends with something");
    let waits = items.iter().filter_map(|item| match item {
        Ok(Delta::Retry { wait, .. }) => Some(*wait),
        _ => None,
    });
    let waits = waits.collect();
    Story { end, waits, took: before.elapsed(), asked: std::mem::take(&mut asked.lock().unwrap()) }
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_asked_again_and_what_cannot_is_not() {
    use ErrorKind::*;
    let table = [
        (RateLimit, 9, 5),
        (Overloaded, 9, 5),
        (Transient, 9, 5),
        (Network, 9, 5),
        (Cut, 9, 5),
        (Stalled, 9, 5),
        (Empty, 9, 3),
        (BadCall, 9, 4),
        (Auth, 9, 1),
        (Quota, 9, 1),
        (ContextOverflow, 9, 1),
        (BadRequest, 9, 1),
        (Blocked, 9, 1),
        (Overloaded, 2, 3),
    ];
    for (kind, times, requests) in table {
        let story = tell(vec![failure(kind, 0); times]).await;
        assert_eq!(story.asked.len(), requests, "{kind:?}");
        let wanted = match times {
            2 => Ok(Delta::Done(answer())),
            _ => Err(failure(kind, 0)),
        };
        assert_eq!(story.end, wanted, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_grow_and_are_kept() {
    let story = tell(vec![failure(ErrorKind::Overloaded, 0); 4]).await;
    for (wait, least) in story.waits.iter().zip([1, 2, 4, 8]) {
        let least = Duration::from_secs(least);
        assert!((least..=2 * least).contains(wait), "{wait:?} after {least:?}");
    }
    assert_eq!(story.waits.len(), 4);
    assert!(story.took >= story.waits.iter().sum::<std::time::Duration>());
}

#[tokio::test(start_paused = true)]
async fn the_servers_wait_is_honoured_up_to_the_longest() {
    let story = tell(vec![failure(ErrorKind::RateLimit, 2); 2]).await;
    assert_eq!(story.waits, [Duration::from_secs(2); 2]);
    assert!(story.took >= Duration::from_secs(4));
    assert_eq!(story.end, Ok(Delta::Done(answer())));

    let story = tell(vec![failure(ErrorKind::RateLimit, 121)]).await;
    let error = story.end.unwrap_err();
    assert_eq!(story.asked.len(), 1);
    assert!(error.message.contains("asks to wait 121 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_call_is_told_to_the_model_in_that_request_only() {
    let story = tell(vec![failure(ErrorKind::BadCall, 0), failure(ErrorKind::Cut, 0)]).await;
    let lengths: Vec<usize> = story.asked.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1, 2, 2]);
    let Message::User { text } = &story.asked[1][1] else { panic!("no nudge") };
    assert!(text.starts_with("It failed. Nothing was executed."), "{text}");
}
