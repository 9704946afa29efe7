//! Joins provider, tools and workspace into turns; knows nothing of screens.

mod call;
mod carry_out;
mod checkpoint;
mod inbox;
mod journal;
mod permission;
mod permit;
mod prompt;
pub mod protocol;
mod repeat;
mod review;
mod rewind;
mod told;
mod turn;

pub use permission::{Rule, RuleError, Rules};
pub use prompt::tools;
pub use protocol::{
    AgentEvent, AgentHandle, AgentRequest, Approval, ChangeSet, Changes, Live, Verdict, Waiting,
};

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::mpsc;

use self::inbox::Inbox;
use self::journal::Journal;
use self::repeat::Repeat;
use crate::config::{Keys, Mode};
use crate::provider::{Connection, ProviderError};
use crate::session::{Checkpoints, Conversation, Log, LogError, Record};
use crate::tool;
use crate::workspace::{Change, Snapshot};

/// Events and requests that may wait before the sender is slowed down.
const CHANNEL: usize = 256;

/// Connects to `PROVIDER/MODEL`; nothing is sent before the first request.
pub type Connect = Box<dyn Fn(&str) -> Result<Connection, ProviderError> + Send + Sync>;

/// Everything an agent is made of.
pub struct Setup {
    pub connect: Connect,
    /// `PROVIDER/MODEL`.
    pub model: String,
    pub mode: Mode,
    pub rules: Rules,
    pub max_turns: u32,
    pub context: tool::Context,
    pub keys: Keys,
    pub log: Log,
    /// The fold of the session's records so far.
    pub conversation: Conversation,
    /// What can be taken back of it.
    pub checkpoints: Checkpoints,
    /// Whether a person can be asked.
    pub is_attended: bool,
}

/// The background task that talks to the model and carries out its calls.
pub struct Agent {
    connect: Connect,
    connection: Option<Connection>,
    model: String,
    mode: Mode,
    rules: Rules,
    max_turns: u32,
    context: tool::Context,
    is_attended: bool,
    system: Arc<str>,
    tools: Arc<[crate::session::Spec]>,
    inbox: Inbox,
    journal: Journal,
    repeat: Repeat,
    /// What the person said of all later changes of this turn.
    rest_of_turn: Option<bool>,
    /// The workspace as it was when a command last ran.
    snapshot: Snapshot,
    /// What [`Live::Changes`] showed last.
    shown: Vec<Change>,
    /// What was said once and need not be said again.
    warned: HashSet<String>,
}

impl Agent {
    /// Starts the agent on the current runtime. It ends when the handle is dropped.
    pub fn spawn(setup: Setup) -> AgentHandle {
        let (requests, inbox) = mpsc::channel(CHANNEL);
        let (events_in, events) = mpsc::channel(CHANNEL);
        tokio::spawn(Self::new(setup, inbox, events_in).live());
        AgentHandle { requests, events }
    }

    fn new(
        setup: Setup,
        requests: mpsc::Receiver<AgentRequest>,
        events: mpsc::Sender<AgentEvent>,
    ) -> Self {
        let past = (setup.conversation, setup.checkpoints);
        let cap = setup.context.limits.checkpoint_bytes;
        Self {
            connect: setup.connect,
            connection: None,
            model: setup.model,
            mode: setup.mode,
            rules: setup.rules,
            max_turns: setup.max_turns,
            system: prompt::system(&setup.context.root),
            tools: prompt::tools(),
            context: setup.context,
            is_attended: setup.is_attended,
            inbox: Inbox::new(requests, events.clone()),
            journal: Journal::new(setup.log, setup.keys, past, cap, events),
            repeat: Repeat::default(),
            rest_of_turn: None,
            snapshot: Snapshot::default(),
            shown: Vec::new(),
            warned: HashSet::new(),
        }
    }

    /// Serves requests until the front end is gone.
    async fn live(mut self) {
        if let Err(error) = self.settle_unfinished().await {
            self.journal.lament(&error).await;
        }
        while let Some(request) = self.inbox.next().await {
            let is_prompt = matches!(request, AgentRequest::Prompt(_));
            if let Err(error) = self.serve(request).await {
                tracing::error!(%error, "a record could not be written");
                self.journal.lament(&error).await;
            }
            if is_prompt && !self.inbox.has_prompt() {
                self.journal.live(Live::Idle).await;
            }
        }
    }

    async fn serve(&mut self, request: AgentRequest) -> Result<(), LogError> {
        match request {
            AgentRequest::Prompt(text) => self.turn(text).await,
            AgentRequest::SetMode(mode) => self.set_mode(mode).await,
            AgentRequest::SetModel(model) => self.set_model(model).await,
            AgentRequest::Clear => self.clear().await,
            AgentRequest::Undo => self.undo().await,
            AgentRequest::Redo => self.redo().await,
            AgentRequest::Changes => self.changes().await,
            AgentRequest::PutBack { set, selection } => self.put_back(set, selection).await,
            AgentRequest::Answer { .. } | AgentRequest::Interrupt | AgentRequest::Unqueue => Ok(()),
        }
    }

    async fn set_mode(&mut self, mode: Mode) -> Result<(), LogError> {
        self.mode = mode;
        self.journal.record(Record::ModeChanged { mode }).await
    }

    async fn set_model(&mut self, model: String) -> Result<(), LogError> {
        match (self.connect)(&model) {
            Ok(connection) => {
                self.connection = Some(connection);
                self.model.clone_from(&model);
                self.journal.record(Record::ModelChanged { model }).await
            }
            Err(error) => self.warn(error.message).await,
        }
    }

    async fn clear(&mut self) -> Result<(), LogError> {
        self.repeat.reset();
        self.journal.record(Record::Cleared).await
    }

    async fn warn(&mut self, text: String) -> Result<(), LogError> {
        let level = crate::session::Level::Warning;
        self.journal.record(Record::Noticed { level, text }).await
    }
}
