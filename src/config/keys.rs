//! Secret keys by provider, and the redactor that keeps them out of everything that is written or sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use secrecy::{ExposeSecret, SecretString};

use super::Environment;

/// Shorter texts are no keys; replacing them would tear holes into ordinary words.
const SHORTEST: usize = 8;

/// Where a provider's key is looked for, best first. Google's own library prefers `GOOGLE_API_KEY`.
const VARIABLES: &[(&str, &[&str])] = &[
    ("gemini", &["GOOGLE_API_KEY", "GEMINI_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
    ("openai-chat", &["API_KEY"]),
];

/// The keys that the environment and `.env` gave.
#[derive(Clone, Default)]
pub struct Keys {
    by_provider: BTreeMap<&'static str, SecretString>,
    /// Every key, found in one pass.
    finder: Option<AhoCorasick>,
}

/// Names the providers alone: the finder would show the keys.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keys").field(&self.by_provider.keys()).finish()
    }
}

impl Keys {
    /// Takes the keys out of the environment and, where it has none, out of `.env`.
    pub fn from(environment: &Environment, dotenv: &Environment) -> Self {
        let mut by_provider = BTreeMap::new();
        let mut all = Vec::new();
        for (provider, names) in VARIABLES {
            let found: Vec<&str> = [environment, dotenv]
                .iter()
                .flat_map(|source| names.iter().filter_map(|name| source.get(name)))
                .map(str::trim)
                .collect();
            if let Some(key) = found.first() {
                by_provider.insert(*provider, SecretString::from(*key));
            }
            all.extend(found.into_iter().filter(|key| key.len() >= SHORTEST));
        }
        Self { by_provider, finder: finder(&all) }
    }

    /// Returns the key of a provider, by the provider's name.
    pub fn get(&self, provider: &str) -> Option<&SecretString> {
        self.by_provider.get(provider).filter(|key| !key.expose_secret().is_empty())
    }

    /// Returns whether bytes hold a known key.
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(bytes))
    }

    /// Replaces every known key in a text with `[redacted]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(finder) = &self.finder else { return Cow::Borrowed(text) };
        if !finder.is_match(text) {
            return Cow::Borrowed(text);
        }
        let replacements = vec!["[redacted]"; finder.patterns_len()];
        Cow::Owned(finder.replace_all(text, &replacements))
    }
}

/// Finds the longest key first: the rest of it must not stand when a shorter one is its beginning.
fn finder(keys: &[&str]) -> Option<AhoCorasick> {
    if keys.is_empty() {
        return None;
    }
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(keys).ok()
}

/// Says which of two different Google keys counts.
pub(super) fn notice(environment: &Environment, dotenv: &Environment) -> Option<String> {
    let both = [environment, dotenv]
        .into_iter()
        .find(|source| source.get("GOOGLE_API_KEY").or(source.get("GEMINI_API_KEY")).is_some())?;
    let (google, gemini) = (both.get("GOOGLE_API_KEY")?, both.get("GEMINI_API_KEY")?);
    (google.trim() != gemini.trim()).then(|| {
        "GOOGLE_API_KEY and GEMINI_API_KEY are both set and differ; GOOGLE_API_KEY is used. \
         Unset the one you do not mean."
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_dotenv() {
        let real = Environment::from([("GEMINI_API_KEY", "key-of-the-shell")]);
        let dotenv = Environment::from([
            ("GEMINI_API_KEY", "key-of-the-file"),
            ("OPENAI_API_KEY", "another-key"),
        ]);
        let keys = Keys::from(&real, &dotenv);
        assert_eq!(keys.get("gemini").unwrap().expose_secret(), "key-of-the-shell");
        assert_eq!(keys.get("openai").unwrap().expose_secret(), "another-key");
        assert!(keys.get("anthropic").is_none());
        assert_eq!(keys.redact("a key-of-the-file b"), "a [redacted] b");
    }

    #[test]
    fn every_known_key_is_redacted_and_nothing_else() {
        let real = Environment::from([("OPENAI_API_KEY", "sk-TESTSECRET"), ("GROQ_API_KEY", "no")]);
        let keys = Keys::from(&real, &Environment::default());
        assert_eq!(keys.redact("no sk-TESTSECRET, sk-TESTSECRET"), "no [redacted], [redacted]");
        assert!(matches!(keys.redact("plain"), Cow::Borrowed(_)));
        assert_eq!(format!("{keys:?}"), r#"Keys(["groq", "openai"])"#);
    }

    #[test]
    fn a_key_that_begins_like_another_leaves_no_tail() {
        let real = Environment::from([("OPENAI_API_KEY", "sk-TESTSECRET")]);
        let dotenv = Environment::from([("OPENAI_API_KEY", "sk-TESTSECRET-longer")]);
        assert_eq!(Keys::from(&real, &dotenv).redact("a sk-TESTSECRET-longer b"), "a [redacted] b");
    }

    #[test]
    fn of_two_different_google_keys_googles_own_name_wins_and_that_is_said() {
        let none = Environment::default();
        for (google, gemini, said) in [("one-key", "two-key", true), ("one-key", "one-key", false)]
        {
            let both = Environment::from([("GEMINI_API_KEY", gemini), ("GOOGLE_API_KEY", google)]);
            assert_eq!(Keys::from(&both, &none).get("gemini").unwrap().expose_secret(), google);
            assert_eq!(notice(&both, &none).is_some(), said);
        }
        assert_eq!(notice(&Environment::from([("GEMINI_API_KEY", "two-key")]), &none), None);
    }
}
