//! The conversation from events to text on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::*;
use crate::agent::Live;
use crate::session::{
    CallId, Entry as Recorded, Failure, Level, Part, Proposal, Record, Reply, ToolCall, ToolResult,
    TurnEnd, Usage, View as Shown, Why,
};
use crate::workspace::{FileDiff, FileKind, Hunk, Line as DiffLine, LineKind};

fn fact(record: Record) -> AgentEvent {
    AgentEvent::Recorded(Recorded { at: 0, record })
}

fn prompt(text: &str) -> AgentEvent {
    fact(Record::Prompted { text: text.into() })
}

fn delta(text: &str) -> AgentEvent {
    AgentEvent::Live(Live::TextDelta { text: text.into() })
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into(), opaque: None }
}

fn thinking(text: &str) -> Part {
    Part::Thinking { text: text.into(), opaque: None }
}

fn called(id: &str, name: &str, args: serde_json::Value) -> Part {
    Part::Call(ToolCall {
        id: CallId(id.into()),
        wire_id: None,
        name: name.into(),
        args,
        fault: None,
        opaque: None,
    })
}

fn replied(parts: Vec<Part>) -> AgentEvent {
    let reply = Reply { parts, ..Reply::default() };
    let usage = Usage { thinking: 312, ..Usage::default() };
    fact(Record::Replied { reply, usage, millis: 900, first_token_millis: None })
}

fn proposed(id: &str, tool: &str, proposal: Proposal) -> AgentEvent {
    fact(Record::Proposed { call: CallId(id.into()), tool: tool.into(), proposal })
}

fn decided(id: &str, allowed: bool, why: Why) -> AgentEvent {
    fact(Record::Decided { call: CallId(id.into()), allowed, why })
}

fn finished(id: &str, ok: bool, text: &str, view: Shown, millis: u64) -> AgentEvent {
    let (id, name, text) = (CallId(id.into()), String::new(), text.into());
    fact(Record::Finished { result: ToolResult { id, name, ok, text }, view, millis })
}

fn edit() -> FileDiff {
    let line = |kind, text: &str| DiffLine { kind, text: text.into(), ending: Default::default() };
    let lines = vec![
        line(LineKind::Context, "def f():"),
        line(LineKind::Removed, "\treturn 1"),
        line(LineKind::Added, "\treturn 2"),
    ];
    let hunks = vec![Hunk { old_start: 9, new_start: 9, lines }];
    FileDiff::new("pkg/calculator.py", FileKind::Modified, hunks)
}

/// A turn with everything in it: a thought, texts, calls that run, fail and are declined.
fn turn() -> Vec<AgentEvent> {
    let run = |line: &str| Proposal::Run { line: line.into(), cwd: ".".into(), timeout_s: 120 };
    let change = || Proposal::Change { files: vec![edit()] };
    let exit = |exit| Shown::Process { exit: Some(exit), timed_out: false };
    vec![
        prompt("fix the failing test"),
        replied(vec![
            thinking("Let me see.\nThe tests first."),
            text("I look at the tests."),
            called("1", "read_file", json!({"path": "tests.py"})),
            called("2", "run_command", json!({"command": "python3 tests.py"})),
            called("3", "edit_file", json!({"path": "pkg/calculator.py"})),
        ]),
        proposed("1", "read_file", Proposal::Look { subject: "tests.py".into() }),
        decided("1", true, Why::Reads),
        finished("1", true, "1\timport unittest", Shown::Text, 4),
        proposed("2", "run_command", run("python3 tests.py")),
        decided("2", true, Why::Rule { rule: "run_command(python3 *)".into() }),
        finished("2", false, "FAILED (failures=1)", exit(1), 1_200),
        proposed("3", "edit_file", change()),
        decided("3", false, Why::Person { comment: Some("use a table".into()) }),
        finished("3", false, "The person declined: use a table", Shown::Text, 0),
        replied(vec![
            text("Then with a table."),
            called("4", "edit_file", json!({})),
            called("5", "run_command", json!({"command": "python3 tests.py"})),
        ]),
        proposed("4", "edit_file", change()),
        decided("4", true, Why::Person { comment: None }),
        finished("4", true, "Edited.", Shown::Change { files: vec![edit()] }, 2),
        proposed("5", "run_command", run("python3 tests.py")),
    ]
}

fn conversation(events: &[AgentEvent]) -> Conversation {
    let mut conversation = Conversation::default();
    events.iter().for_each(|event| conversation.apply(event));
    conversation
}

fn shown(conversation: &mut Conversation, width: u16, height: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let theme = Theme::default();
    conversation.layout(width, height, &theme, &mut Highlighter::default());
    conversation.draw(&mut buffer, area, &theme, true);
    let row = |row: Rect| row.positions().map(|at| buffer[at].symbol()).collect::<String>();
    area.rows().map(|area| row(area).trim_end().to_owned()).collect()
}

fn screen(conversation: &mut Conversation, width: u16, height: u16) -> String {
    shown(conversation, width, height).join("\n").trim_end().to_owned()
}

