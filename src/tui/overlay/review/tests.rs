//! The review from an approval to text on the screen, and from keys to effects.

use std::cell::RefCell;

use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::agent::{AgentRequest, Verdict, Waiting};
use crate::session::CallId;
use crate::tui::effect::Effect;
use crate::workspace::{
    FileKind, FileSelection, Hunk, HunkChoice, Line as DiffLine, LineKind, Note, Selection,
};

thread_local! {
    static CODE: RefCell<Highlighter> = RefCell::default();
}

fn file(path: &str, hunks: usize) -> FileDiff {
    let line = |kind, text: &str| DiffLine { kind, text: text.into(), ending: Default::default() };
    let hunk = |index| Hunk {
        old_start: 1 + 20 * index,
        new_start: 1 + 20 * index,
        lines: vec![
            line(LineKind::Context, "def f():"),
            line(LineKind::Removed, "\treturn 1"),
            line(LineKind::Added, "\treturn 2"),
        ],
    };
    FileDiff::new(path, FileKind::Modified, (0..hunks).map(hunk).collect())
}

fn approval(files: Vec<FileDiff>) -> Approval {
    Approval {
        call: CallId("7".into()),
        calls: vec![Waiting {
            call: CallId("7".into()),
            tool: "edit_file".into(),
            proposal: Proposal::Change { files },
        }],
        reason: "mode ask".into(),
        rule: Some("edit_file(pkg/calculator.py)".into()),
    }
}

fn review() -> Review {
    Review::of(approval(vec![file("pkg/calculator.py", 2), file("pkg/render.py", 1)]))
}

fn shown(review: &mut Review, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme::default();
    CODE.with_borrow_mut(|code| review.layout(Rect::new(0, 0, width, height), &theme, code));
    terminal.draw(|frame| review.draw(frame, frame.area(), &theme)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |row: Rect| row.positions().map(|at| buffer[at].symbol()).collect::<String>();
    buffer.area.rows().map(|area| row(area).trim_end().to_owned()).collect()
}

/// Presses keys, laying out after each, and returns what the last one did.
fn press(review: &mut Review, keys: &str) -> Reaction {
    let mut last = Reaction::Ignored;
    shown(review, 80, 22);
    for key in keys.chars() {
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '⌫' => KeyCode::Backspace,
            key => KeyCode::Char(key),
        };
        last = review.key(code.into());
        shown(review, 80, 22);
    }
    last
}

fn says(verdict: Verdict) -> Reaction {
    let answer = AgentRequest::Answer { call: CallId("7".into()), verdict };
    Reaction::Effects { close: true, effects: vec![Effect::Send(answer)] }
}

#[test]
fn files_stand_above_the_diff_where_it_is_narrow() {
    let rows = shown(&mut review(), 80, 22);
    assert_eq!(rows[..2], ["", ""]);
    assert_eq!(
        rows[2..6],
        [
            "╭ Review  edit_file · 1 of 2 files · mode ask ────────────────── 3 wait  +3 −3 ╮",
            "│▾◇ pkg/calculator.py  +2 −2   hunk 1 of 2                                     │",
            "│ ◇ pkg/render.py      +1 −1   waiting                                         │",
            "├──────────────────────────────────────────────────────────────────────────────┤",
        ]
    );
    assert_eq!(
        rows[21],
        "╰ y accept  n reject…  A all  R none  Enter done  Esc stop  e edit  ? keys ────╯"
    );
}

#[test]
fn files_stand_beside_the_diff_where_it_is_wide() {
    let rows = shown(&mut review(), 120, 34);
    assert!(rows[2].ends_with("─ hunk 1 of 2  3 wait  +3 −3 ╮"), "{}", rows[2]);
    assert!(rows[3].starts_with("│▾◇ pkg/calculator.py  +2 −2 │"), "{}", rows[3]);
    assert!(rows[4].starts_with("│ ◇ pkg/render.py      +1 −1 │"), "{}", rows[4]);
}

/// A change of one hunk.
fn single() -> Review {
    Review::of(approval(vec![file("a.py", 1)]))
}

fn selected(files: Vec<FileSelection>) -> Reaction {
    says(Verdict::Select { selections: vec![Selection { files }], rest: None })
}

fn note(hunk: Option<usize>, line: Option<usize>, text: &str) -> Note {
    Note { hunk, line, text: text.into() }
}

