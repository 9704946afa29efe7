//! What went wrong, as Gemini and the gateways before it say it, and what a person does about it.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::provider::http::Refusal;
use crate::provider::{ErrorKind, ProviderError};

/// A wait that nobody sits through: the quota is used up.
const LONGEST_RATE_WAIT: Duration = Duration::from_secs(300);

/// Texts by which servers say that the request is too long.
const OVERFLOWS: &[&str] = &[
    "exceeds the maximum number of tokens allowed",
    "exceeds the context window",
    "maximum context length is",
    "prompt is too long",
    "input too long",
];

/// The reply ended before its end.
pub fn cut() -> ProviderError {
    let message = "Gemini's reply ended before it was complete. Send the message again.";
    ProviderError::new(ErrorKind::Cut, message)
}

/// The model said nothing.
pub fn empty() -> ProviderError {
    let message = "Gemini answered with nothing. Put the question in other words.";
    ProviderError::new(ErrorKind::Empty, message)
}

/// Something arrived that is no JSON.
pub fn garbage(data: &str) -> ProviderError {
    let start = shown(data, 80);
    let message = format!("Gemini's reply cannot be read; it says \"{start}\". Try again.");
    ProviderError::new(ErrorKind::Transient, message)
}

/// The model wrote a call that the server could not read.
pub fn bad_call(reason: &str, said: Option<&str>) -> ProviderError {
    let message =
        format!("The last reply held a tool call that cannot be read ({}).", why(reason, said));
    ProviderError::new(ErrorKind::BadCall, message)
}

/// A signature is missing, though the request was answered.
pub fn signature(reason: &str, said: Option<&str>) -> ProviderError {
    let message = format!("Gemini misses a thought signature ({}).", why(reason, said));
    ProviderError::new(ErrorKind::BadRequest, message)
}

/// A policy stopped the reply.
pub fn blocked(reason: &str, said: Option<&str>) -> ProviderError {
    let message = format!(
        "Gemini stopped for a policy ({}). Put the request differently.",
        why(reason, said)
    );
    ProviderError::new(ErrorKind::Blocked, message)
}

fn why(reason: &str, said: Option<&str>) -> String {
    said.map_or_else(|| reason.to_owned(), |said| format!("{reason}: {}", shown(said, 300)))
}

/// Returns whether other signatures may help.
pub fn blames_signature(error: &ProviderError) -> bool {
    let text = error.message.to_lowercase();
    error.kind == ErrorKind::BadRequest
        && (text.contains("thought_signature") || text.contains("thought signature"))
}

/// An error object in a stream that began well.
pub fn in_stream(chunk: &Value) -> ProviderError {
    let answer = Answer::of(chunk);
    let status = answer.code.or_else(|| code_of(&answer.status)).unwrap_or(500);
    answer.classify(status, None)
}

/// An answer that is no stream.
pub fn refused(refusal: &Refusal) -> ProviderError {
    let answer = match serde_json::from_str::<Value>(&refusal.body) {
        Ok(body) => Answer::of(&body),
        Err(_) => Answer { message: page_title(&refusal.body), ..Answer::default() },
    };
    answer.classify(refusal.status, header_wait(&refusal.headers))
}

/// What an error's body says, however it is wrapped.
#[derive(Debug, Default)]
struct Answer {
    code: Option<u16>,
    status: String,
    message: String,
    /// `reason` of ErrorInfo.
    reason: String,
    /// `quotaId` of QuotaFailure.
    quotas: Vec<String>,
    /// `retryDelay` of RetryInfo.
    delay: Option<Duration>,
}

impl Answer {
    fn of(body: &Value) -> Self {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let error = body.get("error").unwrap_or(body);
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        let told = [error, &error["message"], &body["detail"], &body["message"]];
        let mut answer = Self {
            code: error["code"].as_u64().and_then(|code| u16::try_from(code).ok()),
            status: text("status"),
            message: told.iter().find_map(|said| said.as_str()).unwrap_or_default().to_owned(),
            ..Self::default()
        };
        for detail in error["details"].as_array().into_iter().flatten() {
            answer.take_detail(detail);
        }
        answer
    }

    fn take_detail(&mut self, detail: &Value) {
        if let Some(reason) = detail["reason"].as_str() {
            reason.clone_into(&mut self.reason);
        }
        if let Some(delay) = detail["retryDelay"].as_str() {
            self.delay = read_wait(delay);
        }
        let violations = detail["violations"].as_array().into_iter().flatten();
        self.quotas.extend(violations.filter_map(|one| one["quotaId"].as_str()).map(str::to_owned));
    }

    fn classify(&self, status: u16, header: Option<Duration>) -> ProviderError {
        let wait = header.or(self.delay).or_else(|| text_wait(&self.message));
        let kind = self.kind(status, wait);
        let message = self.sentence(kind, status);
        let retry_after = wait.filter(|_| kind != ErrorKind::Quota);
        ProviderError { kind, message, retry_after }
    }

