//! A change is the exact bytes that would stand on disk, beside those that stand there now.
//!
//! Applying compares and swaps: what stands there must still be what the change was computed from.

use super::{FileDiff, Place, Staged};

/// A list of file changes that stand or fall together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub files: Vec<FileChange>,
}

/// One file: what stood there, and what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub place: Place,
    /// `None`: the file did not exist.
    pub before: Option<Version>,
    /// `None`: the file would be deleted.
    pub after: Option<Vec<u8>>,
}

/// What stood in a file when the change was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub bytes: Vec<u8>,
    pub hash: blake3::Hash,
    /// Permission bits.
    pub mode: u32,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub files: Vec<FileDiff>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("{path} changed on disk since it was read; nothing was written. Read it again.")]
    Drifted { path: String },
    #[error("{path} could not be written: {source}. Nothing was changed.")]
    Io { path: String, source: std::io::Error },
    #[error("{cause} But these files could not be put back as they were: {paths}. Look at them.")]
    Torn { cause: String, paths: String },
}

impl Version {
    /// Makes the version that these bytes and permission bits are.
    pub fn new(bytes: Vec<u8>, mode: u32) -> Self {
        let hash = blake3::hash(&bytes);
        Self { bytes, hash, mode }
    }
}

impl FileChange {
    /// Returns the difference, computed from the bytes that will be written.
    pub fn diff(&self) -> FileDiff {
        let before = self.before.as_ref().map(|version| version.bytes.as_slice());
        FileDiff::between(&self.place.shown, before, self.after.as_deref())
    }

    fn is_nothing(&self) -> bool {
        self.before.as_ref().map(|version| &version.bytes) == self.after.as_ref()
    }
}

impl Change {
    /// Returns the differences, computed from the bytes that will be written.
    pub fn diffs(&self) -> Vec<FileDiff> {
        self.files.iter().map(FileChange::diff).collect()
    }

    /// Returns whether every file would stand as it stands now.
    pub fn is_nothing(&self) -> bool {
        self.files.iter().all(FileChange::is_nothing)
    }

    /// Writes every new content beside its target under a temporary name.
    pub fn stage(&self) -> Result<Staged, ApplyError> {
        Staged::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Found, Root};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    fn root() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    fn to(root: &Root, path: &str, after: Option<&[u8]>) -> FileChange {
        let place = root.resolve_for_writing(path).unwrap();
        let before = match place.read(1 << 20).unwrap() {
            Found::File(version) => Some(version),
            _ => None,
        };
        FileChange { place, before, after: after.map(Into::into) }
    }

    fn apply(files: Vec<FileChange>) -> Result<Applied, ApplyError> {
        Change { files }.stage()?.commit()
    }

