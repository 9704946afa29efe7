//! Walking the workspace by its ignore rules.

use super::Root;

/// Returns up to `limit` files, relative to the root, in path order, for completion.
pub fn files(_root: &Root, _limit: usize) -> Vec<String> {
    todo!()
}
