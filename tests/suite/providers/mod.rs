//! Gemini's wire, against a server that answers and refuses as Gemini does.

mod failures;
mod replies;
mod silence;

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

async fn ask(provider: &dyn Provider, messages: Vec<Message>) -> Heard {
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
