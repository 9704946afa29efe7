//! One tool call as a fold over its records: what both the conversation and the tool log show of it.

use std::collections::VecDeque;

use ratatui::style::Style;
use serde_json::Value;

use crate::session::{CallId, Proposal, ToolCall, ToolResult, View, Why};
use crate::tui::foreign;
use crate::tui::theme::Theme;
use crate::visible;
use crate::workspace::FileDiff;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The model made it; its turn has not come.
    Waiting,
    /// It was understood and nobody has decided yet.
    Proposed,
    /// It was allowed and acts.
    Running,
    /// It was not allowed.
    Declined,
    Done,
    Failed,
}

impl State {
    /// Returns the sign that stands for it.
    pub fn glyph(self) -> &'static str {
        match self {
            Self::Waiting => "○",
            Self::Proposed => "▸",
            Self::Running => "◐",
            Self::Done => "✓",
            Self::Declined | Self::Failed => "✗",
        }
    }

    /// Returns the colour of its sign.
    pub fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Waiting => theme.dim,
            Self::Proposed => theme.accent,
            Self::Running => theme.running,
            Self::Done => theme.ok,
            Self::Declined | Self::Failed => theme.error,
        }
    }
}

/// A call and everything known about it. Every string in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub id: CallId,
    pub tool: String,
    /// A path, a pattern or a command line.
    pub subject: String,
    /// The arguments as the model wrote them: JSON over several lines.
    pub args: String,
    pub state: State,
    pub why: Option<Why>,
    /// What it would change, then what it changed.
    pub files: Vec<FileDiff>,
    /// What the model was told.
    pub text: String,
    /// How a process ended, in a word or two.
    pub exit: Option<String>,
    pub millis: u64,
    /// The last lines of output while it runs.
    pub tail: Tail,
}

impl Call {
    /// Begins a call as the model made it.
    pub fn new(call: &ToolCall) -> Self {
        let args = serde_json::to_string_pretty(&call.args).unwrap_or_default();
        Self {
            id: call.id.clone(),
            tool: visible::line(&call.name).into_owned(),
            subject: visible::line(likely_subject(&call.args)).into_owned(),
            args: visible::text(&args).into_owned(),
            state: State::Waiting,
            why: None,
            files: Vec::new(),
            text: String::new(),
            exit: None,
            millis: 0,
            tail: Tail::default(),
        }
    }

    /// Takes in what it would do, exactly.
    pub fn propose(&mut self, proposal: &Proposal) {
        self.state = State::Proposed;
        self.subject = visible::line(&proposal.subjects().join(", ")).into_owned();
        if let Proposal::Change { files } = proposal {
            self.files = foreign::diffs(files);
        }
    }

    /// Takes in whether it may act, and why.
    pub fn decide(&mut self, allowed: bool, why: &Why) {
        self.state = if allowed { State::Running } else { State::Declined };
        self.why = Some(foreign::why(why));
    }

    /// Takes in output as it comes.
    pub fn output(&mut self, text: &str) {
        self.tail.push(&visible::text(text));
    }

    /// Takes in its end.
    pub fn finish(&mut self, result: &ToolResult, view: &View, millis: u64) {
        self.state = match (result.ok, self.state) {
            (true, _) => State::Done,
            (false, State::Declined) => State::Declined,
            (false, _) => State::Failed,
        };
        self.text = visible::text(&result.text).into_owned();
        self.millis = millis;
        self.tail = Tail::default();
        match view {
            View::Text => {}
            View::Change { files } => self.files = foreign::diffs(files),
            View::Process { exit, timed_out } => self.exit = Some(exit_words(*exit, *timed_out)),
        }
    }

    /// Returns added and removed lines, over all files, when it changes any.
    pub fn counts(&self) -> Option<(usize, usize)> {
        if self.files.is_empty() {
            return None;
        }
        let sum = |count: fn(&FileDiff) -> usize| self.files.iter().map(count).sum();
        Some((sum(|file| file.added), sum(|file| file.removed)))
    }

