//! One row of the tool log: a line that fits the width, and all there is to know beneath it when unfolded.

use jiff::{Timestamp, tz::TimeZone};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::session::ToolCall;
use crate::tui::pane::call::{Call, State, duration};
use crate::tui::theme::Theme;
use crate::tui::widget::{clip, wrap};

/// From here on there is room for seconds, columns and the reason.
const WIDE: u16 = 60;
/// Columns of the reason.
const WHY: usize = 20;

/// A call, when it was made, and its lines once they were laid out.
#[derive(Debug)]
pub struct Row {
    /// When it was made, then when its turn came; Unix milliseconds.
    pub at: i64,
    pub call: Call,
    unfolded: bool,
    width: Option<u16>,
    lines: Vec<Line<'static>>,
}

impl Row {
    /// Begins the row of a call.
    pub fn new(call: &ToolCall, at: i64) -> Self {
        Self { at, call: Call::new(call), unfolded: false, width: None, lines: Vec::new() }
    }

    /// Unfolds or folds.
    pub fn toggle(&mut self) {
        self.unfolded = !self.unfolded;
        self.restyle();
    }

    /// Makes the lines anew at the next layout.
    pub fn restyle(&mut self) {
        self.width = None;
    }

    /// Returns the lines as they were laid out last.
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    /// Returns how many lines it takes.
    pub fn height(&self) -> usize {
        self.lines.len()
    }

    /// Makes the lines for a width, unless they stand already.
    pub fn lay_out(&mut self, width: u16, zone: &TimeZone, theme: &Theme) {
        if self.width == Some(width) {
            return;
        }
        self.width = Some(width);
        self.lines = vec![self.headline(width, zone, theme)];
        if self.unfolded {
            let details = self.details(width, theme);
            self.lines.extend(details);
        }
    }

    fn headline(&self, width: u16, zone: &TimeZone, theme: &Theme) -> Line<'static> {
        let wide = width >= WIDE;
        let tool = &self.call.tool;
        let tool = if wide { format!(" {tool:<11}  ") } else { format!(" {tool}  ") };
        let before =
            [Span::styled(self.time(zone, wide), theme.dim), Span::styled(tool, theme.accent)];
        let behind = if wide { self.wide_end(theme) } else { self.narrow_end(theme) };
        let taken: usize = before.iter().chain(&behind).map(Span::width).sum();
        let room = usize::from(width).saturating_sub(taken);
        let subject = clip(&self.call.subject, u16::try_from(room).unwrap_or(u16::MAX));
        let blank = room.saturating_sub(Span::raw(&subject).width());
        let subject = Span::styled(subject + &" ".repeat(blank), theme.text);
        Line::from_iter(before.into_iter().chain([subject]).chain(behind))
    }

    fn time(&self, zone: &TimeZone, seconds: bool) -> String {
        let format = if seconds { "%H:%M:%S" } else { "%H:%M" };
        let time = Timestamp::from_millisecond(self.at).unwrap_or_default();
        time.to_zoned_datetime(zone.clone()).strftime(format).to_string()
    }

    /// Returns the state with a failed process's exit code, which is what one looks for.
    fn state(&self) -> String {
        let code = self.call.exit.as_deref().and_then(|exit| exit.strip_prefix("exit "));
        let code = code.filter(|code| *code != "0").unwrap_or_default();
        format!("{}{code}", self.call.state.glyph())
    }

    fn took(&self) -> String {
        let ended = matches!(self.call.state, State::Done | State::Failed);
        if ended { duration(self.call.millis) } else { String::new() }
    }

    fn wide_end(&self, theme: &Theme) -> Vec<Span<'static>> {
        let why = clip(&self.call.why_words(), WHY as u16);
        vec![
            Span::styled(format!("  {:<4}", self.state()), self.style(theme)),
            Span::styled(format!("{:>9}", self.took()), theme.dim),
            Span::styled(format!("  {why:<WHY$}"), theme.dim),
        ]
    }

    /// The sign of success is left out: what is done and no more is what most rows are.
    fn narrow_end(&self, theme: &Theme) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        if self.call.state != State::Done {
            spans.push(Span::styled(format!("  {}", self.state()), self.style(theme)));
        }
        let took = self.took();
        if !took.is_empty() {
            spans.push(Span::styled(format!("  {took}"), theme.dim));
        }
        spans
    }

    fn style(&self, theme: &Theme) -> Style {
        self.call.state.style(theme)
    }

    fn details(&self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        let room = width.saturating_sub(2).max(1);
        let lines = |text: &str, style: Style| {
            let wrapped = wrap(text.trim_end(), room).into_iter();
            wrapped.map(move |line| Line::styled(format!("  {line}"), style)).collect::<Vec<_>>()
        };
        let mut details = lines(&self.call.args, theme.dim);
        details.extend(lines(&self.call.why_sentence(), theme.accent));
        let tail: Vec<_> = self.call.tail.last(usize::MAX).collect();
        let output = if tail.is_empty() { self.call.text.clone() } else { tail.join("\n") };
        if !output.trim().is_empty() {
            details.extend(lines(&output, theme.text));
        }
        details
    }
}
