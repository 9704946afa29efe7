//! Errors of a configuration file in words: file, line, key, and what was probably meant.

/// How near two names must be, 0–1, for one to be taken for the other's misspelling.
const NEAR: f64 = 0.7;

/// Says what is wrong in a file, where, and the nearest right name.
pub fn error(file: &str, text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    let number = text[..at.min(text.len())].matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let key = line.split_once('=').map(|(key, _)| key.trim());
    let message = plain(error.message());
    let place = match key {
        Some(key) if !message.contains(&format!("`{key}`")) => {
            format!("{file} line {number}, `{key}`")
        }
        _ => format!("{file} line {number}"),
    };
    let hint = if message.contains("`auto`") {
        " The mode auto comes with the sandbox; choose plan, ask or accept-edits.".to_owned()
    } else {
        nearest(&message).map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default()
    };
    let value = line.split_once('=').map_or("", |(_, value)| value.trim());
    let value = if value.is_empty() || message.contains(value.trim_matches('"')) {
        String::new()
    } else {
        format!(" (the value is {value})")
    };
    format!("{place}: {message}{value}.{hint}")
}

/// Puts serde's message on one line, without the names of Rust's number types.
fn plain(message: &str) -> String {
    let line = message.lines().collect::<Vec<_>>().join(" ");
    let rename = |line: String, kind: &&str| {
        line.replace(&format!("expected {kind}"), "expected an integer")
    };
    ["u32", "u64", "usize"].iter().fold(line, rename)
}

/// Says that a number must not be zero.
pub fn zero(file: &str, text: &str, key: &str) -> String {
    let number = text.lines().position(|line| line.trim_start().starts_with(key)).unwrap_or(0) + 1;
    format!("{file} line {number}: `{key}` must be at least 1.")
}

/// Picks the nearest of the names that serde's message expects to the one that it got.
fn nearest(message: &str) -> Option<&str> {
    let mut names = message.split('`').skip(1).step_by(2);
    let wrong = names.next()?;
    let best = names.max_by(|a, b| likeness(wrong, a).total_cmp(&likeness(wrong, b)))?;
    (likeness(wrong, best) >= NEAR).then_some(best)
}

/// Two letters that traded places are as near as can be; the rest is by common letters.
fn likeness(a: &str, b: &str) -> f64 {
    if strsim::damerau_levenshtein(a, b) == 1 { 1.0 } else { strsim::jaro_winkler(a, b) }
}
