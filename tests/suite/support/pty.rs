//! The real program in a terminal of the test's own. Nothing sleeps: the test waits for what is to be seen.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtyPair, PtySize, native_pty_system};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use vt100::{Color, Parser, Screen};

/// Longest wait for anything: far above what a working program needs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The frame of a composer that takes no keys, in the dark theme.
const UNFOCUSED: Color = Color::Rgb(0x56, 0x60, 0x72);

/// Folders that several runs of the program share: its home, and where it works.
pub struct House {
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

impl House {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "workspace", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, environment: Vec::new() }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a script into the house and returns it as a model's name.
    pub fn script(&self, text: &str) -> String {
        let path = self.path("script.toml");
        std::fs::write(&path, text).unwrap();
        format!("scripted/{}", path.display())
    }

    /// Returns the only session's id.
    pub fn session(&self) -> String {
        let mut sessions = std::fs::read_dir(self.path("home/sessions")).unwrap();
        let session = sessions.next().unwrap().unwrap();
        session.file_name().into_string().unwrap()
    }

    /// Returns the messages that entered the only session.
    pub fn prompts(&self) -> Vec<String> {
        let log = self.path("home/sessions").join(self.session()).join("log.jsonl");
        let log = std::fs::read_to_string(log).unwrap();
        let records = log.lines().map(|line| serde_json::from_str(line).unwrap());
        records
            .filter(|record: &serde_json::Value| record["type"] == "prompted")
            .map(|record| record["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns the only folder that a demo made.
    pub fn demo(&self) -> PathBuf {
        let mut folders = std::fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap());
        let is_demo = |path: &Path| path.to_string_lossy().contains("trefoil-demo-");
        folders.find(|entry| is_demo(&entry.path())).unwrap().path()
    }

    /// Starts the program on a screen of 80×24.
    pub fn start(&self, arguments: &[&str]) -> Pty {
        Pty::start(self.command(arguments))
    }

    /// Starts the program on a terminal that is not its controlling one, waits until it shows something and
    /// rests, and takes the terminal away; returns how the program ended.
    pub fn hang_up(&self, arguments: &[&str], shown: &str) -> std::process::ExitStatus {
        let window = nix::pty::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = nix::pty::openpty(&window, None).unwrap();
        // Or the program would hold its own terminal's other end.
        rustix::io::fcntl_setfd(&terminal.master, rustix::io::FdFlags::CLOEXEC).unwrap();
        let side = || std::process::Stdio::from(terminal.slave.try_clone().unwrap());
        let command = self.command(arguments);
        let [program, arguments @ ..] = command.get_argv().as_slice() else { panic!() };
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .current_dir(self.path("workspace"))
            .env_clear()
            .envs(command.iter_full_env_as_str())
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        drop(terminal.slave);
        let mut master = std::fs::File::from(terminal.master);
        let mut parser = Parser::new(cells(24), cells(80), 0);
        while !(parser.screen().contents().contains(shown) && is_at_rest(&master)) {
            let mut bytes = [0; 4096];
            let count = master.read(&mut bytes).unwrap();
            parser.process(&bytes[..count]);
        }
        drop(master);
        let (sender, ended) = channel();
        let life = Life(Pid::from_child(&child));
        std::thread::spawn(move || sender.send(child.wait().unwrap()));
        let status = ended.recv_timeout(PATIENCE).expect("it ends without its terminal");
        std::mem::forget(life);
        status
    }

    fn command(&self, arguments: &[&str]) -> CommandBuilder {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_trefoil"));
        command.args(arguments);
        command.cwd(self.path("workspace"));
        command.env_clear();
        command.env("PATH", std::env::var("PATH").unwrap());
        command.env("HOME", self.path("home"));
        command.env("TREFOIL_HOME", self.path("home"));
        command.env("TMPDIR", self.path("tmp"));
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }
}

/// Returns whether nothing comes for a second.
fn is_at_rest(terminal: &std::fs::File) -> bool {
    let mut watched = [PollFd::new(terminal, PollFlags::IN)];
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    poll(&mut watched, Some(&second)).unwrap() == 0
}

/// A program that a test may leave behind: it ends with this.
struct Life(Pid);

impl Drop for Life {
    fn drop(&mut self) {
        kill_process(self.0, Signal::KILL).ok();
    }
}

enum News {
    Bytes(Vec<u8>),
    Ended(ExitStatus),
}

/// A running program and the terminal it believes in.
pub struct Pty {
    pair: PtyPair,
    writer: Box<dyn Write + Send>,
    news: Receiver<News>,
    parser: Parser,
    bytes: Vec<u8>,
    pid: Pid,
    life: Life,
    /// The terminal's settings before the program came, as text.
    settings: String,
}

/// What is left when the program is over.
pub struct End {
    pub code: u32,
    /// All that it ever wrote.
    pub output: String,
    /// What is to be read on the screen that was there before.
    pub screen: String,
    /// Whether the terminal's settings are those from before.
    pub is_restored: bool,
}

impl Pty {
    fn start(command: CommandBuilder) -> Self {
        let size = PtySize { rows: 24, cols: 80, ..PtySize::default() };
        let pair = native_pty_system().openpty(size).unwrap();
        let settings = settings(&*pair.master);
        let mut child = pair.slave.spawn_command(command).unwrap();
        let pid = i32::try_from(child.process_id().unwrap()).unwrap();
        let (sender, news) = channel();
        let reader = pair.master.try_clone_reader().unwrap();
        std::thread::spawn({
            let sender = sender.clone();
            move || read(reader, &sender)
        });
        std::thread::spawn(move || sender.send(News::Ended(child.wait().unwrap())));
        Self {
            writer: pair.master.take_writer().unwrap(),
            pair,
            news,
            parser: Parser::new(cells(24), cells(80), 0),
            bytes: Vec::new(),
            pid: Pid::from_raw(pid).unwrap(),
            life: Life(Pid::from_raw(pid).unwrap()),
            settings,
        }
    }

    /// Sends bytes in one write. An Enter counts as one only at the very end.
    pub fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Types a text, sees it in the draft, and sends it.
    pub fn send(&mut self, text: &str) {
        self.press(text);
        self.until_shows(text);
        self.press("\r");
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.pair.master.resize(PtySize { rows, cols, ..PtySize::default() }).unwrap();
        self.parser.screen_mut().set_size(cells(rows), cells(cols));
    }

    pub fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    pub fn text(&self) -> String {
        self.screen().contents()
    }

    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Waits until the screen is as told.
    pub fn until(&mut self, what: &str, holds: impl Fn(&Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok(News::Bytes(bytes)) => self.take(&bytes),
                Ok(News::Ended(status)) => {
                    panic!("it ended ({status}) before {what}:\n{}", self.text())
                }
                Err(_) => panic!("not seen: {what}\n{}", self.text()),
            }
        }
    }

    pub fn until_shows(&mut self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    /// Waits until something is asked and an answer would count.
    pub fn until_asked(&mut self, title: &str) {
        self.until(title, |screen| {
            let rows = screen.size().0.get();
            let frame = screen.cell(rows - 4, 0).map(|cell| cell.fgcolor());
            screen.contents().contains(title) && frame == Some(UNFOCUSED)
        });
    }

    /// Waits for one more piece of output.
    pub fn until_draws(&mut self) {
        if let Ok(News::Bytes(bytes)) = self.news.recv_timeout(PATIENCE) {
            self.take(&bytes);
        }
    }

    /// Lets what is under way be drawn, then returns what came within a while: nothing, if it rests.
    pub fn drawn_at_rest(&mut self) -> String {
        while let Ok(News::Bytes(bytes)) = self.news.recv_timeout(Duration::from_millis(400)) {
            self.take(&bytes);
        }
        match self.news.recv_timeout(Duration::from_millis(1_500)) {
            Ok(News::Bytes(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(News::Ended(status)) => format!("it ended: {status}"),
            Err(_) => String::new(),
        }
    }

    /// Waits until the program is over.
    pub fn end(mut self) -> End {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok(News::Bytes(bytes)) => self.take(&bytes),
                Ok(News::Ended(status)) => break status,
                Err(_) => panic!("it does not end:\n{}", self.text()),
            }
        };
        // It has ended: the number may soon be another's.
        std::mem::forget(self.life);
        let is_restored = settings(&*self.pair.master) == self.settings;
        // With the last owner of the other side gone, the reader comes to its end.
        drop(self.pair.slave);
        let mut all = std::mem::take(&mut self.bytes);
        loop {
            match self.news.recv_timeout(PATIENCE) {
                Ok(News::Bytes(bytes)) => {
                    self.parser.process(&bytes);
                    all.extend(bytes);
                }
                Ok(News::Ended(_)) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the terminal is held by someone"),
            }
        }
        End {
            code: status.exit_code(),
            output: String::from_utf8_lossy(&all).into_owned(),
            screen: self.parser.screen().contents(),
            is_restored,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.bytes.extend_from_slice(bytes);
    }
}

fn read(mut reader: Box<dyn Read + Send>, sender: &Sender<News>) {
    let mut buffer = [0; 65_536];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        if sender.send(News::Bytes(buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal has a size")
}

fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has settings"))
}
