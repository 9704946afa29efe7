//! One block of markdown as lines: nested lists and quotes by prefixes, inline styles by a stack.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::table::Table;
use super::super::wrap::wrapped;
use super::super::{Colouring, Highlighter};
use super::{code_line, head, options};
use crate::tui::theme::Theme;

/// Returns a block's lines; `number` is the first item's, where a list goes on.
pub(super) fn lines(
    source: &str,
    number: Option<u64>,
    columns: u16,
    theme: &Theme,
    code: &Highlighter,
) -> Vec<Line<'static>> {
    let mut page = Page::new(number, columns, theme, code);
    for event in Parser::new_ext(source, options()) {
        page.take(event);
    }
    page.flush();
    page.lines
}

/// What stands before the lines of a nested block.
struct Prefix {
    first: Span<'static>,
    next: Span<'static>,
    is_used: bool,
}

struct Page<'a> {
    columns: u16,
    theme: &'a Theme,
    code: &'a Highlighter,
    lines: Vec<Line<'static>>,
    /// The inline text of the open paragraph, heading or cell.
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    prefixes: Vec<Prefix>,
    /// The next number of each open list; `None` where it is not ordered.
    lists: Vec<Option<u64>>,
    /// The number that the outermost list begins with instead of its own.
    number: Option<u64>,
    link: Option<(String, usize)>,
    fence: Option<Colouring>,
    table: Option<Table>,
}

impl<'a> Page<'a> {
    fn new(number: Option<u64>, columns: u16, theme: &'a Theme, code: &'a Highlighter) -> Self {
        Self {
            columns,
            theme,
            code,
            lines: Vec::new(),
            spans: Vec::new(),
            styles: vec![theme.text],
            prefixes: Vec::new(),
            lists: Vec::new(),
            number,
            link: None,
            fence: None,
            table: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.span(text, self.theme.code),
            Event::Html(text) | Event::InlineHtml(text) => self.html(&text),
            Event::SoftBreak => self.span(" ".into(), Style::new()),
            Event::HardBreak => self.flush(),
            Event::Rule => self.rule(),
            Event::TaskListMarker(is_done) => self.task(is_done),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.span(text, Style::new());
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let modifier = |modifier| Style::new().add_modifier(modifier);
        match tag {
            Tag::Paragraph => self.apart(),
            Tag::Heading { .. } => self.push_style(self.theme.heading),
            Tag::BlockQuote(_) => {
                self.apart();
                self.prefix("▎ ", "▎ ", self.theme.quote);
                self.push_style(self.theme.quote);
            }
            Tag::List(start) => {
                self.flush();
                let number = self.number.take().filter(|_| start.is_some()).or(start);
                self.lists.push(number);
            }
            Tag::Item => self.item(),
            Tag::CodeBlock(kind) => self.begin_code(&kind),
            Tag::Table(alignments) => self.table = Some(Table { alignments, rows: Vec::new() }),
            Tag::TableHead | Tag::TableRow => self.begin_row(),
            Tag::Emphasis => self.push_style(modifier(Modifier::ITALIC)),
            Tag::Strong => self.push_style(modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.push_style(modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.to_string(), self.spans.len()));
                self.push_style(self.theme.link);
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                self.prefixes.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                self.show_unused_prefix();
                self.prefixes.pop();
            }
            TagEnd::CodeBlock => self.fence = None,
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn push_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn span(&mut self, text: CowStr<'_>, style: Style) {
        self.spans.push(Span::styled(text.into_string(), self.style().patch(style)));
    }

    fn text(&mut self, text: &str) {
        if self.fence.is_none() {
            self.span(text.to_owned().into(), Style::new());
            return;
        }
        for line in text.lines() {
            let prefix = self.take_prefix();
            let next = self.next_prefix();
            let Some(colouring) = &mut self.fence else { return };
            let prefix = if prefix.is_empty() { next } else { prefix };
            let lines = code_line(line, colouring, self.columns, &prefix, self.theme, self.code);
            self.lines.extend(lines);
        }
    }

    fn html(&mut self, text: &str) {
        for (at, line) in text.trim_end_matches('\n').split('\n').enumerate() {
            if at > 0 {
                self.flush();
            }
            self.span(line.to_owned().into(), Style::new());
        }
    }

    /// Writes the open inline text down as lines.
    fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let (first, next) = (self.take_prefix(), self.next_prefix());
        self.lines.extend(wrapped(spans, self.columns, &first, &next));
    }

    /// Inside an item or a quote, a second paragraph stands apart from the first.
    fn apart(&mut self) {
        self.flush();
        if self.prefixes.last().is_some_and(|prefix| prefix.is_used) {
            self.lines.push(Line::from(self.next_prefix()));
        }
    }

    fn prefix(&mut self, first: &str, next: &str, style: Style) {
        let span = |text: &str| Span::styled(text.to_owned(), style);
        self.prefixes.push(Prefix { first: span(first), next: span(next), is_used: false });
    }

    fn take_prefix(&mut self) -> Vec<Span<'static>> {
        let take = |prefix: &mut Prefix| {
            let span = if prefix.is_used { &prefix.next } else { &prefix.first };
            prefix.is_used = true;
            span.clone()
        };
        self.prefixes.iter_mut().map(take).collect()
    }

