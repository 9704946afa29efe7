//! The conversation as a model sees it, neutral of any provider's wire format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A local identifier of a tool call, unique in its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    User {
        text: String,
    },
    Assistant(Reply),
    /// The results of all calls of the reply before it, in call order.
    Results {
        results: Vec<ToolResult>,
    },
}

/// What a model answered to one request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub parts: Vec<Part>,
    /// Who wrote it; opaque data is sent back only to the same provider and model.
    pub origin: Origin,
    /// Whether the person stopped it before it was complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

impl Reply {
    /// Returns the calls of this reply in the order they were made.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the visible text, parts joined.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// The provider and the model that wrote a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub provider: String,
    pub model: String,
}

/// A piece of a reply, in the order the model sent it.
///
/// `opaque` is the provider's own data (a thought signature), sent back byte for byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    Call(ToolCall),
}

/// A model's request to use a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    /// The id the server issued, echoed to that server only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_id: Option<String>,
    pub name: String,
    /// Always a JSON object; `{}` when the model's arguments could not be read.
    pub args: Value,
    /// Why the arguments could not be read, with the raw text (bounded). Such a call never runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// What a model is told about one of its calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub id: CallId,
    pub name: String,
    pub ok: bool,
    pub text: String,
}

/// Tokens of one request. `input` includes `cached`; `output` includes `thinking`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub thinking: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.thinking += other.thinking;
    }
}

/// What a model is told about a tool: its name, its description and a JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub name: String,
    pub description: String,
    pub schema: Value,
}
