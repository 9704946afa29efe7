//! Everything costly before a frame: sizes, wrapping, highlighting. Drawing then only reads.

use std::time::Instant;

use super::App;
use crate::tui::layout::{Needs, layout};

impl App {
    /// Lays the screen out for `width` × `height` cells; a frame follows at once.
    pub fn prepare(&mut self, width: u16, height: u16, now: Instant) {
        self.now = now;
        let needs = Needs {
            composer: self.composer.layout(width),
            notes: self.note_rows(width),
            is_begun: !self.is_idle(),
        };
        self.regions = layout(width, height, needs);
        self.lay_out_panes();
        self.lay_out_overlays();
        self.approvals.drawn(now);
    }

    /// Returns whether nothing was said yet: the greeting stands in the conversation's place.
    pub fn is_idle(&self) -> bool {
        self.conversation.is_empty() && !self.phases.is_working()
    }

    /// Returns whether the tools are seen instead of the conversation.
    pub fn shows_tools_alone(&self) -> bool {
        self.shows_tools && self.regions.has_tabs()
    }

    /// Returns whether the next key answers the open approval.
    pub fn answers(&self) -> bool {
        self.overlays.is_empty() && self.approval_takes_keys()
    }

    fn note_rows(&self, width: u16) -> u16 {
        let room = usize::from(width.saturating_sub(2)).max(1);
        let rows = |text: &String| match ratatui::text::Span::raw(text).width() / room {
            0 => 1,
            // Wrapping at words may take one more.
            more => more + 2,
        };
        let notices: usize = self.notices.iter().map(rows).sum();
        let search = usize::from(self.search.is_some());
        u16::try_from(notices + self.queued.len() + search).unwrap_or(u16::MAX)
    }

    fn lay_out_panes(&mut self) {
        let Self { conversation, tools, theme, highlighter, regions, .. } = self;
        let alone = regions.tools.is_empty();
        let inside = regions.inside(regions.conversation);
        conversation.layout(inside.width, inside.height, theme, highlighter);
        let pane = if alone { regions.conversation } else { regions.tools };
        let inside = regions.inside(pane);
        tools.layout(inside.width, inside.height, theme);
    }

    fn lay_out_overlays(&mut self) {
        let body = self.regions.body();
        let Self { overlays, approvals, theme, highlighter, .. } = self;
        let open = overlays.iter_mut().chain(approvals.overlay_mut());
        open.for_each(|overlay| overlay.layout(body, theme, highlighter));
    }
}
