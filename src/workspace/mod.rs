//! The person's files and processes: the only place that reads, writes or starts anything.

mod change;
mod diff;
pub mod edit;
pub mod git;
mod root;
pub mod shell;
mod text;
pub mod walk;

pub use change::{Applied, ApplyError, Change, FileChange, Staged, Version};
pub use diff::{FileDiff, FileKind, Hunk, Line, LineKind, intraline};
pub use root::{Escape, Place, Root};
pub use shell::{Command, Ended, Launcher, Output};
pub use text::{Text, TextError};
