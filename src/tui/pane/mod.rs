//! What is always there: plain structs with verbs, folded from agent events, laid out, then drawn.

mod call;
mod composer;
mod conversation;
pub mod greeting;
mod phases;
mod status;
mod title;
mod tool_log;
mod view;

pub use composer::Composer;
pub use conversation::Conversation;
pub use phases::Phases;
pub use status::Status;
pub use title::Title;
pub use tool_log::ToolLog;
