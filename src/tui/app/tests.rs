//! The screen as a person meets it: press these, hear that, compare whole effects.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;

use super::{App, Seed};
use crate::agent::{AgentEvent, AgentRequest, Approval, Live, Verdict, Waiting};
use crate::config::Mode;
use crate::session::{CallId, Entry, Proposal, Record, TurnEnd, Why};
use crate::tui::draw::draw;
use crate::tui::effect::Effect;
use crate::tui::event::Event;
use crate::tui::theme::{Depth, Theme};

/// A screen of 80×24 with a clock of its own.
struct Desk {
    app: App,
    now: Instant,
}

impl Desk {
    fn new() -> Self {
        let seed = Seed {
            workspace: "~/code/calc".into(),
            model: "scripted/demo".into(),
            is_scripted: true,
            mode: Mode::Ask,
            theme: Theme::built_in("dark", Depth::True).unwrap(),
            past: Vec::new(),
            history: Vec::new(),
            prompt: None,
            suggestion: Some("fix the failing test".into()),
            notices: Vec::new(),
            zone: jiff::tz::TimeZone::UTC,
            window: |_| Some(1_000_000),
            cost: |_, _| None,
        };
        let now = Instant::now();
        let (app, effects) = App::new(seed, now);
        assert_eq!(effects, [Effect::ReadHead, Effect::FindLast]);
        Self { app, now }
    }

    fn working() -> Self {
        let mut desk = Self::new();
        desk.live(Live::Asking { request: 1 });
        desk
    }

    fn happens(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.app.update(event, self.now);
        self.app.prepare(80, 24, self.now);
        effects
    }

    fn passes(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.happens(Event::Elapsed);
    }

    fn press(&mut self, name: &str) -> Vec<Effect> {
        let (modifiers, key) = match name.rsplit_once('+') {
            Some(("Ctrl", key)) => (KeyModifiers::CONTROL, key),
            Some(("Alt", key)) => (KeyModifiers::ALT, key),
            Some(("Shift", key)) => (KeyModifiers::SHIFT, key),
            _ => (KeyModifiers::NONE, name),
        };
        let code = match key {
            "Enter" => KeyCode::Enter,
            "Esc" => KeyCode::Esc,
            "Tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
            "Tab" => KeyCode::Tab,
            "Up" => KeyCode::Up,
            key => KeyCode::Char(key.chars().next().unwrap()),
        };
        self.happens(Event::Key(KeyEvent::new(code, modifiers)))
    }

    /// Types a text, a key every `millis`.
    fn types(&mut self, text: &str, millis: u64) -> Vec<Effect> {
        let mut effects = Vec::new();
        for c in text.chars() {
            self.passes(millis);
            let key = if c == '\r' { "Enter".to_owned() } else { c.to_string() };
            effects.extend(self.press(&key));
        }
        effects
    }

    fn live(&mut self, live: Live) {
        self.happens(Event::Agent(AgentEvent::Live(live)));
    }

    fn recorded(&mut self, record: Record) -> Vec<Effect> {
        self.happens(Event::Agent(AgentEvent::Recorded(Entry { at: 0, record })))
    }

    fn asks(&mut self, call: &str) {
        self.asks_with(call, None);
    }

    fn asks_with(&mut self, call: &str, rule: Option<&str>) {
        self.live(Live::Approval(Approval {
            call: CallId(call.into()),
            calls: vec![run(call, "touch PWNED")],
            reason: "No rule matches.".into(),
            rule: rule.map(str::to_owned),
        }));
    }

    fn draft(&self) -> String {
        self.app.composer.text()
    }
}

fn run(call: &str, line: &str) -> Waiting {
    let proposal = Proposal::Run { line: line.into(), cwd: ".".into(), timeout_s: 120 };
    Waiting { call: CallId(call.into()), tool: "run_command".into(), proposal }
}

fn prompt(text: &str) -> Vec<Effect> {
    vec![Effect::Remember(text.into()), Effect::Send(AgentRequest::Prompt(text.into()))]
}

