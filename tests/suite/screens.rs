//! What the screen looks like, text and colours, at the sizes and in the moments that people meet.
//! `cargo run --example contact_sheet` puts all of it on one page for the eye.

use serde_json::json;
use trefoil::agent::Live;
use trefoil::session::{Failure, Proposal, Record, TurnEnd, View, Why};
use trefoil::tui::event::Event;
use trefoil::tui::theme::{Depth, Theme};
use trefoil::workspace::FileDiff;

use crate::support::screen::{Screen, call, run, said, thought};

const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (120, 36);

/// Compares the screen with its picture.
fn seen(name: &str, screen: &mut Screen) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, screen.picture()));
}

const BEFORE: &str = r#"class Calculator:
    """Evaluates infix expressions."""

    def __init__(self):
        self.operators = {"+": add, "-": sub, "*": mul, "/": div}
        self.precedence = {"+": 2, "-": 1, "*": 3, "/": 2}

    def evaluate(self, expression):
        if not expression.strip():
            return None
        tokens = expression.strip().split()
        return self.reduce(tokens)
"#;

fn change() -> Proposal {
    let after = BEFORE
        .replace(r#"{"+": 2, "-": 1, "*": 3, "/": 2}"#, r#"{"+": 1, "-": 1, "*": 2, "/": 2}"#)
        .replace("return None", "raise ValueError(\"nothing to evaluate\")");
    let render = "def render(result):\n    return str(result)\n";
    let files = vec![
        FileDiff::between("pkg/calculator.py", Some(BEFORE.as_bytes()), Some(after.as_bytes())),
        FileDiff::between("pkg/render.py", None, Some(render.as_bytes())),
    ];
    Proposal::Change { files }
}

/// A reply with every kind of block, in the middle of a fence.
const REPLY: &str = "\
## What is wrong

One of nine fails: `test_complex_expression` expects **7** and gets *-3.0*. The table ranks `+` above \
`-`, so that `8 - 6 + 5` is read as `8 - (6 + 5)`:

| operator | now | should be |
|----------|----:|----------:|
| `+`      |   2 |         1 |
| `*`      |   3 |         2 |

1. Rank operators of one kind the same.
2. Run the tests:
   - all nine, not only the one that failed.

```python
def __init__(self):
    # one rank for + and -, one for * and /
    self.precedence = {\"+\": 1, \"-\": 1";

fn streaming(size: (u16, u16), theme: &str) -> Screen {
    let mut screen = Screen::open(size, theme);
    screen.prompted("fix the failing test");
    for piece in REPLY.split_inclusive(' ') {
        screen.live(Live::TextDelta { text: piece.into() });
    }
    screen.passes(600);
    screen
}

/// A turn with calls in every state.
fn calls(size: (u16, u16), theme: &str) -> Screen {
    let mut screen = Screen::open(size, theme);
    screen.prompted("fix the failing test");
    screen.replied(vec![
        thought("I should see it fail before I look for the cause."),
        said("I'll look at the tests, then run them."),
        call("1", "read_file", json!({ "path": "tests.py" })),
        call("2", "run_command", json!({ "command": "python3 tests.py -v" })),
        call("3", "read_file", json!({ "path": "../secrets.txt" })),
        call("4", "edit_file", json!({ "path": "pkg/calculator.py" })),
        call("5", "run_command", json!({ "command": "python3 -m unittest discover" })),
        call("6", "git_diff", json!({})),
    ]);
    screen.proposed("1", "read_file", Proposal::Look { subject: "tests.py".into() });
    screen.decided("1", true, Why::Reads);
    screen.finished("1", true, "1\timport unittest", View::Text, 4);
    screen.proposed("2", "run_command", run("python3 tests.py -v"));
    screen.decided("2", true, Why::Rule { rule: "run_command(python3 *)".into() });
    let failed = View::Process { exit: Some(1), timed_out: false };
    screen.finished(
        "2",
        false,
        "FAIL: test_complex_expression\nFAILED (failures=1)",
        failed,
        1_212,
    );
    screen.decided("3", false, Why::Refused);
    let outside = "../secrets.txt is outside the workspace.";
    screen.finished("3", false, outside, View::Text, 0);
    screen.proposed("4", "edit_file", change());
    screen.decided("4", false, Why::Person { comment: Some("name the ranks first".into()) });
    screen.finished("4", false, "The person declined.", View::Text, 0);
    screen.proposed("5", "run_command", run("python3 -m unittest discover"));
    screen.decided("5", true, Why::Person { comment: None });
    let output = "test_addition ... ok\ntest_subtraction ... ok\n";
    screen.live(Live::OutputDelta {
        call: trefoil::session::CallId("5".into()),
        text: output.into(),
    });
    screen.passes(800);
    screen
}

fn reviewing(size: (u16, u16), theme: Theme) -> Screen {
    let mut screen = Screen::with(size, theme);
    screen.prompted("fix the failing test");
    screen.replied(vec![
        said("The table ranks `+` above `-`. One line is enough:"),
        call("asked", "edit_file", json!({ "path": "pkg/calculator.py" })),
    ]);
    screen.asked("edit_file", change(), Some("edit_file(pkg/calculator.py)"));
    screen
}

fn true_colour(name: &str) -> Theme {
    Theme::built_in(name, Depth::True).unwrap()
}

#[test]
fn nothing_begun() {
    seen("idle_80x24_dark", &mut Screen::open(SMALL, "dark"));
    seen("idle_120x36_light", &mut Screen::open(LARGE, "light"));
    let mut again = Screen::open(SMALL, "dark");
    again.press(&["Tab", "Ctrl+c"]);
    again.happens(Event::Last("why does \u{1b}[2J the build warn?".into()));
    seen("idle_again_80x24_dark", &mut again);
}

#[test]
fn a_draft_of_several_lines_with_wide_letters() {
    let mut screen = Screen::open(SMALL, "dark");
    screen.happens(Event::Paste("why is\n\tself.precedence wrong?\n你好，世界 👩‍👩‍👧 é".into()));
    seen("draft_80x24_dark", &mut screen);
}

#[test]
fn a_reply_while_it_streams() {
    seen("streaming_80x24_dark", &mut streaming(SMALL, "dark"));
    seen("streaming_120x36_dark", &mut streaming(LARGE, "dark"));
    seen("streaming_120x36_light", &mut streaming(LARGE, "light"));
}

#[test]
fn a_reader_who_scrolled_up_is_told_of_what_came() {
    let mut screen = streaming(SMALL, "dark");
    screen.press(&["PgUp"]);
    screen.live(Live::TextDelta { text: ", \"*\": 2}\n```\nMore.".into() });
    seen("scrolled_80x24_dark", &mut screen);
}

