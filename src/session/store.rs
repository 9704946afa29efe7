//! All sessions under the data directory: creating, finding and opening them.

use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, File};
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::log::file_in;
use super::{Entry, Log, LogError, Record};
use crate::config::Mode;

/// The version of the log's format, in its first record.
const VERSION: u32 = 1;

/// Bytes of a log that a summary may read.
const HEAD: u64 = 1 << 20;

/// The folder of all sessions.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A session opened again.
#[derive(Debug)]
pub struct Loaded {
    pub log: Log,
    pub entries: Vec<Entry>,
    /// Lines that could not be read.
    pub damaged: usize,
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub id: String,
    /// Empty when the log's first line cannot be read.
    pub workspace: PathBuf,
    /// The first prompt; empty when there was none.
    pub title: String,
    /// When the log was last written, in Unix milliseconds.
    pub at: i64,
}

impl Store {
    /// Names the folder; nothing is read or made yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Starts a session: its folder, its lock, and the first record.
    pub fn create(&self, workspace: &Path, model: &str, mode: Mode) -> Result<Log, LogError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.folder).map_err(LogError::io(&self.folder))?;
        let (id, mut log) = self.create_folder()?;
        log.append(Record::Started {
            version: VERSION,
            id,
            workspace: workspace.to_owned(),
            model: model.into(),
            mode,
        })?;
        Ok(log)
    }

    /// Takes the first free id.
    fn create_folder(&self) -> Result<(String, Log), LogError> {
        loop {
            let id = new_id();
            match Log::create(&self.folder.join(&id)) {
                Ok(log) => return Ok((id, log)),
                Err(LogError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens a session by its id, or by as much of the id's beginning as is unique.
    pub fn open(&self, id: &str) -> Result<Loaded, LogError> {
        let (log, bytes) = Log::reopen(&self.folder.join(self.find(id)?))?;
        let (entries, damaged) = read(&bytes);
        Ok(Loaded { log, entries, damaged })
    }

    /// Returns what a list shows of one session, named as for [`Store::open`].
    pub fn summary_of(&self, id: &str) -> Result<Summary, LogError> {
        let id = self.find(id)?;
        self.summary(id.clone()).ok_or(LogError::Unknown(id))
    }

    fn find(&self, prefix: &str) -> Result<String, LogError> {
        let mut ids = self.ids();
        ids.retain(|id| id.starts_with(prefix));
        if ids.iter().any(|id| id == prefix) {
            return Ok(prefix.into());
        }
        match ids.len() {
            0 => Err(LogError::Unknown(prefix.into())),
            1 => Ok(ids.remove(0)),
            _ => Err(LogError::Ambiguous { prefix: prefix.into(), ids }),
        }
    }

    /// Returns the last session of a workspace in which anything was said.
    pub fn latest(&self, workspace: &Path) -> Option<Summary> {
        let in_it = |summary: &Summary| summary.workspace == workspace && !summary.title.is_empty();
        self.list().into_iter().find(in_it)
    }

    /// Returns all sessions, the last written first. A folder that cannot be read holds none.
    pub fn list(&self) -> Vec<Summary> {
        let mut all: Vec<_> = self.ids().into_iter().filter_map(|id| self.summary(id)).collect();
        all.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        all
    }

    /// Returns the names of the folders that hold a log, oldest first.
    fn ids(&self) -> Vec<String> {
        let Ok(folders) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut ids: Vec<_> = folders
            .flatten()
            .filter(|folder| file_in(&folder.path()).is_file())
            .filter_map(|folder| folder.file_name().into_string().ok())
            .collect();
        ids.sort();
        ids
    }

    fn summary(&self, id: String) -> Option<Summary> {
        let file = File::open(file_in(&self.folder.join(&id))).ok()?;
        let written = file.metadata().and_then(|meta| meta.modified()).ok()?;
        let at = written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let (workspace, title) = head(file);
        Some(Summary { id, workspace, title, at })
    }
}

/// Returns an id that sorts by the time it was made (UTC).
fn new_id() -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let random = RandomState::new().hash_one(std::process::id()) & 0xffff;
    format!("{now}-{random:04x}")
}

/// Reads a log until its first prompt: the workspace, and the prompt.
fn head(file: File) -> (PathBuf, String) {
    let mut workspace = PathBuf::new();
    for line in BufReader::new(file.take(HEAD)).split(b'\n').map_while(Result::ok) {
        match serde_json::from_slice::<Entry>(&line).map(|entry| entry.record) {
            Ok(Record::Started { workspace: of, .. }) => workspace = of,
            Ok(Record::Prompted { text }) => return (workspace, text),
            _ => {}
        }
    }
    (workspace, String::new())
}

/// Reads every line that can be read and counts the others: torn, blank, or of a newer version.
fn read(bytes: &[u8]) -> (Vec<Entry>, usize) {
    let mut damaged = 0;
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if whole.is_empty() {
        return (Vec::new(), bytes.len());
    }
    let mut entries = Vec::new();
    for line in whole.split(|byte| *byte == b'\n') {
        let (entry, clean) = read_line(line);
        entries.extend(entry);
        damaged += usize::from(!clean);
    }
    (entries, damaged)
}

/// Reads one line. A power cut can leave a block of NUL bytes, and a whole record right behind it.
fn read_line(line: &[u8]) -> (Option<Entry>, bool) {
    let nuls = line.iter().take_while(|byte| **byte == 0).count();
    let entry = serde_json::from_slice(&line[nuls..]).ok();
    let clean = nuls == 0 && entry.is_some();
    (entry, clean)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("data/sessions"));
        (home, store)
    }

    fn prompted(text: &str) -> Record {
        Record::Prompted { text: text.into() }
    }

    /// Makes a session with a prompt, last written `seconds` after the epoch, and returns its id.
    fn session(store: &Store, workspace: &str, prompt: &str, seconds: u64) -> String {
        let mut log = store.create(Path::new(workspace), "scripted/a", Mode::Ask).unwrap();
        if !prompt.is_empty() {
            log.append(prompted(prompt)).unwrap();
        }
        let folder = log.folder().unwrap().to_owned();
        let file = File::options().append(true).open(file_in(&folder)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn what_was_appended_is_what_is_loaded() {
        let (_home, store) = store();
        let mut log = store.create(Path::new("/w"), "scripted/a", Mode::Plan).unwrap();
        let said = log.append(prompted("hello")).unwrap();
        let id = log.folder().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        drop(log);
        let loaded = store.open(&id).unwrap();
        let started = Record::Started {
            version: VERSION,
            id,
            workspace: "/w".into(),
            model: "scripted/a".into(),
            mode: Mode::Plan,
        };
        assert_eq!(loaded.entries[0].record, started);
        assert_eq!(loaded.entries[1..], [said]);
        assert_eq!(loaded.damaged, 0);
    }

    #[test]
    fn sessions_are_listed_last_written_first_and_the_latest_is_of_the_workspace() {
        let (_home, store) = store();
        let old = session(&store, "/w", "old", 100);
        let new = session(&store, "/w", "new", 300);
        let elsewhere = session(&store, "/v", "elsewhere", 400);
        let silent = session(&store, "/w", "", 500);
        let ids: Vec<_> = store.list().into_iter().map(|summary| summary.id).collect();
        assert_eq!(ids, [&silent, &elsewhere, &new, &old].map(String::clone));
        let latest = store.latest(Path::new("/w"));
        let expected =
            Summary { id: new, workspace: "/w".into(), title: "new".into(), at: 300_000 };
        assert_eq!(latest, Some(expected));
        assert_eq!(store.latest(Path::new("/nowhere")), None);
    }

    #[test]
    fn an_id_may_be_shortened_while_it_is_unique() {
        let (_home, store) = store();
        for id in ["20260101-000000-aaaa", "20260101-000000-bbbb", "20270101-000000-cccc"] {
            Log::create_at(&store, id);
        }
        assert_eq!(store.find("2027").unwrap(), "20270101-000000-cccc");
        assert!(
            matches!(store.find("2026"), Err(LogError::Ambiguous { ids, .. }) if ids.len() == 2)
        );
        assert!(matches!(store.find("../x"), Err(LogError::Unknown(_))));
    }

    impl Log {
        fn create_at(store: &Store, id: &str) {
            std::fs::create_dir_all(&store.folder).unwrap();
            Log::create(&store.folder.join(id)).unwrap();
        }
    }

    #[test]
    fn damage_costs_the_line_it_is_on() {
        let good = |text: &str| format!("{{\"at\":1,\"type\":\"prompted\",\"text\":\"{text}\"}}");
        let (a, b) = (good("a"), good("b"));
        let cases: &[(&str, Vec<u8>, usize)] = &[
            ("whole", format!("{a}\n{b}\n").into(), 0),
            ("no last newline", format!("{a}\n{b}").into(), 0),
            ("torn tail", format!("{a}\n{b}\n{{\"at\":1,\"ty").into(), 1),
            ("blank line", format!("{a}\n\n{b}\n").into(), 1),
            ("nul block", format!("{a}\n\0\0\0\n{b}\n").into(), 1),
            ("nul block before a record", format!("{a}\n\0\0\0{b}\n").into(), 1),
            ("newer type", format!("{a}\n{{\"at\":1,\"type\":\"dreamt\"}}\n{b}\n").into(), 1),
            (
                "newer field",
                format!("{a}\n{}\n", b.replace("\"at\"", "\"new\":{},\"at\"")).into(),
                0,
            ),
            (
                "no utf-8",
                [a.as_bytes(), b"\n{\"text\":\"\xff\"}\n", b.as_bytes(), b"\n"].concat(),
                1,
            ),
        ];
        for (name, bytes, damaged) in cases {
            let (entries, counted) = read(bytes);
            let records: Vec<_> = entries.into_iter().map(|entry| entry.record).collect();
            assert_eq!(records, [prompted("a"), prompted("b")], "{name}");
            assert_eq!(counted, *damaged, "{name}");
        }
        assert_eq!(read(b""), (Vec::new(), 0));
    }

    #[test]
    fn a_session_whose_tail_was_torn_goes_on() {
        let (_home, store) = store();
        let id = session(&store, "/w", "before", 100);
        let path = file_in(&store.folder.join(&id));
        File::options().append(true).open(path).unwrap().write_all(b"{\"at\":5,").unwrap();
        let mut loaded = store.open(&id).unwrap();
        assert_eq!((loaded.entries.len(), loaded.damaged), (2, 1));
        loaded.log.append(prompted("after")).unwrap();
        drop(loaded);
        let again = store.open(&id).unwrap();
        assert_eq!(again.entries[2].record, prompted("after"));
        assert_eq!((again.entries.len(), again.damaged), (3, 1));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_lists_nothing() {
        let store = Store::new("/proc/nowhere/sessions");
        assert!(store.create(Path::new("/w"), "m", Mode::Ask).is_err());
        assert_eq!(store.list(), []);
    }
}
