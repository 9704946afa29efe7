//! The real program at a real terminal: a person presses keys, and looks.

use std::process::Command;

use rustix::process::Signal;

use crate::support::pty::{End, House, Pty};

const CALCULATOR: &str = "pkg/calculator.py";

/// A reply that takes a while to be told.
fn long_reply() -> String {
    let words: Vec<String> = (0..150).map(|n| format!("word{n}")).collect();
    format!("[[reply]]\ntext = \"{} THE-END\"", words.join(" "))
}

const HANGS: &str =
    "[[reply]]\ntext = \"One two three four five six seven eight.\"\nfault.kind = \"hang\"";

const ASKS: &str = "[[reply]]\ntext = \"I touch a file.\"\n\
    calls = [{ tool = \"run_command\", args = { command = \"touch PWNED\" } }]\n\
    [[reply]]\ntext = \"Done with it.\"";

/// Starts a script and waits for the first screen.
fn play(house: &House, script: &str) -> Pty {
    let model = house.script(script);
    let mut pty = house.start(&["-m", &model]);
    pty.until_shows("plan · implement · validate");
    pty
}

/// Starts the demo and sends what it suggests.
fn demo(house: &House) -> Pty {
    let mut pty = house.start(&["--demo"]);
    pty.until_shows("Tab to use: fix the failing test");
    pty.press("\t");
    pty.until_shows("› fix the failing test");
    pty.press("\r");
    pty
}

fn is_given_back(end: &End) {
    for reset in ["\x1b[?1049l", "\x1b[?2004l", "\x1b[<1u", "\x1b[?25h"] {
        assert!(end.output.contains(reset), "{reset:?} is missing");
    }
    let (_, after) = end.output.rsplit_once("\x1b[?1049l").unwrap();
    assert!(!after.contains("\x1b[?1049h") && !after.contains("\x1b[?2004h"), "{after:?}");
    assert!(end.is_restored, "the terminal's settings differ");
}

fn tests_pass(folder: &std::path::Path) -> bool {
    let tests = Command::new("python3").args(["-B", "tests.py"]).current_dir(folder).output();
    tests.unwrap().status.success()
}

#[test]
fn it_greets_and_takes_neither_mouse_nor_focus() {
    let house = House::new();
    let mut pty = house.start(&["--demo"]);
    pty.until_shows("Tab to use: fix the failing test");
    pty.until_shows("main");
    assert!(pty.text().contains("scripted"), "{}", pty.text());
    for mode in ["?1000h", "?1002h", "?1003h", "?1004h"] {
        assert!(!pty.output().contains(mode), "{mode}");
    }
    pty.press("\x04");
    let end = pty.end();
    assert_eq!(end.code, 0);
    is_given_back(&end);
}

