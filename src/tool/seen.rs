//! What the model knows of each file, so that it never overwrites what it has not seen.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use blake3::Hash;

/// The contents known, by path as shown; clones share them.
///
/// What the model proposed counts as known beside what it read: whether the person let it stand or
/// not, the model wrote or read what is there then.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<HashMap<String, HashSet<Hash>>>>);

impl Seen {
    /// Keeps what the model read or wrote.
    pub fn note(&self, path: &str, hash: Hash) {
        self.lock().entry(path.to_owned()).or_default().insert(hash);
    }

    /// Returns whether a file that the model knows now holds what it does not know.
    pub fn has_changed(&self, path: &str, now: Hash) -> bool {
        self.lock().get(path).is_some_and(|known| !known.contains(&now))
    }

    /// Forgets everything: a new conversation has seen nothing.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, HashSet<Hash>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
