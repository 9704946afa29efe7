//! One row of a diff as a line: gutter, sign, text in colours, changed words brighter.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::highlight::over;
use super::super::wrap::{clip, window};
use super::{DiffRows, Highlighter, Row};
use crate::tui::theme::Theme;
use crate::workspace::{Ending, Line as DiffLine, LineKind, intraline};

/// What rows are drawn with.
pub(super) struct Pen<'a> {
    pub rows: &'a DiffRows,
    pub theme: &'a Theme,
    pub code: &'a Highlighter,
    pub language: String,
    pub offset: usize,
}

impl Pen<'_> {
    pub fn row(&self, row: &Row, columns: u16) -> Line<'static> {
        match row {
            Row::Hunk(hunk) => self.head(*hunk, columns),
            Row::Note(text) => Line::styled(clip(text, columns), self.theme.dim),
            Row::Line { hunk, line, old, new, partner } => {
                let text = self.rows.line(*hunk, *line);
                let digits = self.rows.digits;
                let number = |number: &usize, absent: LineKind| {
                    if text.kind == absent {
                        " ".repeat(digits)
                    } else {
                        format!("{number:>digits$}")
                    }
                };
                let gutter =
                    format!("{} {} ", number(old, LineKind::Added), number(new, LineKind::Removed));
                self.side(*hunk, *line, *partner, gutter, columns)
            }
            Row::Pair { hunk, left, right } => self.pair(*hunk, *left, *right, columns),
        }
    }

    fn head(&self, hunk: usize, columns: u16) -> Line<'static> {
        let hunk = &self.rows.file.hunks[hunk];
        let count = |other: LineKind| hunk.lines.iter().filter(|line| line.kind != other).count();
        let text = format!(
            "@@ −{},{} +{},{} @@",
            hunk.old_start,
            count(LineKind::Added),
            hunk.new_start,
            count(LineKind::Removed)
        );
        Line::styled(clip(&text, columns), self.theme.hunk)
    }

    fn pair(
        &self,
        hunk: usize,
        left: Option<(usize, usize)>,
        right: Option<(usize, usize)>,
        columns: u16,
    ) -> Line<'static> {
        let half = columns.saturating_sub(1) / 2;
        let partner = |side: Option<(usize, usize)>| side.map(|(line, _)| line);
        let draw = |side: Option<(usize, usize)>, other: Option<usize>| match side {
            Some((line, number)) => {
                let other = other.filter(|other| *other != line);
                let gutter = format!("{number:>width$} ", width = self.rows.digits);
                self.side(hunk, line, other, gutter, half)
            }
            None => Line::raw(" ".repeat(half.into())),
        };
        let mut spans = draw(left, partner(right)).spans;
        spans.push(Span::styled("│", self.theme.rule));
        spans.extend(draw(right, partner(left)).spans);
        Line::from(spans)
    }

    /// Draws one line of one side over exactly `columns`.
    fn side(
        &self,
        hunk: usize,
        at: usize,
        partner: Option<usize>,
        gutter: String,
        columns: u16,
    ) -> Line<'static> {
        let line = self.rows.line(hunk, at);
        let (sign, base, word) = match line.kind {
            LineKind::Context => (" ", self.theme.text, self.theme.text),
            LineKind::Removed => ("−", self.theme.removed, self.theme.removed_word),
            LineKind::Added => ("+", self.theme.added, self.theme.added_word),
        };
        let mut spans =
            vec![Span::styled(gutter, self.theme.gutter), Span::styled(format!("{sign} "), base)];
        let taken = spans.iter().map(Span::width).sum::<usize>();
        let room = columns.saturating_sub(u16::try_from(taken).unwrap_or(u16::MAX));
        let partner = partner.map(|partner| self.rows.line(hunk, partner));
        spans.extend(fitted(&self.text(line, partner, base, word), self.offset, room, base));
        Line::from(spans)
    }

    fn text(
        &self,
        line: &DiffLine,
        partner: Option<&DiffLine>,
        base: Style,
        word: Style,
    ) -> Vec<Span<'static>> {
        let mut colouring = self.code.begin(&self.language);
        let mut spans = over(base, self.code.line(&mut colouring, &line.text, &self.theme.syntax));
        if let Some(partner) = partner {
            let changed = match line.kind {
                LineKind::Removed => intraline(&line.text, &partner.text).0,
                _ => intraline(&partner.text, &line.text).1,
            };
            spans = marked(spans, &changed, word);
        }
        if let Some(note) = ending_note(line.ending, partner) {
            spans.push(Span::styled(note, base.patch(self.theme.dim)));
        }
        spans
    }
}

/// Says how a line ends where the eye could not tell.
fn ending_note(ending: Ending, partner: Option<&DiffLine>) -> Option<&'static str> {
    let differs = partner.is_some_and(|partner| partner.ending != ending);
    match ending {
        Ending::Missing => Some("  \\ no newline at the end"),
        Ending::CrLf if differs => Some("  \\ CRLF"),
        Ending::Cr => Some("  \\ CR"),
        Ending::Lf if differs && partner.is_some_and(|partner| partner.ending == Ending::CrLf) => {
            Some("  \\ LF")
        }
        _ => None,
    }
}

/// Lays `style` over the given byte ranges of a text in spans.
fn marked(spans: Vec<Span<'static>>, ranges: &[Range<usize>], style: Style) -> Vec<Span<'static>> {
    let mut marked = Vec::with_capacity(spans.len() + 2 * ranges.len());
    let mut start = 0;
    for span in spans {
        let text = span.content.as_ref();
        let end = start + text.len();
        let inside = |range: &&Range<usize>| range.start < end && range.end > start;
        let mut at = start;
        for range in ranges.iter().filter(inside) {
            let (from, to) = (range.start.max(at), range.end.min(end));
            if at < from {
                marked.push(Span::styled(text[at - start..from - start].to_owned(), span.style));
            }
            let over = Style { fg: span.style.fg.or(style.fg), ..style };
            marked.push(Span::styled(
                text[from - start..to - start].to_owned(),
                span.style.patch(over),
            ));
            at = to;
        }
        if at < end {
            marked.push(Span::styled(text[at - start..].to_owned(), span.style));
        }
        start = end;
    }
    marked
}

/// Cuts or fills a text to exactly `columns`, the rest in its own background; `…` where it was cut.
fn fitted(spans: &[Span<'static>], offset: usize, columns: u16, base: Style) -> Vec<Span<'static>> {
    let (mut shown, more) = window(spans, offset, columns);
    if more {
        shown = window(spans, offset, columns.saturating_sub(1)).0;
        shown.push(Span::styled("…", base));
    }
    let taken = shown.iter().map(Span::width).sum::<usize>();
    let missing = usize::from(columns).saturating_sub(taken);
    if missing > 0 {
        shown.push(Span::styled(" ".repeat(missing), base));
    }
    shown
}
