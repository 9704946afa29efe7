//! Starting processes: in their own session, without a terminal or stdin, through the hidden launcher.
//!
//! A call ends when its foreground process does, at its timeout, or when the person interrupts; whatever
//! is left of its process group is stopped then.

mod capture;
mod environment;
mod keep;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use capture::Capture;
pub use environment::environment;
pub use keep::Keep;

/// How long a process has between being asked to stop and being killed.
const GRACE: Duration = Duration::from_millis(300);
/// How long silence must last after the process ended before its output counts as complete.
const QUIET: Duration = Duration::from_millis(100);
/// How long output is still read after the process ended, however much a background child writes.
const DRAIN: Duration = Duration::from_millis(500);

/// A process that would be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What a person reads and a rule matches.
    pub line: String,
    /// What is executed: the program, then its arguments.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// The folder as people see it, relative to the workspace.
    pub cwd_shown: String,
    pub timeout: Duration,
    /// The whole environment of the process.
    pub environment: Vec<(String, String)>,
    /// How its output is told to the model.
    pub report: Report,
    /// Characters of output that the model gets: half from the head, half from the tail.
    pub output_chars: usize,
}

/// How output is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// stdout and stderr as one stream, in the order they came.
    Combined,
    /// `STDOUT:` and `STDERR:` sections, and the interpreter's name.
    Sections { interpreter: String },
}

/// Where the hidden launcher is: this program in use, its test build in tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    pub program: PathBuf,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Interrupted,
}

/// What a process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub ended: Ended,
    /// For the model: the output within its bound, the ending always stated.
    pub text: String,
}

/// Runs a command to its end, its timeout or the token's cancellation.
///
/// `live` gets the output as it comes (what finds no room is skipped); `keep` gets all of it.
pub async fn run(
    command: Command,
    launcher: &Launcher,
    live: mpsc::Sender<String>,
    keep: Keep,
    cancel: CancellationToken,
) -> io::Result<Output> {
    let (child, mut streams) = start(&command, launcher, live, keep)?;
    let mut group = Group::of(child);
    let deadline = Instant::now() + command.timeout;
    let ended = tokio::select! {
        status = group.wait(&mut streams) => ending(status?),
        () = tokio::time::sleep_until(deadline) => Ended::TimedOut,
        () = cancel.cancelled() => Ended::Interrupted,
    };
    streams.drain().await;
    let left_children = group.stop().await;
    streams.drain().await;
    let text = streams.report(&command, ended, left_children);
    Ok(Output { ended, text })
}

fn start(
    command: &Command,
    launcher: &Launcher,
    live: mpsc::Sender<String>,
    keep: Keep,
) -> io::Result<(Child, Streams)> {
    let (out, stdout) = io::pipe()?;
    let (second, stderr) = match command.report {
        Report::Combined => (None, stdout.try_clone()?),
        Report::Sections { .. } => {
            let (err, stderr) = io::pipe()?;
            (Some(err), stderr)
        }
    };
    let child = tokio::process::Command::new(&launcher.program)
        .arg(crate::launcher::WORD)
        .args(&command.argv)
        .current_dir(&command.cwd)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .kill_on_drop(true)
        .spawn()?;
    let source = |pipe: io::PipeReader| Source::new(pipe, command.output_chars);
    let second = second.map(source).transpose()?;
    let first = Some(source(out)?);
    Ok((child, Streams { first, second, closed: Vec::new(), tap: Tap { live, keep } }))
}

fn ending(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Exit(-1),
    }
}

/// The process group of a command; dropping it kills what is left.
struct Group {
    child: Child,
    /// The launcher begins a session, so its process id names the group.
    id: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { child, id }
    }

    /// Reads until the foreground process has ended.
    async fn wait(&mut self, streams: &mut Streams) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = self.child.wait() => return status,
                () = streams.read(), if streams.is_open() => {}
            }
        }
    }

    /// Stops what is left of the group; returns whether anything was.
    async fn stop(&mut self) -> bool {
        let Some(id) = self.id else { return false };
        if test_kill_process_group(id).is_err() {
            return false;
        }
        kill_process_group(id, Signal::TERM).ok();
        let until = Instant::now() + GRACE;
        timeout_at(until, self.child.wait()).await.ok();
        while test_kill_process_group(id).is_ok() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        kill_process_group(id, Signal::KILL).ok();
        self.child.wait().await.ok();
        self.id = None;
        true
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            kill_process_group(id, Signal::KILL).ok();
        }
    }
}

