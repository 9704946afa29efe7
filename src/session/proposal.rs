//! An intent as plain data: what a person is asked to approve, and what the log keeps.

use serde::{Deserialize, Serialize};

use crate::workspace::FileDiff;

/// What a call would do, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case")]
pub enum Proposal {
    /// Reads only; `subject` is what it looks at.
    Look { subject: String },
    /// Bytes that would stand on disk; the hunks are computed from those bytes.
    Change { files: Vec<FileDiff> },
    /// A process that would be started in `cwd` (relative to the workspace).
    Run { line: String, cwd: String, timeout_s: u64 },
}

impl Proposal {
    /// Returns what rules match and a log line shows: paths, or the command line.
    pub fn subjects(&self) -> Vec<String> {
        match self {
            Self::Look { subject } => vec![subject.clone()],
            Self::Change { files } => files
                .iter()
                .flat_map(|file| file.from.iter().chain([&file.path]))
                .cloned()
                .collect(),
            Self::Run { line, .. } => vec![line.clone()],
        }
    }
}
