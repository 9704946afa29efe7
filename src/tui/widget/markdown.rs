//! Markdown while it streams: what is finished is kept as lines, only the open end is made anew.

mod block;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::text::{Line, Span};

use super::highlight::over;
use super::wrap::hard_wrapped;
use super::{Colouring, Highlighter};
use crate::tui::theme::Theme;

/// A text that grows, and its lines for one width.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    source: String,
    columns: u16,
    /// Bytes of the source whose lines are finished.
    done: usize,
    lines: Vec<Line<'static>>,
    /// How many of the lines are finished.
    finished: usize,
    place: Place,
}

/// What the end of the finished lines lies within.
#[derive(Debug, Clone, Default)]
enum Place {
    #[default]
    Between,
    /// A list whose items so far are finished; the number of the next one, if it is ordered.
    List(Option<u64>),
    Fence(Fence),
}

/// An open code fence: its lines are finished one by one.
#[derive(Debug, Clone)]
struct Fence {
    mark: char,
    length: usize,
    colouring: Colouring,
}

/// A top-level block of the rest of the source.
struct Block {
    range: Range<usize>,
    kind: Kind,
}

enum Kind {
    Fence { language: String },
    List { start: Option<u64>, items: Vec<Range<usize>> },
    Other,
}

impl Markdown {
    /// Takes more of the text.
    pub fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    /// Returns the text as it was written.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// Makes the lines for a width; what is finished stands unless the width is another.
    pub fn lay_out(&mut self, columns: u16, theme: &Theme, code: &mut Highlighter) {
        if self.columns != columns {
            let source = std::mem::take(&mut self.source);
            *self = Self { source, columns, ..Self::default() };
        }
        self.lines.truncate(self.finished);
        while self.advance(theme, code) {}
    }

    /// Returns the lines as they were laid out last.
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    /// Finishes what can be finished; returns whether there may be more.
    fn advance(&mut self, theme: &Theme, code: &Highlighter) -> bool {
        match std::mem::take(&mut self.place) {
            Place::Fence(fence) => self.fence(fence, theme, code),
            place => self.blocks(place, theme, code),
        }
    }

    /// Finishes every block that another one follows; whole lines only, for half a line may yet become anything.
    fn blocks(&mut self, place: Place, theme: &Theme, code: &Highlighter) -> bool {
        self.place = place;
        let base = self.done;
        let whole = self.source[base..].rfind('\n').map_or(base, |at| base + at + 1);
        let found = blocks(&self.source[base..whole]);
        let last = found.len().saturating_sub(1);
        for (at, block) in found.into_iter().enumerate() {
            let range = base + block.range.start..base + block.range.end;
            if range.start < self.done {
                return true;
            }
            match &block.kind {
                Kind::Fence { language } => {
                    self.begin(&block.kind);
                    if !self.whole_fence(&range, language, theme, code) {
                        return true;
                    }
                }
                Kind::List { items, .. } if at == last => {
                    self.items(&block.kind, items, base, theme, code);
                }
                _ if at == last => {}
                kind => {
                    let number = self.begin(kind);
                    self.place = Place::Between;
                    self.render(range.clone(), number, theme, code);
                    self.finish_to(range.end);
                }
            }
        }
        self.open_end(theme, code);
        false
    }

    /// Shows what may still change.
    fn open_end(&mut self, theme: &Theme, code: &Highlighter) {
        let (base, place) = (self.done, self.place.clone());
        for block in blocks(&self.source[base..]) {
            let number = self.begin(&block.kind);
            self.place = Place::Between;
            self.render(base + block.range.start..base + block.range.end, number, theme, code);
        }
        self.place = place;
    }

    /// Sets a block apart from the one above, unless it goes on with a list; returns its first item's number.
    fn begin(&mut self, kind: &Kind) -> Option<u64> {
        if let (Place::List(number), Kind::List { .. }) = (&self.place, kind) {
            return *number;
        }
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        match kind {
            Kind::List { start, .. } => *start,
            _ => None,
        }
    }

    /// Finishes all items but the last of a list that may still grow.
    fn items(
        &mut self,
        kind: &Kind,
        items: &[Range<usize>],
        base: usize,
        theme: &Theme,
        code: &Highlighter,
    ) {
        let [finished @ .., last] = items else { return };
        if finished.is_empty() {
            return;
        }
        let mut number = self.begin(kind);
        for item in finished {
            self.render(base + item.start..base + item.end, number, theme, code);
            number = number.map(|number| number + 1);
        }
        self.finish_to(base + last.start);
        self.place = Place::List(number);
    }

