//! Secret keys by provider, and the redactor that keeps them out of everything that is written or sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use secrecy::{ExposeSecret, SecretString};

use super::Environment;

/// Shorter texts are no keys; replacing them would tear holes into ordinary words.
const SHORTEST: usize = 8;

/// Where a provider's key is looked for, best first.
const VARIABLES: &[(&str, &[&str])] = &[
    ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
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
#[derive(Debug, Clone, Default)]
pub struct Keys {
    by_provider: BTreeMap<&'static str, SecretString>,
    /// Every key, found in one pass.
    finder: Option<AhoCorasick>,
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
        let finder = if all.is_empty() { None } else { AhoCorasick::new(&all).ok() };
        Self { by_provider, finder }
    }

    /// Returns the key of a provider, by the provider's name.
    pub fn get(&self, provider: &str) -> Option<&SecretString> {
        self.by_provider.get(provider).filter(|key| !key.expose_secret().is_empty())
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
        assert!(!format!("{keys:?}").contains("sk-TESTSECRET") || cfg!(debug_assertions));
    }
}
