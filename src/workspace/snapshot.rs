//! The workspace's files between two looks: what a command changed, with what stood there before.
//!
//! A look reads only what has another stamp than at the last one. What git holds unchanged is not
//! kept again: its objects are read, never written. Ignored files, links and large files are left out.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blake3::Hash;

use super::git::Tracked;
use super::{Found, Place, Root, Version, walk};

/// Bounds on what one look takes in.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Files that are looked at.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes that are read in one look.
    pub bytes: u64,
    pub time: Duration,
}

/// What was known at the last look.
#[derive(Debug, Default)]
pub struct Snapshot {
    files: HashMap<PathBuf, Known>,
}

/// A file that one look or the other did not see the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub place: Place,
    /// `None`: it was not there. Without bytes it was there and is not known.
    pub before: Option<Side>,
    pub after: Option<Side>,
}

/// One side of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub hash: Option<Hash>,
    pub mode: u32,
    /// The content, where it was read just now.
    pub bytes: Option<Vec<u8>>,
}

/// What a look came to.
#[derive(Debug, Default)]
pub struct Looked {
    pub differences: Vec<Difference>,
    /// Whether every file was taken in but those that are too large by themselves.
    pub is_whole: bool,
}

/// What tells that a file is as it was, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

#[derive(Debug, Clone)]
struct Known {
    stamp: Stamp,
    mode: u32,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Read(Hash),
    /// As git's object of this id holds it.
    InGit(git2::Oid),
    /// Past a bound.
    Unknown,
}

impl Snapshot {
    /// Looks at the workspace and returns what is not as it was at the last look.
    ///
    /// `keep` gets every content that is read.
    pub fn look(&mut self, root: &Root, bounds: Bounds, keep: &mut dyn FnMut(&[u8])) -> Looked {
        let mut look = Look::begin(root, bounds);
        let mut now = HashMap::with_capacity(self.files.len());
        let mut looked = Looked::default();
        let mut is_whole = true;
        for path in walk::regular_files(root).take(bounds.files + 1) {
            if now.len() == bounds.files || look.is_late() {
                is_whole = false;
                break;
            }
            let Ok(stamp) = Stamp::of(&path) else { continue };
            let known = self.files.remove(&path);
            if let Some(known) = known.as_ref().filter(|known| known.stamp == stamp.0) {
                now.insert(path, known.clone());
                continue;
            }
            let (fresh, bytes) = look.read(&path, stamp);
            bytes.iter().for_each(|bytes| keep(bytes));
            let before = known.map(|known| look.side(known, None));
            let after = Some(look.side(fresh.clone(), bytes));
            looked.differences.extend(difference(root, &path, before, after));
            now.insert(path, fresh);
        }
        if is_whole {
            self.note_gone(root, &look, &mut looked);
        }
        looked.is_whole = is_whole && look.left_out == 0;
        self.files = now;
        looked
    }

    /// What was there at the last look and was not met now is gone.
    fn note_gone(&mut self, root: &Root, look: &Look, looked: &mut Looked) {
        for (path, known) in self.files.drain().filter(|(path, _)| !path.exists()) {
            let before = Some(look.side(known, None));
            looked.differences.extend(difference(root, &path, before, None));
        }
    }
}

/// Returns a difference, unless both sides hold the same.
fn difference(
    root: &Root,
    path: &Path,
    before: Option<Side>,
    after: Option<Side>,
) -> Option<Difference> {
    let facts = |side: &Side| Some((side.hash?, side.mode));
    if let (Some(before), Some(after)) = (&before, &after)
        && facts(before).is_some()
        && facts(before) == facts(after)
    {
        return None;
    }
    Some(Difference { place: root.place_of(path)?, before, after })
}

/// One look under way.
struct Look<'a> {
    root: &'a Root,
    bounds: Bounds,
    began: Instant,
    read: u64,
    left_out: usize,
    tracked: Option<Tracked>,
}

impl<'a> Look<'a> {
    fn begin(root: &'a Root, bounds: Bounds) -> Self {
        let tracked = Tracked::of(root).ok();
        Self { root, bounds, began: Instant::now(), read: 0, left_out: 0, tracked }
    }

    fn is_late(&self) -> bool {
        self.began.elapsed() > self.bounds.time
    }

    fn read(&mut self, path: &Path, (stamp, mode): (Stamp, u32)) -> (Known, Option<Vec<u8>>) {
        let unknown = Known { stamp, mode, content: Content::Unknown };
        if stamp.size > self.bounds.file_bytes {
            return (unknown, None);
        }
        if let Some(id) = self.tracked.as_ref().and_then(|tracked| tracked.unchanged(path)) {
            return (Known { content: Content::InGit(id), ..unknown }, None);
        }
        if self.read + stamp.size > self.bounds.bytes {
            self.left_out += 1;
            return (unknown, None);
        }
        let place = self.root.place_of(path);
        match place.map(|place| place.read(self.bounds.file_bytes)) {
            Some(Ok(Found::File(version))) => {
                self.read += version.bytes.len() as u64;
                let Version { bytes, hash, mode, .. } = version;
                (Known { mode, content: Content::Read(hash), ..unknown }, Some(bytes))
            }
            _ => (unknown, None),
        }
    }

