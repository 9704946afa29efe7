//! What the entries look like: each as lines of a width, without the gutter. Replies are the markdown widget's.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::cell::Entry;
use crate::session::Level;
use crate::tui::pane::call::{Call, State, duration};
use crate::tui::theme::Theme;
use crate::tui::widget::{Highlighter, clip, diff_lines, wrap};

/// Lines of live output under a running command.
const TAIL: usize = 5;

/// Returns the lines of an entry that is no reply.
pub fn of(
    entry: &Entry,
    expanded: bool,
    width: u16,
    theme: &Theme,
    code: &mut Highlighter,
) -> Vec<Line<'static>> {
    match entry {
        Entry::Reply(_) => Vec::new(),
        Entry::Prompt(text) => plain(text, "", theme.prompt, width),
        Entry::Thinking { text, tokens } => thinking(text, *tokens, expanded, width, theme),
        Entry::Call(call) => self::call(call, expanded, width, theme, code),
        Entry::Calling(tool) => {
            let glyph = Span::styled("◐ ", theme.running);
            vec![Line::from(vec![glyph, Span::styled(format!("{tool} …"), theme.dim)])]
        }
        Entry::Note { level: Level::Info, text } => plain(text, "· ", theme.dim, width),
        Entry::Note { level: Level::Warning, text } => plain(text, "! ", theme.warn, width),
        Entry::Note { level: Level::Error, text } => plain(text, "✗ ", theme.error, width),
        Entry::Ended(text) => plain(text, "■ ", theme.dim, width),
        Entry::Failed(text) => failure(text, width, theme),
    }
}

/// Returns wrapped text behind a sign; further lines stand under the first.
fn plain(text: &str, sign: &str, style: Style, width: u16) -> Vec<Line<'static>> {
    let indent = Span::raw(sign).width();
    let room = width.saturating_sub(columns(indent)).max(1);
    let wrapped = wrap(text.trim_end(), room).into_iter().enumerate();
    let line = |(index, line): (usize, String)| {
        let sign = if index == 0 { sign.to_owned() } else { " ".repeat(indent) };
        Line::styled(sign + &line, style)
    };
    wrapped.map(line).collect()
}

fn failure(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    wrap(text.trim_end(), width.saturating_sub(2).max(1))
        .into_iter()
        .map(|line| Line::styled(format!("▌ {line}"), theme.error))
        .collect()
}

fn thinking(
    text: &str,
    tokens: Option<u64>,
    expanded: bool,
    width: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let head = match tokens {
        None => "thinking…".to_owned(),
        Some(0) => "thought · Ctrl+O".to_owned(),
        Some(tokens) => format!("thought for {tokens} tokens · Ctrl+O"),
    };
    let mut lines = vec![Line::styled(clip(&head, width), theme.thinking)];
    if expanded {
        lines.extend(plain(text, "  ", theme.thinking, width));
    }
    lines
}

fn call(
    call: &Call,
    expanded: bool,
    width: u16,
    theme: &Theme,
    code: &mut Highlighter,
) -> Vec<Line<'static>> {
    let mut lines = vec![headline(call, width, theme)];
    if call.state == State::Running {
        let tail = call.tail.last(TAIL);
        lines.extend(tail.map(|line| Line::styled(clip(&format!("  {line}"), width), theme.dim)));
    }
    if !expanded {
        return lines;
    }
    for file in &call.files {
        lines.extend(diff_lines(file, width, theme, code));
    }
    if call.files.is_empty() || call.state != State::Done {
        lines.extend(plain(&call.text, "  ", theme.dim, width));
    }
    lines
}

/// Returns `✓ edit_file pkg/calculator.py  +2 −2`: the subject gives way to what stands behind it.
fn headline(call: &Call, width: u16, theme: &Theme) -> Line<'static> {
    let behind = behind(call, theme);
    let glyph = Span::styled(format!("{} ", call.state.glyph()), call.state.style(theme));
    let tool = Span::styled(call.tool.clone(), theme.accent);
    let taken: usize = behind.iter().chain([&glyph, &tool]).map(Span::width).sum();
    let room = usize::from(width).saturating_sub(taken);
    let subject = clip(&format!(" {}", call.subject), columns(room));
    let left = room.saturating_sub(Span::raw(&subject).width());
    let mut spans = vec![glyph, tool, Span::styled(subject, theme.text)];
    let remark = call.remark();
    if !remark.is_empty() {
        let remark = clip(&format!("  {remark}"), columns(left));
        spans.push(Span::styled(remark, theme.error));
    }
    spans.extend(behind);
    Line::from(spans)
}

/// Returns what stands at the end of a headline and is never cut: counts, the way out, the time it took.
fn behind(call: &Call, theme: &Theme) -> Vec<Span<'static>> {
    let mut behind = Vec::new();
    if let Some((added, removed)) = call.counts() {
        behind.push(Span::styled(format!("  +{added}"), theme.ok));
        behind.push(Span::styled(format!(" −{removed}"), theme.error));
        if call.state == State::Proposed {
            behind.push(Span::styled("  ⏎ review", theme.key));
        }
    }
    if let Some(exit) = &call.exit {
        let style = if call.state == State::Done { theme.dim } else { theme.error };
        behind.push(Span::styled(format!("  {exit}"), style));
        if call.millis >= 1_000 {
            behind.push(Span::styled(format!("  {}", duration(call.millis)), theme.dim));
        }
    }
    behind
}

fn columns(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