#[test]
fn calls_that_run_fail_and_are_refused() {
    seen("calls_120x36_dark", &mut calls(LARGE, "dark"));
    seen("calls_120x36_light", &mut calls(LARGE, "light"));
    seen("calls_80x24_dark", &mut calls(SMALL, "dark"));
}

#[test]
fn the_tool_log_on_its_own_with_a_call_unfolded() {
    let mut screen = calls(SMALL, "dark");
    screen.press(&["Tab", "Tab", "Up", "Up", "Up", "Up", "Enter"]);
    seen("tools_80x24_dark", &mut screen);
}

#[test]
fn a_change_to_approve() {
    seen("review_80x24_dark", &mut reviewing(SMALL, true_colour("dark")));
    seen("review_80x24_light", &mut reviewing(SMALL, true_colour("light")));
    let mut split = reviewing(LARGE, true_colour("dark"));
    seen("review_120x36_dark", &mut split);
    split.press(&["v"]);
    seen("review_split_120x36_dark", &mut split);
    let mut split = reviewing(LARGE, true_colour("light"));
    split.press(&["v"]);
    seen("review_split_120x36_light", &mut split);
}

/// Three hunks: one accepted, one edited and remarked upon, one rejected with the reason; and a file that moves.
fn deciding(size: (u16, u16), theme: &str) -> Screen {
    let mut screen = Screen::with(size, true_colour(theme));
    screen.prompted("tidy the report");
    screen.replied(vec![call("asked", "apply_patch", json!({ "patch": "…" }))]);
    let before: String = (1..=30).map(|n| format!("line {n:02} of the report\n")).collect();
    let after = before
        .replace("line 02 of", "row 02 of")
        .replace("line 15 of the report\n", "")
        .replace("line 28 of the report\n", "line 28 of the report \n");
    let moved = FileDiff {
        from: Some("draft.md".into()),
        ..FileDiff::between("final.md", Some(b"a\r\nb\n"), Some(b"a\nb"))
    };
    let files = vec![
        FileDiff::between("report.txt", Some(before.as_bytes()), Some(after.as_bytes())),
        moved,
    ];
    screen.asked("apply_patch", Proposal::Change { files }, None);
    screen.press(&["y", "e", "Down", "Down", "Down", "End"]);
    screen.types(", edited");
    screen.press(&["Ctrl+s", "Down", "c"]);
    screen.types("keep the year");
    screen.press(&["Enter", "]", "n"]);
    screen.types("no blanks at the end");
    screen.press(&["Enter", "{"]);
    screen
}

#[test]
fn hunks_accepted_edited_and_rejected() {
    let mut small = deciding(SMALL, "dark");
    small.press(&["]"]);
    seen("review_decided_80x24_dark", &mut small);
    small.press(&["v", "]"]);
    seen("review_decided_split_80x24_dark", &mut small);
    let mut large = deciding(LARGE, "light");
    seen("review_decided_120x36_light", &mut large);
    large.press(&["v"]);
    seen("review_decided_split_120x36_light", &mut large);
    large.press(&["}"]);
    seen("review_moved_split_120x36_light", &mut large);
}

