//! The whole seam between the agent and a front end: requests in, events out.

use serde::Serialize;
use tokio::sync::mpsc;

use crate::config::Mode;
use crate::session::{CallId, Entry, Proposal};
use crate::workspace::{FileDiff, Selection};

/// What a front end may ask of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentRequest {
    /// A person's message: starts a turn, or is queued and goes with the next model request.
    Prompt(String),
    /// Takes the last queued message back; it returns as [`Live::Unqueued`].
    Unqueue,
    /// Answers [`Live::Approval`].
    Answer {
        call: CallId,
        verdict: Verdict,
    },
    /// Stops the turn at once, wherever it is.
    Interrupt,
    SetMode(Mode),
    SetModel(String),
    /// Starts the conversation anew; the log keeps what came before.
    Clear,
    /// Takes the last turn's changes back, after [`Live::Approval`] showed what that means.
    Undo,
    /// Brings back what was taken back last.
    Redo,
    /// Asks for [`Live::Changes`].
    Changes,
    /// Puts parts of what [`Live::Changes`] showed last back as they were: what is not selected.
    PutBack {
        set: usize,
        selection: Selection,
    },
}

/// A person's word on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    /// Accept, and grant the rule that the approval offered, for this session.
    Always,
    /// The comment goes to the model; the turn goes on.
    Reject {
        comment: Option<String>,
    },
    /// Reject and end the turn.
    Stop,
    /// How much of each change may stand, call by call; and what becomes of the later changes of
    /// this turn, when they are not to be asked.
    Select {
        selections: Vec<Selection>,
        rest: Option<bool>,
    },
}

/// What the agent tells. One stream: durable facts, and what only the moment needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentEvent {
    Recorded(Entry),
    Live(Live),
}

/// News that is not kept: everything durable in it comes again as a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Live {
    /// A request to the model is on its way.
    Asking {
        request: u32,
    },
    ThinkingDelta {
        text: String,
    },
    TextDelta {
        text: String,
    },
    /// The model has begun to write a call.
    Calling {
        tool: String,
    },
    /// The reply so far is void; it is asked again after `wait_ms`.
    Retrying {
        attempt: u32,
        wait_ms: u64,
        reason: String,
    },
    /// A person has to decide; answered by [`AgentRequest::Answer`].
    Approval(Approval),
    /// The model is writing a call's long text, as it comes: a patch, a content.
    Writing {
        text: String,
    },
    /// Answers [`AgentRequest::Changes`].
    Changes(Changes),
    /// Output of a running command, as it comes.
    OutputDelta {
        call: CallId,
        text: String,
    },
    /// A message waits for the next model request.
    Queued {
        text: String,
    },
    Unqueued {
        text: String,
    },
    /// Nothing runs and nothing is queued.
    Idle,
}

/// What waits for a person: several changes of one reply, or one command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Approval {
    /// What the answer names: the first of the calls.
    pub call: CallId,
    /// The calls that wait together, in order.
    pub calls: Vec<Waiting>,
    /// Why it is asked, as a sentence.
    pub reason: String,
    /// The exact rule that [`Verdict::Always`] would grant; `None` where none is offered.
    pub rule: Option<String>,
}

/// One call that waits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waiting {
    pub call: CallId,
    pub tool: String,
    pub proposal: Proposal,
}

/// Everything that changed in this session, once as a whole and once for each turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    pub sets: Vec<ChangeSet>,
    /// What cannot be shown, as sentences.
    pub notes: Vec<String>,
}

/// What changed over some time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeSet {
    /// The turn's number and its prompt; `None` is the whole session.
    pub turn: Option<(usize, String)>,
    pub files: Vec<FileDiff>,
}

/// A front end's end of the seam. Dropping it ends the agent.
#[derive(Debug)]
pub struct AgentHandle {
    pub requests: mpsc::Sender<AgentRequest>,
    pub events: mpsc::Receiver<AgentEvent>,
}
