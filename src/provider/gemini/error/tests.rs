//! Failures as servers and gateways word them.

use reqwest::header::HeaderValue;
use serde_json::json;

use super::*;

fn answered(status: u16, body: &str) -> ProviderError {
    refused(&Refusal { status, headers: HeaderMap::new(), body: body.to_owned() })
}

fn error(code: u16, status: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "status": status, "message": message } })
}

#[test]
fn each_answer_has_its_kind_and_its_words() {
    use ErrorKind::{Auth, BadRequest, ContextOverflow, Overloaded, Quota, RateLimit, Transient};
    let invalid = "INVALID_ARGUMENT";
    let table = [
        (400, error(400, invalid, "API key not valid. Please pass one."), Auth, "GEMINI_API_KEY"),
        (401, error(401, "UNAUTHENTICATED", "no"), Auth, "trefoil --demo"),
        (403, error(403, "PERMISSION_DENIED", "no rights"), Auth, "no rights"),
        (400, error(400, "FAILED_PRECONDITION", "enable billing"), Quota, "enable billing"),
        (402, json!({ "message": "pay" }), Quota, "pay"),
        (404, error(404, "NOT_FOUND", "models/x is not found"), BadRequest, "/model"),
        (429, error(429, "RESOURCE_EXHAUSTED", "slow down"), RateLimit, "slow down"),
        (429, error(429, "RESOURCE_EXHAUSTED", "quota, limit: 0"), Quota, "limit: 0"),
        (500, error(500, "INTERNAL", "oops"), Transient, "oops"),
        (503, json!([error(503, "UNAVAILABLE", "busy")]), Overloaded, "busy"),
        (504, error(504, "DEADLINE_EXCEEDED", "late"), Transient, "late"),
        (
            400,
            error(
                400,
                invalid,
                "The input token count (9) exceeds the maximum number of tokens allowed (5).",
            ),
            ContextOverflow,
            "/clear",
        ),
        (400, error(400, invalid, "Unknown name \"x\""), BadRequest, "Unknown name"),
        (422, json!({ "detail": "no such field" }), BadRequest, "no such field"),
        (400, json!({ "error": "flat" }), BadRequest, "flat"),
    ];
    for (status, body, kind, words) in table {
        let error = answered(status, &body.to_string());
        assert_eq!(error.kind, kind, "{status} {body}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn a_gateways_page_is_told_by_title_and_status() {
    let page = "<html><head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>";
    let error = answered(502, page);
    assert_eq!(error.kind, ErrorKind::Transient);
    assert_eq!(
        error.message,
        "Gemini failed (status 502: 502 Bad Gateway). Send the message again in a while."
    );
    assert!(answered(302, "").message.contains("redirect"));
}

#[test]
fn the_wait_is_found_wherever_it_is_told() {
    let told = |details: Value, message: &str| {
        let body = json!({ "error": { "code": 429, "message": message, "details": details } });
        answered(429, &body.to_string())
    };
    let info = |delay: &str| json!([{ "@type": "RetryInfo", "retryDelay": delay }]);
    let seconds = |seconds: f64| Some(Duration::from_secs_f64(seconds));
    let table = [
        (told(info("34.07s"), "Please retry in 1s."), seconds(34.07)),
        (told(info("900ms"), ""), seconds(0.9)),
        (told(json!([]), "Quota exceeded. Please retry in 34.07s."), seconds(34.07)),
        (told(json!([]), "try again in 6m0s"), seconds(360.0)),
        (told(json!([]), "no idea"), None),
    ];
    for (error, wanted) in table {
        let is_quota = wanted.is_some_and(|wait| wait > LONGEST_RATE_WAIT);
        assert_eq!(error.retry_after, wanted.filter(|_| !is_quota), "{error}");
        assert_eq!(error.kind == ErrorKind::Quota, is_quota, "{error}");
    }
    let daily = json!([{ "violations": [{ "quotaId": "GenerateRequestsPerDayPerProject" }] }]);
    assert_eq!(told(daily, "").kind, ErrorKind::Quota);
}

#[test]
fn headers_tell_the_wait_before_the_body_does() {
    let wait = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        header_wait(&headers)
    };
    assert_eq!(wait("retry-after", "2"), Some(Duration::from_secs(2)));
    assert_eq!(wait("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
    assert_eq!(wait("retry-after", "soon"), None);
    assert_eq!(wait("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), None);
    let later = wait("retry-after", "Mon, 21 Oct 2115 07:28:00 GMT");
    assert!(later.is_some_and(|wait| wait > Duration::from_secs(86_400)));
}

#[test]
fn only_complaints_about_signatures_ask_for_placeholders() {
    let table = [
        ("Function call is missing a thought_signature in functionCall parts.", true),
        ("Corrupted thought signature.", true),
        ("Invalid thought signature.", true),
        ("Unknown name \"x\"", false),
    ];
    for (message, wanted) in table {
        let error = answered(400, &error(400, "INVALID_ARGUMENT", message).to_string());
        assert_eq!(blames_signature(&error), wanted, "{message}");
    }
    assert!(blames_signature(&signature("MISSING_THOUGHT_SIGNATURE", None)));
}
