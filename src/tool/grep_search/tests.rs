use std::os::unix::fs::symlink;

use super::super::desk::Desk;
use super::*;

fn grep(desk: &Desk, args: Value) -> (bool, String) {
    let outcome = desk.look(&GrepSearch, args);
    (outcome.ok, outcome.text)
}

#[test]
fn matches_come_in_path_order_without_what_is_ignored() {
    let desk = Desk::with("src/a.js", b"one\n\tNeedle\r\nthree\n");
    desk.write(".gitignore", b"node_modules/\n*.log\n");
    desk.write("node_modules/x.js", b"needle");
    desk.write("sub/.gitignore", b"!keep.log\n");
    desk.write("sub/keep.log", b"a needle\n");
    desk.write("binary", b"needle\0");
    let both =
        "src/a.js\n  2:\tNeedle\nsub/keep.log\n  1:a needle\n[2 matching lines in 2 files.]\n";
    assert_eq!(grep(&desk, json!({ "pattern": "needle" })), (true, both.into()));
    let one = "src/a.js\n  1-one\n  2:\tNeedle\n  3-three\n[1 matching lines in 1 files.]\n";
    let args = json!({ "pattern": "needle", "file_pattern": "*.js", "context": 1 });
    assert_eq!(grep(&desk, args).1, one);
    let args = json!({ "pattern": "Needle", "case_sensitive": true, "file_pattern": "sub/**" });
    assert_eq!(grep(&desk, args).1, "Nothing in . matches 'Needle'.\n");
    let ignored = grep(&desk, json!({ "pattern": "needle", "path": "node_modules" })).1;
    assert!(ignored.starts_with("node_modules/x.js\n  1:needle\n"), "{ignored}");
    let end = grep(&desk, json!({ "pattern": "needle$", "path": "src/a.js" })).1;
    assert!(end.contains("2:\tNeedle"), "a line's end is before its carriage return: {end}");
}

#[test]
fn invalid_patterns_are_errors_with_the_reason() {
    let desk = Desk::with("a", b"aaaa!");
    for (pattern, reason) in [
        ("foo(", "unclosed group"),
        ("[z-a", "invalid character class range"),
        ("", "empty"),
        (r"\d{999999}", "size limit"),
        (r"(?:a{1000}){100}", "size limit"),
    ] {
        let (ok, text) = grep(&desk, json!({ "pattern": pattern }));
        assert!(!ok && text.contains(reason), "{pattern}: {text}");
    }
    assert!(grep(&desk, json!({ "pattern": "a", "file_pattern": "[" })).1.contains("glob"));
    assert!(!grep(&desk, json!({ "pattern": "a", "path": "none" })).0);
}

#[test]
fn a_pattern_that_would_backtrack_forever_elsewhere_is_answered() {
    let desk = Desk::with("a", format!("{}!", "a".repeat(100_000)).as_bytes());
    let (ok, text) = grep(&desk, json!({ "pattern": "(a+)+$" }));
    assert!(ok && text.contains("Nothing"), "{text}");
}

#[test]
fn long_lines_and_many_matches_are_cut_and_counted() {
    let mut desk = Desk::new();
    let line = format!("{}\u{e9}needle\u{e9}{}", "x".repeat(20_000), "y".repeat(10_000));
    desk.write("bundle.js", line.as_bytes());
    for n in 0..50 {
        desk.write(&format!("many/{n:02}"), b"needle\n");
    }
    desk.context.limits.grep_lines = 10;
    let (_, text) = grep(&desk, json!({ "pattern": "needle" }));
    assert!(text.len() < 2_000, "{}", text.len());
    assert!(
        text.contains("x\u{e9}needle\u{e9}y") && text.contains("[cut: the line has 30010 bytes]")
    );
    assert!(text.contains("many/08") && !text.contains("many/09"), "{text}");
    assert!(text.contains("[10 of 51 matching lines in 51 files;"), "{text}");
}

#[test]
fn links_and_pipes_are_not_followed_and_a_cancelled_search_stops() {
    let desk = Desk::with("f.txt", b"needle\n");
    symlink(".", desk.path().join("loop")).unwrap();
    symlink("nowhere", desk.path().join("broken")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, desk.path().join("pipe"), rustix::fs::Mode::RUSR)
        .unwrap();
    let (_, text) = grep(&desk, json!({ "pattern": "needle" }));
    assert_eq!(text, "f.txt\n  1:needle\n[1 matching lines in 1 files.]\n");
    let Ok(Intent::Look(look)) = GrepSearch.intend(json!({ "pattern": "needle" }), &desk.context)
    else {
        panic!()
    };
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(!(look.look)(&cancel).ok);
}
