//! The person's files and processes: the only place that reads, writes or starts anything.

mod change;
mod diff;
pub mod edit;
mod folder;
pub mod git;
mod root;
mod selection;
pub mod shell;
mod staged;
pub mod text;
pub mod walk;

pub use change::{Applied, ApplyError, Change, FileChange, Origin, Version};
pub use diff::{Ending, FileDiff, FileKind, Hunk, Line, LineKind, intraline};
pub use root::{Escape, Found, Place, Root};
pub use selection::{FileSelection, HunkChoice, Note, SelectError, Selection};
pub use shell::{Command, Ended, Launcher, Output};
pub use staged::Staged;
pub use text::{Text, TextError};
