//! The true cell of a text area's caret: display width, tabs and soft wrapping included.

use ratatui::layout::{Position, Rect};
use tui_textarea::TextArea;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the caret's cell, for a text area as it was drawn last in `text`, wrapped.
pub fn caret(area: &TextArea, text: Rect) -> Position {
    let row = area.screen_cursor().row;
    let top = usize::from(area.scroll_offset().0);
    let (start, cursor) = (area.screen_to_data(row, 0), area.cursor());
    let line = area.lines().get(cursor.0).map_or("", String::as_str);
    let before: String = line.chars().take(cursor.1).skip(start.1).collect();
    let y = u16::try_from(row.saturating_sub(top)).unwrap_or(0);
    let x = u16::try_from(cells(&before)).unwrap_or(0);
    Position {
        x: (text.x + x).min(text.right()),
        y: (text.y + y).min(text.bottom().saturating_sub(1)),
    }
}

/// Cells of a text that begins a row; a tab goes to the next stop of four.
fn cells(text: &str) -> usize {
    text.graphemes(true).fold(0, |at, grapheme| match grapheme {
        "\t" => (at / 4 + 1) * 4,
        grapheme => at + grapheme.width(),
    })
}
