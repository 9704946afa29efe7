//! The append-only log of one session: a record a line, written before it is announced.

use std::path::{Path, PathBuf};

use super::{Entry, Record};

/// An open log, locked against other processes.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
}

/// Why a session could not be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("The session {0} is open in another process. Close it there, or start a new session.")]
    Locked(String),
    #[error("The session log {path} could not be written: {source}.")]
    Io { path: PathBuf, source: std::io::Error },
}

impl Log {
    /// Appends a record, stamped with the time.
    pub fn append(&mut self, _record: Record) -> Result<Entry, LogError> {
        todo!()
    }

    /// Returns once everything appended is on the disk.
    pub fn sync(&mut self) -> Result<(), LogError> {
        todo!()
    }

    /// Returns the session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
