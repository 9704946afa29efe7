//! The log file: what Trefoil did, for whoever looks into a fault. Never on the terminal, never with a key.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::config::{Environment, Keys, Paths};

const DAYS_KEPT: usize = 7;

/// Keeps the log file open; dropping it writes what is left.
pub struct Guard {
    path: PathBuf,
    _worker: WorkerGuard,
}

impl Guard {
    /// Returns the folder's file of today.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Starts the log in the state folder, at the level that `TREFOIL_LOG` names (`info`, if none).
///
/// Returns `None` where no file can be made there: a log is never worth failing for.
pub fn start(paths: &Paths, environment: &Environment, keys: Keys) -> Option<Guard> {
    let folder = paths.state.join("log");
    // The appender complains aloud about a folder that is not there yet.
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("trefoil")
        .filename_suffix("log")
        .max_log_files(DAYS_KEPT)
        .build(&folder)
        .ok()?;
    let (writer, worker) = tracing_appender::non_blocking(Redacted { inner: appender, keys });
    let level = environment.get("TREFOIL_LOG").unwrap_or("info");
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info")))
        .with_ansi(false)
        .with_writer(writer)
        .try_init()
        .ok()?;
    // The appender names its files by the day in UTC.
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    Some(Guard { path: folder.join(format!("trefoil.{today}.log")), _worker: worker })
}

/// Replaces keys in every line; the subscriber writes a whole line at a time.
struct Redacted<W> {
    inner: W,
    keys: Keys,
}

impl<W: Write> Write for Redacted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.inner.write_all(self.keys.redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
