//! From `PROVIDER/MODEL` to a provider that answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::scripted::{Pace, Script, Scripted};
use super::{ErrorKind, Provider, ProviderError, scripted};
use crate::config::{Keys, Network};

/// A model that can be asked.
#[derive(Clone)]
pub struct Connection {
    pub provider: Arc<dyn Provider>,
    /// The model's name without the provider's.
    pub model: String,
    /// Whether a script plays the model, which the person should know.
    pub scripted: bool,
}

impl Connection {
    /// Connects to a script that is already read, which goes by the name `scripted/NAME`.
    pub fn to_script(name: &str, script: Script, pace: Pace, _network: &Network) -> Self {
        let provider = Arc::new(Scripted::new(script, pace));
        Self { provider, model: name.to_owned(), scripted: true }
    }
}

/// Connects to `PROVIDER/MODEL`; nothing is sent yet.
pub fn connect(
    model: &str,
    _keys: &Keys,
    _endpoints: &BTreeMap<String, String>,
    network: &Network,
    pace: Pace,
) -> Result<Connection, ProviderError> {
    match split(model) {
        (scripted::NAME, path) => {
            let script = Script::load(Path::new(path))
                .map_err(|error| ProviderError::new(ErrorKind::BadRequest, error.to_string()))?;
            Ok(Connection::to_script(path, script, pace, network))
        }
        (provider, _) => Err(unknown(provider)),
    }
}

fn split(model: &str) -> (&str, &str) {
    model.split_once('/').unwrap_or(("", model))
}

fn unknown(provider: &str) -> ProviderError {
    ProviderError::new(ErrorKind::BadRequest, format!("'{provider}' is no provider."))
}
