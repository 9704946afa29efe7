//! Walking the workspace by its ignore rules.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{Place, Root};

/// Returns up to `limit` files, relative to the root, in path order, for completion.
pub fn files(root: &Root, limit: usize) -> Vec<String> {
    plain(root.path(), true)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| Some(root.place_of(entry.path())?.shown))
        .take(limit)
        .collect()
}

/// Returns every file that no rule leaves out, as absolute paths in no order.
pub fn regular_files(root: &Root) -> impl Iterator<Item = PathBuf> {
    plain(root.path(), true)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
}

/// Returns a walk of what lies at and below a place, `depth` levels deep, by the ignore rules of the root and
/// below; of all of it, where they leave the place itself out. It never follows links and leaves git's own data out.
///
/// The walk also meets the folders that lead to the place.
pub fn below(root: &Root, place: &Place, depth: Option<usize>) -> WalkBuilder {
    if is_ignored(root, place) {
        let mut walk = plain(&place.absolute, false);
        walk.max_depth(depth);
        return walk;
    }
    // Walking from the root lets its rules hold in a subfolder, and none from outside of it.
    let mut walk = plain(root.path(), true);
    let target = place.absolute.clone();
    let leading = target.strip_prefix(root.path()).map_or(0, |path| path.components().count());
    walk.max_depth(depth.map(|depth| depth + leading));
    walk.filter_entry(move |entry| {
        let is_git = entry.depth() > 0 && entry.file_name() == ".git";
        !is_git && (entry.path().starts_with(&target) || target.starts_with(entry.path()))
    });
    walk
}

/// Ignore rules hold also outside a repository; none come from outside the folder.
fn plain(path: &Path, with_ignore_rules: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(path);
    walk.standard_filters(with_ignore_rules)
        .parents(false)
        .git_global(false)
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

    #[test]
    fn rules_of_the_root_hold_in_a_subfolder_and_rules_from_outside_do_not() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join(".gitignore"), "*\n").unwrap();
        let folder = outer.path().join("project");
        fs::create_dir_all(folder.join("sub/deep")).unwrap();
        for (path, content) in
            [(".gitignore", "*.log\n"), ("sub/a.rs", ""), ("sub/b.log", ""), ("sub/deep/c.rs", "")]
        {
            fs::write(folder.join(path), content).unwrap();
        }
        let root = Root::open(&folder).unwrap();
        assert_eq!(files(&root, 9), [".gitignore", "sub/a.rs", "sub/deep/c.rs"]);
        let met = |depth| {
            let walk = below(&root, &root.resolve("sub").unwrap(), depth).build();
            let mut met: Vec<_> = walk
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            met.sort();
            met
        };
        assert_eq!(met(None), ["a.rs", "c.rs"]);
        assert_eq!(met(Some(1)), ["a.rs"]);
    }
}
