//! What a model may ask for. A tool never acts: it says exactly what it intends.

mod arguments;
mod delete_file;
#[cfg(test)]
mod desk;
mod edit_file;
mod git_diff;
mod git_status;
mod grep_search;
mod list_files;
mod move_file;
mod nearby;
mod proposed;
mod read_file;
mod run_command;
mod run_python_file;
mod seen;
mod target;
mod write_file;

pub use proposed::Proposed;
pub use seen::Seen;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::config::Limits;
use crate::session::{Proposal, Spec, View};
use crate::workspace::{Change, Command, Launcher, Root};

/// Every tool there is. Adding one is a file and a line.
pub const TOOLS: &[&dyn Tool] = &[
    &read_file::ReadFile,
    &list_files::ListFiles,
    &grep_search::GrepSearch,
    &write_file::WriteFile,
    &edit_file::EditFile,
    &move_file::MoveFile,
    &delete_file::DeleteFile,
    &run_command::RunCommand,
    &run_python_file::RunPythonFile,
    &git_status::GitStatus,
    &git_diff::GitDiff,
];

/// A thing a model may ask for.
pub trait Tool: Send + Sync {
    /// Returns the name, the description and the JSON Schema of the arguments.
    fn spec(&self) -> Spec;

    /// Says what this call would do, exactly, without doing it. Blocking reads are fine here.
    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal>;
}

/// What tools may know of the world.
#[derive(Debug, Clone)]
pub struct Context {
    pub root: Arc<Root>,
    pub limits: Limits,
    /// The configured Python interpreter; empty looks for one.
    pub python: String,
    /// The environment that commands get, without keys.
    pub environment: Arc<Vec<(String, String)>>,
    /// Through what every process starts.
    pub launcher: Launcher,
    /// What the model last saw of each file.
    pub seen: Seen,
    /// What earlier calls of the same reply would leave, which changes are computed on top of.
    pub proposed: Proposed,
}

impl Context {
    /// Returns a variable of the environment that commands get.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Finds a program on the `PATH` that commands get.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }

    /// Returns the shell that runs command lines: `bash`, else `sh`.
    pub fn shell(&self) -> &'static str {
        if self.program("bash").is_some() { "bash" } else { "sh" }
    }
}

/// What a call would do.
pub enum Intent {
    Look(Look),
    Change(Change),
    Run(Command),
}

impl Intent {
    /// Returns the intent as plain data, for people and logs.
    pub fn proposal(&self) -> Proposal {
        match self {
            Self::Look(look) => Proposal::Look { subject: look.subject.clone() },
            Self::Change(change) => Proposal::Change { files: change.diffs() },
            Self::Run(command) => Proposal::Run {
                line: command.line.clone(),
                cwd: command.cwd_shown.clone(),
                timeout_s: command.timeout.as_secs(),
            },
        }
    }
}

/// Reads only: what it looks at, and the look itself, not yet taken.
pub struct Look {
    /// A path, a pattern: what rules match and the log shows.
    pub subject: String,
    /// Looks; runs on a blocking thread and stops soon after the token is cancelled.
    pub look: Box<dyn FnOnce(&CancellationToken) -> Outcome + Send>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ok: bool,
    /// For the model.
    pub text: String,
    /// For the person.
    pub view: View,
}

impl Outcome {
    /// Makes an outcome that the person sees as the model does.
    pub fn told(ok: bool, text: impl Into<String>) -> Self {
        Self { ok, text: text.into(), view: View::Text }
    }
}

/// Why a call cannot even be intended: text for the model to learn from, with the numbers needed to put it right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Finds a tool by its exact name.
pub fn find(name: &str) -> Option<&'static dyn Tool> {
    TOOLS.iter().copied().find(|tool| tool.spec().name == name)
}

impl From<crate::workspace::Escape> for Refusal {
    fn from(escape: crate::workspace::Escape) -> Self {
        Self(escape.to_string())
    }
}
