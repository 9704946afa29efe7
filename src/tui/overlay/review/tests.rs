//! The review from an approval to text on the screen, and from keys to effects.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::agent::{AgentRequest, Verdict};
use crate::session::CallId;
use crate::tui::effect::Effect;
use crate::workspace::{FileKind, Hunk, Line as DiffLine, LineKind};

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
        tool: "edit_file".into(),
        proposal: Proposal::Change { files },
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
    review.layout(Rect::new(0, 0, width, height), &theme, &mut Highlighter::default());
    terminal.draw(|frame| review.draw(frame, frame.area(), &theme)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |row: Rect| row.positions().map(|at| buffer[at].symbol()).collect::<String>();
    buffer.area.rows().map(|area| row(area).trim_end().to_owned()).collect()
}

/// Presses keys, laying out after each, and returns what the last one did.
fn press(review: &mut Review, keys: &str) -> Reaction {
    let mut last = Reaction::Ignored;
    for key in keys.chars() {
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
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
            "╭ Review  edit_file · 1 of 2 files · mode ask ────────────────────────── +3 −3 ╮",
            "│ ▾ pkg/calculator.py  +2 −2   ◆ hunk 1 of 2                                   │",
            "│   pkg/render.py      +1 −1   ◇ 1 hunk                                        │",
            "├──────────────────────────────────────────────────────────────────────────────┤",
        ]
    );
    assert_eq!(
        rows[21],
        "╰ y accept  n reject…  Esc stop  a always…  v split  [ ] hunks  { } files ─────╯"
    );
}

#[test]
fn files_stand_beside_the_diff_where_it_is_wide() {
    let rows = shown(&mut review(), 120, 34);
    assert!(rows[2].ends_with("─ hunk 1 of 2  +3 −3 ╮"), "{}", rows[2]);
    assert!(rows[3].starts_with("│ ▾ pkg/calculator.py  +2 −2 │"), "{}", rows[3]);
    assert!(rows[4].starts_with("│   pkg/render.py      +1 −1 │"), "{}", rows[4]);
}

#[test]
fn keys_lead_to_verdicts_and_enter_to_none() {
    for (keys, reaction) in [
        ("y", says(Verdict::Accept)),
        ("⎋", says(Verdict::Stop)),
        ("⏎", Reaction::Taken),
        ("n⏎", says(Verdict::Reject { comment: None })),
        ("nno⏎", says(Verdict::Reject { comment: Some("no".into()) })),
        ("n⎋y", says(Verdict::Accept)),
        ("a⏎", Reaction::Taken),
        ("ay", says(Verdict::Always)),
        ("jvy", says(Verdict::Accept)),
    ] {
        assert_eq!(press(&mut review(), keys), reaction, "{keys}");
    }
}

#[test]
fn enter_says_what_to_press() {
    let mut review = review();
    press(&mut review, "⏎");
    assert!(shown(&mut review, 80, 22)[21].contains("Press y to accept or n to reject."));
    press(&mut review, "j");
    assert!(!shown(&mut review, 80, 22)[21].contains("Press y"));
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
        seen.push((review.file, review.hunk()));
    }
    assert_eq!(seen, [(0, 2), (1, 1), (1, 1), (0, 2), (0, 2), (0, 1)]);
}

#[test]
fn the_line_stays_in_sight_in_a_long_diff() {
    let mut review = Review::of(approval(vec![file("a.py", 50)]));
    shown(&mut review, 80, 22);
    for key in "jjjGkkgG[[[]".repeat(3).chars() {
        press(&mut review, &key.to_string());
        assert!((review.top..review.top + review.rows).contains(&review.line), "{key}");
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
            let mut review = review();
            shown(&mut review, width, height);
            review.key(KeyCode::Char('n').into());
            shown(&mut review, width, height);
            review.cursor(Rect::new(0, 0, width, height));
        }
    }
}
