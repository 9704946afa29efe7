//! A change is the exact bytes that would stand on disk, beside those that stand there now.
//!
//! Applying compares and swaps: what stands there must still be what the change was computed from.

use super::{Conflict, FileDiff, FileKind, Place, Staged, merge};

/// The permission bits that a new file usually gets.
const PLAIN: u32 = 0o644;

/// A list of file changes that stand or fall together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub files: Vec<FileChange>,
}

/// One file: what stood there, and what would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub place: Place,
    /// The file that moves here, and then no longer stands where it was.
    pub from: Option<Origin>,
    /// `None`: the file did not exist.
    pub before: Option<Version>,
    /// `None`: the file would be deleted.
    pub after: Option<Vec<u8>>,
    /// The permission bits it would have; `None` keeps those that stand there.
    pub mode: Option<u32>,
    /// Whether another file takes the place of the one that stands there, rather than an edit of it.
    pub replaces: bool,
}

/// Where a moved file was, and what stood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub place: Place,
    pub version: Version,
}

/// What stood in a file when the change was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub bytes: Vec<u8>,
    pub hash: blake3::Hash,
    /// Permission bits.
    pub mode: u32,
    /// Names that the file has; more than one are hard links.
    pub links: u64,
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
    /// Makes the version that these bytes and permission bits are, with one name.
    pub fn new(bytes: Vec<u8>, mode: u32) -> Self {
        let hash = blake3::hash(&bytes);
        Self { bytes, hash, mode, links: 1 }
    }
}

impl FileChange {
    /// Makes the change of one file from what stands there to what would.
    pub fn to(place: Place, before: Option<Version>, after: Option<Vec<u8>>) -> Self {
        Self { place, from: None, before, after, mode: None, replaces: false }
    }

    /// Returns the difference, computed from the bytes that will be written.
    pub fn diff(&self) -> FileDiff {
        let base = self.base().map(|version| version.bytes.as_slice());
        let mut diff = FileDiff::between(&self.place.shown, base, self.after.as_deref());
        if self.replaces && self.before.is_some() {
            diff.kind = FileKind::Replaced;
        }
        diff.from = self.from.as_ref().map(|origin| origin.place.shown.clone());
        diff.mode = self.mode_change();
        diff.links = self.before.as_ref().map_or(1, |version| version.links);
        diff
    }

    /// Returns what the diff compares with: what stands there, or what moves there.
    pub fn base(&self) -> Option<&Version> {
        self.before.as_ref().or(self.from.as_ref().map(|origin| &origin.version))
    }

    fn mode_change(&self) -> Option<(u32, u32)> {
        let new = self.mode?;
        let old = self.base().map_or(PLAIN, |version| version.mode);
        (old != new).then_some((old, new))
    }

    fn onto_disk(&self, limit: u64) -> Result<Self, Conflict> {
        let now = self.place.version(limit)?;
        let moved = self.from.as_ref().map(|origin| origin.place.version(limit)).transpose()?;
        let was_moved = self.from.as_ref().map(|origin| &origin.version.hash);
        if moved.flatten().as_ref().map(|version| &version.hash) != was_moved {
            return Err(Conflict);
        }
        let bytes =
            |version: &Option<Version>| version.as_ref().map(|version| version.bytes.clone());
        let (base, ours) = (bytes(&self.before), bytes(&now));
        let after = merge(base.as_deref(), ours.as_deref(), self.after.as_deref())?;
        Ok(Self { before: now, after, ..self.clone() })
    }

