//! What can happen to the screen.

use crossterm::event::KeyEvent;

use crate::agent::AgentEvent;
use crate::workspace::git::Head;

/// Something happened. `App::update` takes one at a time, with the instant it happened at.
#[derive(Debug, Clone)]
pub enum Event {
    Key(KeyEvent),
    Paste(String),
    Resize {
        width: u16,
        height: u16,
    },
    /// Lines scrolled by the wheel, down is positive.
    Wheel(i16),
    Agent(AgentEvent),
    /// The agent's task is gone; nothing more comes from it.
    AgentGone,
    /// A timer that `App::wake_at` asked for has come due.
    Elapsed,
    /// The files that completion may offer.
    Files(Vec<String>),
    Head(Option<Head>),
    /// The external editor gave this text back; `None` when it failed or was left without saving.
    Edited(Option<String>),
}