#[test]
fn a_single_hunk_is_answered_with_one_key() {
    let commented = |stands, hunk, text: &str| {
        let notes = vec![note(Some(0), None, text)];
        selected(vec![FileSelection { stands, hunks: vec![hunk], notes }])
    };
    for (keys, reaction) in [
        ("y", says(Verdict::Accept)),
        ("⎋", says(Verdict::Stop)),
        ("⏎", Reaction::Taken),
        ("n⏎", says(Verdict::Reject { comment: None })),
        ("nno⏎", says(Verdict::Reject { comment: Some("no".into()) })),
        ("n⎋y", says(Verdict::Accept)),
        ("Rno⏎", says(Verdict::Reject { comment: Some("no".into()) })),
        ("A", says(Verdict::Accept)),
        (" ⏎", says(Verdict::Accept)),
        ("  ⏎", says(Verdict::Reject { comment: None })),
        ("a⏎", Reaction::Taken),
        ("ay", says(Verdict::Always)),
        ("jvy", says(Verdict::Accept)),
        ("cwell⏎y", commented(true, HunkChoice::Accept, "well")),
        ("cwell⏎nno⏎", commented(false, HunkChoice::Reject, "no")),
        ("cwell⏎c⌫⌫⌫⌫⏎y", says(Verdict::Accept)),
    ] {
        assert_eq!(press(&mut single(), keys), reaction, "{keys}");
    }
}

#[test]
fn each_hunk_of_several_files_is_decided_on_its_own() {
    use HunkChoice::{Accept, Reject};
    let file = |hunks: Vec<HunkChoice>, notes| FileSelection {
        stands: hunks.contains(&Accept),
        hunks,
        notes,
    };
    let whole = || file(vec![Accept], vec![]);
    let why = || vec![note(Some(1), None, "why")];
    for (keys, reaction) in [
        ("yyy⏎", says(Verdict::Accept)),
        ("A", says(Verdict::Accept)),
        ("n⏎n⏎n⏎⏎", says(Verdict::Reject { comment: None })),
        ("R⏎", says(Verdict::Reject { comment: None })),
        ("Rbad⏎", says(Verdict::Reject { comment: Some("bad".into()) })),
        ("ynwhy⏎y⏎", selected(vec![file(vec![Accept, Reject], why()), whole()])),
        ("yn⏎A", selected(vec![file(vec![Accept, Reject], vec![]), whole()])),
        ("F⏎yz⏎", selected(vec![file(vec![Reject, Reject], vec![]), whole()])),
        (
            "yRbad⏎",
            selected(vec![
                file(vec![Accept, Reject], vec![note(None, None, "bad")]),
                file(vec![Reject], vec![]),
            ]),
        ),
        ("yy⏎", Reaction::Taken),
        ("y⎋", Reaction::Taken),
        ("y⎋⎋", says(Verdict::Stop)),
        ("y⎋j⎋", Reaction::Taken),
    ] {
        assert_eq!(press(&mut review(), keys), reaction, "{keys}");
    }
}

#[test]
fn the_rest_of_the_turn_is_decided_after_a_question() {
    let all = |stands: bool| {
        let hunk = if stands { HunkChoice::Accept } else { HunkChoice::Reject };
        let files = vec![FileSelection { stands, hunks: vec![hunk], notes: vec![] }];
        let selections = vec![Selection { files }];
        says(Verdict::Select { selections, rest: Some(stands) })
    };
    assert_eq!(press(&mut single(), "t"), Reaction::Taken);
    assert_eq!(press(&mut single(), "ty"), all(true));
    assert_eq!(press(&mut single(), "Ty"), all(false));
    assert_eq!(press(&mut single(), "tny"), says(Verdict::Accept));
}

#[test]
fn several_calls_get_a_selection_each() {
    let mut approval = approval(vec![file("a.py", 1)]);
    let second = Proposal::Change { files: vec![file("b.py", 1), file("c.py", 1)] };
    let call = CallId("8".into());
    approval.calls.push(Waiting { call, tool: "apply_patch".into(), proposal: second });
    let mut review = Review::of(approval);
    assert!(shown(&mut review, 80, 22)[2].contains("edit_file, apply_patch · 1 of 3 files"));
    let file = |stands, hunk| FileSelection { stands, hunks: vec![hunk], notes: vec![] };
    let (yes, no) = (file(true, HunkChoice::Accept), file(false, HunkChoice::Reject));
    let selections =
        vec![Selection { files: vec![yes.clone()] }, Selection { files: vec![no, yes] }];
    assert_eq!(press(&mut review, "yn⏎y⏎"), says(Verdict::Select { selections, rest: None }));
}

