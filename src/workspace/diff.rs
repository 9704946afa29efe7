//! Differences as data: what changes in a file, in hunks of lines.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// How one file would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Relative to the workspace.
    pub path: String,
    pub kind: FileKind,
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
}

/// What happens to the file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Created,
    Modified,
    Deleted,
    /// The content is no text; there are no hunks.
    Binary,
}

/// A run of changed lines with three lines of context. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub kind: LineKind,
    /// Without its line ending.
    pub text: String,
    /// The line's own ending where it matters to the eye: `\r\n`, or none at the end of the file.
    #[serde(default, skip_serializing_if = "Ending::is_plain")]
    pub ending: Ending,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    #[default]
    Lf,
    CrLf,
    Cr,
    /// The last line of a file that has no last newline.
    Missing,
}

impl Ending {
    fn is_plain(&self) -> bool {
        *self == Self::Lf
    }
}

/// On which side a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

impl FileDiff {
    /// Compares what stands with what would stand; `None` is an absent file.
    pub fn between(_path: &str, _before: Option<&[u8]>, _after: Option<&[u8]>) -> Self {
        todo!()
    }

    /// Writes the diff as unified text, as `git diff` prints it.
    pub fn unified(&self) -> String {
        todo!()
    }
}

/// Returns the byte ranges of an old and a new line that differ, by words.
pub fn intraline(_old: &str, _new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    todo!()
}
