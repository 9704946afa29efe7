//! One row of a diff as a line: gutter, sign, text in colours, changed words brighter.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::highlight::over;
use super::super::wrap::{clip, window};
use super::{DiffRows, Highlighter, Row, about_itself};
use crate::tui::theme::Theme;
use crate::workspace::{Ending, Line as DiffLine, LineKind, intraline};

/// Bytes past which a line's white space is not looked at.
const LONG_LINE: usize = 2_000;

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
            Row::Itself => self.itself(columns),
            Row::Remark(number) => self.remark(*number, columns),
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

    fn itself(&self, columns: u16) -> Line<'static> {
        let text = match about_itself(&self.rows.file) {
            text if text.is_empty() => "no line changes".to_owned(),
            text => text,
        };
        Line::styled(clip(&text, columns), self.theme.hunk)
    }

    fn remark(&self, number: usize, columns: u16) -> Line<'static> {
        let text = format!("  ┆ you: {}", self.rows.remarks[number].text);
        Line::styled(clip(&text, columns), self.theme.accent)
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
        let spans = over(base, self.code.line(&mut colouring, &line.text, &self.theme.syntax));
        let is_space = partner.is_some_and(|partner| differ_in_space(line, partner));
        let changed = partner.map_or_else(Vec::new, |partner| {
            // Where nothing but white space differs, each character counts.
            let compare = if is_space { space_spans } else { intraline };
            match line.kind {
                LineKind::Removed => compare(&line.text, &partner.text).0,
                _ => compare(&partner.text, &line.text).1,
            }
        });
        let mut spans = match (is_space, tail(line)) {
            (true, _) => marked(spans, &changed, word, shown_space),
            (false, None) => marked(spans, &changed, word, str::to_owned),
            (false, Some(tail)) => {
                let cut: Vec<_> = changed
                    .into_iter()
                    .map(|range| range.start.min(tail.start)..range.end.min(tail.start))
                    .filter(|range| !range.is_empty())
                    .collect();
                let spans = marked(spans, &cut, word, str::to_owned);
                marked(spans, &[tail], word, shown_space)
            }
        };
        if let Some(note) = ending_note(line.ending, partner) {
            spans.push(Span::styled(note, base.patch(self.theme.dim)));
        }
        spans
    }
}

/// Returns whether two lines differ, and only in white space.
fn differ_in_space(one: &DiffLine, other: &DiffLine) -> bool {
    let visible = |line: &DiffLine| line.text.split_whitespace().collect::<String>();
    one.text != other.text
        && one.text.len().max(other.text.len()) < LONG_LINE
        && visible(one) == visible(other)
}

/// Returns the byte ranges of an old and a new line in which they differ, character by character.
fn space_spans(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let head: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tails = old_rest.chars().rev().zip(new_rest.chars().rev());
    let tail: usize = tails.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let span = |text: &str| {
        std::iter::once(head..text.len() - tail).filter(|span| !span.is_empty()).collect()
    };
    (span(old), span(new))
}

/// Makes white space visible.
fn shown_space(text: &str) -> String {
    text.replace(' ', "·").replace('\t', "→   ")
}

/// Returns where the white space at the end of a new line is.
fn tail(line: &DiffLine) -> Option<Range<usize>> {
    let tail = line.text.trim_end().len()..line.text.len();
    let is_seen = line.kind != LineKind::Added || tail.is_empty() || line.text.len() > LONG_LINE;
    (!is_seen).then_some(tail)
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

/// Lays `style` over the given byte ranges of a text in spans, which are shown as `how` says.
fn marked(
    spans: Vec<Span<'static>>,
    ranges: &[Range<usize>],
    style: Style,
    how: fn(&str) -> String,
) -> Vec<Span<'static>> {
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
            marked.push(Span::styled(how(&text[from - start..to - start]), span.style.patch(over)));
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