#[test]
fn a_turn_reads_like_a_story() {
    let mut conversation = conversation(&turn());
    let story = "\
you  fix the failing test
     thought for 312 tokens · Ctrl+O
♣    I look at the tests.
     ✓ read_file tests.py
     ✗ run_command python3 tests.py  exit 1  1.2 s
     ✗ edit_file pkg/calculator.py  declined: use a table  +1 −1

♣    Then with a table.
     ✓ edit_file pkg/calculator.py  +1 −1
     ▸ run_command python3 tests.py";
    assert_eq!(screen(&mut conversation, 80, 20), story);
    assert_eq!(screen(&mut conversation, 120, 20), story);
    let narrow = "\
› fix the failing test
  thought for 312 tokens · Ctrl+O
♣ I look at the tests.
  ✓ read_file tests.py
  ✗ run_command python…  exit 1  1.2 s
  ✗ edit_file pkg/calculator.py  +1 −1

♣ Then with a table.
  ✓ edit_file pkg/calculator.py  +1 −1
  ▸ run_command python3 tests.py";
    assert_eq!(screen(&mut conversation, 38, 20), narrow);
}

#[test]
fn a_live_session_and_a_resumed_one_show_the_same_lines() {
    let live = |live| AgentEvent::Live(live);
    let mut events = turn();
    events.splice(
        1..1,
        [
            live(Live::Asking { request: 1 }),
            delta("void"),
            live(Live::Retrying { attempt: 1, wait_ms: 1_500, reason: "It was cut.".into() }),
            live(Live::ThinkingDelta { text: "Let me see.\nThe ".into() }),
            live(Live::ThinkingDelta { text: "tests first.".into() }),
            delta("I look "),
            delta("at the tests."),
            live(Live::Calling { tool: "read_file".into() }),
        ],
    );
    let records: Vec<_> =
        events.iter().filter(|event| matches!(event, AgentEvent::Recorded(_))).cloned().collect();
    let lines = screen(&mut conversation(&events), 80, 24);
    assert_eq!(lines, screen(&mut conversation(&records), 80, 24));
}

#[test]
fn a_retry_voids_the_text_and_says_so() {
    let retry = Live::Retrying { attempt: 2, wait_ms: 1_500, reason: "The stream was cut.".into() };
    let mut conversation =
        conversation(&[prompt("hi"), delta("half a"), AgentEvent::Live(retry), delta("Again")]);
    assert_eq!(
        screen(&mut conversation, 80, 10),
        "you  hi\n     ! The stream was cut. Asking again in 2 s (attempt 2).\n♣    Again"
    );
}

#[test]
fn a_turn_that_ends_early_says_how() {
    for (end, line) in [
        (TurnEnd::Done, ""),
        (TurnEnd::Interrupted, "\n     ■ stopped"),
        (TurnEnd::Stopped, "\n     ■ rejected and stopped"),
        (
            TurnEnd::Limit { requests: 60 },
            "\n     ■ limit reached: 60 model requests in one turn; send a message to go on",
        ),
        (
            TurnEnd::Failed { kind: Failure::Auth, message: "Set GEMINI_API_KEY.".into() },
            "\n\n     ▌ Set GEMINI_API_KEY.",
        ),
    ] {
        let mut conversation = conversation(&[prompt("hi"), fact(Record::TurnEnded { end })]);
        assert_eq!(screen(&mut conversation, 80, 8), format!("you  hi{line}"));
    }
}

#[test]
fn a_running_command_shows_its_last_five_lines() {
    let mut events = turn();
    events.push(decided("5", true, Why::Person { comment: None }));
    let output = "one\ntwo\nthree\nfour\nfive\nsix\u{1b}[2K";
    events.push(AgentEvent::Live(Live::OutputDelta {
        call: CallId("5".into()),
        text: output.into(),
    }));
    let lines = shown(&mut conversation(&events), 80, 15);
    assert_eq!(
        lines[9..],
        [
            "     ◐ run_command python3 tests.py",
            "       two",
            "       three",
            "       four",
            "       five",
            "       six^[[2K"
        ]
    );
}

#[test]
fn enter_unfolds_what_is_selected() {
    let mut conversation = conversation(&turn());
    shown(&mut conversation, 80, 24);
    let press = |code| KeyEvent::new(code, KeyModifiers::NONE);
    conversation.key(press(KeyCode::Down));
    conversation.key(press(KeyCode::Enter));
    assert_eq!(
        shown(&mut conversation, 80, 24)[1..5],
        [
            "     thought for 312 tokens · Ctrl+O",
            "       Let me see.",
            "       The tests first.",
            "♣    I look at the tests."
        ]
    );
    conversation.key(press(KeyCode::Enter));
    assert_eq!(shown(&mut conversation, 80, 24)[2], "♣    I look at the tests.");
}

