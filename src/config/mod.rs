//! How Trefoil should behave, as plain data with its defaults.

mod dotenv;
mod environment;
mod explain;
mod keys;
mod load;
mod paths;

pub use environment::Environment;
pub use keys::Keys;
pub use load::{Flags, LoadError, Loaded, Sources, load};
pub use paths::Paths;

use serde::{Deserialize, Serialize};

/// Every setting. `config.example.toml` parses to exactly the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `PROVIDER/MODEL`.
    pub model: String,
    pub approval_mode: Mode,
    /// Model requests in one turn before it ends.
    pub max_turns: u32,
    /// A theme's name: `dark`, `light`, or a file in the themes folder.
    pub theme: String,
    /// The Python interpreter; empty looks for a virtual environment, then `python3`, then `python`.
    pub python: String,
    pub permissions: Permissions,
    pub limits: Limits,
    pub network: Network,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: "gemini/gemini-3.8-flash".into(),
            approval_mode: Mode::Ask,
            max_turns: 60,
            theme: "dark".into(),
            python: String::new(),
            permissions: Permissions::default(),
            limits: Limits::default(),
            network: Network::default(),
        }
    }
}

/// What stands without being asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing is changed and nothing is run.
    Plan,
    /// Changes and commands are asked.
    #[default]
    Ask,
    /// Changes inside the workspace stand at once; commands are asked.
    AcceptEdits,
}

impl Mode {
    /// Returns the next mode in the cycle of Shift+Tab.
    pub fn next(self) -> Self {
        match self {
            Self::Plan => Self::Ask,
            Self::Ask => Self::AcceptEdits,
            Self::AcceptEdits => Self::Plan,
        }
    }

    /// Returns the name used in flags, config and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::AcceptEdits => "accept-edits",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Plan, Self::Ask, Self::AcceptEdits]
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| format!("'{text}' is no mode; choose plan, ask or accept-edits."))
    }
}

/// Rules over `tool(glob)`: deny wins, then ask, then allow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
}

/// How much of a thing is read, kept or waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Lines that one `read_file` returns.
    pub read_lines: usize,
    /// Characters that one `read_file` returns.
    pub read_chars: usize,
    /// Largest file that tools read or change, in bytes.
    pub file_bytes: u64,
    /// Entries that one `list_files` returns.
    pub list_entries: usize,
    /// Matching lines that one `grep_search` returns.
    pub grep_lines: usize,
    /// Characters of a command's output that the model gets: half from the head, half from the tail.
    pub output_chars: usize,
    /// Seconds before `run_command` is stopped.
    pub command_seconds: u64,
    /// Seconds before `run_python_file` is stopped.
    pub python_seconds: u64,
    /// Earlier versions of files that one session keeps, compressed, in bytes.
    pub checkpoint_bytes: u64,
    /// Largest file of which a command's changes can be taken back, in bytes.
    pub checkpoint_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_lines: 2_000,
            read_chars: 50_000,
            file_bytes: 20_000_000,
            list_entries: 500,
            grep_lines: 200,
            output_chars: 30_000,
            command_seconds: 120,
            python_seconds: 30,
            checkpoint_bytes: 200_000_000,
            checkpoint_file_bytes: 1_000_000,
        }
    }
}

/// How providers are reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Seconds for a connection to stand.
    pub connect_seconds: u64,
    /// Seconds without an event before a stream counts as stalled.
    pub idle_seconds: u64,
    /// Times a failed request is sent again.
    pub retries: u32,
    /// Longest wait that a server may ask for, in seconds; longer ends the turn.
    pub longest_wait_seconds: u64,
}

impl Default for Network {
    fn default() -> Self {
        Self { connect_seconds: 20, idle_seconds: 300, retries: 4, longest_wait_seconds: 120 }
    }
}