#[test]
fn a_hunk_is_split_into_parts_that_carry_numbers() {
    let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
    let new = old.replace("3\n", "three\n").replace("6\n", "six\n");
    let diff = FileDiff::between("f", Some(old.as_bytes()), Some(new.as_bytes()));
    let mut review = Review::of(approval(vec![diff]));
    press(&mut review, "s");
    let rows = shown(&mut review, 80, 22);
    let marks: String = rows[6..14].iter().filter_map(|row| row.chars().nth(2)).collect();
    assert_eq!(marks, "  11  22", "{rows:#?}");
    let reaction = press(&mut review, "yn⏎⏎");
    let lines = [[true; 6].as_slice(), &[false; 5]].concat();
    let hunks = vec![HunkChoice::Lines(lines)];
    assert_eq!(reaction, selected(vec![FileSelection { stands: true, hunks, notes: vec![] }]));
}

#[test]
fn a_hunk_is_edited_where_it_stands() {
    let mut review = single();
    press(&mut review, "e");
    assert!(shown(&mut review, 80, 22)[21].contains("Ctrl+S keep"));
    assert_eq!(review.cursor(Rect::new(0, 0, 80, 22)), Some(Position { x: 2, y: 5 }));
    press(&mut review, "# ");
    assert_eq!(press(&mut review, "⎋"), Reaction::Taken);
    assert!(shown(&mut review, 80, 22)[21].contains("Esc again drops"), "an edit is not lost");
    review.key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL));
    let screen = shown(&mut review, 80, 22).join("\n");
    assert!(screen.contains("+ # def f():") && screen.contains("− def f():"), "{screen}");
    let text = HunkChoice::Text("# def f():\n\treturn 2\n".into());
    let edited = || FileSelection { stands: true, hunks: vec![text.clone()], notes: vec![] };
    assert_eq!(press(&mut review, "⏎"), selected(vec![edited()]));
    assert_eq!(press(&mut review, "y"), selected(vec![edited()]));
    press(&mut review, "e⌫");
    assert_eq!(press(&mut review, "⎋⎋"), Reaction::Taken);
    assert_eq!(press(&mut review, "y"), selected(vec![edited()]), "a dropped edit changes nothing");
}

#[test]
fn an_external_editor_gets_the_new_side_and_gives_back_another() {
    let mut review = single();
    let proposed = "def f():\n\treturn 2\n";
    let opened = Effect::Edit { text: proposed.into(), suffix: ".py".into() };
    let effects = vec![opened];
    assert_eq!(press(&mut review, "E"), Reaction::Effects { close: false, effects });
    assert!(review.edited(Some("def g():\n")));
    assert!(!review.edited(Some("x")), "nothing is awaited any more");
    let hunks = vec![HunkChoice::Text("def g():\n".into())];
    let edited = FileSelection { stands: true, hunks, notes: vec![] };
    assert_eq!(press(&mut review, "⏎"), selected(vec![edited]));
    press(&mut review, "E");
    assert!(review.edited(Some(proposed)), "as it was proposed");
    assert_eq!(press(&mut review, "⏎"), says(Verdict::Accept));
    press(&mut review, "E");
    assert!(review.edited(None));
    assert!(shown(&mut review, 80, 22)[21].contains("The editor changed nothing."));
}

#[test]
fn what_cannot_be_seen_is_edited_elsewhere() {
    let mut odd = file("a.py", 1);
    odd.hunks[0].lines[2].text = "return \u{202e}2".into();
    let mut review = Review::of(approval(vec![odd]));
    assert!(matches!(press(&mut review, "e"), Reaction::Effects { close: false, .. }));
}

fn changes() -> Changes {
    let turn = |number, title: &str| Some((number, title.to_owned()));
    let set = |turn, files| ChangeSet { turn, files };
    Changes {
        sets: vec![
            set(None, vec![file("a.py", 2), file("b.py", 1)]),
            set(turn(2, "tidy"), vec![file("b.py", 1)]),
        ],
        notes: vec![],
    }
}

#[test]
fn parts_of_what_changed_in_the_session_are_put_back() {
    let mut review = Review::of_session(changes());
    let rows = shown(&mut review, 80, 22);
    assert!(rows[2].contains("Review  this session · 1 of 2 files"), "{}", rows[2]);
    assert_eq!(press(&mut review, "⏎"), Reaction::Close, "nothing is marked");
    press(&mut review, "]n");
    assert!(shown(&mut review, 80, 22)[3].contains("◐"));
    assert_eq!(press(&mut review, "⎋"), Reaction::Taken, "what is marked is not lost");
    let stays = |hunks: Vec<HunkChoice>| FileSelection { stands: true, hunks, notes: vec![] };
    use HunkChoice::{Accept, Reject};
    let selection = Selection { files: vec![stays(vec![Accept, Reject]), stays(vec![Accept])] };
    let request = AgentRequest::PutBack { set: 0, selection };
    let effects = vec![Effect::Send(request)];
    assert_eq!(press(&mut review, "⏎"), Reaction::Effects { close: true, effects });
}

