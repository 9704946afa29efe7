//! From `PROVIDER/MODEL` to a provider that answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::gemini::{self, Gemini};
use super::http::Timing;
use super::retry::{Patience, Retry};
use super::scripted::{self, Pace, Script, Scripted};
use super::{ErrorKind, Provider, ProviderError};
use crate::config::{Keys, Network};

/// Providers that a later version talks to.
const LATER: &[&str] = &["openai", "anthropic", "ollama", "openrouter", "deepseek", "mistral"];

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
    pub fn to_script(name: &str, script: Script, pace: Pace, network: &Network) -> Self {
        let mut patience = Patience::from(network);
        if pace == Pace::Instant {
            patience.first_wait = Duration::ZERO;
        }
        let provider = Arc::new(Retry::new(Scripted::new(script, pace), patience));
        Self { provider, model: name.to_owned(), scripted: true }
    }
}

/// Connects to `PROVIDER/MODEL`, a bare `gemini-…` or `models/…`; nothing is sent yet.
pub fn connect(
    model: &str,
    keys: &Keys,
    endpoints: &BTreeMap<String, String>,
    network: &Network,
    pace: Pace,
) -> Result<Connection, ProviderError> {
    match split(model) {
        (_, "") => Err(refuse(format!("'{model}' names no model; write PROVIDER/MODEL."))),
        (gemini::NAME, name) => to_gemini(name, keys, endpoints, network),
        (scripted::NAME, path) => {
            let script =
                Script::load(Path::new(path)).map_err(|error| refuse(error.to_string()))?;
            Ok(Connection::to_script(path, script, pace, network))
        }
        (provider, _) => Err(unknown(provider, model)),
    }
}

/// Returns provider and model; the provider is empty where none is named.
fn split(model: &str) -> (&str, &str) {
    let model = model.trim();
    match model.split_once('/') {
        Some(("models", name)) => (gemini::NAME, name),
        Some((gemini::NAME, name)) => (gemini::NAME, name.strip_prefix("models/").unwrap_or(name)),
        Some((provider, name)) => (provider, name),
        None if model.starts_with("gemini-") => (gemini::NAME, model),
        None => ("", model),
    }
}

fn to_gemini(
    model: &str,
    keys: &Keys,
    endpoints: &BTreeMap<String, String>,
    network: &Network,
) -> Result<Connection, ProviderError> {
    let key = keys.get(gemini::NAME).ok_or_else(|| {
        let message = "Gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY, in the environment \
             or in .env. `trefoil --demo` works without a key.";
        ProviderError::new(ErrorKind::Auth, message)
    })?;
    let endpoint = endpoints.get(gemini::NAME).map(String::as_str);
    let provider = Gemini::new(key.clone(), endpoint, Timing::from(network))?;
    let provider = Arc::new(Retry::new(provider, Patience::from(network)));
    Ok(Connection { provider, model: model.to_owned(), scripted: false })
}

fn unknown(provider: &str, model: &str) -> ProviderError {
    let known = "Known are gemini/MODEL and scripted/PATH.";
    refuse(match provider {
        "" => format!("'{model}' names no provider; write PROVIDER/MODEL. {known}"),
        _ if LATER.contains(&provider) => format!("{provider} is not in this version yet. {known}"),
        _ => format!("'{provider}' is no provider. {known}"),
    })
}

fn refuse(message: String) -> ProviderError {
    ProviderError::new(ErrorKind::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(model: &str) -> ProviderError {
        let (keys, network) = (Keys::default(), Network::default());
        match connect(model, &keys, &BTreeMap::new(), &network, Pace::Instant) {
            Err(error) => error,
            Ok(_) => panic!("{model} connected"),
        }
    }

    #[test]
    fn models_are_named_in_several_ways() {
        let table = [
            ("gemini/gemini-3.8-flash", ("gemini", "gemini-3.8-flash")),
            ("gemini-3.8-flash", ("gemini", "gemini-3.8-flash")),
            ("models/gemini-3.8-flash", ("gemini", "gemini-3.8-flash")),
            ("gemini/models/gemini-3.8-flash", ("gemini", "gemini-3.8-flash")),
            ("scripted/a/b.toml", ("scripted", "a/b.toml")),
            ("scripted//tmp/b.toml", ("scripted", "/tmp/b.toml")),
            ("claude", ("", "claude")),
        ];
        for (model, wanted) in table {
            assert_eq!(split(model), wanted, "{model}");
        }
    }

    #[test]
    fn a_model_that_cannot_be_asked_is_refused_with_the_way_out() {
        let table = [
            ("gemini-3.8-flash", ErrorKind::Auth, "GEMINI_API_KEY or GOOGLE_API_KEY"),
            ("gemini-3.8-flash", ErrorKind::Auth, "`trefoil --demo` works without a key"),
            ("openai/gpt-6.1-sol", ErrorKind::BadRequest, "openai is not in this version yet."),
            ("nobody/x", ErrorKind::BadRequest, "'nobody' is no provider. Known are gemini/MODEL"),
            ("gpt", ErrorKind::BadRequest, "'gpt' names no provider; write PROVIDER/MODEL."),
            ("gemini/", ErrorKind::BadRequest, "'gemini/' names no model"),
            ("scripted/no.toml", ErrorKind::BadRequest, "The script no.toml cannot be read"),
        ];
        for (model, kind, words) in table {
            let error = error(model);
            assert_eq!(error.kind, kind, "{model}");
            assert!(error.message.contains(words), "{model}: {error}");
        }
    }
}
