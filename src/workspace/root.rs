//! The one way to a file: every path a model names is resolved here, link by link, inside the root.

use std::path::{Path, PathBuf};

/// The folder that the person opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
}

/// A file or folder inside the root, all links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, canonical; the last part may not exist yet.
    pub absolute: PathBuf,
    /// As people and models see it: relative to the root, `/` between parts, `.` for the root.
    pub shown: String,
}

/// Why a path is not inside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Escape {}

impl Root {
    /// Opens a folder as the root.
    pub fn open(_path: &Path) -> std::io::Result<Self> {
        todo!()
    }

    /// Returns the canonical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolves a path a model named, for reading. The last part may be missing.
    pub fn resolve(&self, _path: &str) -> Result<Place, Escape> {
        todo!()
    }

    /// Resolves a path for writing: like [`Root::resolve`], and refuses what lies in `.git`.
    pub fn resolve_for_writing(&self, _path: &str) -> Result<Place, Escape> {
        todo!()
    }
}