    /// Returns what is known of a side; git's objects are read only now, when they are needed.
    fn side(&self, known: Known, bytes: Option<Vec<u8>>) -> Side {
        let (hash, bytes) = match known.content {
            Content::Read(hash) => (Some(hash), bytes),
            Content::InGit(id) => {
                let bytes = self.tracked.as_ref().and_then(|tracked| tracked.content(id));
                // A filter may have written other bytes than git holds; the size tells.
                let bytes = bytes.filter(|bytes| bytes.len() as u64 == known.stamp.size);
                (bytes.as_deref().map(blake3::hash), bytes)
            }
            Content::Unknown => (None, None),
        };
        Side { hash, mode: known.mode, bytes }
    }
}

impl Stamp {
    fn of(path: &Path) -> io::Result<(Self, u32)> {
        let meta = std::fs::symlink_metadata(path)?;
        let stamp = Self {
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        };
        Ok((stamp, meta.mode() & 0o7777))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds =
        Bounds { files: 1000, file_bytes: 1000, bytes: 100_000, time: Duration::from_secs(60) };

    struct Desk {
        folder: tempfile::TempDir,
        root: Root,
        snapshot: Snapshot,
        kept: HashMap<Hash, Vec<u8>>,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = Root::open(folder.path()).unwrap();
            Self { folder, root, snapshot: Snapshot::default(), kept: HashMap::new() }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn git(&self, args: &[&str]) {
            let status = std::process::Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@t", "-C"])
                .arg(self.folder.path())
                .args(args)
                .output()
                .unwrap();
            assert!(status.status.success(), "{status:?}");
        }

        /// Looks, and tells each difference with the contents that are known.
        fn look(&mut self) -> Vec<(String, Option<String>, Option<String>)> {
            let kept = &mut self.kept;
            let mut keep = |bytes: &[u8]| drop(kept.insert(blake3::hash(bytes), bytes.to_vec()));
            let looked = self.snapshot.look(&self.root, BOUNDS, &mut keep);
            let text = |side: Option<Side>| {
                let side = side?;
                let bytes = side.bytes.or_else(|| self.kept.get(&side.hash?).cloned());
                Some(bytes.map_or("?".into(), |bytes| String::from_utf8(bytes).unwrap()))
            };
            let mut told: Vec<_> = looked
                .differences
                .into_iter()
                .map(|each| (each.place.shown, text(each.before), text(each.after)))
                .collect();
            told.sort();
            told
        }
    }

    fn told(path: &str, before: &str, after: &str) -> (String, Option<String>, Option<String>) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (path.to_owned(), some(before), some(after))
    }

    #[test]
    fn what_was_made_changed_and_removed_between_two_looks_is_known_from_both_sides() {
        let mut desk = Desk::new();
        for (path, text) in
            [(".gitignore", "target\n"), ("a", "one"), ("b", "bye"), ("same", "same")]
        {
            desk.write(path, text);
        }
        desk.write("target/x", "built");
        assert_eq!(desk.look().len(), 4);
        assert_eq!(desk.look(), []);
        desk.write("a", "two");
        desk.write("same", "same");
        desk.write("sub/c", "new");
        desk.write("target/x", "built anew");
        std::fs::remove_file(desk.folder.path().join("b")).unwrap();
        let expected = [told("a", "one", "two"), told("b", "bye", ""), told("sub/c", "", "new")];
        assert_eq!(desk.look(), expected);
        assert_eq!(desk.look(), []);
    }

    #[test]
    fn what_git_holds_is_not_kept_again_and_still_known() {
        let mut desk = Desk::new();
        desk.git(&["init", "-q"]);
        desk.write("a", "committed");
        desk.write("dirty", "one");
        desk.git(&["add", "-A"]);
        desk.git(&["commit", "-qm", "x"]);
        // Older than the index, so that git's own stamp of it can be trusted.
        let old = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
        std::fs::File::open(desk.folder.path().join("a")).unwrap().set_modified(old).unwrap();
        desk.git(&["update-index", "--refresh"]);
        desk.write("dirty", "two");
        let index = std::fs::read(desk.folder.path().join(".git/index")).unwrap();
        desk.look();
        assert!(!desk.kept.contains_key(&blake3::hash(b"committed")), "git holds it");
        desk.write("a", "changed");
        desk.write("dirty", "three");
        assert_eq!(desk.look(), [told("a", "committed", "changed"), told("dirty", "two", "three")]);
        assert_eq!(std::fs::read(desk.folder.path().join(".git/index")).unwrap(), index);
    }

    #[test]
    fn what_is_past_a_bound_is_told_and_never_taken_for_gone() {
        let mut desk = Desk::new();
        desk.write("big", &"x".repeat(1001));
        desk.write("small", "x");
        let looked = desk.snapshot.look(&desk.root, BOUNDS, &mut |_| {});
        assert!(looked.is_whole, "a file that is too large is left out without a word");
        for bounds in [Bounds { files: 1, ..BOUNDS }, Bounds { time: Duration::ZERO, ..BOUNDS }] {
            let looked = desk.snapshot.look(&desk.root, bounds, &mut |_| {});
            assert_eq!((looked.is_whole, looked.differences.len()), (false, 0));
        }
        let mut snapshot = Snapshot::default();
        let looked = snapshot.look(&desk.root, Bounds { bytes: 0, ..BOUNDS }, &mut |_| {});
        assert!(!looked.is_whole);
    }
}
