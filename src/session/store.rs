//! All sessions under the data directory: creating, finding and opening them.

use std::path::PathBuf;

use super::{Entry, Log};

/// The folder of all sessions.
#[derive(Debug, Clone)]
pub struct Store {
    #[allow(unused)]
    folder: PathBuf,
}

/// A session opened again.
#[derive(Debug)]
pub struct Loaded {
    pub log: Log,
    pub entries: Vec<Entry>,
    /// Lines that could not be read.
    pub damaged: usize,
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub id: String,
    pub workspace: PathBuf,
    /// The first prompt; empty when there was none.
    pub title: String,
    /// When the log was last written, in Unix milliseconds.
    pub at: i64,
}
