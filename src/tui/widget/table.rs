//! A markdown table as lines: columns as wide as they need to be, cells wrapped where there is no room.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use super::wrap::wrapped;
use crate::tui::theme::Theme;

type Cell = Vec<Span<'static>>;

/// What separates two columns.
const BETWEEN: &str = " │ ";

/// Rows of cells; the first is the head.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub alignments: Vec<Alignment>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Returns the table as lines of at most `columns`.
    pub fn lines(&self, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
        let widths = self.widths(columns);
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths, theme));
            if at == 0 {
                let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::styled(dashes.join("─┼─"), theme.rule));
            }
        }
        lines
    }

    /// The widest columns give way until all fit.
    fn widths(&self, columns: u16) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |cell: &Cell| cell.iter().map(Span::width).sum::<usize>();
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(width).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        let room =
            usize::from(columns).saturating_sub(BETWEEN.chars().count() * count.saturating_sub(1));
        while widths.iter().sum::<usize>() > room.max(count) {
            let Some(most) = widths.iter_mut().max() else { break };
            *most -= 1;
        }
        widths
    }

    fn row(&self, row: &[Cell], widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
        let empty = Cell::new();
        let cells: Vec<Vec<Line<'static>>> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| {
                let cell = row.get(at).unwrap_or(&empty).clone();
                wrapped(cell, u16::try_from(*width).unwrap_or(u16::MAX), &[], &[])
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut spans = Vec::new();
            for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if at > 0 {
                    spans.push(Span::styled(BETWEEN, theme.rule));
                }
                let alignment = self.alignments.get(at).copied().unwrap_or(Alignment::None);
                spans.extend(aligned(cell.get(number), *width, alignment));
            }
            Line::from(spans)
        };
        (0..height).map(line).collect()
    }
}

fn aligned(line: Option<&Line<'static>>, width: usize, alignment: Alignment) -> Vec<Span<'static>> {
    let spans = line.map(|line| line.spans.clone()).unwrap_or_default();
    let left_over = width.saturating_sub(spans.iter().map(Span::width).sum());
    let before = match alignment {
        Alignment::Right => left_over,
        Alignment::Center => left_over / 2,
        Alignment::Left | Alignment::None => 0,
    };
    let padding = |count: usize| (count > 0).then(|| Span::raw(" ".repeat(count)));
    padding(before).into_iter().chain(spans).chain(padding(left_over - before)).collect()
}
