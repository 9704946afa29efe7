//! Defaults → the person's file → environment and `.env` → flags.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use super::{Config, Environment, Keys, Mode, explain, keys};

/// Where a provider's base URL is looked for; only in the real environment, never in `.env`.
const ENDPOINTS: &[(&str, &str)] = &[
    ("gemini", "GOOGLE_GEMINI_BASE_URL"),
    ("openai", "OPENAI_BASE_URL"),
    ("anthropic", "ANTHROPIC_BASE_URL"),
    ("ollama", "OLLAMA_HOST"),
    ("openai-chat", "API_BASE"),
];

/// Names that make the plain variable `MODEL` ours: other tools use that name too.
const PROVIDERS: &[&str] = &[
    "gemini",
    "openai",
    "openai-chat",
    "anthropic",
    "ollama",
    "openrouter",
    "deepseek",
    "mistral",
    "groq",
    "xai",
    "scripted",
];

/// Where to read from.
pub struct Sources<'a> {
    pub environment: &'a Environment,
    /// A configuration file that was named; it must exist.
    pub named: Option<&'a Path>,
    /// The usual configuration file; it need not exist.
    pub usual: Option<&'a Path>,
    /// The folder whose `.env` is read for keys and the model.
    pub workspace: &'a Path,
}

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub model: Option<String>,
    pub approval_mode: Option<Mode>,
    pub max_turns: Option<u32>,
    /// Further rules that let calls stand.
    pub allow: Vec<String>,
}

/// A configuration with what came along.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    pub keys: Keys,
    /// Base URL of a provider's API, by the provider's name, where the environment moves it.
    pub endpoints: BTreeMap<String, String>,
    /// What the person should know.
    pub notices: Vec<String>,
}

/// A setting that cannot be read, with file, line, key and the nearest right key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// Loads the configuration.
pub fn load(sources: &Sources<'_>, flags: Flags) -> Result<Loaded, LoadError> {
    let mut notices = Vec::new();
    let mut config = from_files(sources, &mut notices)?;
    let dotenv = super::dotenv::read(&sources.workspace.join(".env"));
    if let Some(model) =
        model(sources.environment, &mut notices).or_else(|| model(&dotenv, &mut notices))
    {
        config.model = model;
    }
    take_flags(&mut config, flags);
    notices.extend(keys::notice(sources.environment, &dotenv));
    Ok(Loaded {
        config,
        keys: Keys::from(sources.environment, &dotenv),
        endpoints: endpoints(sources.environment),
        notices,
    })
}

fn from_files(sources: &Sources<'_>, notices: &mut Vec<String>) -> Result<Config, LoadError> {
    let path = match (sources.named, sources.usual) {
        (Some(path), _) | (None, Some(path)) => path,
        (None, None) => return Ok(Config::default()),
    };
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&shown(path), &text),
        Err(error) if sources.named.is_some() => {
            Err(LoadError(format!("The configuration {} cannot be read: {error}.", path.display())))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Config::default()),
        Err(error) => {
            notices.push(format!(
                "The configuration {} cannot be read ({error}); the defaults hold.",
                path.display()
            ));
            Ok(Config::default())
        }
    }
}

fn parse(file: &str, text: &str) -> Result<Config, LoadError> {
    let config: Config =
        toml::from_str(text).map_err(|error| LoadError(explain::error(file, text, &error)))?;
    match first_zero(&config) {
        Some(key) => Err(LoadError(explain::zero(file, text, key))),
        None => Ok(config),
    }
}

/// Returns the first number that is zero and would leave nothing to read, run or wait for.
fn first_zero(config: &Config) -> Option<&'static str> {
    let (limits, network) = (&config.limits, &config.network);
    let numbers = [
        ("max_turns", u64::from(config.max_turns)),
        ("read_lines", limits.read_lines as u64),
        ("read_chars", limits.read_chars as u64),
        ("file_bytes", limits.file_bytes),
        ("list_entries", limits.list_entries as u64),
        ("grep_lines", limits.grep_lines as u64),
        ("output_chars", limits.output_chars as u64),
        ("command_seconds", limits.command_seconds),
        ("python_seconds", limits.python_seconds),
        ("connect_seconds", network.connect_seconds),
        ("idle_seconds", network.idle_seconds),
    ];
    numbers.into_iter().find(|(_, number)| *number == 0).map(|(key, _)| key)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the model that an environment names.
fn model(environment: &Environment, notices: &mut Vec<String>) -> Option<String> {
    if let Some(model) = environment.get("TREFOIL_MODEL") {
        return Some(model.to_owned());
    }
    let model = environment.get("MODEL")?;
    let is_ours = model.split_once('/').is_some_and(|(provider, _)| PROVIDERS.contains(&provider));
    if !is_ours {
        notices.push(format!(
            "MODEL={model} names no provider, so it is not taken for Trefoil's; set TREFOIL_MODEL=PROVIDER/MODEL."
        ));
        return None;
    }
    Some(model.to_owned())
}

fn endpoints(environment: &Environment) -> BTreeMap<String, String> {
    let endpoint = |(provider, name): &(&str, &str)| {
        environment.get(name).map(|url| ((*provider).to_owned(), url.to_owned()))
    };
    ENDPOINTS.iter().filter_map(endpoint).collect()
}

