//! Joins provider, tools and workspace into turns; knows nothing of screens.

mod inbox;
mod journal;
mod permission;
mod prompt;
pub mod protocol;
mod repeat;
mod turn;

pub use permission::{Rule, RuleError};
pub use protocol::{AgentEvent, AgentHandle, AgentRequest, Approval, Live, Verdict};
