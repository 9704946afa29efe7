//! Every durable fact of a session. The log holds one a line; all state is a fold over them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{CallId, Proposal, Reply, Restore, ToolResult, Touch, Usage};
use crate::config::Mode;
use crate::workspace::FileDiff;

/// A record and when it was written, in Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: i64,
    #[serde(flatten)]
    pub record: Record,
}

/// A durable fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line of every log.
    Started {
        version: u32,
        id: String,
        workspace: PathBuf,
        model: String,
        mode: Mode,
    },
    /// The session was opened again.
    Resumed {
        model: String,
        mode: Mode,
    },
    /// A person's message entered the conversation.
    Prompted {
        text: String,
    },
    /// A model's reply is complete, or was interrupted. `millis` to its end, `first_token_millis` to its first token.
    Replied {
        reply: Reply,
        usage: Usage,
        millis: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_token_millis: Option<u64>,
    },
    /// A call was understood: this is exactly what it would do.
    Proposed {
        call: CallId,
        tool: String,
        proposal: Proposal,
    },
    /// Whether the call may act, and why.
    Decided {
        call: CallId,
        allowed: bool,
        why: Why,
    },
    /// The call is about to act: `staged` are the temporary files of a change, `touches` what it would do.
    Acting {
        call: CallId,
        staged: Vec<PathBuf>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        touches: Vec<Touch>,
    },
    /// Files that a command changed, or that a killed change is found to have written.
    Touched {
        call: CallId,
        touches: Vec<Touch>,
    },
    /// The person took changes back, or brought them back; `call` stands for no model's call.
    Restored {
        call: CallId,
        #[serde(flatten)]
        restore: Restore,
        touches: Vec<Touch>,
        files: Vec<FileDiff>,
    },
    /// The call came to an end, with what the model is told and what the person is shown.
    Finished {
        result: ToolResult,
        view: View,
        millis: u64,
    },
    /// The turn is over.
    TurnEnded {
        end: TurnEnd,
    },
    ModeChanged {
        mode: Mode,
    },
    ModelChanged {
        model: String,
    },
    /// A rule was granted for this session.
    Allowed {
        rule: String,
    },
    /// The conversation starts anew; what came before stays in the log.
    Cleared,
    /// Something the person should know.
    Noticed {
        level: Level,
        text: String,
    },
}

/// Why a call ran, or did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Why {
    /// It only reads.
    Reads,
    /// The mode lets it stand, or forbids it.
    Mode { mode: Mode },
    /// A rule says so, with the rule's text.
    Rule { rule: String },
    /// The person pressed a key, perhaps with a comment.
    Person {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// Nobody was there to ask; `rule` would have admitted it.
    Nobody { rule: String },
    /// The person said so of everything to come in this turn.
    RestOfTurn,
    /// The call could not be understood or would break a bound.
    Refused,
}

impl Why {
    /// Says it in a few words, as the tool log shows it.
    pub fn told(&self) -> String {
        match self {
            Self::Reads => "reads".to_owned(),
            Self::Mode { mode } => format!("mode {}", mode.name()),
            Self::Rule { rule } => format!("rule {rule}"),
            Self::Person { comment: None } => "you".to_owned(),
            Self::Person { comment: Some(comment) } => format!("you: {comment}"),
            Self::Nobody { .. } => "nobody to ask".to_owned(),
            Self::RestOfTurn => "you, for this turn".to_owned(),
            Self::Refused => "refused".to_owned(),
        }
    }
}

/// What the person sees of a finished call, beside the model's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum View {
    /// The text the model got.
    #[default]
    Text,
    /// A change that was written.
    Change { files: Vec<FileDiff> },
    /// A process that ran: `exit` is `None` when it was killed.
    Process { exit: Option<i32>, timed_out: bool },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TurnEnd {
    Done,
    Interrupted,
    /// The limit on model requests was reached.
    Limit {
        requests: u32,
    },
    /// The person rejected a call and stopped the turn.
    Stopped,
    /// The provider failed; `kind` decides the exit code.
    Failed {
        kind: Failure,
        message: String,
    },
}

/// The kinds of failure that choose an exit code (design §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No key, a bad key, or no rights.
    Auth,
    /// The provider cannot be reached or is overloaded; trying again may help.
    Unavailable,
    /// Anything else.
    Other,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}
