//! The demo's calculator: one real bug, one real failing test, and a fix that mends exactly that.

use std::path::Path;
use std::process::{Command, Output};

fn calculator() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox-demo");
    let copied = Command::new("cp").arg("-r").arg(source.join(".")).arg(folder.path()).status();
    assert!(copied.unwrap().success());
    folder
}

fn python(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("python3").arg("-B").args(arguments).current_dir(folder).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn exactly_the_complex_expression_fails() {
    let folder = calculator();
    let output = python(folder.path(), &["tests.py"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("FAILED (failures=1)"), "{told}");
    assert!(told.contains("FAIL: test_complex_expression"), "{told}");
    assert!(told.contains("AssertionError: -3.0 != 7"), "{told}");
}

#[test]
fn the_fix_that_the_script_proposes_mends_it() {
    let folder = calculator();
    let path = folder.path().join("pkg/calculator.py");
    let wrong = std::fs::read_to_string(&path).unwrap();
    let (old, new) = (r#"{"+": 2, "-": 1, "*": 3, "/": 2}"#, r#"{"+": 1, "-": 1, "*": 2, "/": 2}"#);
    assert_eq!(wrong.matches(old).count(), 1);
    std::fs::write(&path, wrong.replace(old, new)).unwrap();
    assert!(python(folder.path(), &["tests.py"]).status.success());
}

#[test]
fn the_calculator_says_how_it_is_used_and_answers_in_json() {
    let folder = calculator();
    let usage = stdout(&python(folder.path(), &["main.py"]));
    assert_eq!(usage.lines().count(), 3);
    assert!(usage.contains(r#"python main.py "3 + 5""#), "{usage}");
    for (expression, result) in [("3 + 5", "8"), ("7 / 2", "3.5"), ("3 * 4 + 5", "17")] {
        let answer = stdout(&python(folder.path(), &["main.py", expression]));
        assert_eq!(
            answer.trim(),
            format!(r#"{{"expression": "{expression}", "result": {result}}}"#)
        );
    }
    for wrong in ["3 $ 5", "+ 3", "1 / 0", ""] {
        assert_eq!(python(folder.path(), &["main.py", wrong]).status.code(), Some(1), "{wrong}");
    }
}
