//! Events in, effects out: all that the screen reads, writes and starts happens here.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use crossterm::event::Event as Typed;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::effect::Effect;
use super::event::{Event, typed};
use super::keyboard::Keyboard;
use super::terminal::Terminal;
use crate::agent::{AgentEvent, AgentHandle, AgentRequest};
use crate::config::{Environment, Keys, Paths};
use crate::session::Store;
use crate::workspace::{Root, git, walk};

/// Agent events taken at once, so that a flood never starves the keyboard.
const BATCH: usize = 512;

/// Files that completion chooses from.
const FILES: usize = 50_000;

/// Messages that Up can bring back.
const HISTORY: usize = 500;

/// How long a running command may take to stop when the person leaves.
const FAREWELL: Duration = Duration::from_secs(3);

const GONE: &str = "The terminal is gone.";

/// The world around the screen.
pub struct World {
    requests: mpsc::Sender<AgentRequest>,
    agent: Option<mpsc::Receiver<AgentEvent>>,
    /// `None` while the terminal is lent to someone else, who then gets the keys.
    keyboard: Option<Keyboard>,
    answers: mpsc::UnboundedReceiver<Event>,
    answer: mpsc::UnboundedSender<Event>,
    signals: [(Signal, &'static str); 3],
    resized: Signal,
    root: Arc<Root>,
    paths: Option<Paths>,
    environment: Environment,
    secrets: Keys,
}

/// Everything that was ready at once.
pub struct Batch {
    pub events: Vec<Event>,
    /// Whether the person did something, and waits to see it.
    pub has_keys: bool,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    On,
    Quit,
}

impl World {
    /// Listens to terminal, agent and signals.
    pub fn new(
        handle: AgentHandle,
        root: Arc<Root>,
        paths: Option<Paths>,
        environment: Environment,
        secrets: Keys,
    ) -> anyhow::Result<Self> {
        let (answer, answers) = mpsc::unbounded_channel();
        let listen = |kind, name| signal(kind).map(|signal| (signal, name));
        let signals = [
            listen(SignalKind::terminate(), "SIGTERM")?,
            listen(SignalKind::hangup(), "SIGHUP")?,
            listen(SignalKind::interrupt(), "SIGINT")?,
        ];
        let AgentHandle { requests, events } = handle;
        let agent = Some(events);
        Ok(Self {
            requests,
            agent,
            keyboard: None,
            answers,
            answer,
            signals,
            resized: signal(SignalKind::window_change())?,
            root,
            paths,
            environment,
            secrets,
        })
    }

    /// Waits until something happens, or `wake` comes, and takes all that is ready.
    pub async fn next(&mut self, wake: Option<Instant>) -> anyhow::Result<Batch> {
        let keyboard = listening(&mut self.keyboard)?;
        let [terminate, hangup, interrupt] = &mut self.signals;
        let mut pressed = Vec::new();
        let mut events = Vec::new();
        tokio::select! {
            keys = keyboard.next() => pressed.extend(keys.context(GONE)?),
            event = told(&mut self.agent) => events.push(event),
            Some(event) = self.answers.recv() => events.push(event),
            _ = terminate.0.recv() => bail!("Stopped by {}.", terminate.1),
            _ = hangup.0.recv() => bail!("Stopped by {}.", hangup.1),
            _ = interrupt.0.recv() => bail!("Stopped by {}.", interrupt.1),
            Some(()) = self.resized.recv() => events.extend(resize()),
            () = alarm(wake) => events.push(Event::Elapsed),
        }
        self.take_ready(&mut pressed, &mut events)?;
        let has_keys = !pressed.is_empty();
        let events = typed(&pressed).into_iter().chain(events).collect();
        Ok(Batch { events, has_keys })
    }

    fn take_ready(
        &mut self,
        pressed: &mut Vec<Typed>,
        events: &mut Vec<Event>,
    ) -> anyhow::Result<()> {
        pressed.extend(listening(&mut self.keyboard)?.ready().context(GONE)?);
        while let Ok(event) = self.answers.try_recv() {
            events.push(event);
        }
        let Some(agent) = &mut self.agent else { return Ok(()) };
        let ready = std::iter::from_fn(|| agent.try_recv().ok()).take(BATCH);
        events.extend(ready.map(Event::Agent));
        Ok(())
    }

    /// Carries out what the screen wishes.
    pub fn carry_out(
        &mut self,
        effects: Vec<Effect>,
        terminal: &mut Terminal,
    ) -> anyhow::Result<Flow> {
        for effect in effects {
            match effect {
                Effect::Send(request) => self.send(request),
                Effect::ListFiles => self.look(|root| Event::Files(walk::files(root, FILES))),
                Effect::ReadHead => self.look(|root| Event::Head(git::head(root))),
                Effect::FindLast => self.find_last(),
                Effect::Edit { text, suffix } => self.edit(&text, &suffix, terminal)?,
                Effect::Remember(text) => self.remember(&text),
                Effect::Repaint => terminal.repaint()?,
                Effect::Suspend => self.suspend(terminal)?,
                Effect::Quit => return Ok(Flow::Quit),
            }
        }
        Ok(Flow::On)
    }

    /// Never waits: the agent may itself wait for us to take its events.
    fn send(&self, request: AgentRequest) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.requests.try_send(request) {
            self.tell(Event::Failed(
                "The agent is too busy to listen. Try again in a moment.".into(),
            ));
        }
    }

    fn tell(&self, event: Event) {
        // We hold the receiver: this cannot fail.
        let _ = self.answer.send(event);
    }

    /// Looks at the workspace on another thread; the answer comes as an event.
    fn look(&self, look: impl FnOnce(&Root) -> Event + Send + 'static) {
        let (root, answer) = (Arc::clone(&self.root), self.answer.clone());
        tokio::task::spawn_blocking(move || drop(answer.send(look(&root))));
    }

    fn find_last(&self) {
        let Some(paths) = &self.paths else { return };
        let store = Store::new(&paths.sessions);
        let (root, answer) = (Arc::clone(&self.root), self.answer.clone());
        tokio::task::spawn_blocking(move || {
            if let Some(session) = store.latest(root.path()) {
                drop(answer.send(Event::Last(session.title)));
            }
        });
    }

    /// Returns earlier messages, oldest first.
    pub fn history(&self) -> Vec<String> {
        let text = self.history_file().and_then(|file| std::fs::read_to_string(file).ok());
        let text = text.unwrap_or_default();
        let all: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        all[all.len().saturating_sub(HISTORY)..].to_vec()
    }

    fn history_file(&self) -> Option<PathBuf> {
        self.paths.as_ref().map(|paths| paths.state.join("history.jsonl"))
    }

    /// Keeps a message, one JSON string a line. Where it cannot be kept, the work matters more.
    fn remember(&self, text: &str) {
        let Some(path) = self.history_file() else { return };
        if let Err(error) =
            append(&path, &serde_json::Value::from(self.secrets.redact(text).as_ref()).to_string())
        {
            tracing::warn!("The history was not saved: {error}.");
        }
    }

    fn edit(&mut self, text: &str, suffix: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
        self.keyboard.take().into_iter().for_each(Keyboard::stop);
        let variable = |name: &str| self.environment.get(name);
        let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or("vi");
        let event = match terminal.lend(|| edit(editor, text, suffix))? {
            Ok(text) => Event::Edited(text),
            Err(error) => Event::Failed(format!(
                "The editor {editor} did not start: {error}. Set VISUAL or EDITOR to one that does."
            )),
        };
        self.tell(event);
        Ok(())
    }

    fn suspend(&mut self, terminal: &mut Terminal) -> anyhow::Result<()> {
        use rustix::process::{Signal, getpid, kill_process};
        self.keyboard.take().into_iter().for_each(Keyboard::stop);
        terminal.lend(|| kill_process(getpid(), Signal::TSTP))??;
        Ok(())
    }

    /// Leaves the agent and waits for its end: what it was running must not outlive us.
    pub async fn close(self) {
        let Self { requests, agent, .. } = self;
        drop(requests);
        let Some(mut events) = agent else { return };
        let end = async { while events.recv().await.is_some() {} };
        tokio::time::timeout(FAREWELL, end).await.ok();
    }

    /// Panics when a test asks for it, to see the terminal given back.
    pub fn panic_on_demand(&self) {
        if cfg!(debug_assertions) && self.environment.get("TREFOIL_PANIC").is_some() {
            panic!("TREFOIL_PANIC is set");
        }
    }
}

/// Appends a line to a file that only its owner reads; makes its folder.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.append(true).create(true).open(path)?, "{line}")
}

