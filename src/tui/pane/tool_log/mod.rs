//! The tool log: a row a call, newest at the bottom; a row unfolds to its arguments, the reason and all output.

mod row;

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use self::row::Row;
use super::view::{Move, Place, Rows, View};
use crate::agent::{AgentEvent, Live};
use crate::session::{CallId, Entry, Record};
use crate::tui::overlay::Reaction;
use crate::tui::theme::Theme;

/// Every call of the session, and where the reader is among them.
#[derive(Debug)]
pub struct ToolLog {
    rows: Vec<Row>,
    calls: HashMap<CallId, usize>,
    zone: TimeZone,
    view: View,
    moves: Vec<Move>,
    in_sight: Vec<Place>,
    selected: Option<usize>,
}

impl Default for ToolLog {
    fn default() -> Self {
        Self::new(TimeZone::system())
    }
}

impl ToolLog {
    /// Makes an empty log that tells the time of a zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            rows: Vec::new(),
            calls: HashMap::new(),
            zone,
            view: View::default(),
            moves: Vec::new(),
            in_sight: Vec::new(),
            selected: None,
        }
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Recorded(entry) => self.record(entry),
            AgentEvent::Live(Live::OutputDelta { call, text }) => {
                self.change(call, |row| row.call.output(text));
            }
            AgentEvent::Live(_) => {}
        }
    }

    fn record(&mut self, Entry { at, record }: &Entry) {
        match record {
            Record::Replied { reply, .. } => {
                for call in reply.calls() {
                    self.calls.insert(call.id.clone(), self.rows.len());
                    self.rows.push(Row::new(call, *at));
                }
            }
            Record::Proposed { call, proposal, .. } => self.change(call, |row| {
                row.at = *at;
                row.call.propose(proposal);
            }),
            Record::Decided { call, allowed, why } => {
                self.change(call, |row| row.call.decide(*allowed, why));
            }
            Record::Finished { result, view, millis } => {
                self.change(&result.id, |row| row.call.finish(result, view, *millis));
            }
            Record::Cleared => *self = Self::new(self.zone.clone()),
            _ => {}
        }
    }

    fn change(&mut self, call: &CallId, how: impl FnOnce(&mut Row)) {
        let Some(row) = self.calls.get(call).and_then(|&index| self.rows.get_mut(index)) else {
            return;
        };
        how(row);
        row.restyle();
    }

    /// Returns whether nothing was called yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes every line anew at the next layout: the colours have changed.
    pub fn restyle(&mut self) {
        self.rows.iter_mut().for_each(Row::restyle);
    }

    /// Scrolls by lines, down is positive.
    pub fn scroll_by(&mut self, lines: i32) {
        self.moves.push(Move::Lines(lines));
    }

    /// Scrolls by pages, down is positive.
    pub fn page(&mut self, pages: i32) {
        self.moves.push(Move::Pages(pages));
    }

    /// Goes to the oldest row.
    pub fn to_start(&mut self) {
        self.selected = (!self.rows.is_empty()).then_some(0);
        self.moves.push(Move::Start);
    }

    /// Goes to the newest row and follows.
    pub fn to_end(&mut self) {
        self.selected = self.rows.len().checked_sub(1);
        self.moves.push(Move::End);
    }

    /// Unfolds or folds the selected row, else the newest; its headline stays in sight.
    pub fn toggle(&mut self) {
        let Some(cell) = self.selected.or(self.rows.len().checked_sub(1)) else { return };
        if let Some(row) = self.rows.get_mut(cell) {
            row.toggle();
            self.moves.push(Move::Reveal(Place { cell, line: 0 }));
        }
    }

    /// Takes a key while the pane has the focus.
    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        if !(key.modifiers - KeyModifiers::SHIFT).is_empty() {
            return Reaction::Ignored;
        }
        match key.code {
            KeyCode::Char('j') | KeyCode::Down => self.select(1),
            KeyCode::Char('k') | KeyCode::Up => self.select(-1),
            KeyCode::Char('g') | KeyCode::Home => self.to_start(),
            KeyCode::Char('G') | KeyCode::End => self.to_end(),
            KeyCode::Enter => self.toggle(),
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    /// Goes a row further; one that is longer than the screen is scrolled through first.
    fn select(&mut self, by: i32) {
        let (Some(first), Some(last)) = (self.in_sight.first(), self.in_sight.last()) else {
            return;
        };
        let (first, last) = (first.cell, last.cell);
        let Some(from) = self.selected.filter(|index| (first..=last).contains(index)) else {
            self.selected = Some(if by > 0 { first } else { last });
            return;
        };
        if !self.is_edge_in_sight(from, by) {
            return self.scroll_by(by);
        }
        let next = from.saturating_add_signed(by as isize).min(self.rows.len() - 1);
        self.selected = Some(next);
        self.moves.push(Move::Reveal(Place { cell: next, line: 0 }));
    }

    fn is_edge_in_sight(&self, cell: usize, by: i32) -> bool {
        let line = if by > 0 { self.rows[cell].height().saturating_sub(1) } else { 0 };
        self.in_sight.contains(&Place { cell, line })
    }

    /// Gets the lines in sight ready to be drawn.
    pub fn layout(&mut self, width: u16, height: u16, theme: &Theme) {
        let screen = usize::from(height);
        let mut sheet = Sheet { rows: &mut self.rows, zone: &self.zone, width, theme };
        for how in self.moves.drain(..) {
            self.view = sheet.moved(self.view, how, screen);
        }
        (self.view, self.in_sight) = sheet.in_sight(self.view, screen);
    }

    /// Draws what the last layout found in sight.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme, focused: bool) {
        for (line_area, place) in area.rows().zip(&self.in_sight) {
            let line = self.rows.get(place.cell).and_then(|row| row.lines().get(place.line));
            line.render(line_area, buf);
            if focused && place.line == 0 && self.selected == Some(place.cell) {
                buf.set_style(line_area, theme.selection);
            }
        }
    }
}