fn answer(call: &str, verdict: Verdict) -> Vec<Effect> {
    vec![Effect::Send(AgentRequest::Answer { call: CallId(call.into()), verdict })]
}

fn interrupt() -> Vec<Effect> {
    vec![Effect::Send(AgentRequest::Interrupt)]
}

#[test]
fn enter_sends_what_was_typed_once() {
    for text in ["2つ", "1人", "日本語", "y", "/usr/bin is a path"] {
        let mut desk = Desk::new();
        assert_eq!(desk.types(text, 1), []);
        assert_eq!(desk.draft(), text);
        assert_eq!(desk.press("Enter"), prompt(text));
        assert_eq!(desk.press("Enter"), []);
    }
}

#[test]
fn newline_keys_begin_one_line_and_send_nothing() {
    for key in ["Shift+Enter", "Alt+Enter", "Ctrl+j"] {
        let mut desk = Desk::new();
        desk.types("a", 1);
        assert_eq!(desk.press(key), [], "{key}");
        desk.types("b", 1);
        assert_eq!(desk.press("Enter"), prompt("a\nb"), "{key}");
    }
    let mut desk = Desk::new();
    assert_eq!(desk.types("a\\\rb", 1), []);
    assert_eq!(desk.press("Enter"), prompt("a\nb"));
}

#[test]
fn a_paste_sends_nothing_and_keeps_its_lines() {
    let mut desk = Desk::new();
    assert_eq!(desk.happens(Event::Paste("LINE1\nLINE2\r\nLINE3\r".into())), []);
    assert_eq!(desk.press("Enter"), prompt("LINE1\nLINE2\nLINE3\n"));
}

#[test]
fn esc_mid_stream_keeps_the_draft() {
    let mut desk = Desk::working();
    desk.live(Live::TextDelta { text: "The precedence".into() });
    desk.types("and then", 1);
    assert_eq!(desk.press("Esc"), interrupt());
    assert_eq!(desk.draft(), "and then");
}

#[test]
fn ctrl_c_clears_then_stops_then_quits_when_pressed_twice() {
    let mut desk = Desk::working();
    desk.types("draft", 1);
    assert_eq!(desk.press("Ctrl+c"), []);
    assert_eq!(desk.draft(), "");
    assert_eq!(desk.press("Ctrl+c"), interrupt());
    desk.recorded(Record::TurnEnded { end: TurnEnd::Interrupted });
    assert_eq!(desk.press("Ctrl+c"), []);
    desk.passes(2_001);
    assert_eq!(desk.press("Ctrl+c"), []);
    assert_eq!(desk.press("Ctrl+c"), [Effect::Quit]);
}

#[test]
fn a_cleared_draft_comes_back_with_up() {
    let mut desk = Desk::new();
    desk.types("precious", 1);
    desk.press("Ctrl+c");
    desk.press("Up");
    assert_eq!(desk.draft(), "precious");
}

#[test]
fn ctrl_d_quits_only_without_a_draft() {
    let mut desk = Desk::new();
    desk.types("x", 1);
    assert_eq!(desk.press("Ctrl+d"), []);
    desk.press("Ctrl+c");
    assert_eq!(desk.press("Ctrl+d"), [Effect::Quit]);
}

#[test]
fn typing_neither_accepts_nor_rejects_an_approval() {
    let mut desk = Desk::working();
    assert_eq!(desk.types("yes pl", 30), []);
    desk.asks("c1");
    assert_eq!(desk.types("ease 1\r a y ", 30), prompt("yes please 1"));
    assert_eq!(desk.draft(), " a y ");
    desk.passes(5_000);
    assert_eq!(desk.types("y", 0), [], "a draft stands: the key is its text");
    assert_eq!(desk.draft(), " a y y");
}

#[test]
fn an_approval_takes_keys_after_a_quiet_moment() {
    let mut desk = Desk::working();
    desk.asks("c1");
    desk.passes(299);
    assert!(!desk.app.answers());
    desk.passes(1);
    assert_eq!(desk.press("Enter"), [], "bare Enter never accepts");
    assert_eq!(desk.press("y"), answer("c1", Verdict::Accept));
}

