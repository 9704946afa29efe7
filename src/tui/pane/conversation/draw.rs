//! Draws the rows in sight: gutter, text, matches, the selection, and what the reader has not seen yet.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::Conversation;
use super::cell::{Cell, Entry};
use crate::tui::pane::view::Place;
use crate::tui::theme::Theme;

/// Returns the columns before the text: who speaks.
pub fn gutter(width: u16) -> u16 {
    if width < 40 { 2 } else { 5 }
}

impl Conversation {
    /// Draws what the last layout found in sight.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme, focused: bool) {
        for (row, place) in area.rows().zip(&self.rows) {
            let Some(cell) = self.transcript.get(place.cell) else { continue };
            self.draw_row(buf, row, cell, *place, theme);
            let is_headline = place.line == cell.gap();
            if focused && is_headline && self.selected == Some(place.cell) {
                buf.set_style(row, theme.selection);
            }
        }
        if self.unseen {
            draw_hint(buf, area, theme);
        }
    }

    fn draw_row(&self, buf: &mut Buffer, row: Rect, cell: &Cell, place: Place, theme: &Theme) {
        let Some(index) = place.line.checked_sub(cell.gap()) else { return };
        let Some(line) = cell.lines().get(index) else { return };
        let indent = gutter(row.width).min(row.width);
        if index == 0 {
            speaker(cell.entry(), indent, theme).render(Rect { width: indent, ..row }, buf);
        }
        let text = Rect { x: row.x + indent, width: row.width - indent, ..row };
        line.render(text, buf);
        self.draw_matches(buf, text, &line.to_string(), place, theme);
    }

    fn draw_matches(&self, buf: &mut Buffer, row: Rect, line: &str, place: Place, theme: &Theme) {
        let Some(search) = &self.search else { return };
        for range in search.query.ranges(line) {
            mark(buf, row, line, range, theme.search_match);
        }
        if let Some((found, range)) = &self.found
            && *found == place
            && line.get(range.clone()).is_some()
        {
            mark(buf, row, line, range.clone(), theme.search_current);
        }
    }
}

/// Returns the mark of who speaks, in the columns of the gutter.
fn speaker(entry: &Entry, width: u16, theme: &Theme) -> Span<'static> {
    match entry {
        Entry::Prompt(_) if width < 5 => Span::styled("›", theme.dim),
        Entry::Prompt(_) => Span::styled("you", theme.dim),
        Entry::Reply(_) => Span::styled("♣", theme.brand),
        _ => Span::raw(""),
    }
}

/// Styles the cells of some bytes of a line.
fn mark(buf: &mut Buffer, row: Rect, line: &str, bytes: std::ops::Range<usize>, style: Style) {
    let width = |text: &str| u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX);
    let from = width(&line[..bytes.start]);
    let marked = Rect { x: row.x.saturating_add(from), width: width(&line[bytes]), ..row };
    buf.set_style(marked.intersection(row), style);
}

fn draw_hint(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let hint = Line::styled(" ↓ new output · End ", theme.selection);
    let width = u16::try_from(hint.width()).unwrap_or(u16::MAX).min(area.width);
    let row = Rect {
        x: area.right() - width,
        y: area.bottom().saturating_sub(1),
        width,
        height: area.height.min(1),
    };
    hint.render(row, buf);
}