/// The rows at a width and in the colours of the moment.
struct Sheet<'a> {
    rows: &'a mut [Row],
    zone: &'a TimeZone,
    width: u16,
    theme: &'a Theme,
}

impl Rows for Sheet<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn height(&mut self, index: usize) -> usize {
        let row = &mut self.rows[index];
        row.lay_out(self.width, self.zone, self.theme);
        row.height()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Mode;
    use crate::session::{Part, Proposal, Reply, ToolCall, ToolResult, Usage, View as Shown, Why};

    const NOON: i64 = 12 * 3_600_000 + 67_000;

    fn fact(at: i64, record: Record) -> AgentEvent {
        AgentEvent::Recorded(Entry { at, record })
    }

    /// A call from its reply to its end; `end` is absent while it runs.
    fn call(
        id: &str,
        tool: &str,
        proposal: Proposal,
        why: Why,
        end: Option<(bool, Shown, u64)>,
    ) -> Vec<AgentEvent> {
        let (name, call) = (tool.to_owned(), CallId(id.into()));
        let args = json!({"command": "x"});
        let made = ToolCall {
            id: call.clone(),
            wire_id: None,
            name: name.clone(),
            args,
            fault: None,
            opaque: None,
        };
        let reply = Reply { parts: vec![Part::Call(made)], ..Reply::default() };
        let usage = Usage::default();
        let reply = Record::Replied { reply, usage, millis: 1, first_token_millis: None };
        let mut events = vec![
            fact(0, reply),
            fact(NOON, Record::Proposed { call: call.clone(), tool: name.clone(), proposal }),
            fact(NOON, Record::Decided { call: call.clone(), allowed: why != Why::Refused, why }),
        ];
        events.extend(end.map(|(ok, view, millis)| {
            let result = ToolResult { id: call, name, ok, text: "said\tit\u{1b}[m".into() };
            fact(NOON, Record::Finished { result, view, millis })
        }));
        events
    }

