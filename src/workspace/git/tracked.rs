//! Files that git holds exactly as they stand, told by its index alone; nothing is refreshed or written.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{IndexEntry, Oid};

use super::{Around, GitError};
use crate::workspace::Root;

/// The index of the repository around the root.
pub struct Tracked {
    around: Around,
    entries: HashMap<PathBuf, IndexEntry>,
    /// When the index was written: what was changed since then, in seconds, cannot be told by its stamp.
    written: i64,
}

impl Tracked {
    /// Reads the index.
    pub fn of(root: &Root) -> Result<Self, GitError> {
        let around = Around::open(root)?;
        let index = around.repository.index()?;
        let written =
            index.path().and_then(|path| path.metadata().ok()).map_or(0, |meta| meta.mtime());
        let top = root.path().ancestors().nth(around.prefix.components().count());
        let top = top.unwrap_or(root.path()).to_owned();
        let path = |entry: &IndexEntry| {
            use std::os::unix::ffi::OsStrExt;
            top.join(std::ffi::OsStr::from_bytes(&entry.path))
        };
        let entries = index.iter().map(|entry| (path(&entry), entry)).collect();
        Ok(Self { around, entries, written })
    }

    /// Returns the object that holds a file's content, if its stamp says that it was not changed since.
    pub fn unchanged(&self, path: &Path) -> Option<Oid> {
        let entry = self.entries.get(path)?;
        let meta = std::fs::symlink_metadata(path).ok()?;
        let same_time = i64::from(entry.mtime.seconds()) == meta.mtime();
        let same_size = u64::from(entry.file_size) == meta.size();
        (same_time && same_size && meta.mtime() < self.written).then_some(entry.id)
    }

    /// Returns an object's content.
    pub fn content(&self, id: Oid) -> Option<Vec<u8>> {
        Some(self.around.repository.find_blob(id).ok()?.content().to_vec())
    }
}
