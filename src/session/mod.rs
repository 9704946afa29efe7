//! What happened, as plain data: messages, records, and the log that keeps them.

mod blobs;
mod checkpoint;
mod conversation;
mod log;
mod message;
mod proposal;
mod record;
mod store;

pub use blobs::{BlobError, Blobs};
pub use checkpoint::{Checkpoints, Image, Restore, Touch, Turn};
pub use conversation::Conversation;
pub use log::{Log, LogError};
pub use message::{CallId, Message, Origin, Part, Reply, Spec, ToolCall, ToolResult, Usage};
pub use proposal::Proposal;
pub use record::{Entry, Failure, Level, Record, TurnEnd, View, Why};
pub use store::{Loaded, Store, Summary};