    fn log() -> ToolLog {
        let run = |line: &str| Proposal::Run { line: line.into(), cwd: ".".into(), timeout_s: 9 };
        let look = || Proposal::Look { subject: "tests.py".into() };
        let exit = |exit| Shown::Process { exit, timed_out: false };
        let rule = Why::Rule { rule: "run_command(python3 *)".into() };
        let mode = Why::Mode { mode: Mode::AcceptEdits };
        let you = Why::Person { comment: None };
        let mut log = ToolLog::new(TimeZone::UTC);
        for event in [
            call("1", "read_file", look(), Why::Reads, Some((true, Shown::Text, 4))),
            call("2", "run_command", run("python3 a"), rule, Some((false, exit(Some(1)), 212))),
            call("3", "edit_file", Proposal::Change { files: vec![] }, mode, None),
            call("4", "run_command", run("sleep 9"), you, Some((false, exit(None), 61_000))),
            call("5", "read_file", look(), Why::Refused, Some((false, Shown::Text, 0))),
        ]
        .concat()
        {
            log.apply(&event);
        }
        log
    }

    fn shown(log: &mut ToolLog, width: u16, height: u16) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::default();
        log.layout(width, height, &theme);
        log.draw(&mut buffer, area, &theme, true);
        let row = |row: Rect| row.positions().map(|at| buffer[at].symbol()).collect::<String>();
        area.rows().map(|area| row(area).trim_end().to_owned()).collect()
    }

    #[test]
    fn a_wide_log_says_all_in_columns() {
        assert_eq!(
            shown(&mut log(), 80, 5),
            [
                "12:01:07 read_file    tests.py               ✓        4 ms  reads",
                "12:01:07 run_command  python3 a              ✗1     212 ms  rule run_command(py…",
                "12:01:07 edit_file                           ◐              mode accept-edits",
                "12:01:07 run_command  sleep 9                ✗   1 min 1 s  you",
                "12:01:07 read_file    tests.py               ✗              refused",
            ]
        );
    }

    #[test]
    fn a_narrow_log_drops_what_can_be_unfolded() {
        assert_eq!(
            shown(&mut log(), 37, 5),
            [
                "12:01 read_file  tests.py        4 ms",
                "12:01 run_command  pytho…  ✗1  212 ms",
                "12:01 edit_file                     ◐",
                "12:01 run_command  sle…  ✗  1 min 1 s",
                "12:01 read_file  tests.py           ✗",
            ]
        );
    }

    #[test]
    fn enter_unfolds_arguments_reason_and_output() {
        let mut log = log();
        shown(&mut log, 80, 5);
        log.to_start();
        log.key(KeyCode::Enter.into());
        assert_eq!(
            shown(&mut log, 80, 7)[1..],
            [
                "  {",
                "    \"command\": \"x\"",
                "  }",
                "  Allowed because it only reads.",
                "  said    it^[[m",
                "12:01:07 run_command  python3 a              ✗1     212 ms  rule run_command(py…",
            ]
        );
    }

    #[test]
    fn keys_move_the_selection_and_keep_it_in_sight() {
        let mut log = log();
        shown(&mut log, 37, 2);
        for (key, selected) in
            [('k', 4), ('k', 3), ('k', 2), ('j', 3), ('g', 0), ('k', 0), ('j', 1), ('G', 4)]
        {
            assert_eq!(log.key(KeyCode::Char(key).into()), Reaction::Taken);
            shown(&mut log, 37, 2);
            assert_eq!(log.selected, Some(selected), "{key}");
            assert!(log.in_sight.iter().any(|place| place.cell == selected), "{key}");
        }
        assert_eq!(log.key(KeyCode::Char('x').into()), Reaction::Ignored);
    }

    #[test]
    fn any_size_can_be_drawn() {
        for width in [0, 1, 5, 20, 37, 59, 60, 300] {
            for height in [0, 1, 50] {
                shown(&mut log(), width, height);
            }
        }
    }
}
