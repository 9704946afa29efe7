//! Mints local call ids: unique in a session, also when a later process continues it.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::session::CallId;

/// Crockford's digits: no letter that is mistaken for another.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns a new id: `c` and twelve characters from a counter under a random key of this process.
pub fn mint() -> CallId {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let bits = KEY.hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
    let digits = (0..12).map(|at| DIGITS[(bits >> (5 * at)) as usize & 31] as char);
    CallId(std::iter::once('c').chain(digits).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn ids_are_short_and_never_come_twice() {
        let ids: HashSet<String> = (0..10_000).map(|_| super::mint().0).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 13 && id.starts_with('c')));
    }
}
