//! The wire below every hosted model: one POST, answered by a stream of events.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder, Response, Url, redirect};

use super::sse::{Event, Parser};
use super::{ErrorKind, ProviderError};
use crate::config::Network;

/// Bytes of an error's body that are read.
const ERROR_LIMIT: usize = 64 * 1024;

/// How long the wire may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Until a connection stands.
    pub connect: Duration,
    /// Without an event; comments and keep-alives do not count.
    pub idle: Duration,
}

impl From<&Network> for Timing {
    fn from(network: &Network) -> Self {
        Self {
            connect: Duration::from_secs(network.connect_seconds),
            idle: Duration::from_secs(network.idle_seconds),
        }
    }
}

/// A client that is built when the first request needs it: TLS stands before no first frame.
#[derive(Debug)]
pub struct Http {
    client: OnceLock<Client>,
    timing: Timing,
}

/// An answer that is no stream of events.
#[derive(Debug)]
pub struct Refusal {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

/// What a request that reached nobody, or nobody we know, came to.
#[derive(Debug)]
pub enum Failed {
    Wire(ProviderError),
    Refused(Refusal),
}

impl Http {
    /// Makes a client; nothing is loaded yet.
    pub fn new(timing: Timing) -> Self {
        Self { client: OnceLock::new(), timing }
    }

    /// Sends a request and returns its events, if it is answered by events.
    pub async fn post(
        &self,
        url: &Url,
        shape: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Events, Failed> {
        let request = shape(self.client().map_err(Failed::Wire)?.post(url.clone()));
        let host = url.host_str().unwrap_or_default().to_owned();
        let sent = tokio::time::timeout(self.timing.idle, request.send()).await;
        let response = sent
            .map_err(|_| Failed::Wire(stalled(&host, self.timing.idle)))?
            .map_err(|error| Failed::Wire(unreachable(&host, &error)))?;
        let events = Events::new(response, host, self.timing.idle);
        if events.are_events() { Ok(events) } else { Err(Failed::Refused(events.refusal().await)) }
    }

    fn client(&self) -> Result<&Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.builder().build().or_else(|_| bundled(self.builder()).build());
        let client = client.map_err(|error| {
            let reason = deepest(&error);
            let message = format!("No secure connection can be made on this machine: {reason}.");
            ProviderError::new(ErrorKind::Network, message)
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder()
            .user_agent(concat!("trefoil/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timing.connect)
            // A redirect would carry the key to a host that nobody chose.
            .redirect(redirect::Policy::none())
    }
}

/// Trusts the bundled roots instead of the system's: bare containers have none.
fn bundled(builder: ClientBuilder) -> ClientBuilder {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
    builder.tls_certs_only(roots.iter().filter_map(|root| Certificate::from_der(root).ok()))
}

/// The events of one answer.
#[derive(Debug)]
pub struct Events {
    response: Response,
    host: String,
    idle: Duration,
    parser: Parser,
    ready: VecDeque<Event>,
    over: bool,
}

impl Events {
    fn new(response: Response, host: String, idle: Duration) -> Self {
        let parser = Parser::default();
        Self { response, host, idle, parser, ready: VecDeque::new(), over: false }
    }

    fn are_events(&self) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE);
        let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        self.response.status().is_success() && !is_page
    }

    /// Returns the next event, or none at the end of the body.
    pub async fn next(&mut self) -> Result<Option<Event>, ProviderError> {
        let read = tokio::time::timeout(self.idle, self.read()).await;
        read.unwrap_or_else(|_| Err(stalled(&self.host, self.idle)))
    }

    async fn read(&mut self) -> Result<Option<Event>, ProviderError> {
        loop {
            match self.ready.pop_front() {
                Some(event) if event.is_keepalive() => {}
                Some(event) => return Ok(Some(event)),
                None if self.over => return Ok(None),
                None => self.read_more().await?,
            }
        }
    }

    async fn read_more(&mut self) -> Result<(), ProviderError> {
        let piece = self.response.chunk().await.map_err(|error| cut(&self.host, &error))?;
        self.over = piece.is_none();
        let events = match piece {
            Some(bytes) => self.parser.feed(&bytes),
            None => self.parser.finish(),
        };
        let events = events.map_err(|error| {
            let message = format!("{} cannot be understood: {error}.", self.host);
            ProviderError::new(ErrorKind::BadRequest, message)
        })?;
        self.ready.extend(events);
        Ok(())
    }

    /// Reads what is there of an error's body; a body that does not end is left.
    async fn refusal(mut self) -> Refusal {
        let mut body = Vec::new();
        let deadline = tokio::time::Instant::now() + self.idle;
        while body.len() < ERROR_LIMIT {
            match tokio::time::timeout_at(deadline, self.response.chunk()).await {
                Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
                _ => break,
            }
        }
        Refusal {
            status: self.response.status().as_u16(),
            headers: self.response.headers().clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

fn stalled(host: &str, idle: Duration) -> ProviderError {
    let seconds = idle.as_secs_f32();
    let message = format!(
        "{host} sent nothing for {seconds} s. Send the message again, or raise network.idle_seconds."
    );
    ProviderError::new(ErrorKind::Stalled, message)
}

fn unreachable(host: &str, error: &reqwest::Error) -> ProviderError {
    let reason = deepest(error);
    let message = format!("{host} cannot be reached ({reason}). Check the network and try again.");
    ProviderError::new(ErrorKind::Network, message)
}

fn cut(host: &str, error: &reqwest::Error) -> ProviderError {
    let reason = deepest(error);
    let message =
        format!("The connection to {host} broke in mid-reply ({reason}). Send the message again.");
    ProviderError::new(ErrorKind::Cut, message)
}

/// Returns the innermost reason: the outer ones only repeat the address, which may hold credentials.
fn deepest(error: &reqwest::Error) -> String {
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    match reason.downcast_ref::<reqwest::Error>() {
        Some(own) if own.is_timeout() => "it took too long".into(),
        Some(_) => "the request failed".into(),
        None => reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_certificates_can_use_the_bundled_ones() {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
        assert!(roots.iter().all(|root| Certificate::from_der(root).is_ok()));
        let timing = Timing { connect: Duration::from_secs(1), idle: Duration::from_secs(1) };
        assert!(bundled(Http::new(timing).builder()).build().is_ok());
    }
}
