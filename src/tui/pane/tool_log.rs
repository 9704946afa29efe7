//! Stands in until the pane itself lands.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::agent::AgentEvent;
use crate::tui::overlay::Reaction;
use crate::tui::theme::Theme;

/// To come.
#[derive(Debug)]
pub struct ToolLog {
    events: usize,
}

impl ToolLog {
    pub fn new(_zone: jiff::tz::TimeZone) -> Self {
        Self { events: 0 }
    }
    pub fn apply(&mut self, _event: &AgentEvent) {
        self.events += 1;
    }
    pub fn restyle(&mut self) {}
    pub fn page(&mut self, _pages: i32) {}
    pub fn to_start(&mut self) {}
    pub fn to_end(&mut self) {}
    pub fn toggle(&mut self) {}
    pub fn key(&mut self, _key: KeyEvent) -> Reaction {
        Reaction::Ignored
    }
    pub fn layout(&mut self, _width: u16, _height: u16, _theme: &Theme) {}
    pub fn draw(&self, _buf: &mut Buffer, _area: Rect, _theme: &Theme, _focused: bool) {}
}
