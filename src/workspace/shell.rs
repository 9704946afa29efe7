//! Starting processes: in their own session, without a terminal or stdin, through the hidden launcher.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A process that would be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What a person reads and a rule matches.
    pub line: String,
    /// What is executed: the program, then its arguments.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// The folder as people see it, relative to the workspace.
    pub cwd_shown: String,
    pub timeout: Duration,
    /// The whole environment of the process.
    pub environment: Vec<(String, String)>,
    /// How its output is told to the model.
    pub report: Report,
    /// Characters of output that the model gets.
    pub output_chars: usize,
}

/// How output is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// stdout and stderr as one stream, in the order they came.
    Combined,
    /// `STDOUT:` and `STDERR:` sections; the string names the interpreter.
    Sections,
}

/// Where the hidden launcher is: this program in use, its test build in tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    pub program: PathBuf,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Interrupted,
}

/// What a process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub ended: Ended,
    /// For the model: the output within its bound, the ending always stated.
    pub text: String,
}

/// Runs a command to its end, its timeout or the token's cancellation; the whole process group is killed then.
///
/// `live` gets the output as it comes (lossy when full); the full output goes to `keep` when given.
pub async fn run(
    _command: Command,
    _launcher: &Launcher,
    _live: mpsc::Sender<String>,
    _keep: Option<PathBuf>,
    _cancel: CancellationToken,
) -> std::io::Result<Output> {
    todo!()
}

/// Returns the environment that commands get: this process's, without keys, tokens, secrets and passwords.
pub fn environment(_vars: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    todo!()
}
