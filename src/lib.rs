//! A person sits at the [`tui`]; the [`agent`] asks a [`provider`] for a reply and turns [`tool`]
//! calls into intents; the [`workspace`] carries them out; the [`session`] remembers; [`config`]
//! says how.
//!
//! ```text
//! main, opening → cli, launcher, demo, trace, config, print, agent, tui: anything they need
//! tui, print → agent (handle and protocol), session, workspace (diff and change types), config
//! agent → provider, tool, workspace, session, config
//! tool → workspace, session        provider → session, config
//! session → workspace (change and diff types), config's plain types
//! workspace → config's plain types      config → nothing of ours
//! anyone → visible (foreign text made safe to show)
//! ```
//!
//! The four paths, each straight:
//!
//! - **A key**: `tui::world` → `App::update(event) -> Vec<Effect>` → top overlay, else keymap →
//!   `Command` → one arm, one call → draw.
//! - **A token**: bytes → `provider::sse` → `Delta::Text` → `agent::turn` → `AgentEvent` → the open
//!   transcript entry → the next draw.
//! - **A tool call**: `turn` → `Tool::intend` → `permission::decide` → allow, ask or deny → the
//!   workspace carries it out → `Outcome` → recorded → shown.
//! - **A fact**: `Record` → the log on disk → `Conversation` and the transcript, which are folds.

#![forbid(unsafe_code)]

pub mod agent;
pub mod cli;
pub mod config;
pub mod demo;
pub mod launcher;
pub mod print;
pub mod provider;
pub mod session;
pub mod tool;
pub mod trace;
pub mod tui;
pub mod visible;
pub mod workspace;
