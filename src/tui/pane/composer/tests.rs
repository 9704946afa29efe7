use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

fn typed(text: &str) -> Composer {
    let mut composer = Composer::new(Vec::new());
    for c in text.chars() {
        assert!(composer.key(KeyEvent::from(KeyCode::Char(c))));
    }
    composer
}

fn caret(composer: &mut Composer) -> (u16, u16) {
    composer.layout(40);
    let mut terminal = Terminal::new(TestBackend::new(40, 5)).unwrap();
    let mut position = Position::default();
    terminal
        .draw(|frame| position = composer.draw(frame, frame.area(), &Theme::default(), true))
        .unwrap();
    (position.x, position.y)
}

#[test]
fn the_caret_stands_behind_what_is_drawn() {
    for (text, x, y) in [
        ("", 4, 1),
        ("abc", 7, 1),
        ("你好，世界x", 15, 1),
        ("👨‍👩‍👧‍👦x", 7, 1),
        ("e\u{301}x", 6, 1),
        ("\tx", 9, 1),
    ] {
        assert_eq!(caret(&mut typed(text)), (x, y), "{text:?}");
    }
}

#[test]
fn backspace_removes_one_grapheme() {
    for (text, left) in [("a👨‍👩‍👧‍👦", "a"), ("e\u{301}", ""), ("x🇩🇪", "x"), ("ab\u{2764}\u{fe0f}", "ab")]
    {
        let mut composer = typed(text);
        composer.key(KeyEvent::from(KeyCode::Backspace));
        assert_eq!(composer.text(), left);
    }
}

#[test]
fn left_steps_over_one_grapheme() {
    let mut composer = typed("a👨‍👩‍👧‍👦");
    composer.key(KeyEvent::from(KeyCode::Left));
    assert_eq!(composer.before_caret(), "a");
}

#[test]
fn pasted_line_endings_become_newlines() {
    let mut composer = typed("");
    composer.paste("LINE1\nLINE2\r\nLINE3\r\u{1b}");
    assert_eq!(composer.text(), "LINE1\nLINE2\nLINE3\n");
}

#[test]
fn up_and_down_walk_the_history_and_come_back_to_the_draft() {
    let mut composer = Composer::new(vec!["one".into(), "two".into()]);
    composer.set("draft");
    let mut seen = Vec::new();
    for up in [true, true, true, false, false] {
        if up {
            composer.up()
        } else {
            composer.down()
        }
        seen.push(composer.text());
    }
    assert_eq!(seen, ["two", "one", "one", "two", "draft"]);
}

#[test]
fn every_row_is_in_sight_again_after_the_draft_shrank() {
    let mut composer = typed("");
    composer.paste("1\n2\n3\n4\n5\n6\n7");
    assert_eq!(caret(&mut composer), (5, 3));
    for _ in 0..9 {
        composer.key(KeyEvent::from(KeyCode::Backspace));
    }
    assert_eq!(composer.text(), "1\n2\n");
    assert_eq!(caret(&mut composer), (4, 3));
}

#[test]
fn rows_count_wrapped_lines() {
    let mut composer = typed(&"x".repeat(100));
    assert_eq!(composer.layout(56), 2);
    assert_eq!(composer.layout(40), 3);
}
