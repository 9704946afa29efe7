//! Google Gemini over generateContent, streamed.

mod decode;
mod encode;
mod error;

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::flow::{self, Deltas};
use super::http::{Events, Failed, Http, Timing};
use super::{Completion, Delta, ErrorKind, Provider, ProviderError, Request};
use decode::{End, Reading};
use encode::Signatures;

/// The provider's name in `PROVIDER/MODEL`.
pub const NAME: &str = "gemini";

/// Where Gemini lives unless an endpoint is given.
const HOME: &str = "https://generativelanguage.googleapis.com";

/// Continuations in a row that may bring nothing new.
const IDLE_HOPS: u32 = 3;

/// Gemini with a key. Clones share one client.
#[derive(Debug, Clone)]
pub struct Gemini(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: Http,
    root: Url,
    key: SecretString,
}

impl Gemini {
    /// Makes the provider; `endpoint` is another root than Google's. Nothing is sent yet.
    pub fn new(
        key: SecretString,
        endpoint: Option<&str>,
        timing: Timing,
    ) -> Result<Self, ProviderError> {
        let root = root(endpoint.unwrap_or(HOME))?;
        Ok(Self(Arc::new(Inner { http: Http::new(timing), root, key })))
    }
}

/// Reads the root of an API, with or without its version and a slash.
fn root(endpoint: &str) -> Result<Url, ProviderError> {
    let url = Url::parse(endpoint.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let mut url = url.ok_or_else(|| {
        // The address is not repeated: it may hold credentials.
        let message = "The endpoint set for gemini is no http(s) address; \
             write it like https://generativelanguage.googleapis.com.";
        ProviderError::new(ErrorKind::BadRequest, message)
    })?;
    let path = url.path().trim_end_matches('/').trim_end_matches("/v1beta");
    url.set_path(&format!("{path}/v1beta/models/"));
    Ok(url)
}

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let inner = Arc::clone(&self.0);
        flow::stream(async move |deltas| {
            inner.answer(&request, deltas).await.map_err(|error| inner.without_key(error))
        })
    }
}

impl Inner {
    /// Asks; where the server finds fault with a signature, asks once more without signatures.
    async fn answer(
        &self,
        request: &Request,
        mut deltas: Deltas,
    ) -> Result<Completion, ProviderError> {
        match self.ask(request, Signatures::Echo, &mut deltas).await {
            Err(error) if error::blames_signature(&error) => {
                tracing::warn!(%error, "asking again with placeholder signatures");
                let (wait, reason) = (Duration::ZERO, error.message);
                deltas.send(Delta::Retry { attempt: 1, wait, reason }).await;
                self.ask(request, Signatures::Placeholder, &mut deltas).await
            }
            other => other,
        }
    }

    /// Asks, and goes on asking while the server has more of the same reply.
    async fn ask(
        &self,
        request: &Request,
        signatures: Signatures,
        deltas: &mut Deltas,
    ) -> Result<Completion, ProviderError> {
        let mut body = encode::body(request, signatures);
        let mut reading = Reading::default();
        let mut idle_hops = 0;
        loop {
            let before = reading.size();
            self.hear(&request.model, &body, &mut reading, deltas).await?;
            let token = match reading.end()? {
                End::Complete(completion) => return Ok(completion),
                End::Continue(token) => token,
            };
            idle_hops = if reading.size() > before { 0 } else { idle_hops + 1 };
            if idle_hops == IDLE_HOPS {
                return Err(error::cut());
            }
            body["continuationToken"] = token.into();
        }
    }

    /// Sends one request and takes its whole answer in.
    async fn hear(
        &self,
        model: &str,
        body: &Value,
        reading: &mut Reading,
        deltas: &mut Deltas,
    ) -> Result<(), ProviderError> {
        let mut events = self.post(model, body).await?;
        while let Some(event) = events.next().await? {
            if event.is_end() {
                break;
            }
            for delta in reading.take(&event.data)? {
                deltas.send(delta).await;
            }
        }
        Ok(())
    }

    async fn post(&self, model: &str, body: &Value) -> Result<Events, ProviderError> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let mut url =
            self.root.join(&format!("./{model}:streamGenerateContent")).map_err(|_| {
                let message =
                    format!("'{model}' is no name of a model; choose another with /model.");
                ProviderError::new(ErrorKind::BadRequest, message)
            })?;
        url.set_query(Some("alt=sse"));
        let (key, text) = (self.key_header()?, body.to_string());
        tracing::debug!(model, bytes = text.len(), "asking gemini");
        let shape = |request: reqwest::RequestBuilder| {
            let request = request.header("x-goog-api-key", key);
            request.header(CONTENT_TYPE, "application/json").body(text)
        };
        self.http.post(&url, shape).await.map_err(|failed| match failed {
            Failed::Wire(error) => error,
            Failed::Refused(refusal) => error::refused(&refusal),
        })
    }

    fn key_header(&self) -> Result<HeaderValue, ProviderError> {
        let mut key = HeaderValue::from_str(self.key.expose_secret().trim()).map_err(|_| {
            let message = "The key for Gemini holds characters that no key has. \
                 Set GEMINI_API_KEY or GOOGLE_API_KEY anew; `trefoil --demo` works without.";
            ProviderError::new(ErrorKind::Auth, message)
        })?;
        key.set_sensitive(true);
        Ok(key)
    }

    /// Takes the key out of a message in which a server repeats it.
    fn without_key(&self, mut error: ProviderError) -> ProviderError {
        let key = self.key.expose_secret().trim();
        if !key.is_empty() && error.message.contains(key) {
            error.message = error.message.replace(key, "[redacted]");
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_taken_with_or_without_its_version() {
        let wanted = "http://127.0.0.1:8080/v1beta/models/";
        for endpoint in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1beta/"] {
            assert_eq!(root(endpoint).unwrap().as_str(), wanted);
        }
        assert_eq!(root("https://proxy/g/").unwrap().as_str(), "https://proxy/g/v1beta/models/");
        for endpoint in ["", "localhost:80", "ftp://a", "http://"] {
            let error = root(endpoint).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadRequest, "{endpoint}");
        }
    }
}