    /// Returns whether the file would stand as it stands now.
    pub fn is_nothing(&self) -> bool {
        self.from.is_none()
            && self.mode_change().is_none()
            && self.before.as_ref().map(|version| &version.bytes) == self.after.as_ref()
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

    /// Returns the change from what stands on disk now to that joined with this change (three-way).
    pub fn onto_disk(&self, limit: u64) -> Result<Self, Conflict> {
        let files: Result<_, _> = self.files.iter().map(|file| file.onto_disk(limit)).collect();
        Ok(Self { files: files? })
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
        FileChange::to(place, before, after.map(Into::into))
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

    fn moved(root: &Root, from: &str, to: &str, after: Option<&[u8]>) -> FileChange {
        let place = root.resolve_for_writing(from).unwrap();
        let Found::File(version) = place.read(1 << 20).unwrap() else { panic!("no file {from}") };
        let (bytes, mode) = (version.bytes.clone(), version.mode);
        let file = self::to(root, to, Some(after.unwrap_or(&bytes)));
        let (from, mode) = (Some(Origin { place, version }), Some(mode));
        FileChange { from, mode, replaces: file.before.is_some(), ..file }
    }

    #[test]
    fn a_file_that_moves_stays_the_same_file_with_all_its_names() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "text").unwrap();
        std::fs::hard_link(root.path().join("a"), root.path().join("other name")).unwrap();
        let facts = |path: &str| std::fs::metadata(root.path().join(path)).unwrap();
        let inode = facts("a").ino();
        let applied = apply(vec![moved(&root, "a", "deep/b", None)]).unwrap();
        let diff = &applied.files[0];
        assert_eq!((diff.path.as_str(), diff.from.as_deref()), ("deep/b", Some("a")));
        assert_eq!((diff.kind, diff.hunks.len()), (FileKind::Modified, 0));
        assert_eq!((facts("deep/b").ino(), facts("deep/b").nlink()), (inode, 2));
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn a_file_can_move_and_change_and_take_the_place_of_another() {
        let (_folder, root) = root();
        for (path, text) in [("a", "one\n"), ("b", "other\n"), ("run", "x\n")] {
            std::fs::write(root.path().join(path), text).unwrap();
        }
        let run = root.path().join("run");
        std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
        let applied =
            apply(vec![moved(&root, "a", "c", Some(b"two\n")), moved(&root, "run", "b", None)]);
        let unified: String = applied.unwrap().files.iter().map(FileDiff::unified).collect();
        let expected = "diff --git a/a b/c\nrename from a\nrename to c\n--- a/a\n+++ b/c\n@@ -1 +1 @@\n-one\n+two\n\
            diff --git a/run b/b\nold mode 100644\nnew mode 100755\nrename from run\nrename to b\n\
            --- a/run\n+++ b/b\n@@ -1 +1 @@\n-other\n+x\n";
        assert_eq!(unified, expected);
        let own = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        assert_eq!(tree(root.path()), [("", ""), ("b", "x\n"), ("c", "two\n")].map(own));
        let mode = std::fs::metadata(root.path().join("b")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn a_move_is_put_back_when_a_later_file_fails_and_stops_when_either_end_drifted() {
        let (_folder, root) = root();
        for path in ["a", "b"] {
            std::fs::write(root.path().join(path), "old").unwrap();
        }
        let before = tree(root.path());
        let twice =
            vec![moved(&root, "a", "new/a", None), to(&root, "b", None), to(&root, "b", None)];
        assert!(apply(twice).is_err());
        assert_eq!(tree(root.path()), before);
        for (path, theirs) in [("a", "theirs"), ("c", "theirs")] {
            let staged = Change { files: vec![moved(&root, "a", "c", None)] }.stage().unwrap();
            std::fs::write(root.path().join(path), theirs).unwrap();
            let expected = tree(root.path());
            assert!(matches!(staged.commit(), Err(ApplyError::Drifted { .. })));
            assert_eq!(tree(root.path()), expected);
            std::fs::write(root.path().join("a"), "old").unwrap();
        }
    }

    #[test]
    fn a_mode_changes_alone_and_a_new_file_gets_the_mode_it_was_given() {
        let (_folder, root) = root();
        std::fs::write(root.path().join("a"), "x").unwrap();
        let files = vec![
            FileChange { mode: Some(0o755), ..to(&root, "a", Some(b"x")) },
            FileChange { mode: Some(0o755), ..to(&root, "b", Some(b"y")) },
        ];
        assert!(!Change { files: files.clone() }.is_nothing());
        let applied = apply(files).unwrap();
        let modes: Vec<_> = applied.files.iter().map(|diff| diff.mode).collect();
        assert_eq!(modes, [Some((0o644, 0o755)); 2]);
        for path in ["a", "b"] {
            let mode = std::fs::metadata(root.path().join(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o755, "{path}");
        }
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
