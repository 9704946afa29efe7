//! Commands as they really behave: flooding, hanging, hiding, dying.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use trefoil::config::{Environment, Keys};
use trefoil::workspace::shell::{Keep, Report, environment, run};
use trefoil::workspace::{Command, Ended, Launcher, Output};

fn launcher() -> Launcher {
    Launcher { program: env!("CARGO_BIN_EXE_trefoil").into() }
}

fn shell(line: &str, folder: &Path) -> Command {
    Command {
        line: line.to_owned(),
        argv: ["bash", "-c", line].map(Into::into).to_vec(),
        cwd: folder.to_owned(),
        cwd_shown: ".".to_owned(),
        timeout: Duration::from_secs(20),
        environment: environment(std::env::vars()),
        report: Report::Combined,
        output_chars: 10_000,
    }
}

/// Knows one key, which must not come out.
fn keep() -> Keep {
    let environment = Environment::from([("GEMINI_API_KEY", "sk-TESTSECRET-123456")]);
    Keep::new(None, Keys::from(&environment, &Environment::default()))
}

async fn play(command: Command) -> Output {
    let (live, mut pieces) = mpsc::channel(8);
    let listen = tokio::spawn(async move { while pieces.recv().await.is_some() {} });
    let output = run(command, &launcher(), live, keep(), CancellationToken::new()).await.unwrap();
    listen.await.unwrap();
    output
}

async fn played(line: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    play(shell(line, folder.path())).await
}

#[tokio::test]
async fn output_order_and_exit_are_told() {
    for (line, ended, text) in [
        ("echo out; echo warn >&2; exit 0", Ended::Exit(0), "out\nwarn\n[exit code 0]"),
        ("echo out; echo err >&2; exit 3", Ended::Exit(3), "out\nerr\n[exit code 3]"),
        ("kill -9 $$", Ended::Signal(9), "(no output)\n[killed by signal 9 (exit code 137)]"),
        ("true", Ended::Exit(0), "(no output)\n[exit code 0]"),
        (
            "printf '\\xff\\xfe\\xfdabc'",
            Ended::Exit(0),
            "\u{fffd}\u{fffd}\u{fffd}abc\n[exit code 0]",
        ),
    ] {
        assert_eq!(played(line).await, Output { ended, text: text.to_owned() }, "{line}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let argv = vec!["no-such-program".into()];
    let output = play(Command { argv, ..shell("no-such-program", folder.path()) }).await;
    assert_eq!(output.ended, Ended::Exit(127));
    assert!(output.text.contains("no-such-program could not be started"), "{}", output.text);
}

#[tokio::test]
async fn a_background_child_never_holds_the_call() {
    for line in [
        "sleep 300 & echo done",
        "setsid sleep 300 & echo done",
        "(while :; do echo x; sleep 0.1; done) & sleep 0.3; echo done",
    ] {
        let started = Instant::now();
        let output = played(line).await;
        assert!(started.elapsed() < Duration::from_secs(10), "{line}");
        assert_eq!(output.ended, Ended::Exit(0), "{line}");
        assert!(output.text.contains("done"), "{line}: {}", output.text);
    }
}

#[tokio::test]
async fn a_timeout_stops_the_whole_group_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sleep 301 & echo $! > child; trap '' TERM; echo started; sleep 302";
    let timeout = Duration::from_secs(1);
    let output = play(Command { timeout, ..shell(line, folder.path()) }).await;
    assert_eq!(output.ended, Ended::TimedOut);
    assert_eq!(output.text, "started\n[timed out after 1 s and was stopped]");
    assert_gone(&folder.path().join("child"));
}

#[tokio::test]
async fn an_interrupt_stops_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let command = shell("sleep 301 & echo $! > child; echo started; sleep 302", folder.path());
    let (live, mut pieces) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    let running = tokio::spawn(async move { run(command, &launcher(), live, keep(), token).await });
    let mut seen = String::new();
    while !seen.contains("started") {
        seen += &pieces.recv().await.expect("the command says that it started");
    }
    cancel.cancel();
    let output = running.await.unwrap().unwrap();
    assert_eq!(output.ended, Ended::Interrupted);
    assert_gone(&folder.path().join("child"));
}

