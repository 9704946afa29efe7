//! The person's files and processes: the only place that reads, writes or starts anything.

mod change;
mod diff;
pub mod edit;
mod folder;
pub mod git;
mod merge;
mod root;
mod selection;
pub mod shell;
mod snapshot;
mod staged;
pub mod text;
pub mod walk;

pub use change::{Applied, ApplyError, Change, FileChange, Origin, Version};
pub use diff::{Ending, FileDiff, FileKind, Hunk, Line, LineKind, intraline};
pub use merge::{Conflict, merge};
pub use root::{Escape, Found, Place, Root};
pub use selection::{FileSelection, HunkChoice, Note, SelectError, Selection};
pub use shell::{Command, Ended, Launcher, Output};
pub use snapshot::{Bounds, Difference, Looked, Side, Snapshot};
pub use staged::Staged;
pub use text::{Encoding, Text, TextError, Unencodable};
