//! The repository around the root, read through libgit2 only: no hook, filter, pager or external diff ever runs.

use super::Root;

/// What the title bar shows of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch, or a short commit id when detached.
    pub name: String,
    /// Files that differ from HEAD, untracked ones included.
    pub changed: usize,
}

/// Returns the head of the repository that holds the root; `None` outside of one.
pub fn head(_root: &Root) -> Option<Head> {
    todo!()
}
