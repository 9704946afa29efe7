//! What earlier calls of the same reply would leave behind, though it does not stand on disk yet.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workspace::{Change, Place, Version};

/// The files as they would stand, by absolute path; `None` is a file that would be gone.
#[derive(Debug, Clone, Default)]
pub struct Proposed(Arc<HashMap<PathBuf, Option<Version>>>);

/// The permission bits of a file that does not exist yet.
const NEW: u32 = 0o644;

impl Proposed {
    /// Returns this with one more change on top.
    pub fn with(&self, change: &Change) -> Self {
        let mut files = HashMap::clone(&self.0);
        for file in &change.files {
            if let Some(from) = &file.from {
                files.insert(from.place.absolute.clone(), None);
            }
            let mode = file.mode.or(file.base().map(|version| version.mode)).unwrap_or(NEW);
            let after = file.after.clone().map(|bytes| Version::new(bytes, mode));
            files.insert(file.place.absolute.clone(), after);
        }
        Self(Arc::new(files))
    }

    /// Returns what would stand at a path; `None` where nothing was proposed.
    pub fn at(&self, path: &Path) -> Option<Option<Version>> {
        self.0.get(path).cloned()
    }

    /// Returns whether a change was computed from what only was proposed.
    pub fn is_under(&self, change: &Change) -> bool {
        let is_known = |place: &Place| self.0.contains_key(&place.absolute);
        change.files.iter().any(|file| {
            is_known(&file.place) || file.from.as_ref().is_some_and(|from| is_known(&from.place))
        })
    }
}