/// A stream that is still open.
struct Source {
    pipe: Receiver,
    buffer: Vec<u8>,
    capture: Capture,
}

impl Source {
    fn new(pipe: io::PipeReader, output_chars: usize) -> io::Result<Self> {
        let pipe = Receiver::from_owned_fd(pipe.into())?;
        Ok(Self { pipe, buffer: vec![0; 16 * 1024], capture: Capture::new(output_chars) })
    }
}

/// A command's output streams; a closed one is only its capture.
struct Streams {
    first: Option<Source>,
    second: Option<Source>,
    closed: Vec<(usize, Capture)>,
    tap: Tap,
}

/// Where output goes as it comes.
struct Tap {
    live: mpsc::Sender<String>,
    keep: Keep,
}

impl Tap {
    fn take(&mut self, capture: &mut Capture, bytes: &[u8]) {
        capture.take(bytes);
        self.keep.take(bytes);
        if let Ok(room) = self.live.try_reserve() {
            room.send(capture.live(bytes));
        }
    }
}

impl Streams {
    fn is_open(&self) -> bool {
        self.first.is_some() || self.second.is_some()
    }

    /// Reads one piece from whichever stream has one.
    async fn read(&mut self) {
        let (which, read) = tokio::select! {
            read = next(&mut self.first) => (0, read),
            read = next(&mut self.second) => (1, read),
        };
        let stream = if which == 0 { &mut self.first } else { &mut self.second };
        match (read, stream.as_mut()) {
            (Some(count), Some(Source { buffer, capture, .. })) => {
                self.tap.take(capture, &buffer[..count]);
            }
            _ => self.closed.extend(stream.take().map(|source| (which, source.capture))),
        }
    }

    /// Takes in what had been written before the end.
    async fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        while self.is_open() && Instant::now() < until {
            if timeout(QUIET, self.read()).await.is_err() {
                return;
            }
        }
    }

    fn report(mut self, command: &Command, ended: Ended, left_children: bool) -> String {
        for (which, stream) in [self.first.take(), self.second.take()].into_iter().enumerate() {
            self.closed.extend(stream.map(|source| (which, source.capture)));
        }
        self.closed.sort_by_key(|(which, _)| *which);
        let Tap { keep, .. } = self.tap;
        let text = |(_, capture): &(usize, Capture)| capture.text(|text| keep.clean(text));
        let texts: Vec<String> = self.closed.iter().map(text).collect();
        let kept = keep.close(self.closed.iter().any(|(_, c)| c.is_cut()));
        let body = match (&command.report, texts.as_slice()) {
            (Report::Sections { .. }, [out, err]) => format!("STDOUT:\n{out}STDERR:\n{err}"),
            (_, texts) => texts.concat(),
        };
        let mut text = if body.is_empty() { "(no output)\n".to_owned() } else { body };
        text.push_str(&told(command, ended));
        if left_children && matches!(ended, Ended::Exit(_) | Ended::Signal(_)) {
            text.push_str("\nProcesses it had left in the background were stopped.");
        }
        if let Some(path) = kept {
            text.push_str(&format!("\nThe person has the whole output in {}.", path.display()));
        }
        text
    }
}

/// Reads a piece; `None` at the end, never for a stream that is not there.
async fn next(stream: &mut Option<Source>) -> Option<usize> {
    let Some(Source { pipe, buffer, .. }) = stream else { return std::future::pending().await };
    pipe.read(buffer).await.ok().filter(|count| *count > 0)
}

fn told(command: &Command, ended: Ended) -> String {
    let end = match ended {
        Ended::Exit(code) => format!("exit code {code}"),
        Ended::Signal(signal) => format!("killed by signal {signal} (exit code {})", 128 + signal),
        Ended::TimedOut => {
            format!("timed out after {} s and was stopped", command.timeout.as_secs())
        }
        Ended::Interrupted => "interrupted by the person and stopped".to_owned(),
    };
    match &command.report {
        Report::Combined => format!("[{end}]"),
        Report::Sections { interpreter } => format!("[{end}; run with {interpreter}]"),
    }
}