#[test]
fn an_approval_that_was_not_drawn_takes_no_key() {
    let mut desk = Desk::working();
    desk.app.prepare(80, 24, desk.now);
    let asked = Live::Approval(Approval {
        call: CallId("c1".into()),
        calls: vec![run("c1", "true")],
        reason: String::new(),
        rule: None,
    });
    desk.app.update(Event::Agent(AgentEvent::Live(asked)), desk.now);
    let later = desk.now + Duration::from_secs(9);
    let key = Event::Key(KeyEvent::from(KeyCode::Char('y')));
    assert_eq!(desk.app.update(key, later), []);
    assert_eq!(desk.draft(), "y");
}

#[test]
fn tab_goes_to_an_approval_past_the_draft() {
    let mut desk = Desk::working();
    desk.types("draft", 1);
    desk.asks("c1");
    desk.press("Tab");
    assert_eq!(desk.types("y", 0), [], "a Tab amid typing goes nowhere");
    desk.passes(400);
    desk.press("Tab");
    assert_eq!(desk.press("y"), answer("c1", Verdict::Accept));
    assert_eq!(desk.draft(), "drafty");
}

#[test]
fn a_word_typed_at_an_approval_is_a_message_and_never_an_answer() {
    let mut desk = Desk::working();
    desk.asks_with("1", Some("run_command(touch PWNED)"));
    desk.passes(2_000);
    assert_eq!(desk.types("okay", 60), []);
    assert_eq!(desk.draft(), "okay");
}

#[test]
fn always_takes_two_keys() {
    let mut desk = Desk::working();
    desk.asks_with("1", Some("run_command(touch PWNED)"));
    desk.passes(2_000);
    assert_eq!(desk.press("a"), []);
    assert_eq!(desk.press("y"), answer("1", Verdict::Always));
}

#[test]
fn a_search_has_the_keys_to_itself_while_an_approval_waits() {
    let mut desk = Desk::working();
    desk.asks_with("1", Some("run_command(touch PWNED)"));
    desk.passes(2_000);
    desk.press("Ctrl+f");
    assert_eq!(desk.types("array", 500), []);
    assert_eq!(desk.press("Esc"), []);
    assert_eq!(desk.press("y"), answer("1", Verdict::Accept));
}

#[test]
fn tab_puts_an_approval_aside_and_takes_it_up_again() {
    let mut desk = Desk::working();
    desk.asks("1");
    desk.passes(2_000);
    desk.press("Tab");
    assert_eq!(desk.press("y"), []);
    assert_eq!(desk.draft(), "y");
    desk.press("Ctrl+c");
    desk.press("Tab");
    desk.passes(400);
    assert_eq!(desk.press("y"), answer("1", Verdict::Accept));
}

#[test]
fn a_queued_message_can_be_taken_back_while_an_approval_is_open() {
    let mut desk = Desk::working();
    desk.live(Live::Queued { text: "wait".into() });
    desk.asks("1");
    desk.passes(2_000);
    assert_eq!(desk.press("Alt+Up"), [Effect::Send(AgentRequest::Unqueue)]);
}

#[test]
fn approvals_queue_and_each_has_its_own_grace() {
    let mut desk = Desk::working();
    desk.asks("c1");
    desk.asks("c2");
    desk.passes(300);
    assert_eq!(desk.press("y"), answer("c1", Verdict::Accept));
    assert_eq!(desk.press("y"), []);
    desk.press("Ctrl+c");
    desk.passes(300);
    assert_eq!(desk.press("y"), answer("c2", Verdict::Accept));
}

#[test]
fn an_approval_settled_elsewhere_closes() {
    let call = CallId("c1".into());
    let decided = Record::Decided { call, allowed: false, why: Why::Person { comment: None } };
    for record in [decided, Record::TurnEnded { end: TurnEnd::Interrupted }] {
        let mut desk = Desk::working();
        desk.asks("c1");
        desk.recorded(record);
        assert!(desk.app.approvals.overlay().is_none());
    }
}

