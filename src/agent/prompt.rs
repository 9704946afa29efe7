//! What a model is told before the conversation begins: the same bytes for every request of a session.

use std::sync::Arc;

use crate::session::Spec;
use crate::tool::TOOLS;
use crate::workspace::Root;

/// Returns the system prompt of the pair.
pub fn system(root: &Root) -> Arc<str> {
    let name = root.path().file_name().map_or("/".into(), |name| name.to_string_lossy());
    format!(
        "{}\nWorkspace: {name}. System: {} {}.\n",
        include_str!("../../assets/prompts/pair.md"),
        std::env::consts::OS,
        std::env::consts::ARCH,
    )
    .into()
}

/// Returns what the model is told of the tools, in a fixed order.
pub fn tools() -> Arc<[Spec]> {
    TOOLS.iter().map(|tool| tool.spec()).collect()
}