    fn kind(&self, status: u16, wait: Option<Duration>) -> ErrorKind {
        match status {
            _ if self.is_bad_key() => ErrorKind::Auth,
            400 | 413 | 422 | 500 if self.is_overflow() => ErrorKind::ContextOverflow,
            401 | 403 => ErrorKind::Auth,
            402 => ErrorKind::Quota,
            400 if self.status == "FAILED_PRECONDITION" => ErrorKind::Quota,
            429 if self.is_used_up(wait) => ErrorKind::Quota,
            429 => ErrorKind::RateLimit,
            503 | 529 => ErrorKind::Overloaded,
            // A page where a stream was due, sent as if all were well.
            200..=299 => ErrorKind::Transient,
            408 | 409 | 500 | 502 | 504 | 520..=524 => ErrorKind::Transient,
            _ => ErrorKind::BadRequest,
        }
    }

    fn is_bad_key(&self) -> bool {
        let message = self.message.to_lowercase();
        self.reason == "API_KEY_INVALID"
            || message.contains("api key not valid")
            || message.contains("api key expired")
    }

    fn is_overflow(&self) -> bool {
        let message = self.message.to_lowercase();
        OVERFLOWS.iter().any(|overflow| message.contains(overflow))
    }

    fn is_used_up(&self, wait: Option<Duration>) -> bool {
        let is_daily = |quota: &String| quota.contains("PerDay") || quota.contains("Daily");
        self.quotas.iter().any(is_daily)
            || self.message.contains("limit: 0")
            || wait.is_some_and(|wait| wait > LONGEST_RATE_WAIT)
    }

    fn sentence(&self, kind: ErrorKind, status: u16) -> String {
        let (what, next) = told(kind, status);
        let said = shown(&self.message, 500);
        match said.trim_end_matches('.') {
            "" => format!("{what} (status {status}). {next}"),
            said => format!("{what} (status {status}: {said}). {next}"),
        }
    }
}

/// Returns what happened, and what a person does next.
fn told(kind: ErrorKind, status: u16) -> (&'static str, &'static str) {
    let later = "Send the message again in a while.";
    match (kind, status) {
        (ErrorKind::Auth, _) => (
            "Gemini refuses the key",
            "Set GEMINI_API_KEY or GOOGLE_API_KEY to a valid one; `trefoil --demo` works without.",
        ),
        (ErrorKind::Quota, _) => (
            "Gemini's quota is used up, or the account lacks billing",
            "Check the account, or choose another model with /model.",
        ),
        (ErrorKind::ContextOverflow, _) => {
            ("The conversation is too long for this model", "Start anew with /clear.")
        }
        (ErrorKind::RateLimit, _) => ("Gemini is asked too often", later),
        (ErrorKind::Overloaded, _) => ("Gemini is overloaded", later),
        (ErrorKind::Transient, _) => ("Gemini failed", later),
        (_, 300..=399) => (
            "The server answered with a redirect, which is not followed",
            "Check the endpoint set for gemini.",
        ),
        (_, 404) => ("Gemini has no such model", "Choose another with /model."),
        _ => (
            "Gemini refuses the request",
            "Choose another model with /model, or start anew with /clear.",
        ),
    }
}

/// Returns a text on one line, cut at a length.
fn shown(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the title of a gateway's page, or the start of what is no page.
fn page_title(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let end = lower[start..].find("</title>")?;
        body.get(start + "<title>".len()..start + end)
    });
    match title {
        Some(title) => shown(title, 200),
        None if lower.contains("<html") => String::new(),
        None => shown(body, 200),
    }
}

fn code_of(status: &str) -> Option<u16> {
    Some(match status {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => return None,
    })
}

/// Reads `retry-after-ms`, then `retry-after` in seconds or as a date.
fn header_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = text("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1e3).ok()) {
        return Some(wait);
    }
    let after = text("retry-after")?.trim();
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    Duration::try_from(moment.duration_since(jiff::Timestamp::now())).ok()
}

/// Reads `Please retry in 34.07s` and its like.
fn text_wait(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let start = ["retry in ", "try again in "]
        .iter()
        .find_map(|phrase| Some(lower.find(phrase)? + phrase.len()))?;
    let word = lower[start..].split_whitespace().next()?;
    read_wait(word.trim_end_matches(['.', ',']))
}

/// Reads a duration such as `34.07s`, `900ms` or `6m0s`.
fn read_wait(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit());
        let unit = unit.map_or(rest.len(), |length| digits + length);
        seconds += number * seconds_in(&rest[digits..unit])?;
        rest = &rest[unit..];
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|_| !text.is_empty())
}

fn seconds_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