    /// Returns in a few words why it did not do what it should have; often nothing.
    pub fn remark(&self) -> String {
        match self.state {
            State::Declined => self.declined(),
            State::Failed if self.exit.is_none() => self.first_line().to_owned(),
            _ => String::new(),
        }
    }

    fn declined(&self) -> String {
        match &self.why {
            Some(Why::Person { comment: Some(comment) }) => format!("declined: {comment}"),
            Some(Why::Person { comment: None }) => "declined".into(),
            Some(Why::Mode { mode }) => format!("not allowed in mode {}", mode.name()),
            Some(Why::Rule { rule }) => format!("denied by rule {rule}"),
            Some(Why::Nobody { .. }) => "nobody to ask".into(),
            Some(Why::RestOfTurn) => "declined with the rest of the turn".into(),
            Some(Why::Reads | Why::Refused) | None => self.first_line().to_owned(),
        }
    }

    fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Returns why it ran or did not, in a word or two.
    pub fn why_words(&self) -> String {
        match &self.why {
            None => String::new(),
            Some(Why::Reads) => "reads".into(),
            Some(Why::Mode { mode }) => format!("mode {}", mode.name()),
            Some(Why::Rule { rule }) => format!("rule {rule}"),
            Some(Why::Person { .. } | Why::RestOfTurn) => "you".into(),
            Some(Why::Nobody { .. }) => "nobody to ask".into(),
            Some(Why::Refused) => "refused".into(),
        }
    }

    /// Returns why it ran or did not, as a sentence.
    pub fn why_sentence(&self) -> String {
        let verb = if self.state == State::Declined { "Not allowed" } else { "Allowed" };
        match &self.why {
            None => "Not decided yet.".into(),
            Some(Why::Reads) => "Allowed because it only reads.".into(),
            Some(Why::Mode { mode }) => format!("{verb} by the mode {}.", mode.name()),
            Some(Why::Rule { rule }) => format!("{verb} by the rule {rule}."),
            Some(Why::Person { comment: None }) => format!("{verb} by you."),
            Some(Why::Person { comment: Some(comment) }) => format!("{verb} by you: {comment}"),
            Some(Why::Nobody { rule }) => {
                format!("Not allowed, as nobody was there to ask; --allow '{rule}' would admit it.")
            }
            Some(Why::RestOfTurn) => format!("{verb} by you, with the rest of the turn."),
            Some(Why::Refused) => "Refused before it could be asked.".into(),
        }
    }
}

fn exit_words(exit: Option<i32>, timed_out: bool) -> String {
    match exit {
        _ if timed_out => "timed out".into(),
        Some(code) => format!("exit {code}"),
        None => "killed".into(),
    }
}

/// Returns the argument that most likely names what the call is about, until its proposal says so.
fn likely_subject(args: &Value) -> &str {
    let named = ["path", "pattern", "command"].iter().find_map(|key| args.get(key)?.as_str());
    named.unwrap_or_default()
}

/// The last lines of a stream of text, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    lines: VecDeque<String>,
    /// Whether the last line is complete.
    ended: bool,
}

impl Tail {
    const LINES: usize = 100;
    /// A line longer than this keeps its head only: nobody reads further while it runs.
    const LINE_BYTES: usize = 2_000;

    fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            if self.ended || self.lines.is_empty() {
                self.lines.push_back(String::new());
            }
            self.ended = piece.ends_with('\n');
            self.extend_last(piece.trim_end_matches('\n'));
        }
        let surplus = self.lines.len().saturating_sub(Self::LINES);
        self.lines.drain(..surplus);
    }

    fn extend_last(&mut self, piece: &str) {
        let Some(last) = self.lines.back_mut() else { return };
        let room = Self::LINE_BYTES.saturating_sub(last.len());
        last.push_str(&piece[..piece.floor_char_boundary(room)]);
    }

    /// Returns the last `count` lines.
    pub fn last(&self, count: usize) -> impl Iterator<Item = &str> {
        self.lines.iter().skip(self.lines.len().saturating_sub(count)).map(String::as_str)
    }
}

/// Writes a duration as people read it: `4 ms`, `1.2 s`, `3 min 5 s`.
pub fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}