    fn next_prefix(&self) -> Vec<Span<'static>> {
        self.prefixes.iter().map(|prefix| prefix.next.clone()).collect()
    }

    /// An empty item is still an item.
    fn show_unused_prefix(&mut self) {
        if self.prefixes.last().is_some_and(|prefix| !prefix.is_used) {
            let line = self.take_prefix();
            self.lines.push(Line::from(line));
        }
    }

    fn item(&mut self) {
        self.flush();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "• ".to_owned(),
        };
        let indent = " ".repeat(marker.chars().count());
        self.prefix(&marker, &indent, self.theme.accent);
    }

    /// A box takes the place of the bullet.
    fn task(&mut self, is_done: bool) {
        if let Some(prefix) = self.prefixes.last_mut().filter(|prefix| !prefix.is_used) {
            prefix.first.content = if is_done { "☑ " } else { "☐ " }.into();
        }
    }

    fn rule(&mut self) {
        let mut line = self.take_prefix();
        let taken: usize = line.iter().map(Span::width).sum();
        let dashes = "─".repeat(usize::from(self.columns).saturating_sub(taken));
        line.push(Span::styled(dashes, self.theme.rule));
        self.lines.push(Line::from(line));
    }

    fn begin_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.flush();
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.as_ref(),
            CodeBlockKind::Indented => "",
        };
        if let Some(head) = head(language, self.theme) {
            let mut line = self.take_prefix();
            line.extend(head.spans.into_iter().map(|span| span.patch_style(head.style)));
            self.lines.push(Line::from(line));
        }
        self.fence = Some(self.code.begin(language));
    }

    fn begin_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn end_cell(&mut self) {
        let cell = std::mem::take(&mut self.spans);
        if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            row.push(cell);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let next = self.next_prefix();
        let taken: usize = next.iter().map(Span::width).sum();
        let room = self.columns.saturating_sub(u16::try_from(taken).unwrap_or(u16::MAX));
        for line in table.lines(room, self.theme) {
            let mut spans = self.take_prefix();
            spans.extend(line.spans.into_iter().map(|span| span.patch_style(line.style)));
            self.lines.push(Line::from(spans));
        }
    }

    /// Shows where a link leads, unless its text says so already.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((target, from)) = self.link.take() else { return };
        let shown: String = self
            .spans
            .get(from..)
            .unwrap_or_default()
            .iter()
            .map(|span| span.content.as_ref())
            .collect();
        if shown != target && target.strip_prefix("mailto:") != Some(&shown) {
            self.span(format!(" ({target})").into(), self.theme.dim);
        }
    }
}