/// The process whose id is in the file is dead, or only waits to be buried by init.
fn assert_gone(file: &Path) {
    let id = std::fs::read_to_string(file).unwrap().trim().to_owned();
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().unwrap_or_default();
    assert!(state.is_empty() || state.starts_with('Z'), "{status}");
}

#[tokio::test]
async fn nothing_can_wait_for_the_person() {
    for line in [
        "read x; echo got=$x",
        "python3 -c 'input()'",
        "cat /dev/tty",
        "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty",
        "echo hello > /dev/tty",
    ] {
        let started = Instant::now();
        let output = played(line).await;
        assert!(started.elapsed() < Duration::from_secs(10), "{line}: {}", output.text);
        assert!(matches!(output.ended, Ended::Exit(_)), "{line}: {output:?}");
    }
}

#[tokio::test]
async fn a_flood_is_bounded_and_its_ends_are_kept() {
    let output = played("echo first; yes | head -c 100000000; echo last").await;
    assert!(output.text.starts_with("first\ny\n"), "{}", &output.text[..40]);
    assert!(output.text.ends_with("last\n[exit code 0]"));
    assert!(output.text.contains("lines) left out here"));
    assert!(output.text.chars().count() < 10_200);

    let output = played("head -c 50000000 /dev/zero").await;
    assert!(output.text.len() < 10_200, "{}", output.text.len());
    let output = played("head -c 100000 /dev/urandom").await;
    assert_eq!(output.ended, Ended::Exit(0));
    let output = played("python3 -c \"print('é'*700000)\"").await;
    assert!(output.text.starts_with("éé") && !output.text.contains('\u{fffd}'));
}

#[tokio::test]
async fn a_character_cut_in_two_by_the_pipe_stays_whole() {
    let line = "python3 -c \"import os,time; os.write(1,b'A\\xe2'); time.sleep(.2); os.write(1,b'\\x80\\x94B\\n')\"";
    assert_eq!(played(line).await.text, "A—B\n[exit code 0]");
}

#[tokio::test]
async fn no_escape_reaches_the_model() {
    let line =
        r"printf '\033[2J\033[H\033[?1049l\033]0;pwn\007\033[31mred\033[0m\rover\n\033[?1000l\007'";
    let text = played(line).await.text;
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    assert_eq!(text, "over\n[exit code 0]");
}

#[tokio::test]
async fn sections_tell_stdout_and_stderr_apart() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::Sections { interpreter: "sh".to_owned() };
    let command = shell("echo out; echo err >&2; exit 2", folder.path());
    let output = play(Command { report, ..command }).await;
    assert_eq!(output.text, "STDOUT:\nout\nSTDERR:\nerr\n[exit code 2; run with sh]");
}

#[tokio::test]
async fn a_command_has_its_own_session_and_only_three_descriptors() {
    let inherited = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    let text =
        played("ls /proc/$$/fd; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo own").await.text;
    assert_eq!(text, "0\n1\n2\nown\n[exit code 0]");
}

#[tokio::test]
async fn keys_stay_out_of_a_commands_environment() {
    let folder = tempfile::tempdir().unwrap();
    let vars = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MY_TOKEN"]
        .map(|name| (name.to_owned(), "sk-TESTSECRET".to_owned()));
    let vars = vars.into_iter().chain(std::env::vars());
    let command = Command { environment: environment(vars), ..shell("env", folder.path()) };
    let text = play(command).await.text;
    assert!(text.contains("PATH=") && !text.contains("sk-TESTSECRET"), "{text}");
}

#[tokio::test]
async fn no_piece_of_a_key_is_told_where_output_is_cut() {
    // The cuts fall at every place of the key, one line after the other.
    for shift in (0..24).step_by(3) {
        let line = format!(
            "printf '%{shift}s' ''; for i in $(seq 3000); do printf 'sk-TESTSECRET-123456.'; done"
        );
        let told = played(&line).await.text;
        assert!(told.contains("left out here") && told.contains("[redacted]"), "{told}");
        let pieces = told.replace("[redacted]", "");
        assert!(!pieces.contains("sk-T") && !pieces.contains("123456"), "shift {shift}: {pieces}");
    }
}