/// Waits for the agent; once it is gone that is told a single time.
async fn told(agent: &mut Option<mpsc::Receiver<AgentEvent>>) -> Event {
    let Some(events) = agent else { return std::future::pending().await };
    match events.recv().await {
        Some(event) => Event::Agent(event),
        None => {
            *agent = None;
            Event::AgentGone
        }
    }
}

fn listening(keyboard: &mut Option<Keyboard>) -> anyhow::Result<&mut Keyboard> {
    if keyboard.is_none() {
        *keyboard = Some(Keyboard::listen().context("The keyboard cannot be listened to.")?);
    }
    keyboard.as_mut().context(GONE)
}

/// Returns the terminal's new size; none where it is gone, which its keyboard tells.
fn resize() -> Option<Event> {
    let (width, height) = crossterm::terminal::size().ok()?;
    Some(Event::Resize { width, height })
}

async fn alarm(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// Opens a text in an editor; `None` when the editor failed or changed nothing.
fn edit(editor: &str, text: &str, suffix: &str) -> std::io::Result<Option<String>> {
    let mut file = tempfile::Builder::new().prefix("trefoil-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    let mut words = editor.split_whitespace();
    let status =
        Command::new(words.next().unwrap_or("vi")).args(words).arg(file.path()).status()?;
    let edited = std::fs::read_to_string(file.path())?;
    Ok(Some(edited).filter(|edited| status.success() && edited != text))
}
