//! The real program without a screen: what it prints, and how it ends.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::pty::House;

/// Runs the program in the house's workspace.
fn run(house: &House, arguments: &[&str]) -> Output {
    command(house, env!("CARGO_BIN_EXE_trefoil"), arguments).output().unwrap()
}

fn command(house: &House, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(house.path("workspace")).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var("PATH").unwrap()).env("TMPDIR", house.path("tmp"));
    command.env("HOME", house.path("home")).env("TREFOIL_HOME", house.path("home"));
    command
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\nusage = { input = 10, output = 5 }";

#[test]
fn text_is_the_final_reply_alone() {
    let house = House::new();
    let model = house.script(HELLO);
    let output = run(&house, &["-p", "hi", "-m", &model]);
    assert_eq!((out(&output).as_str(), output.status.code()), ("Hello.\n", Some(0)));
}

#[test]
fn json_is_one_object_and_stream_json_one_event_a_line() {
    let house = House::new();
    let model = house.script(HELLO);
    let output = run(&house, &["-p", "hi", "-m", &model, "--output-format", "json"]);
    let summary: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (&summary["status"], &summary["result"], &summary["usage"]["output"]),
        (&"done".into(), &"Hello.".into(), &5.into())
    );
    let output = run(&house, &["-p", "hi", "-m", &model, "--output-format", "stream-json"]);
    let text = out(&output);
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in ["prompted", "text_delta", "replied", "turn_ended"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&"result"));
}

