//! The script file: steps in order, with the conditions under which each is played.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::provider::ErrorKind;
use crate::session::{Message, ToolResult};

/// A script, read and checked. `docs/scripted.md` is its reference.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What every role without a section of its own plays.
    #[serde(rename = "reply")]
    steps: Vec<Step>,
    roles: BTreeMap<String, Section>,
}

/// The steps of one role.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Section {
    #[serde(rename = "reply")]
    steps: Vec<Step>,
}

/// One reply of the model, with its condition and what follows it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Step {
    pub label: Option<String>,
    pub when: When,
    pub thinking: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub usage: Option<Tokens>,
    pub fault: Option<Fault>,
    /// The output limit cut the reply.
    pub truncated: bool,
    /// A policy stopped the reply, for this reason.
    pub blocked: Option<String>,
    /// The label of the step to look from next; without it, the step below.
    pub then: Option<Spanned<String>>,
}

/// What must have happened since the model's last reply.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// One result is of this tool …
    tool: Option<String>,
    /// … and succeeded, or failed …
    ok: Option<bool>,
    /// … and holds this text.
    contains: Option<String>,
    /// A person's message holds this text, in any case.
    user: Option<String>,
}

/// A tool call that the model makes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Call {
    pub tool: String,
    pub args: Map<String, Value>,
    /// Arguments that are not JSON, as the model wrote them.
    pub malformed: Option<String>,
}

/// Tokens that the reply claims to have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub thinking: u64,
}

/// A failure that is played instead of the step, `times` times; then the step itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    pub kind: FaultKind,
    #[serde(default = "once")]
    pub times: u32,
    /// Seconds that the server asks to wait.
    #[serde(default)]
    pub wait: Option<f64>,
    #[serde(default)]
    pub message: Option<String>,
}

fn once() -> u32 {
    1
}

/// The failures a script can play: each kind of a provider's failure, and silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FaultKind {
    Auth,
    Quota,
    RateLimit,
    Overloaded,
    Transient,
    Network,
    Cut,
    Stall,
    Empty,
    BadCall,
    ContextOverflow,
    BadRequest,
    Blocked,
    /// Half of the reply, then nothing, for ever.
    Hang,
}

impl FaultKind {
    /// Returns the provider's failure that this is; none for silence.
    pub fn error(self) -> Option<ErrorKind> {
        Some(match self {
            Self::Auth => ErrorKind::Auth,
            Self::Quota => ErrorKind::Quota,
            Self::RateLimit => ErrorKind::RateLimit,
            Self::Overloaded => ErrorKind::Overloaded,
            Self::Transient => ErrorKind::Transient,
            Self::Network => ErrorKind::Network,
            Self::Cut => ErrorKind::Cut,
            Self::Stall => ErrorKind::Stalled,
            Self::Empty => ErrorKind::Empty,
            Self::BadCall => ErrorKind::BadCall,
            Self::ContextOverflow => ErrorKind::ContextOverflow,
            Self::BadRequest => ErrorKind::BadRequest,
            Self::Blocked => ErrorKind::Blocked,
            Self::Hang => return None,
        })
    }

    /// Returns whether half of the reply is shown before the failure.
    pub fn is_mid_stream(self) -> bool {
        matches!(self, Self::Cut | Self::Stall | Self::Hang)
    }
}

/// Why a script cannot be played: a sentence with file, line and reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(String);

impl Script {
    /// Reads a script from its text.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Self::read("The script", text)
    }

    /// Reads a script from a file.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ScriptError(format!("The script {shown} cannot be read ({error}); check the path."))
        })?;
        Self::read(&shown, &text)
    }

    fn read(name: &str, text: &str) -> Result<Self, ScriptError> {
        let fault = |at: usize, reason: &str| {
            let line = text[..at.min(text.len())].matches('\n').count() + 1;
            ScriptError(format!("{name}, line {line}: {reason}"))
        };
        let script: Self = toml::from_str(text).map_err(|error| {
            fault(error.span().map_or(0, |span| span.start), error.message().trim())
        })?;
        for steps in script.sections() {
            if let Some(then) = dangling(steps) {
                let reason = format!("no reply here has the label \"{}\".", then.get_ref());
                return Err(fault(then.span().start, &reason));
            }
        }
        Ok(script)
    }

    fn sections(&self) -> impl Iterator<Item = &[Step]> {
        let roles = self.roles.values().map(|section| section.steps.as_slice());
        std::iter::once(self.steps.as_slice()).chain(roles)
    }

    /// Returns the steps that a role plays.
    pub(super) fn steps(&self, role: &str) -> &[Step] {
        self.roles.get(role).map_or(&self.steps, |section| &section.steps)
    }
}

/// Returns a `then` that leads nowhere.
fn dangling(steps: &[Step]) -> Option<&Spanned<String>> {
    steps
        .iter()
        .filter_map(|step| step.then.as_ref())
        .find(|then| find_label(steps, then.get_ref()).is_none())
}

/// Returns where the step with this label stands.
pub(super) fn find_label(steps: &[Step], label: &str) -> Option<usize> {
    steps.iter().position(|step| step.label.as_deref() == Some(label))
}

impl When {
    /// Returns whether the messages since the last reply are what this step waits for.
    pub fn holds(&self, news: &[Message]) -> bool {
        self.user_holds(news) && (!self.asks_a_result() || self.a_result_holds(news))
    }

    fn user_holds(&self, news: &[Message]) -> bool {
        let Some(wanted) = &self.user else { return true };
        let wanted = wanted.to_lowercase();
        news.iter().any(|message| {
            matches!(message, Message::User { text } if text.to_lowercase().contains(&wanted))
        })
    }

    fn asks_a_result(&self) -> bool {
        self.tool.is_some() || self.ok.is_some() || self.contains.is_some()
    }

    fn a_result_holds(&self, news: &[Message]) -> bool {
        let mut results = news.iter().flat_map(|message| match message {
            Message::Results { results } => results.as_slice(),
            _ => &[],
        });
        results.any(|result| self.fits(result))
    }

    fn fits(&self, result: &ToolResult) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == result.name)
            && self.ok.is_none_or(|ok| ok == result.ok)
            && self.contains.as_ref().is_none_or(|text| result.text.contains(text))
    }
}
