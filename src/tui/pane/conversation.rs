//! Stands in until the pane itself lands.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::agent::AgentEvent;
use crate::tui::overlay::Reaction;
use crate::tui::theme::Theme;
use crate::tui::widget::Highlighter;

/// To come.
#[derive(Debug, Default)]
pub struct Conversation {
    events: usize,
}

impl Conversation {
    pub fn apply(&mut self, _event: &AgentEvent) {
        self.events += 1;
    }
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }
    pub fn restyle(&mut self) {}
    pub fn page(&mut self, _pages: i32) {}
    pub fn to_start(&mut self) {}
    pub fn to_end(&mut self) {}
    pub fn toggle(&mut self) {}
    pub fn find(&mut self, _text: &str) {}
    pub fn find_next(&mut self) {}
    pub fn find_prev(&mut self) {}
    pub fn matches(&self) -> (usize, usize) {
        (0, 0)
    }
    pub fn key(&mut self, _key: KeyEvent) -> Reaction {
        Reaction::Ignored
    }
    pub fn layout(&mut self, _width: u16, _height: u16, _theme: &Theme, _code: &mut Highlighter) {}
    pub fn draw(&self, _buf: &mut Buffer, _area: Rect, _theme: &Theme, _focused: bool) {}
}