#[test]
fn the_demo_by_keys_from_a_failing_test_to_a_passing_one() {
    let house = House::new();
    let mut pty = demo(&house);
    pty.until_asked("Run a command?");
    pty.press("y");
    pty.until_asked("Review");
    assert!(!tests_pass(&house.demo()));
    pty.press("y");
    pty.until_asked("Run a command?");
    pty.press("y");
    pty.until_shows("All nine tests pass");
    let code = std::fs::read_to_string(house.demo().join(CALCULATOR)).unwrap();
    assert!(code.contains(r#"{"+": 1, "-": 1, "*": 2, "/": 2}"#), "{code}");
    assert!(tests_pass(&house.demo()));
    pty.until_shows("Shift+Tab mode");
    pty.send("/quit");
    let end = pty.end();
    assert_eq!(end.code, 0);
    let told = end.screen.replace('\n', "");
    assert!(told.contains("Go on with: ") && told.contains(&house.session()), "{told}");
    is_given_back(&end);
}

#[test]
fn an_edit_declined_with_a_comment_comes_again_as_another() {
    let house = House::new();
    let mut pty = demo(&house);
    pty.until_asked("Run a command?");
    pty.press("y");
    pty.until_asked("Review");
    pty.press("n");
    pty.until_shows("Why not?");
    pty.send("one operator a line, please");
    pty.until_shows("The same fix can be written out");
    pty.until_asked("Review");
    pty.press("y");
    pty.until_asked("Run a command?");
    pty.press("y");
    pty.until_shows("All nine tests pass");
    assert!(tests_pass(&house.demo()));
}

#[test]
fn a_storm_of_sizes_while_a_reply_streams_leaves_a_whole_screen() {
    let house = House::new();
    let mut pty = play(&house, &long_reply());
    pty.send("tell me");
    pty.until_shows("word9 ");
    for (cols, rows) in [(1, 1), (200, 60), (40, 10), (300, 100), (81, 25), (2, 50), (120, 3)] {
        pty.resize(cols, rows);
        pty.until_draws();
    }
    pty.resize(100, 30);
    pty.until_shows("THE-END");
    pty.until("a whole frame", |screen| {
        let corner = |row, col| screen.cell(row, col).map(|cell| cell.contents().to_owned());
        corner(26, 0).as_deref() == Some("╭") && corner(28, 99).as_deref() == Some("╯")
    });
    assert!(pty.text().starts_with(" ♣ trefoil"), "{}", pty.text());
}

#[test]
fn ctrl_c_twice_quits() {
    let house = House::new();
    let mut pty = play(&house, ASKS);
    pty.press("\x03");
    pty.until_shows("Press Ctrl+C again to quit.");
    pty.press("\x03");
    let end = pty.end();
    assert_eq!(end.code, 0);
    is_given_back(&end);
}

#[test]
fn esc_stops_a_reply_and_keeps_the_draft() {
    let house = House::new();
    let mut pty = play(&house, HANGS);
    pty.send("go");
    pty.until_shows("One two");
    pty.press("and then");
    pty.until_shows("› and then");
    pty.press("\x1b");
    pty.until_shows("stopped");
    pty.until_shows("› and then");
}

#[test]
fn the_cursor_is_at_the_caret_whatever_is_typed_and_while_it_works() {
    let house = House::new();
    let mut pty = play(&house, HANGS);
    pty.press("abc");
    pty.until("the caret behind abc", |screen| screen.cursor_position() == (21, 7));
    pty.press("\x03");
    pty.press("你好，世界x");
    pty.until("the caret behind wide letters", |screen| screen.cursor_position() == (21, 15));
    pty.press("\r");
    pty.until_shows("One two");
    pty.press("ab");
    pty.until("the caret while it works", |screen| screen.cursor_position() == (21, 6));
    assert!(!pty.screen().hide_cursor());
}

#[test]
fn newline_keys_of_every_terminal_begin_one_line() {
    let house = House::new();
    let mut pty = play(&house, HANGS);
    for (key, text) in
        [("", "a1"), ("\x1b[13;2u", "b2"), ("\x1b\r", "c3"), ("\n", "d4"), ("\\\r", "e5")]
    {
        // An Enter with text right behind it in one read was pasted: wait for the new line.
        pty.press(key);
        pty.until("a line's start", |screen| screen.cursor_position().1 == 4);
        pty.press(text);
        pty.until_shows(text);
    }
    pty.press("\r");
    pty.until_shows("One two");
    assert_eq!(house.prompts(), ["a1\nb2\nc3\nd4\ne5"]);
}

#[test]
fn a_paste_keeps_its_lines_and_sends_nothing() {
    let house = House::new();
    let mut pty = play(&house, HANGS);
    pty.press("\x1b[200~LINE1\nLINE2\r\n");
    pty.press("LINE3\r\x1b[20");
    pty.press("1~");
    pty.until_shows("LINE3");
    assert_eq!(house.prompts(), Vec::<String>::new());
    pty.press("\r");
    pty.until_shows("One two");
    assert_eq!(house.prompts(), ["LINE1\nLINE2\nLINE3\n"]);
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let house = House::new();
        let mut pty = play(&house, HANGS);
        pty.send("go");
        pty.until_shows("One two");
        pty.signal(signal);
        let end = pty.end();
        assert_ne!(end.code, 0);
        assert!(end.screen.contains("Stopped by SIG"), "{}", end.screen);
        is_given_back(&end);
    }
}

/// Without a controlling terminal no signal tells that it hung up: only the terminal itself does.
#[test]
fn a_terminal_that_hangs_up_ends_the_program() {
    let house = House::new();
    let status = house.hang_up(&["--demo"], "plan · implement · validate");
    assert!(!status.success());
}

/// Only a build for tests panics on demand.
#[cfg(debug_assertions)]
#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let house = House::new().with("TREFOIL_PANIC", "1");
    let end = house.start(&["--demo"]).end();
    assert_ne!(end.code, 0);
    assert!(end.screen.contains("TREFOIL_PANIC is set"), "{}", end.screen);
    is_given_back(&end);
}

