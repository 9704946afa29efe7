//! What the model last saw of each file, so that it never overwrites what it has not seen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use blake3::Hash;

/// Hashes by path as shown; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<HashMap<String, Hash>>>);

impl Seen {
    /// Keeps what the model read, or what of its writing now stands on disk.
    pub fn note(&self, path: &str, hash: Hash) {
        self.lock().insert(path.to_owned(), hash);
    }

    /// Returns what the model last saw of a file; `None` if it never did.
    pub fn last(&self, path: &str) -> Option<Hash> {
        self.lock().get(path).copied()
    }

    /// Forgets everything: a new conversation has seen nothing.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Hash>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