#[test]
fn slash_commands_run_and_unknown_ones_say_so() {
    let mut desk = Desk::new();
    assert_eq!(desk.types("/quit", 1), []);
    assert_eq!(desk.press("Enter"), [Effect::Quit]);
    desk.types("/mode plan", 1);
    assert_eq!(desk.press("Enter"), [Effect::Send(AgentRequest::SetMode(Mode::Plan))]);
    desk.types("/bogus", 1);
    assert_eq!(desk.press("Enter"), []);
    assert_eq!(desk.app.notices, ["There is no command /bogus. Type / to see all of them."]);
    assert_eq!(desk.draft(), "/bogus");
}

#[test]
fn an_at_sign_asks_for_files_once_and_tab_completes() {
    let mut desk = Desk::new();
    assert_eq!(desk.types("see @ca", 1), [Effect::ListFiles]);
    desk.happens(Event::Files(vec!["main.py".into(), "pkg/calculator.py".into()]));
    desk.press("Tab");
    assert_eq!(desk.draft(), "see @pkg/calculator.py ");
}

#[test]
fn a_queued_message_is_shown_and_taken_back() {
    let mut desk = Desk::working();
    desk.live(Live::Queued { text: "also the docs".into() });
    assert_eq!(desk.app.queued, ["also the docs"]);
    assert_eq!(desk.press("Alt+Up"), [Effect::Send(AgentRequest::Unqueue)]);
    desk.live(Live::Unqueued { text: "also the docs".into() });
    assert_eq!((desk.app.queued.len(), desk.draft().as_str()), (0, "also the docs"));
}

#[test]
fn shift_tab_goes_through_the_modes() {
    let mut desk = Desk::new();
    let modes: Vec<Effect> = (0..3).flat_map(|_| desk.press("Shift+Tab")).collect();
    let expected = [Mode::AcceptEdits, Mode::Plan, Mode::Ask];
    assert_eq!(modes, expected.map(|mode| Effect::Send(AgentRequest::SetMode(mode))));
}

#[test]
fn tab_takes_the_suggestion_first() {
    let mut desk = Desk::new();
    desk.press("Tab");
    assert_eq!(desk.press("Enter"), prompt("fix the failing test"));
}

#[test]
fn idleness_sleeps_until_something_happens() {
    let mut desk = Desk::new();
    assert_eq!(desk.app.wake_at(), None);
    desk.live(Live::Asking { request: 1 });
    assert!(desk.app.wake_at().is_some());
    desk.asks("c1");
    desk.passes(300);
    assert_eq!(desk.app.wake_at(), None, "a question that waits moves nothing");
}

#[test]
fn every_size_is_drawn_and_the_cursor_is_at_the_caret() {
    for (width, height) in
        [(1, 1), (2, 2), (7, 3), (20, 6), (59, 14), (60, 15), (80, 24), (300, 100)]
    {
        for is_busy in [false, true] {
            let mut desk = if is_busy { Desk::working() } else { Desk::new() };
            desk.types("你好x@a/", 0);
            desk.app.notices = vec!["A notice that is long. ".repeat(9)];
            if is_busy {
                desk.asks("c1");
            }
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            desk.app.prepare(width, height, desk.now);
            terminal.draw(|frame| draw(frame, &desk.app)).unwrap();
            if (width, height) == (80, 24) {
                terminal.backend_mut().assert_cursor_position(Position { x: 12, y: 21 });
            }
        }
    }
}

#[test]
fn every_overlay_draws_at_every_size_and_closes_with_esc() {
    for open in ["Ctrl+p", "?", "Ctrl+f"] {
        for (width, height) in [(1, 1), (30, 8), (80, 24), (120, 36)] {
            let mut desk = Desk::working();
            desk.press(open);
            desk.types("mo", 0);
            desk.app.prepare(width, height, desk.now);
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, &desk.app)).unwrap();
            assert_eq!(desk.press("Esc"), []);
            assert_eq!(desk.press("Esc"), interrupt());
            assert_eq!(desk.draft(), "");
        }
    }
}