    fn render(
        &mut self,
        range: Range<usize>,
        number: Option<u64>,
        theme: &Theme,
        code: &Highlighter,
    ) {
        let source = &self.source[range];
        self.lines.extend(block::lines(source, number, self.columns, theme, code));
    }

    fn finish_to(&mut self, done: usize) {
        self.done = done;
        self.finished = self.lines.len();
    }

    /// Finishes a fence from its opening line on; returns whether it was closed.
    fn whole_fence(
        &mut self,
        range: &Range<usize>,
        language: &str,
        theme: &Theme,
        code: &Highlighter,
    ) -> bool {
        let text = self.source[range.clone()].trim_start();
        let mark = text.chars().next().unwrap_or('`');
        let length = text.chars().take_while(|c| *c == mark).count();
        let opening =
            self.source[range.clone()].find('\n').map_or(range.end, |at| range.start + at + 1);
        self.lines.extend(head(language, theme));
        self.finish_to(opening);
        let mut fence = Fence { mark, length, colouring: code.begin(language) };
        let is_closed = self.whole_lines(&mut fence, theme, code);
        self.place = if is_closed { Place::Between } else { Place::Fence(fence) };
        is_closed
    }

    /// Finishes the whole lines of a fence; returns whether one of them closed it.
    fn whole_lines(&mut self, fence: &mut Fence, theme: &Theme, code: &Highlighter) -> bool {
        while let Some(length) = self.source[self.done..].find('\n') {
            let line = self.source[self.done..self.done + length].trim_end_matches('\r').to_owned();
            let is_closed = fence.is_closed_by(&line);
            if !is_closed {
                self.lines.extend(fence.line(&line, self.columns, theme, code));
            }
            self.finish_to(self.done + length + 1);
            if is_closed {
                return true;
            }
        }
        false
    }

    /// Goes on with a fence; shows the line that is still being written.
    fn fence(&mut self, mut fence: Fence, theme: &Theme, code: &Highlighter) -> bool {
        if self.whole_lines(&mut fence, theme, code) {
            return true;
        }
        let rest = self.source[self.done..].to_owned();
        if !rest.is_empty() && !fence.is_closed_by(&rest) {
            self.lines.extend(fence.clone().line(&rest, self.columns, theme, code));
        }
        self.place = Place::Fence(fence);
        false
    }
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let text = text.trim_end();
        indent < 4 && text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }

    fn line(
        &mut self,
        line: &str,
        columns: u16,
        theme: &Theme,
        code: &Highlighter,
    ) -> Vec<Line<'static>> {
        code_line(line, &mut self.colouring, columns, &[], theme, code)
    }
}

/// Returns the line above a piece of code: its language, if it names one.
fn head(language: &str, theme: &Theme) -> Option<Line<'static>> {
    (!language.is_empty()).then(|| Line::styled(format!("  {language}"), theme.dim))
}

/// Returns a line of code, indented, in colours, broken where the width ends.
fn code_line(
    line: &str,
    colouring: &mut Colouring,
    columns: u16,
    prefix: &[Span<'static>],
    theme: &Theme,
    code: &Highlighter,
) -> Vec<Line<'static>> {
    let spans = over(theme.text, code.line(colouring, line, &theme.syntax));
    let mut first = prefix.to_vec();
    first.push(Span::raw("  "));
    hard_wrapped(spans, columns, &first, &first)
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Splits a text into its top-level blocks.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match (depth, &tag, blocks.last_mut()) {
                    (0, _, _) => blocks.push(Block { range, kind: kind(&tag) }),
                    (1, Tag::Item, Some(Block { kind: Kind::List { items, .. }, .. })) => {
                        items.push(range)
                    }
                    _ => {}
                }
                depth += 1;
            }
            Event::End(end) => {
                depth -= 1;
                if depth == 0 && end == TagEnd::HtmlBlock {
                    continue;
                }
            }
            _ if depth == 0 => blocks.push(Block { range, kind: Kind::Other }),
            _ => {}
        }
    }
    blocks
}

fn kind(tag: &Tag<'_>) -> Kind {
    match tag {
        Tag::CodeBlock(CodeBlockKind::Fenced(language)) => {
            Kind::Fence { language: language.to_string() }
        }
        Tag::List(start) => Kind::List { start: *start, items: Vec::new() },
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests;