fn take_flags(config: &mut Config, flags: Flags) {
    if let Some(model) = flags.model {
        config.model = model;
    }
    if let Some(mode) = flags.approval_mode {
        config.approval_mode = mode;
    }
    if let Some(turns) = flags.max_turns {
        config.max_turns = turns;
    }
    config.permissions.allow.extend(flags.allow);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn with(files: &[(&str, &str)]) -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            for (name, text) in files {
                std::fs::write(home.0.path().join(name), text).unwrap();
            }
            home
        }

        fn load(&self, environment: Environment, flags: Flags) -> Result<Loaded, LoadError> {
            let usual = self.0.path().join("config.toml");
            let sources = Sources {
                environment: &environment,
                named: None,
                usual: Some(&usual),
                workspace: self.0.path(),
            };
            load(&sources, flags)
        }

        fn error(&self) -> String {
            self.load(Environment::default(), Flags::default()).unwrap_err().0
        }
    }

    #[test]
    fn the_example_is_exactly_the_defaults() {
        let example: Config = toml::from_str(include_str!("../../config.example.toml")).unwrap();
        assert_eq!(example, Config::default());
        let written = toml::to_string(&Config::default()).unwrap();
        for line in written.lines().filter_map(|line| line.split_once(" = ")) {
            let key = line.0;
            assert!(
                include_str!("../../config.example.toml").contains(key),
                "{key} is not explained"
            );
        }
    }

    #[test]
    fn later_layers_win() {
        let home = Home::with(&[
            ("config.toml", "model = \"gemini/file\"\nmax_turns = 7\n"),
            (".env", "TREFOIL_MODEL=gemini/dotenv\nGOOGLE_GEMINI_BASE_URL=http://evil\n"),
        ]);
        let loaded = home.load(Environment::default(), Flags::default()).unwrap();
        assert_eq!((loaded.config.model.as_str(), loaded.config.max_turns), ("gemini/dotenv", 7));
        assert!(loaded.endpoints.is_empty(), "a base URL is never read from .env");

        let environment = || {
            Environment::from([
                ("TREFOIL_MODEL", "gemini/shell"),
                ("GOOGLE_GEMINI_BASE_URL", "http://localhost:1"),
            ])
        };
        let loaded = home.load(environment(), Flags::default()).unwrap();
        assert_eq!(loaded.config.model, "gemini/shell");
        assert_eq!(loaded.endpoints["gemini"], "http://localhost:1");

        let flags = Flags { model: Some("gemini/flag".into()), ..Flags::default() };
        assert_eq!(home.load(environment(), flags).unwrap().config.model, "gemini/flag");
    }

    #[test]
    fn a_plain_model_counts_only_with_a_provider() {
        let home = Home::with(&[]);
        for (value, model, notices) in [
            ("gemini/x", "gemini/x", 0),
            ("gpt-9", "gemini/gemini-3.8-flash", 1),
            ("meta/llama", "gemini/gemini-3.8-flash", 1),
        ] {
            let loaded =
                home.load(Environment::from([("MODEL", value)]), Flags::default()).unwrap();
            assert_eq!((loaded.config.model.as_str(), loaded.notices.len()), (model, notices));
        }
    }

    #[test]
    fn an_error_names_file_line_key_and_the_nearest_right_key() {
        for (text, parts) in [
            ("# ours\n\nmodle = \"x\"\n", ["config.toml line 3", "modle", "`model`"]),
            ("[limits]\nread_line = 3\n", ["line 2", "read_line", "`read_lines`"]),
            ("approval_mode = \"aks\"\n", ["line 1", "aks", "`ask`?"]),
            ("approval_mode = \"asks\"\n", ["line 1", "asks", "`ask`"]),
            ("approval_mode = \"auto\"\n", ["line 1", "auto", "sandbox"]),
            ("max_turns = \"many\"\n", ["line 1", "max_turns", "integer"]),
            ("\nmax_turns = 0\n", ["line 2", "max_turns", "at least 1"]),
            ("[limits]\noutput_chars = 0\n", ["line 2", "output_chars", "at least 1"]),
            ("max_turns = -1\n", ["line 1", "max_turns", "-1"]),
            ("model = \n", ["line 1", "config.toml", ""]),
        ] {
            let error = Home::with(&[("config.toml", text)]).error();
            for part in parts {
                assert!(error.contains(part), "{part:?} is missing in: {error}");
            }
        }
    }

    #[test]
    fn a_named_file_must_exist_and_a_usual_one_need_not() {
        let home = Home::with(&[]);
        assert!(home.load(Environment::default(), Flags::default()).is_ok());
        let missing = home.0.path().join("missing.toml");
        let sources = Sources {
            environment: &Environment::default(),
            named: Some(&missing),
            usual: None,
            workspace: home.0.path(),
        };
        let error = load(&sources, Flags::default()).unwrap_err().0;
        assert!(error.contains("missing.toml"), "{error}");
    }

    #[test]
    fn a_dangling_or_unreadable_usual_file_is_a_notice() {
        let home = Home::with(&[]);
        std::os::unix::fs::symlink("/nowhere/at/all", home.0.path().join("config.toml")).unwrap();
        assert!(home.load(Environment::default(), Flags::default()).is_ok());
        let home = Home::with(&[]);
        std::fs::create_dir(home.0.path().join("config.toml")).unwrap();
        let loaded = home.load(Environment::default(), Flags::default()).unwrap();
        assert!(loaded.notices[0].contains("config.toml"), "{:?}", loaded.notices);
    }
}
