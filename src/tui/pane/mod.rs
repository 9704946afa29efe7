//! What is always there: plain structs with verbs, folded from agent events, laid out, then drawn.

mod call;
mod conversation;
mod tool_log;
mod view;

pub use conversation::Conversation;
pub use tool_log::ToolLog;
