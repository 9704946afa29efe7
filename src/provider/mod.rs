//! Talking to a model: one trait, one file a wire format.

mod call_id;
pub mod catalog;
mod connect;
mod flow;
pub mod gemini;
pub mod http;
pub mod retry;
pub mod schema;
pub mod scripted;
pub mod sse;

pub use connect::{Connection, connect};

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;

use crate::session::{Failure, Message, Part, Spec, Usage};

/// A model behind a wire format.
pub trait Provider: Send + Sync {
    /// Returns the provider's name as in `PROVIDER/MODEL`.
    fn name(&self) -> &'static str;

    /// Streams one reply. Dropping the stream cancels the request and closes its socket.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>>;
}

/// One request to a model. Its prefix (system, tools, earlier messages) is byte-identical from one request to the next.
#[derive(Debug, Clone)]
pub struct Request {
    pub model: String,
    /// The role that asks (`pair`): scripts may differ by it.
    pub role: &'static str,
    pub system: Arc<str>,
    pub tools: Arc<[Spec]>,
    pub messages: Vec<Message>,
}

/// A piece of a reply as it arrives. Deltas are for display; [`Delta::Done`] is what counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Thinking(String),
    Text(String),
    /// A call has begun to arrive.
    Calling {
        name: String,
    },
    /// The request failed and is sent again after `wait`: what was shown of this reply is void.
    Retry {
        attempt: u32,
        wait: Duration,
        reason: String,
    },
    /// The whole reply. Nothing follows.
    Done(Completion),
}

/// A complete reply with its opaque data in place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    pub parts: Vec<Part>,
    pub usage: Usage,
    pub stop: Stop,
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stop {
    /// It was finished, or it wants its calls answered.
    #[default]
    Done,
    /// The output limit cut it; calls in it are complete ones only.
    Truncated,
    /// A policy stopped it; the text says which.
    Blocked(String),
}

/// A request that failed for good (or, inside [`retry`], for now).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ErrorKind,
    /// A full sentence for the person, with what to do next. Never holds a key.
    pub message: String,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    /// Makes an error without a wait.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }
}

/// The classes of failure of protocols §6.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Auth,
    Quota,
    RateLimit,
    Overloaded,
    Transient,
    /// No connection, or none in time.
    Network,
    /// The stream ended before its terminal marker.
    Cut,
    /// No event arrived within the idle limit.
    Stalled,
    /// The model answered with nothing.
    Empty,
    /// The model wrote a call that the server could not read.
    BadCall,
    ContextOverflow,
    BadRequest,
    Blocked,
}

impl ErrorKind {
    /// Returns which exit code this failure leads to.
    pub fn failure(self) -> Failure {
        match self {
            Self::Auth => Failure::Auth,
            Self::RateLimit
            | Self::Overloaded
            | Self::Transient
            | Self::Network
            | Self::Cut
            | Self::Stalled => Failure::Unavailable,
            _ => Failure::Other,
        }
    }
}