#[test]
fn the_changes_of_one_turn_are_shown_on_their_own() {
    let mut review = Review::of_session(changes());
    press(&mut review, "t");
    assert!(shown(&mut review, 80, 22)[2].contains("Review  turn 2 “tidy”"));
    press(&mut review, "n");
    press(&mut review, "T");
    assert!(shown(&mut review, 80, 22)[2].contains("turn 2"), "what is marked is not lost");
    press(&mut review, "yT");
    assert!(shown(&mut review, 80, 22)[2].contains("this session"));
}

#[test]
fn enter_says_what_to_press() {
    let mut review = review();
    press(&mut review, "⏎");
    let advice = "3 still wait: y or n each, A accepts all of them.";
    assert!(shown(&mut review, 80, 22)[21].contains(advice));
    press(&mut review, "j");
    assert!(!shown(&mut review, 80, 22)[21].contains("still wait"));
    press(&mut review, "yyy");
    assert!(shown(&mut review, 80, 22)[21].contains("Everything is decided: Enter sends it."));
}

#[test]
fn every_key_is_listed_by_a_question_mark() {
    let mut review = review();
    press(&mut review, "?");
    let screen = shown(&mut review, 80, 22).join("\n");
    assert!(KEYS.iter().all(|(keys, help)| screen.contains(keys) && screen.contains(help)));
    press(&mut review, "y");
    assert_eq!(review.marks.count(Mark::Waiting), 3, "the key only closed the list");
}

#[test]
fn always_is_not_offered_once_something_is_decided() {
    let mut review = review();
    press(&mut review, "ya");
    assert!(shown(&mut review, 80, 22)[21].contains("before anything is decided"));
}

#[test]
fn always_shows_the_exact_rule_first() {
    let mut review = review();
    press(&mut review, "a");
    let rows = shown(&mut review, 80, 22);
    assert!(rows[20].contains("Always allow edit_file(pkg/calculator.py) in this session?"));
    assert!(rows[21].contains("y always") && rows[21].contains("n back"), "{}", rows[21]);
}

#[test]
fn hunks_lead_on_into_the_next_file_and_back() {
    let mut review = review();
    shown(&mut review, 80, 22);
    let mut seen = Vec::new();
    for key in "]]][[[".chars() {
        press(&mut review, &key.to_string());
        seen.push((review.view.file, review.view.hunk()));
    }
    assert_eq!(seen, [(0, 2), (1, 1), (1, 1), (0, 2), (0, 2), (0, 1)]);
}

#[test]
fn the_line_stays_in_sight_in_a_long_diff() {
    let mut review = Review::of(approval(vec![file("a.py", 50)]));
    shown(&mut review, 80, 22);
    for key in "jjjGkkgG[[[]".repeat(3).chars() {
        press(&mut review, &key.to_string());
        assert!(
            (review.view.top..review.view.top + review.view.rows).contains(&review.view.line),
            "{key}"
        );
    }
}

#[test]
fn what_only_shows_is_closed_and_never_answers() {
    for key in ["⏎", "⎋", "q"] {
        assert_eq!(press(&mut Review::read_only(vec![file("a.py", 1)]), key), Reaction::Close);
    }
    for key in ["y", "n", "a"] {
        assert_eq!(press(&mut Review::read_only(vec![file("a.py", 1)]), key), Reaction::Ignored);
    }
}

#[test]
fn what_nobody_sees_is_shown_and_tabs_take_room() {
    let mut odd = file("a\u{202e}txt.exe", 1);
    odd.hunks[0].lines[0].text = "\tx\u{1b}[2K\u{200b}".into();
    let screen = shown(&mut Review::of(approval(vec![odd])), 80, 22).join("\n");
    for visible in ["a<U+202E>txt.exe", "    x^[[2K<U+200B>"] {
        assert!(screen.contains(visible), "{screen}");
    }
}

#[test]
fn any_size_can_be_drawn() {
    for width in [1, 2, 5, 28, 99, 100, 300] {
        for height in [1, 2, 3, 5, 14, 15, 100] {
            for key in ['n', 'e', '?', 't', 'a', 'v'] {
                let mut review = review();
                shown(&mut review, width, height);
                review.key(KeyCode::Char(key).into());
                shown(&mut review, width, height);
                review.cursor(Rect::new(0, 0, width, height));
            }
        }
    }
}
