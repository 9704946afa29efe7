//! Defaults → the person's file → environment and `.env` → flags.

use super::{Config, Keys};

/// The environment as plain data, read once in `main`.
#[derive(Debug, Clone, Default)]
pub struct Environment(pub std::collections::BTreeMap<String, String>);

/// A configuration with where it came from and what the person should know.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    pub keys: Keys,
    /// Base URL of a provider's API, by the provider's name, where the environment moves it.
    pub endpoints: std::collections::BTreeMap<String, String>,
    pub notices: Vec<String>,
}

/// A setting that cannot be read, with file, line, key and the nearest right key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// Loads the configuration.
pub fn load() -> Result<Loaded, LoadError> {
    todo!()
}
