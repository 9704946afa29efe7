//! A change is the exact bytes that would stand on disk, beside those that stand there now.
//!
//! Applying compares and swaps: what stands there must still be what the change was computed from.

use std::path::PathBuf;

use super::{FileDiff, Place};

/// A list of file changes that stand or fall together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub files: Vec<FileChange>,
}

/// One file: what stood there, and what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub place: Place,
    /// `None`: the file did not exist.
    pub before: Option<Version>,
    /// `None`: the file would be deleted.
    pub after: Option<Vec<u8>>,
}

/// What stood in a file when the change was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub bytes: Vec<u8>,
    pub hash: blake3::Hash,
    /// Permission bits.
    pub mode: u32,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub files: Vec<FileDiff>,
}

/// A change with every new content already on disk under a temporary name, fsynced, not yet renamed.
#[derive(Debug)]
pub struct Staged {
    _private: (),
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("{path} changed on disk since it was read; nothing was written. Read it again.")]
    Drifted { path: String },
    #[error("{path} could not be written: {source}. Nothing was changed.")]
    Io { path: String, source: std::io::Error },
}

impl Change {
    /// Returns the differences, computed from the bytes that will be written.
    pub fn diffs(&self) -> Vec<FileDiff> {
        todo!()
    }

    /// Returns whether every file would stand as it stands now.
    pub fn is_nothing(&self) -> bool {
        todo!()
    }

    /// Writes every new content beside its target under a temporary name.
    pub fn stage(&self) -> Result<Staged, ApplyError> {
        todo!()
    }
}

impl Staged {
    /// Returns the temporary files, for the record that is written before [`Staged::commit`].
    pub fn temporaries(&self) -> Vec<PathBuf> {
        todo!()
    }

    /// Compares and swaps: all files, or none.
    pub fn commit(self) -> Result<Applied, ApplyError> {
        todo!()
    }
}
