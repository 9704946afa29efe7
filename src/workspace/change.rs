//! A change is the exact bytes that would stand on disk, beside those that stand there now.
//!
//! Applying compares and swaps: what stands there must still be what the change was computed from.

use super::{FileDiff, Place, Staged};

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

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("{path} changed on disk since it was read; nothing was written. Read it again.")]
    Drifted { path: String },
    #[error("{path} could not be written: {source}. Nothing was changed.")]
    Io { path: String, source: std::io::Error },
    #[error("{cause} But these files could not be put back as they were: {paths}. Look at them.")]
    Torn { cause: String, paths: String },
}

impl Version {
    /// Makes the version that these bytes and permission bits are.
    pub fn new(bytes: Vec<u8>, mode: u32) -> Self {
        let hash = blake3::hash(&bytes);
        Self { bytes, hash, mode }
    }
}

impl FileChange {
    /// Returns the difference, computed from the bytes that will be written.
    pub fn diff(&self) -> FileDiff {
        let before = self.before.as_ref().map(|version| version.bytes.as_slice());
        FileDiff::between(&self.place.shown, before, self.after.as_deref())
    }

    fn is_nothing(&self) -> bool {
        self.before.as_ref().map(|version| &version.bytes) == self.after.as_ref()
    }
}

impl Change {
    /// Returns the differences, computed from the bytes that will be written.
    pub fn diffs(&self) -> Vec<FileDiff> {
        self.files.iter().map(FileChange::diff).collect()
    }

    /// Returns whether every file would stand as it stands now.
    pub fn is_nothing(&self) -> bool {
        self.files.iter().all(FileChange::is_nothing)
    }

    /// Writes every new content beside its target under a temporary name.
    pub fn stage(&self) -> Result<Staged, ApplyError> {
        Staged::of(self)
    }
}
