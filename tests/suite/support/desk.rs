//! A real agent with real tools in a temporary workspace, played by a script, answered by the test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use trefoil::agent::{
    Agent, AgentEvent, AgentHandle, AgentRequest, Approval, Live, Rules, Setup, Verdict,
};
use trefoil::config::{Config, Keys, Mode, Permissions};
use trefoil::provider::Connection;
use trefoil::provider::scripted::{Pace, Script};
use trefoil::session::{
    CallId, Checkpoints, Conversation, Entry, Record, Store, ToolResult, TurnEnd,
};
use trefoil::tool::Context;
use trefoil::workspace::{Launcher, Root};

/// Longest wait for any one event: far above what a working agent needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How an agent is set up.
pub struct Plan {
    pub script: String,
    pub mode: Mode,
    pub allow: Vec<String>,
    pub is_attended: bool,
    pub max_turns: u32,
}

impl Plan {
    pub fn new(script: &str) -> Self {
        Self {
            script: script.to_owned(),
            mode: Mode::Ask,
            allow: vec![],
            is_attended: true,
            max_turns: 60,
        }
    }

    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    pub fn allow(mut self, rule: &str) -> Self {
        self.allow.push(rule.to_owned());
        self
    }

    pub fn unattended(self) -> Self {
        Self { is_attended: false, ..self }
    }

    pub fn max_turns(self, max_turns: u32) -> Self {
        Self { max_turns, ..self }
    }
}

/// A person, an agent and a workspace.
pub struct Desk {
    home: TempDir,
    handle: Option<AgentHandle>,
    plan: Plan,
    session: String,
}

impl Desk {
    /// Opens an empty workspace and starts the agent.
    pub fn open(plan: Plan) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("workspace")).unwrap();
        let mut desk = Self { home, handle: None, plan, session: String::new() };
        desk.start();
        desk
    }

    pub fn root(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub fn has(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    fn start(&mut self) {
        let store = Store::new(self.home.path().join("sessions"));
        let root = Root::open(&self.root()).unwrap();
        let (log, past) = if self.session.is_empty() {
            let log = store.create(root.path(), "scripted/test", self.plan.mode).unwrap();
            (log, Vec::new())
        } else {
            let loaded = store.open(&self.session).unwrap();
            (loaded.log, loaded.entries)
        };
        self.session = log.folder().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        self.handle = Some(Agent::spawn(self.setup(root, log, &past)));
    }

    fn setup(&self, root: Root, log: trefoil::session::Log, past: &[Entry]) -> Setup {
        let config = Config::default();
        let script = self.plan.script.clone();
        let permissions = Permissions { allow: self.plan.allow.clone(), ..Permissions::default() };
        Setup {
            connect: Box::new(move |_| {
                let script = Script::parse(&script).expect("the test's script can be read");
                Ok(Connection::to_script("test", script, Pace::Instant, &quick()))
            }),
            model: "scripted/test".to_owned(),
            mode: self.plan.mode,
            rules: Rules::parse(&permissions).unwrap(),
            max_turns: self.plan.max_turns,
            context: context(root, config),
            keys: Keys::default(),
            log,
            conversation: Conversation::replay(past),
            checkpoints: Checkpoints::replay(past),
            is_attended: self.plan.is_attended,
        }
    }

    /// Ends the agent as quitting does, and opens the session again.
    pub async fn reopen(&mut self) {
        let mut handle = self.handle.take().unwrap();
        drop(handle.requests);
        while handle.events.recv().await.is_some() {}
        self.start();
    }

    /// Goes away without a word, as a front end that dies does.
    pub fn leave(&mut self) {
        self.handle = None;
    }

    pub async fn send(&self, request: AgentRequest) {
        self.handle.as_ref().unwrap().requests.send(request).await.unwrap();
    }

    pub async fn next(&mut self) -> AgentEvent {
        let events = &mut self.handle.as_mut().unwrap().events;
        tokio::time::timeout(PATIENCE, events.recv())
            .await
            .expect("the agent says something in time")
            .expect("the agent lives")
    }

    /// Waits for an event that `find` picks.
    pub async fn until<T>(&mut self, mut find: impl FnMut(&AgentEvent) -> Option<T>) -> T {
        loop {
            if let Some(found) = find(&self.next().await) {
                return found;
            }
        }
    }

    /// Says something and plays the turn to its end; every approval gets the verdict.
    pub async fn say(&mut self, prompt: &str, verdict: Verdict) -> Turn {
        self.say_and_answer(prompt, |_| verdict.clone()).await
    }

    pub async fn say_and_answer(
        &mut self,
        prompt: &str,
        mut answer: impl FnMut(&Approval) -> Verdict,
    ) -> Turn {
        self.send(AgentRequest::Prompt(prompt.to_owned())).await;
        self.finish(&mut answer).await
    }

    /// Plays a turn that has begun to its end.
    pub async fn finish(&mut self, answer: &mut impl FnMut(&Approval) -> Verdict) -> Turn {
        let mut turn = Turn::default();
        loop {
            match self.next().await {
                AgentEvent::Live(Live::Idle) => return turn,
                AgentEvent::Live(Live::Approval(approval)) => {
                    let verdict = answer(&approval);
                    turn.approvals.push(approval.clone());
                    self.send(AgentRequest::Answer { call: approval.call, verdict }).await;
                }
                AgentEvent::Live(_) => {}
                AgentEvent::Recorded(entry) => turn.records.push(entry.record),
            }
        }
    }

    /// Returns every record in the session's log, read anew from disk.
    pub fn log(&self) -> Vec<Record> {
        let path = self.home.path().join("sessions").join(&self.session).join("log.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let record = |line: &str| {
            serde_json::from_str::<trefoil::session::Entry>(line).expect("a whole record").record
        };
        text.lines().map(record).collect()
    }

    /// Returns what the next request would hold.
    pub fn conversation(&self) -> Conversation {
        let mut conversation = Conversation::default();
        self.log().iter().for_each(|record| conversation.apply(record));
        conversation
    }
}

/// What happened in one turn.
#[derive(Debug, Default)]
pub struct Turn {
    pub records: Vec<Record>,
    pub approvals: Vec<Approval>,
}

impl Turn {
    pub fn results(&self) -> Vec<&ToolResult> {
        self.records
            .iter()
            .filter_map(|record| match record {
                Record::Finished { result, .. } => Some(result),
                _ => None,
            })
            .collect()
    }

    pub fn end(&self) -> &TurnEnd {
        let end = self.records.iter().rev().find_map(|record| match record {
            Record::TurnEnded { end } => Some(end),
            _ => None,
        });
        end.expect("the turn has ended")
    }

    pub fn last_text(&self) -> String {
        let text = self.records.iter().rev().find_map(|record| match record {
            Record::Replied { reply, .. } => Some(reply.text()),
            _ => None,
        });
        text.unwrap_or_default()
    }

    pub fn ids(&self) -> Vec<CallId> {
        self.results().iter().map(|result| result.id.clone()).collect()
    }
}

fn context(root: Root, config: Config) -> Context {
    Context {
        root: Arc::new(root),
        limits: config.limits,
        python: String::new(),
        environment: Arc::new(trefoil::workspace::shell::environment(std::env::vars())),
        launcher: Launcher { program: env!("CARGO_BIN_EXE_trefoil").into() },
        seen: trefoil::tool::Seen::default(),
        proposed: trefoil::tool::Proposed::default(),
    }
}

fn quick() -> trefoil::config::Network {
    trefoil::config::Network { retries: 2, ..Config::default().network }
}
