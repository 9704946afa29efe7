//! The colours of the screen by role.

use ratatui::style::Style;

/// A style for each role.
#[derive(Debug, Clone, Default)]
pub struct Theme {
    pub text: Style,
    pub dim: Style,
    pub accent: Style,
    pub brand: Style,
    pub border: Style,
    pub border_focused: Style,
    pub title: Style,
    pub key: Style,
    pub status: Style,
    pub mode_plan: Style,
    pub mode_ask: Style,
    pub mode_accept: Style,
    pub selection: Style,
    pub ok: Style,
    pub warn: Style,
    pub error: Style,
    pub running: Style,
    pub prompt: Style,
    pub thinking: Style,
    pub added: Style,
    pub removed: Style,
    pub search_match: Style,
    pub search_current: Style,
}

impl Theme {
    /// Returns a built-in theme.
    pub fn named(_name: &str) -> Option<Self> {
        Some(Self::default())
    }

    /// Returns the names of the built-in themes.
    pub fn names() -> &'static [&'static str] {
        &["dark", "light"]
    }
}