#[test]
fn a_killed_session_comes_back_whole() {
    let house = House::new();
    let script =
        "[[reply]]\ntext = \"The sky is green today.\"\n[[reply]]\ntext = \"It is blue again.\"";
    let mut pty = play(&house, script);
    pty.send("what colour is it");
    pty.until_shows("The sky is green today.");
    pty.until_shows("Shift+Tab mode");
    pty.signal(Signal::KILL);
    assert_ne!(pty.end().code, 0);
    let id = house.session();
    let mut pty = house.start(&["-r", &id]);
    pty.until_shows("what colour is it");
    pty.until_shows("The sky is green today.");
    pty.send("and now");
    pty.until_shows("It is blue again.");
    assert_eq!(house.prompts(), ["what colour is it", "and now"]);
}

#[test]
fn without_a_key_it_says_which_and_that_there_is_a_demo() {
    let house = House::new();
    let mut pty = house.start(&["-m", "gemini/gemini-3.8-flash"]);
    pty.until_shows("GEMINI_API_KEY");
    pty.until_shows("--demo");
}

#[test]
fn at_rest_nothing_is_written() {
    let house = House::new();
    let mut pty = house.start(&["--demo"]);
    pty.until_shows("Tab to use");
    pty.until_shows("main");
    assert_eq!(pty.drawn_at_rest(), "");
    pty.press("\t");
    pty.until_shows("› fix the failing test");
    pty.press("\r");
    pty.until_asked("Run a command?");
    assert_eq!(pty.drawn_at_rest(), "", "a question waits");
}

#[test]
fn who_types_on_answers_nothing_and_loses_nothing() {
    let house = House::new();
    let mut pty = play(&house, ASKS);
    pty.send("go");
    pty.until_shows("you  go");
    pty.press("yes please");
    pty.until("the draft", |screen| screen.cursor_position() == (21, 14));
    // Faster than the grace, from before it is asked until after.
    let mut left = 12;
    for _ in 0..2_000 {
        if left == 0 {
            break;
        }
        for (key, column) in [("y", 15), ("\x7f", 14), ("a", 15), ("\x7f", 14)] {
            pty.press(key);
            pty.until("the key", |screen| screen.cursor_position() == (21, column));
        }
        left -= i32::from(pty.text().contains("Run a command?"));
    }
    assert_eq!(left, 0, "{}", pty.text());
    pty.until_shows("Tab to answer");
    assert!(!house.path("workspace/PWNED").exists());
    assert!(!pty.text().contains("Done with it."));
}

#[test]
fn no_colour_means_none() {
    let house = House::new().with("NO_COLOR", "1");
    let mut pty = demo(&house);
    pty.until_shows("Run a command?");
    let output = pty.output();
    let sequences = output.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest[end..].starts_with('m').then(|| &rest[..end])
    });
    for code in sequences.flat_map(|sequence| sequence.split(';')) {
        let code: u32 = code.parse().unwrap_or(0);
        assert!(!matches!(code, 30..=38 | 40..=48 | 90..=107), "{code}");
    }
}