#[test]
fn what_nobody_sees_is_shown_and_tabs_take_room() {
    let mut conversation = conversation(&[
        prompt("a\tb\u{202e}c"),
        fact(Record::Noticed { level: Level::Warning, text: "x\u{1b}[31m".into() }),
        replied(vec![called("1", "run_command", json!({"command": "ls\u{200b}-la\rrm"}))]),
    ]);
    let screen = screen(&mut conversation, 80, 10);
    assert!(screen.contains("<U+202E>c") && screen.contains("ls<U+200B>-la^Mrm"), "{screen}");
    assert!(screen.contains("x^[[31m") && !screen.contains("ab"), "{screen}");
}

fn long() -> Conversation {
    let mut conversation = Conversation::default();
    for number in 0..100 {
        conversation.apply(&prompt(&format!("question {number}")));
        conversation.apply(&replied(vec![text(&format!("answer {number}"))]));
    }
    conversation
}

#[test]
fn the_top_line_stays_while_text_streams_and_results_arrive() {
    let mut conversation = long();
    shown(&mut conversation, 80, 10);
    conversation.page(-3);
    let top = shown(&mut conversation, 80, 10);
    for number in 0..50 {
        conversation.apply(&delta(&format!("token {number}\n")));
        let lines = shown(&mut conversation, 80, 10);
        assert_eq!(lines[..9], top[..9]);
        assert!(lines[9].ends_with("↓ new output · End"), "{lines:?}");
    }
    turn().iter().for_each(|event| conversation.apply(event));
    assert_eq!(shown(&mut conversation, 80, 10)[..9], top[..9]);
    conversation.to_end();
    let end = shown(&mut conversation, 80, 10);
    assert_eq!(end[9], "     ▸ run_command python3 tests.py");
    conversation.apply(&prompt("more"));
    assert_eq!(shown(&mut conversation, 80, 10)[9], "you  more");
}

#[test]
fn the_same_message_stays_in_sight_when_the_size_changes() {
    let mut conversation = long();
    shown(&mut conversation, 80, 10);
    conversation.page(-3);
    let top = shown(&mut conversation, 80, 10)[0].clone();
    for (width, height) in [(120, 30), (60, 5), (41, 12), (80, 10)] {
        assert_eq!(shown(&mut conversation, width, height)[0], top, "{width}×{height}");
    }
}

#[test]
fn any_size_can_be_drawn() {
    let mut conversation = conversation(&turn());
    for width in [0, 1, 2, 5, 6, 39, 40, 300] {
        for height in [0, 1, 2, 100] {
            shown(&mut conversation, width, height);
            conversation.scroll_by(-1);
        }
    }
}

#[test]
fn only_what_is_in_sight_is_laid_out() {
    let mut conversation = Conversation::default();
    for number in 0..5_000 {
        conversation.apply(&prompt(&format!("question {number}")));
    }
    shown(&mut conversation, 80, 40);
    conversation.page(-2);
    conversation.apply(&delta("a token"));
    shown(&mut conversation, 80, 40);
    let cells = (0..5_000).filter_map(|index| conversation.transcript.get(index));
    let laid_out = cells.filter(|cell| cell.is_laid_out_otherwise(0)).count();
    assert!(laid_out < 200, "{laid_out} cells were laid out");
}

#[test]
fn what_is_unfolded_keeps_its_headline_in_sight() {
    let mut events = turn();
    let long = (0..100).map(|number| format!("line {number}\n")).collect::<String>();
    events.push(decided("5", true, Why::Person { comment: None }));
    let exit = Shown::Process { exit: Some(0), timed_out: false };
    events.push(finished("5", true, &long, exit, 9));
    let mut conversation = conversation(&events);
    shown(&mut conversation, 80, 10);
    conversation.toggle();
    let lines = shown(&mut conversation, 80, 10);
    let headline = "     ✓ run_command python3 tests.py  exit 0";
    let at = lines.iter().position(|line| line == headline).unwrap();
    assert_eq!(lines[at + 1], "       line 0");
}

#[test]
fn search_goes_through_the_matches_and_unfolds_them() {
    let mut conversation = long();
    turn().iter().for_each(|event| conversation.apply(event));
    shown(&mut conversation, 80, 10);
    conversation.find("QUESTION");
    assert_eq!(conversation.matches(), (0, 0));
    conversation.find("question 4");
    assert_eq!(conversation.matches(), (11, 11));
    conversation.find_next();
    assert_eq!(conversation.matches(), (1, 11));
    let lines = shown(&mut conversation, 80, 10);
    assert!(lines.contains(&"you  question 4".to_owned()), "{lines:?}");
    conversation.find("failures=1");
    let lines = shown(&mut conversation, 80, 10);
    assert!(lines.contains(&"       FAILED (failures=1)".to_owned()), "{lines:?}");
    conversation.apply(&prompt("failures=1"));
    shown(&mut conversation, 80, 10);
    assert_eq!(conversation.matches(), (1, 2));
}

#[test]
fn clearing_starts_anew() {
    let mut conversation = long();
    conversation.page(-3);
    shown(&mut conversation, 80, 10);
    conversation.apply(&fact(Record::Cleared));
    assert!(conversation.is_empty());
    conversation.apply(&prompt("hello"));
    assert_eq!(screen(&mut conversation, 80, 10), "you  hello");
}
