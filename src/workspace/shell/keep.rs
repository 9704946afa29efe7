//! What a command's output passes on its way out: no key stays in it, and the whole of it is on disk for the person.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config::Keys;

/// Bytes kept of one command's output.
const MOST: u64 = 50_000_000;
/// Bytes that may wait for the end of their line.
const LINE: usize = 64 * 1024;

/// A file that output is written to, made when the first output comes.
#[derive(Debug)]
pub struct Keep {
    /// `None` in a session that is not kept.
    path: Option<PathBuf>,
    keys: Keys,
    file: Option<File>,
    /// What is not yet a whole line: a key must not be cut in two before it is looked for.
    pending: Vec<u8>,
    written: u64,
}

impl Keep {
    /// Names the file; its folder is made with it.
    pub fn new(path: Option<PathBuf>, keys: Keys) -> Self {
        Self { path, keys, file: None, pending: Vec::new(), written: 0 }
    }

    /// Returns a text without keys.
    pub(super) fn clean(&self, text: String) -> String {
        match self.keys.redact(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(clean) => clean,
        }
    }

    /// Writes output down. What cannot be written is not worth failing a command for.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if self.written > MOST {
            return;
        }
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole > 0 || self.pending.len() > LINE {
            let whole = if whole > 0 { whole } else { self.pending.len() };
            let rest = self.pending.split_off(whole);
            let lines = std::mem::replace(&mut self.pending, rest);
            self.write(&lines);
        }
    }

    /// Returns the file's path if it is worth keeping; removes it otherwise.
    pub(super) fn close(mut self, is_worth_it: bool) -> Option<PathBuf> {
        let last = std::mem::take(&mut self.pending);
        self.write(&last);
        self.file.take()?;
        let path = self.path?;
        if is_worth_it {
            return Some(path);
        }
        std::fs::remove_file(&path).ok();
        None
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.file.is_none() {
            self.file = self.path.as_deref().and_then(|path| create(path).ok());
        }
        let Some(file) = &mut self.file else { return };
        let text = String::from_utf8_lossy(bytes);
        let clean = self.keys.redact(&text);
        self.written += clean.len() as u64;
        if file.write_all(clean.as_bytes()).is_err() {
            self.written = MOST + 1;
        }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