    /// Lists every file and folder with its content, to compare whole trees.
    fn tree(folder: &Path) -> Vec<(String, String)> {
        let mut found: Vec<_> = ignore::WalkBuilder::new(folder)
            .standard_filters(false)
            .build()
            .map(|entry| entry.unwrap().into_path())
            .map(|path| {
                let content = std::fs::read_to_string(&path).unwrap_or_default();
                (path.strip_prefix(folder).unwrap().display().to_string(), content)
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn files_are_created_changed_and_deleted_together() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "old").unwrap();
        std::fs::write(root.path().join("b"), "gone").unwrap();
        let files = vec![
            to(&root, "a", Some(b"new")),
            to(&root, "b", None),
            to(&root, "deep/er/c", Some(b"made")),
        ];
        let kinds: Vec<_> = apply(files).unwrap().files.into_iter().map(|file| file.path).collect();
        assert_eq!(kinds, ["a", "b", "deep/er/c"]);
        let own = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let expected =
            [("", ""), ("a", "new"), ("deep", ""), ("deep/er", ""), ("deep/er/c", "made")];
        assert_eq!(tree(root.path()), expected.map(own));
    }

    #[test]
    fn a_change_that_is_not_committed_leaves_nothing() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "old").unwrap();
        let before = tree(root.path());
        let files = vec![to(&root, "a", Some(b"new")), to(&root, "deep/er/c", Some(b"made"))];
        let staged = Change { files }.stage().unwrap();
        let temporaries = staged.temporaries();
        assert_eq!(temporaries.len(), 2);
        assert!(temporaries.iter().all(|path| path.exists()));
        drop(staged);
        assert_eq!(tree(root.path()), before);
    }

    #[test]
    fn a_file_that_drifted_stops_every_file() {
        let (_folder, root) = root();
        for name in ["a", "b"] {
            std::fs::write(root.path().join(name), "old").unwrap();
        }
        for (path, theirs) in [("b", Some("theirs")), ("b", None), ("c", Some("theirs"))] {
            let files = vec![to(&root, "a", Some(b"new")), to(&root, path, Some(b"new"))];
            let staged = Change { files }.stage().unwrap();
            match theirs {
                Some(theirs) => std::fs::write(root.path().join(path), theirs).unwrap(),
                None => std::fs::remove_file(root.path().join(path)).unwrap(),
            }
            let expected: Vec<_> =
                tree(root.path()).into_iter().filter(|(path, _)| !path.ends_with(".tmp")).collect();
            let error = staged.commit().unwrap_err();
            assert!(
                matches!(&error, ApplyError::Drifted { path: named } if named == path),
                "{error}"
            );
            assert_eq!(tree(root.path()), expected);
            std::fs::write(root.path().join("b"), "old").unwrap();
        }
    }

    #[test]
    fn what_was_written_is_put_back_when_a_later_file_fails() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "old").unwrap();
        std::fs::write(root.path().join("linked"), "old").unwrap();
        std::fs::write(root.path().join("gone"), "old").unwrap();
        std::fs::hard_link(root.path().join("linked"), root.path().join("other name")).unwrap();
        let before = tree(root.path());
        let inode = std::fs::metadata(root.path().join("a")).unwrap().ino();
        let files = vec![
            to(&root, "a", Some(b"new")),
            to(&root, "linked", Some(b"newer")),
            to(&root, "gone", None),
            to(&root, "new/c", Some(b"c")),
            // The same file twice: at the second time it no longer reads as it did.
            to(&root, "a", Some(b"newest")),
        ];
        assert!(matches!(apply(files), Err(ApplyError::Drifted { .. })));
        assert_eq!(tree(root.path()), before);
        assert_eq!(std::fs::metadata(root.path().join("a")).unwrap().ino(), inode);
    }

    #[test]
    fn the_mode_and_the_owner_stay() {
        let (_folder, root) = root();
        let path = root.path().join("a");
        std::fs::write(&path, "old").unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(1234), Some(2345)).unwrap();
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4751)).unwrap();
        let facts = |path: &Path| {
            let facts = std::fs::metadata(path).unwrap();
            (facts.mode(), facts.uid(), facts.gid())
        };
        let before = facts(&path);
        apply(vec![to(&root, "a", Some(b"new"))]).unwrap();
        assert_eq!(facts(&path), before);
    }

    /// Tests may run as root, whom no permission stops: the test starts itself as somebody else.
    #[test]
    fn a_file_or_folder_that_may_not_be_written_is_an_error_and_stays() {
        const CHILD: &str = "TREFOIL_TEST_UNPRIVILEGED";
        if let Some(folder) = std::env::var_os(CHILD) {
            return refuse_to_write(Path::new(&folder));
        }
        let (folder, root) = root();
        for (path, mode) in [("file", 0o444), ("closed/file", 0o666)] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        for path in ["", "closed"] {
            let mode = if path.is_empty() { 0o777 } else { 0o555 };
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(root.path().join(path), mode).unwrap();
        }
        if !rustix::process::geteuid().is_root() {
            return refuse_to_write(folder.path());
        }
        std::os::unix::fs::chown(root.path().join("file"), Some(1234), Some(1234)).unwrap();
        let program = root.path().join("tests");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let name = "a_file_or_folder_that_may_not_be_written_is_an_error_and_stays";
        let output = std::process::Command::new("setpriv")
            .args(["--reuid", "1234", "--regid", "1234", "--clear-groups"])
            .arg(&program)
            .args([name, "--nocapture"])
            .env(CHILD, folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
    }

    fn refuse_to_write(folder: &Path) {
        let root = Root::open(folder).unwrap();
        for path in ["file", "closed/file", "closed/new"] {
            let error = apply(vec![to(&root, path, Some(b"new"))]).unwrap_err().to_string();
            assert!(error.contains("Permission denied"), "{path}: {error}");
        }
        assert_eq!(std::fs::read(folder.join("file")).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.join("closed")).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_written() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("real.txt"), "old\n").unwrap();
        symlink("real.txt", root.path().join("link.txt")).unwrap();
        apply(vec![to(&root, "link.txt", Some(b"new\n"))]).unwrap();
        assert_eq!(
            std::fs::read_link(root.path().join("link.txt")).unwrap(),
            Path::new("real.txt")
        );
        assert_eq!(std::fs::read(root.path().join("real.txt")).unwrap(), b"new\n");
    }

    #[test]
    fn every_name_of_a_file_sees_the_change() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "a long old text").unwrap();
        std::fs::hard_link(root.path().join("a"), root.path().join("b")).unwrap();
        apply(vec![to(&root, "a", Some(b"new"))]).unwrap();
        assert_eq!(std::fs::read(root.path().join("b")).unwrap(), b"new");
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_with_its_path() {
        let (_folder, root) = root();
        let change = to(&root, "a/b", Some(b"new"));
        std::fs::write(root.path().join("a"), "a file").unwrap();
        let error = apply(vec![change]).unwrap_err().to_string();
        assert!(
            error.starts_with("a/b could not be written") && error.contains("Nothing"),
            "{error}"
        );
    }
}
