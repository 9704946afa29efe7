//! What is there when called, above everything else: the top overlay gets the keys first.
//!
//! Adding one is a file here and the line that opens it.

mod answer;
mod comment;
mod completion;
mod help;
mod palette;
mod review;
mod run_approval;
mod search;

pub use completion::Completion;
pub use help::Help;
pub use palette::Palette;
pub use review::{KEYS as REVIEW_KEYS, Review};
pub use run_approval::RunApproval;
pub use search::{Search, Step};

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Block, BorderType, Clear};

use super::command::Command;
use super::effect::Effect;
use super::theme::Theme;
use super::widget::Highlighter;

/// Something that covers a part of the screen until it is closed.
pub trait Overlay {
    /// Takes a key; what it ignores goes on to the keymap.
    fn key(&mut self, key: KeyEvent) -> Reaction;

    /// Takes pasted text, line endings already `\n`.
    fn paste(&mut self, _text: &str) {}

    /// Takes what the external editor gave back, or that it gave nothing; returns whether that was awaited here.
    fn edited(&mut self, _text: Option<&str>) -> bool {
        false
    }

    /// Gets ready to be drawn in `area`; the only place for costly work.
    fn layout(&mut self, _area: Rect, _theme: &Theme, _highlighter: &mut Highlighter) {}

    /// Draws in `area`, everything between the title and the status line; clears what it covers.
    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme);

    /// Returns the caret's cell while text is typed here.
    fn cursor(&self, _area: Rect) -> Option<Position> {
        None
    }
}

/// What a key did to an overlay or a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing: the key goes on to whoever is next.
    Ignored,
    Taken,
    Close,
    /// Closes, and runs a command.
    Run(Command),
    Effects {
        close: bool,
        effects: Vec<Effect>,
    },
}

/// Clears an area, draws a frame with a title around it, and returns what is inside.
pub fn framed(frame: &mut Frame, area: Rect, title: &str, theme: &Theme) -> Rect {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.border_focused)
        .title(ratatui::text::Span::styled(title, theme.title));
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner
}
