//! What the screen asks of the world. Only `world` carries these out.

use crate::agent::AgentRequest;

/// One wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Send(AgentRequest),
    /// Lists the workspace's files; answered by `Event::Files`.
    ListFiles,
    /// Reads the repository's head; answered by `Event::Head`.
    ReadHead,
    /// Looks for the workspace's last session; answered by `Event::Last` if there is one.
    FindLast,
    /// Opens the text in `$VISUAL` or `$EDITOR`, as a file whose name ends so; answered by `Event::Edited`.
    Edit {
        text: String,
        suffix: String,
    },
    /// Appends a prompt to the history file.
    Remember(String),
    /// Clears the terminal and draws every cell anew.
    Repaint,
    /// Gives the terminal back and stops the process until it is continued.
    Suspend,
    Quit,
}
