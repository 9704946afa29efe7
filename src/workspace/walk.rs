//! Walking the workspace by its ignore rules.

use std::path::Path;

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{Place, Root};

/// Returns up to `limit` files, relative to the root, in path order, for completion.
pub fn files(root: &Root, limit: usize) -> Vec<String> {
    from(root.path(), true)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| Some(root.place_of(entry.path())?.shown))
        .take(limit)
        .collect()
}

/// Returns a walk that never follows links and leaves git's own data out; ignore rules hold also
/// outside a repository.
pub fn from(path: &Path, with_ignore_rules: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(path);
    walk.standard_filters(with_ignore_rules)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    walk
}

/// Returns whether ignore rules leave a place out, so that whoever names it wants to see it all the same.
pub fn is_ignored(root: &Root, place: &Place) -> bool {
    let is_folder = place.absolute.is_dir();
    let folders =
        place.absolute.ancestors().skip(1).take_while(|folder| folder.starts_with(root.path()));
    for folder in folders {
        let rules = rules_of(folder, root);
        let matched = rules.matched_path_or_any_parents(&place.absolute, is_folder);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

fn rules_of(folder: &Path, root: &Root) -> Gitignore {
    let mut rules = GitignoreBuilder::new(folder);
    if folder == root.path() {
        rules.add(folder.join(".git/info/exclude"));
    }
    rules.add(folder.join(".gitignore"));
    rules.add(folder.join(".ignore"));
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    #[test]
    fn files_come_in_path_order_without_what_is_ignored() {
        let (_folder, root) = root(&[
            (".gitignore", "node_modules/\n*.log\n"),
            (".git/config", ""),
            (".hidden", ""),
            ("b.log", ""),
            ("node_modules/x/y.js", ""),
            ("src/a.rs", ""),
            ("sub/.gitignore", "!keep.log\n"),
            ("sub/keep.log", ""),
        ]);
        let all = [".gitignore", ".hidden", "src/a.rs", "sub/.gitignore", "sub/keep.log"];
        assert_eq!(files(&root, 99), all);
        assert_eq!(files(&root, 2), all[..2]);
        for (path, ignored) in
            [("node_modules/x", true), ("b.log", true), ("sub/keep.log", false), ("src", false)]
        {
            assert_eq!(is_ignored(&root, &root.resolve(path).unwrap()), ignored, "{path}");
        }
    }
}
