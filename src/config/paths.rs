//! Where Trefoil keeps its files. `TREFOIL_HOME` moves all of them.

use std::path::PathBuf;

/// Our own folders. None needs to exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub config_file: PathBuf,
    pub themes: PathBuf,
    pub sessions: PathBuf,
    /// Log, history.
    pub state: PathBuf,
}
