//! Asks again where that may help, after a wait that can be seen and, by dropping the stream, ended.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::flow::{self, Deltas};
use super::{Completion, Delta, ErrorKind, Provider, ProviderError, Request};
use crate::config::Network;
use crate::session::Message;

/// Replies that may be empty in a row before it is an answer.
const EMPTY_RETRIES: u32 = 2;

/// Calls that may be unreadable in a row before the person is told.
const BAD_CALL_RETRIES: u32 = 3;

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Times a failed request is sent again.
    pub retries: u32,
    /// The first wait, where the server names none; each further one is about twice as long.
    pub first_wait: Duration,
    /// The longest wait that a server may ask for.
    pub longest_wait: Duration,
}

impl From<&Network> for Patience {
    fn from(network: &Network) -> Self {
        Self {
            retries: network.retries,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(network.longest_wait_seconds),
        }
    }
}

/// A provider that is asked again when it fails in a way that may pass.
pub struct Retry {
    inner: Arc<dyn Provider>,
    patience: Patience,
}

impl Retry {
    /// Wraps a provider.
    pub fn new(inner: impl Provider + 'static, patience: Patience) -> Self {
        Self { inner: Arc::new(inner), patience }
    }
}

impl Provider for Retry {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (inner, patience) = (Arc::clone(&self.inner), self.patience);
        flow::stream(async move |deltas| persist(&*inner, request, patience, deltas).await)
    }
}

async fn persist(
    provider: &dyn Provider,
    mut request: Request,
    patience: Patience,
    mut deltas: Deltas,
) -> Result<Completion, ProviderError> {
    let mut waits = Waits::new(patience);
    loop {
        let error = match once(provider, request.clone(), &mut deltas).await {
            Ok(completion) => return Ok(completion),
            Err(error) => error,
        };
        let (attempt, wait) = waits.after(&error)?;
        tracing::info!(%error, attempt, ?wait, "asking again");
        let reason = error.message.clone();
        deltas.send(Delta::Retry { attempt, wait, reason }).await;
        tokio::time::sleep(wait).await;
        if error.kind == ErrorKind::BadCall {
            request.messages.push(nudge(&error));
        }
    }
}

/// Passes one attempt's deltas on and returns how it ended.
async fn once(
    provider: &dyn Provider,
    request: Request,
    deltas: &mut Deltas,
) -> Result<Completion, ProviderError> {
    let mut stream = provider.stream(request);
    while let Some(delta) = stream.next().await {
        match delta? {
            Delta::Done(completion) => return Ok(completion),
            delta => deltas.send(delta).await,
        }
    }
    let message = "The reply ended before it was complete. Send the message again.";
    Err(ProviderError::new(ErrorKind::Cut, message))
}

/// What the model is told in the repeated request, and only there.
fn nudge(error: &ProviderError) -> Message {
    let text = format!(
        "{} Nothing was executed. Write the call again: a tool of the list, with its arguments as \
         one valid JSON object.",
        error.message
    );
    Message::User { text }
}

/// The waits of one request.
struct Waits {
    patience: Patience,
    backoff: <ExponentialBuilder as BackoffBuilder>::Backoff,
    attempt: u32,
    empty: u32,
    bad_calls: u32,
}

impl Waits {
    fn new(patience: Patience) -> Self {
        let backoff = ExponentialBuilder::new()
            .with_min_delay(patience.first_wait)
            .with_max_delay(Duration::from_secs(30))
            .without_max_times()
            .with_jitter()
            .build();
        Self { patience, backoff, attempt: 0, empty: 0, bad_calls: 0 }
    }

    /// Returns which attempt comes next and the wait before it, or the failure where none does.
    fn after(&mut self, error: &ProviderError) -> Result<(u32, Duration), ProviderError> {
        if !self.may_pass(error.kind) || self.attempt == self.patience.retries {
            return Err(error.clone());
        }
        let asked = error.retry_after.unwrap_or_default();
        if asked > self.patience.longest_wait {
            return Err(too_long(error, asked));
        }
        self.attempt += 1;
        let wait = if asked.is_zero() { self.backoff.next().unwrap_or_default() } else { asked };
        Ok((self.attempt, wait.min(self.patience.longest_wait)))
    }

    fn may_pass(&mut self, kind: ErrorKind) -> bool {
        let count = |count: &mut u32, most| {
            *count += 1;
            *count <= most
        };
        match kind {
            ErrorKind::RateLimit
            | ErrorKind::Overloaded
            | ErrorKind::Transient
            | ErrorKind::Network
            | ErrorKind::Cut
            | ErrorKind::Stalled => true,
            ErrorKind::Empty => count(&mut self.empty, EMPTY_RETRIES),
            ErrorKind::BadCall => count(&mut self.bad_calls, BAD_CALL_RETRIES),
            ErrorKind::Auth
            | ErrorKind::Quota
            | ErrorKind::ContextOverflow
            | ErrorKind::BadRequest
            | ErrorKind::Blocked => false,
        }
    }
}

fn too_long(error: &ProviderError, asked: Duration) -> ProviderError {
    let message = format!(
        "{} The server asks to wait {} s, longer than network.longest_wait_seconds; try again then.",
        error.message,
        asked.as_secs_f32().ceil()
    );
    ProviderError { message, ..error.clone() }
}

#[cfg(test)]
mod tests;
