//! The strip of phases: who works, how long already, at what cost. One role for now: the Pair.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::agent::{AgentEvent, Live};
use crate::session::{Record, TurnEnd};
use crate::tui::theme::Theme;

/// How the last turn ended, or that one runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Working {
        since: Instant,
    },
    Done {
        took: Duration,
    },
    Failed {
        took: Duration,
    },
}

/// The state of the one phase there is.
#[derive(Debug, Default)]
pub struct Phases {
    state: State,
}

impl Phases {
    /// Marks the turn as begun, before the agent says so.
    pub fn begin(&mut self, now: Instant) {
        if !self.is_working() {
            self.state = State::Working { since: now };
        }
    }

    /// Marks the turn as over for good: the agent is gone.
    pub fn fail(&mut self, now: Instant) {
        self.state = State::Failed { took: self.elapsed(now) };
    }

    /// Returns whether a turn runs.
    pub fn is_working(&self) -> bool {
        matches!(self.state, State::Working { .. })
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: &AgentEvent, now: Instant) {
        match event {
            AgentEvent::Live(Live::Asking { .. }) => self.begin(now),
            AgentEvent::Live(Live::Idle) if self.is_working() => {
                self.state = State::Done { took: self.elapsed(now) };
            }
            AgentEvent::Recorded(entry) => self.record(&entry.record, now),
            AgentEvent::Live(_) => {}
        }
    }

    fn record(&mut self, record: &Record, now: Instant) {
        let took = self.elapsed(now);
        match record {
            Record::TurnEnded { end: TurnEnd::Done } => self.state = State::Done { took },
            Record::TurnEnded { .. } => self.state = State::Failed { took },
            Record::Cleared => self.state = State::Waiting,
            _ => {}
        }
    }

    fn elapsed(&self, now: Instant) -> Duration {
        match self.state {
            State::Waiting => Duration::ZERO,
            State::Working { since } => now.saturating_duration_since(since),
            State::Done { took } | State::Failed { took } => took,
        }
    }

    /// Draws the strip as it is at `now`.
    pub fn draw(
        &self,
        frame: &mut Frame,
        area: Rect,
        theme: &Theme,
        now: Instant,
        cost: Option<f64>,
    ) {
        let (mark, style) = match self.state {
            State::Waiting => ("○", theme.dim),
            State::Working { .. } => (spinner(self.elapsed(now)), theme.running),
            State::Done { .. } => ("●", theme.ok),
            State::Failed { .. } => ("✗", theme.error),
        };
        let mut spans =
            vec![Span::raw(" "), Span::styled(mark, style), Span::styled(" Pair", theme.text)];
        if self.state != State::Waiting {
            spans.push(Span::styled(format!(" {}", seconds(self.elapsed(now))), theme.dim));
        }
        if let Some(cost) = cost {
            spans.push(Span::styled(format!(" ${cost:.3}"), theme.dim));
        }
        frame.render_widget(Line::from(spans), area);
    }
}

/// Quarter turns of the same circle that marks a phase.
fn spinner(elapsed: Duration) -> &'static str {
    let frames = ["◐", "◓", "◑", "◒"];
    frames[usize::try_from(elapsed.as_millis() / 200 % 4).unwrap_or(0)]
}

fn seconds(elapsed: Duration) -> String {
    let whole = elapsed.as_secs();
    match whole {
        0..10 => format!("{:.1}s", elapsed.as_secs_f64()),
        10..60 => format!("{whole}s"),
        _ => format!("{}m{:02}s", whole / 60, whole % 60),
    }
}