#[test]
fn a_hunk_being_edited_and_the_list_of_keys() {
    let mut screen = reviewing(SMALL, true_colour("dark"));
    screen.press(&["e"]);
    seen("review_edit_80x24_dark", &mut screen);
    screen.press(&["Esc", "?"]);
    seen("review_keys_80x24_dark", &mut screen);
}

#[test]
fn a_change_to_approve_with_few_colours_or_none() {
    let theme = |depth| Theme::built_in("dark", depth).unwrap();
    seen("review_80x24_16_colours", &mut reviewing(SMALL, theme(Depth::Ansi16)));
    seen("review_80x24_no_colour", &mut reviewing(SMALL, theme(Depth::None)));
}

#[test]
fn a_change_being_declined_with_a_comment() {
    let mut screen = reviewing(SMALL, true_colour("dark"));
    screen.press(&["n"]);
    screen.types("name the ranks first");
    seen("review_comment_80x24_dark", &mut screen);
}

fn command(size: (u16, u16), theme: &str) -> Screen {
    let mut screen = Screen::open(size, theme);
    screen.prompted("fix the failing test");
    screen.replied(vec![
        said("I'll run the tests to see which one fails, and how."),
        call("asked", "run_command", json!({ "command": "python3 tests.py -v" })),
    ]);
    screen.asked(
        "run_command",
        run("python3 tests.py -v"),
        Some("run_command(python3 tests.py -v)"),
    );
    screen
}

#[test]
fn a_command_to_approve() {
    seen("command_80x24_dark", &mut command(SMALL, "dark"));
    seen("command_120x36_light", &mut command(LARGE, "light"));
}

#[test]
fn an_approval_behind_a_draft() {
    let mut screen = command(SMALL, "dark");
    screen.press(&["n", "Ctrl+c"]);
    let mut screen = Screen::open(SMALL, "dark");
    screen.prompted("fix the failing test");
    screen.types("and then the docs");
    screen.asked("run_command", run("python3 tests.py -v"), None);
    seen("command_behind_draft_80x24_dark", &mut screen);
}

#[test]
fn what_opens_over_the_screen() {
    let mut screen = streaming(SMALL, "dark");
    screen.press(&["?"]);
    seen("help_80x24_dark", &mut screen);
    let mut screen = streaming(LARGE, "light");
    screen.press(&["?"]);
    seen("help_120x36_light", &mut screen);
    let mut screen = streaming(SMALL, "dark");
    screen.press(&["Ctrl+p"]);
    screen.types("mo");
    seen("palette_80x24_dark", &mut screen);
}

#[test]
fn completion_of_commands_and_files() {
    let mut screen = Screen::open(SMALL, "dark");
    screen.types("/");
    seen("slash_80x24_dark", &mut screen);
    let mut screen = streaming(SMALL, "dark");
    screen.types("see @c");
    let files = ["main.py", "pkg/calculator.py", "pkg/morelorem.txt", "tests.py"];
    screen.happens(Event::Files(files.map(str::to_owned).to_vec()));
    seen("files_80x24_dark", &mut screen);
}

#[test]
fn a_search_in_the_conversation() {
    let mut screen = streaming(SMALL, "dark");
    screen.press(&["Ctrl+f"]);
    screen.types("rank");
    seen("search_80x24_dark", &mut screen);
}

#[test]
fn a_turn_that_failed() {
    let mut screen = Screen::open(SMALL, "dark");
    screen.prompted("fix the failing test");
    let reason = "Gemini is overloaded (503).".to_owned();
    screen.live(Live::Retrying { attempt: 1, wait_ms: 2_000, reason });
    seen("retrying_80x24_dark", &mut screen);
    let message =
        "Gemini says that the key is not valid. Set GEMINI_API_KEY to a valid one, or try --demo."
            .to_owned();
    screen.recorded(Record::TurnEnded { end: TurnEnd::Failed { kind: Failure::Auth, message } });
    screen.live(Live::Idle);
    seen("failed_80x24_dark", &mut screen);
}

#[test]
fn messages_that_wait() {
    let mut screen = streaming(SMALL, "dark");
    screen.live(Live::Queued { text: "and then the docs, please".into() });
    screen.types("one more thing");
    seen("queued_80x24_dark", &mut screen);
}

#[test]
fn screens_with_little_room() {
    seen("narrow_60x15_dark", &mut streaming((60, 15), "dark"));
    seen("narrow_40x10_dark", &mut streaming((40, 10), "dark"));
    seen("narrow_review_60x15_dark", &mut reviewing((60, 15), true_colour("dark")));
    seen("narrow_review_40x10_dark", &mut reviewing((40, 10), true_colour("dark")));
    seen("narrow_command_40x10_dark", &mut command((40, 10), "dark"));
    seen("narrow_idle_40x10_dark", &mut Screen::open((40, 10), "dark"));
    seen("narrow_1x1_dark", &mut streaming((1, 1), "dark"));
}