#[test]
fn standard_input_is_the_prompt_and_none_is_refused() {
    let house = House::new();
    let model = house.script("[[reply]]\nwhen.user = \"from afar\"\ntext = \"Heard.\"");
    let mut child = command(&house, env!("CARGO_BIN_EXE_trefoil"), &["-p", "-m", &model]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a word from afar").unwrap();
    assert_eq!(out(&child.wait_with_output().unwrap()), "Heard.\n");
    let output = run(&house, &["-p", "-m", &model]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("There is no prompt."), "{}", err(&output));
}

#[test]
fn verbose_tells_calls_tokens_and_the_log() {
    let house = House::new();
    let model = house.script(
        "[[reply]]\ncalls = [{ tool = \"list_files\", args = {} }]\n[[reply]]\ntext = \"Done.\"",
    );
    let told = err(&run(&house, &["-p", "hi", "-m", &model, "--verbose"]));
    for part in ["list_files", "allowed: reads", "tokens: ", "log: "] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn every_end_has_its_exit_code() {
    let call = "[[reply]]\ncalls = [{ tool = \"run_command\", args = { command = \"true\" } }]\n";
    let asks = format!("{call}[[reply]]\ntext = \"Done.\"");
    let endless =
        "[[reply]]\nlabel = \"a\"\ncalls = [{ tool = \"list_files\", args = {} }]\nthen = \"a\"";
    let fault = |kind: &str| format!("[[reply]]\ntext = \"a\"\nfault = {{ kind = \"{kind}\" }}");
    let unreachable = "[[reply]]\ntext = \"a\"\nfault = { kind = \"network\", times = 99 }";
    let impatient = "network.retries = 0\n";
    for (script, more, config, code) in [
        (fault("bad_request"), vec![], "", 1),
        (asks, vec![], "", 4),
        (endless.to_owned(), vec!["--max-turns", "1"], "", 5),
        (fault("auth"), vec![], "", 6),
        (unreachable.to_owned(), vec![], impatient, 75),
    ] {
        let house = House::new();
        std::fs::write(house.path("home/config.toml"), config).unwrap();
        let model = house.script(&script);
        let output = run(&house, &[&["-p", "hi", "-m", &model][..], &more].concat());
        assert_eq!(output.status.code(), Some(code), "{script}\n{}", err(&output));
    }
}

#[test]
fn what_is_called_wrongly_says_how_it_is_called() {
    let house = House::new();
    for (arguments, code, parts) in [
        (&["--bogus"][..], 2, &["--bogus"][..]),
        (&["hello"], 2, &["The screen needs a terminal.", "-p"]),
        (&["-p", "hi", "-m", "nobody/nothing"], 2, &["nobody", "gemini/MODEL"]),
        (&["-p", "hi", "-m", "gemini/gemini-3.8-flash"], 6, &["GEMINI_API_KEY", "--demo"]),
    ] {
        let output = run(&house, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {}", err(&output));
        parts.iter().for_each(|part| assert!(err(&output).contains(part), "{}", err(&output)));
    }
}

#[test]
fn a_wrong_configuration_is_named_by_file_line_and_key() {
    let house = House::new();
    std::fs::write(house.path("home/config.toml"), "theme = \"dark\"\nmodle = \"a/b\"\n").unwrap();
    let output = run(&house, &["-p", "hi"]);
    assert_eq!(output.status.code(), Some(6));
    for part in ["config.toml", "line 2", "modle", "model"] {
        assert!(err(&output).contains(part), "{part} in {}", err(&output));
    }
}

#[test]
fn an_interrupt_ends_with_130() {
    let house = House::new();
    let model = house.script("[[reply]]\ntext = \"One two three four.\"\nfault.kind = \"hang\"");
    let arguments = ["-p", "hi", "-m", &model, "--output-format", "stream-json"];
    let mut command = command(&house, env!("CARGO_BIN_EXE_trefoil"), &arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    lines.find(|line| line.as_ref().unwrap().contains("text_delta")).unwrap().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_home_that_cannot_be_written_is_told_and_the_work_goes_on() {
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !Command::new("setpriv").args(nobody).arg("true").status().is_ok_and(|s| s.success()) {
        return eprintln!("SKIPPED: setpriv cannot drop to another user here.");
    }
    let house = House::new();
    let model = house.script(HELLO);
    let readable = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    readable(house.path("home").parent().unwrap(), 0o755);
    readable(&house.path("home"), 0o555);
    let program = house.path("trefoil");
    std::fs::copy(env!("CARGO_BIN_EXE_trefoil"), &program).unwrap();
    let arguments = [&nobody[..], &[program.to_str().unwrap(), "-p", "hi", "-m", &model]].concat();
    for home in [house.path("home"), "/nonexistent".into()] {
        let mut command = command(&house, "setpriv", &arguments);
        let output = command.env("TREFOIL_HOME", &home).env("HOME", &home).output().unwrap();
        assert_eq!((out(&output).as_str(), output.status.code()), ("Hello.\n", Some(0)));
        let told = err(&output);
        assert!(told.contains("not saved") && told.contains(home.to_str().unwrap()), "{told}");
    }
}

#[test]
fn a_key_is_printed_and_kept_nowhere() {
    let secret = "AIzaTESTSECRET-of-nobody";
    let house = House::new();
    let mut command = command(
        &house,
        env!("CARGO_BIN_EXE_trefoil"),
        &["-p", "hi", "-m", "gemini/gemini-3.8-flash", "--verbose"],
    );
    std::fs::write(house.path("home/config.toml"), "network.retries = 0\n").unwrap();
    command.env("GEMINI_API_KEY", secret).env("TREFOIL_LOG", "trace");
    // Nobody listens there.
    let output = command.env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9").output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", err(&output));
    assert!(!(out(&output) + &err(&output)).contains("TESTSECRET"));
    let found = Command::new("grep").args(["-r", "TESTSECRET"]).arg(house.path("home")).output();
    assert_eq!(out(&found.unwrap()), "");
}

#[test]
fn the_demo_without_a_screen_mends_the_calculator() {
    let house = House::new();
    let output = run(
        &house,
        &[
            "--demo",
            "-p",
            "fix the failing test",
            "--approval-mode",
            "accept-edits",
            "--allow",
            "run_command(python3 *)",
            "--allow",
            "run_python_file(*)",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("All nine tests pass"), "{}", out(&output));
    assert!(err(&output).contains(house.demo().to_str().unwrap()));
    let tests = Command::new("python3").args(["-B", "tests.py"]).current_dir(house.demo()).status();
    assert!(tests.unwrap().success());
}
