//! The append-only log of one session: a record a line, written before it is announced.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Entry, Record};

/// An open log, locked against other processes; or one that keeps nothing.
#[derive(Debug)]
pub struct Log(Option<Kept>);

/// A log on disk.
#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    file: File,
    /// Held for as long as the log is open.
    _lock: File,
    /// Bytes that are known to be whole lines.
    length: u64,
    /// The file ends inside a line: the next record begins with a newline.
    torn: bool,
    /// The folder's own entry is not yet known to be on the disk.
    fresh: bool,
}

/// Why a session could not be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("The session {id} is open in {holder}. Close it there, or start a new session.")]
    Locked { id: String, holder: String },
    #[error("No session's id begins with '{0}'. Leave the id away to see all sessions.")]
    Unknown(String),
    #[error("Several sessions begin with '{prefix}': {}. Give more of the id.", ids.join(", "))]
    Ambiguous { prefix: String, ids: Vec<String> },
    #[error("The session log {path} could not be written: {source}.")]
    Io { path: PathBuf, source: std::io::Error },
}

impl LogError {
    /// Makes the error for a failed operation on a path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

impl Log {
    /// Makes a log that keeps nothing, for when no folder can be written.
    pub fn unsaved() -> Self {
        Self(None)
    }

    /// Makes the folder, which must not exist yet, and an empty log in it.
    pub(super) fn create(folder: &Path) -> Result<Self, LogError> {
        DirBuilder::new().mode(0o700).create(folder).map_err(LogError::io(folder))?;
        let (log, _) = Self::open(folder, true)?;
        Ok(log)
    }

    /// Opens the log in a folder and returns what it holds, as bytes.
    pub(super) fn reopen(folder: &Path) -> Result<(Self, Vec<u8>), LogError> {
        Self::open(folder, false)
    }

    fn open(folder: &Path, fresh: bool) -> Result<(Self, Vec<u8>), LogError> {
        let lock = lock(folder)?;
        let path = file_in(folder);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(fresh)
            .mode(0o600)
            .open(&path)
            .map_err(LogError::io(&path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LogError::io(&path))?;
        let torn = bytes.last().is_some_and(|last| *last != b'\n');
        let (folder, length) = (folder.to_owned(), bytes.len() as u64);
        Ok((Self(Some(Kept { folder, file, _lock: lock, length, torn, fresh })), bytes))
    }

    /// Appends a record, stamped with the time. A record that could not be written whole is taken back.
    pub fn append(&mut self, record: Record) -> Result<Entry, LogError> {
        let entry = Entry { at: jiff::Timestamp::now().as_millisecond(), record };
        if let Some(kept) = &mut self.0 {
            kept.append(&entry).map_err(LogError::io(&file_in(&kept.folder)))?;
        }
        Ok(entry)
    }

    /// Returns once everything appended is on the disk.
    pub fn sync(&mut self) -> Result<(), LogError> {
        let Some(kept) = &mut self.0 else { return Ok(()) };
        kept.sync().map_err(LogError::io(&file_in(&kept.folder)))
    }

    /// Returns the session's folder; `None` when nothing is kept.
    pub fn folder(&self) -> Option<&Path> {
        self.0.as_ref().map(|kept| kept.folder.as_path())
    }
}

impl Kept {
    fn append(&mut self, entry: &Entry) -> std::io::Result<()> {
        let mut line = Vec::new();
        if self.torn {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, entry)?;
        line.push(b'\n');
        self.write(&line).inspect_err(|_| self.take_back())
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.file.write_all(line)?;
        self.length += line.len() as u64;
        self.torn = false;
        Ok(())
    }

    /// Cuts a half-written line off, or remembers that one is there.
    fn take_back(&mut self) {
        self.torn |= self.file.set_len(self.length).is_err();
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.file.sync_data()?;
        if std::mem::take(&mut self.fresh) {
            File::open(&self.folder)?.sync_all()?;
        }
        Ok(())
    }
}

/// Returns where a session's folder holds its log.
pub(super) fn file_in(folder: &Path) -> PathBuf {
    folder.join("log.jsonl")
}

/// Takes the lock of a folder and leaves our process id in it.
fn lock(folder: &Path) -> Result<File, LogError> {
    let path = folder.join("lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(LogError::io(&path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(locked(folder, file)),
        // A file system without locks must not keep anyone out.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(LogError::io(&path)(error)),
    }
    file.set_len(0).map_err(LogError::io(&path))?;
    writeln!(file, "{}", std::process::id()).map_err(LogError::io(&path))?;
    Ok(file)
}

fn locked(folder: &Path, mut lock: File) -> LogError {
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut pid = String::new();
    let holder = match lock.read_to_string(&mut pid) {
        Ok(_) if !pid.trim().is_empty() => format!("process {}", pid.trim()),
        _ => "another process".into(),
    };
    LogError::Locked { id, holder }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::session::Record;

    fn prompted(text: &str) -> Record {
        Record::Prompted { text: text.into() }
    }

    #[test]
    fn a_record_is_one_line_and_only_the_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("s");
        let mut log = Log::create(&folder).unwrap();
        log.append(prompted("two\nlines")).unwrap();
        log.sync().unwrap();
        let text = std::fs::read_to_string(file_in(&folder)).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file_in(&folder))), (0o700, 0o600));
    }

    #[test]
    fn a_second_opening_is_refused_with_the_holder() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("s");
        let held = Log::create(&folder).unwrap();
        let refused = Log::reopen(&folder).unwrap_err();
        assert!(refused.to_string().contains(&format!("process {}", std::process::id())));
        drop(held);
        assert!(Log::reopen(&folder).is_ok());
    }

    #[test]
    fn a_torn_tail_is_ended_before_the_next_record() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("s");
        drop(Log::create(&folder).unwrap());
        std::fs::write(file_in(&folder), "{\"at\":1,\"ty").unwrap();
        let (mut log, _) = Log::reopen(&folder).unwrap();
        log.append(prompted("a")).unwrap();
        log.append(prompted("b")).unwrap();
        let text = std::fs::read_to_string(file_in(&folder)).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.starts_with("{\"at\":1,\"ty\n{"));
    }

    #[test]
    fn a_half_written_record_is_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("s");
        let mut log = Log::create(&folder).unwrap();
        log.append(prompted("whole")).unwrap();
        let before = std::fs::read(file_in(&folder)).unwrap();
        let kept = log.0.as_mut().unwrap();
        kept.file.write_all(b"{\"at\":").unwrap();
        kept.take_back();
        assert_eq!(std::fs::read(file_in(&folder)).unwrap(), before);
    }

    #[test]
    fn a_full_disk_is_an_error_and_the_next_record_starts_a_line() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("s");
        let mut log = Log::create(&folder).unwrap();
        let kept = log.0.as_mut().unwrap();
        let real = std::mem::replace(
            &mut kept.file,
            OpenOptions::new().append(true).open("/dev/full").unwrap(),
        );
        assert!(log.append(prompted("lost")).is_err());
        log.0.as_mut().unwrap().file = real;
        log.append(prompted("kept")).unwrap();
        let text = std::fs::read_to_string(file_in(&folder)).unwrap();
        assert_eq!(text.lines().filter(|line| line.contains("kept")).count(), 1);
        assert!(!text.contains("lost"));
    }

    #[test]
    fn an_unsaved_log_stamps_and_keeps_nothing() {
        let mut log = Log::unsaved();
        let entry = log.append(prompted("a")).unwrap();
        assert_eq!(entry.record, prompted("a"));
        assert!(entry.at > 0 && log.sync().is_ok() && log.folder().is_none());
    }
}
