//! What a hostile model, a hasty person or a killed process must not bring about.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use trefoil::agent::{AgentEvent, AgentRequest, Live, Verdict};
use trefoil::session::{Message, Record, TurnEnd};

use crate::support::desk::{Desk, Plan};
use crate::support::server::{Answer, KEY, Server};

fn is_approval(event: &AgentEvent) -> Option<()> {
    matches!(event, AgentEvent::Live(Live::Approval(_))).then_some(())
}

fn is_output(event: &AgentEvent) -> Option<()> {
    matches!(event, AgentEvent::Live(Live::OutputDelta { .. })).then_some(())
}

/// A command that says its process id into `pid` and out loud, and stays.
const STAY: &str = r#"
    [[reply]]
    calls = [{ tool = "run_command", args = { command = "sleep 3600 & echo $! > pid; echo here; wait" } }]
    [[reply]]
    text = "Done."
"#;

/// Waits until the process that a file names is gone.
async fn assert_ends(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap();
    let status = Path::new("/proc").join(pid.trim()).join("stat");
    let runs = || std::fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    let until = Instant::now() + Duration::from_secs(10);
    while runs() {
        assert!(Instant::now() < until, "process {pid} still runs");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn clearing_in_the_middle_of_a_turn_ends_it_and_the_next_begins_anew() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [{ tool = "write_file", args = { path = "a", content = "x" } }]
        [[reply]]
        text = "After it."
        "#,
    ));
    desk.send(AgentRequest::Prompt("first".to_owned())).await;
    desk.until(is_approval).await;
    desk.send(AgentRequest::Clear).await;
    let turn = desk.finish(&mut |_| Verdict::Accept).await;
    assert_eq!(turn.end(), &TurnEnd::Interrupted);
    assert!(!desk.has("a"));

    let turn = desk.say("second", Verdict::Reject { comment: None }).await;
    assert_eq!(turn.end(), &TurnEnd::Done);
    let messages = desk.conversation().messages();
    assert_eq!(messages[0], Message::User { text: "second".to_owned() });
}

#[tokio::test]
async fn a_second_yes_never_counts_for_a_change_that_was_not_yet_shown() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [{ tool = "edit_file", args = { path = "a", old_str = "one", new_str = "ONE" } }]
        [[reply]]
        text = "Done."
        "#,
    ));
    desk.write("a", "one\n");
    desk.send(AgentRequest::Prompt("go".to_owned())).await;
    let call = desk
        .until(|event| match event {
            AgentEvent::Live(Live::Approval(approval)) => Some(approval.call.clone()),
            _ => None,
        })
        .await;
    desk.write("a", "zero\none\n");
    for _ in 0..2 {
        desk.send(AgentRequest::Answer { call: call.clone(), verdict: Verdict::Accept }).await;
    }
    let turn = desk.finish(&mut |_| Verdict::Reject { comment: None }).await;
    assert_eq!(turn.approvals.len(), 1, "the new diff is asked anew");
    assert_eq!(desk.read("a"), "zero\none\n");
}

#[tokio::test]
async fn a_thousand_messages_typed_meanwhile_all_arrive_in_order() {
    let mut desk = Desk::open(Plan::new(STAY));
    desk.send(AgentRequest::Prompt("go".to_owned())).await;
    desk.until(is_approval).await;
    for number in 0..1000 {
        desk.send(AgentRequest::Prompt(format!("m{number}."))).await;
        desk.until(|event| matches!(event, AgentEvent::Live(Live::Queued { .. })).then_some(()))
            .await;
    }
    desk.send(AgentRequest::Interrupt).await;
    let mut back = Vec::new();
    desk.until(|event| match event {
        AgentEvent::Live(Live::Unqueued { text }) => {
            back.push(text.clone());
            None
        }
        AgentEvent::Live(Live::Idle) => Some(()),
        _ => None,
    })
    .await;
    // Each goes before what is in the draft already, so there they stand in the order they were said.
    assert_eq!(back, (0..1000).rev().map(|number| format!("m{number}.")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_front_end_that_goes_takes_the_running_command_with_it() {
    let mut desk = Desk::open(Plan::new(STAY));
    desk.send(AgentRequest::Prompt("go".to_owned())).await;
    let call = desk
        .until(|event| match event {
            AgentEvent::Live(Live::Approval(approval)) => Some(approval.call.clone()),
            _ => None,
        })
        .await;
    desk.send(AgentRequest::Answer { call, verdict: Verdict::Accept }).await;
    desk.until(is_output).await;
    desk.leave();
    assert_ends(&desk.root().join("pid")).await;
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_told_and_breaks_nothing() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "run_command", args = { command = "rm -rf \"$PWD\"" } },
          { tool = "run_command", args = { command = "true" } },
          { tool = "read_file", args = { path = "a" } },
          { tool = "write_file", args = { path = "b", content = "x" } },
          { tool = "list_files", args = {} },
          { tool = "grep_search", args = { pattern = "x" } },
          { tool = "git_status", args = {} },
        ]
        [[reply]]
        text = "Still here."
        "#,
    ));
    desk.write("a", "x\n");
    let turn = desk.say("go", Verdict::Accept).await;
    assert_eq!(turn.last_text(), "Still here.");
    let told: Vec<_> = turn.results().iter().map(|result| (result.ok, &*result.text)).collect();
    assert!(told[0].0, "{told:?}");
    assert!(told[1].1.contains("folder"), "the folder is what is missing: {told:?}");
}

#[tokio::test]
async fn a_thousand_calls_and_a_megabyte_of_arguments_are_all_answered() {
    let calls = r#"{ tool = "no_such", args = {} },"#.repeat(1000);
    let content = "x\n".repeat(500_000);
    let script = format!(
        "[[reply]]\ncalls = [{calls}]\n[[reply]]\n\
         calls = [{{ tool = \"write_file\", args = {{ path = \"a\", content = '''{content}''' }} }}]\n\
         [[reply]]\ntext = \"Done.\"\n"
    );
    let mut desk = Desk::open(Plan::new(&script));
    let turn = desk.say("go", Verdict::Accept).await;
    assert_eq!(turn.results().len(), 1001);
    assert_eq!(desk.read("a").len(), content.len());
    assert_eq!(turn.last_text(), "Done.");
}

/// Runs the program without a screen, with nothing of this machine's environment but the path.
fn trefoil(home: &Path, workspace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("TREFOIL_HOME", home).arg("-p").current_dir(workspace);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[tokio::test]
async fn a_run_without_a_screen_that_is_told_to_end_takes_its_command_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "[[reply]]\ncalls = [{ tool = \"run_command\", args = { command = \"sh stay\" } }]";
    std::fs::write(folder.path().join("script.toml"), script).unwrap();
    std::fs::write(
        folder.path().join("stay"),
        "echo $$ > pid.new; mv pid.new pid; exec sleep 3600",
    )
    .unwrap();
    let child = trefoil(&folder.path().join("home"), folder.path())
        .args(["-m", "scripted/script.toml", "--allow", "run_command(sh stay)", "go"])
        .spawn()
        .unwrap();
    let pid = folder.path().join("pid");
    let until = Instant::now() + Duration::from_secs(20);
    while !pid.exists() {
        assert!(Instant::now() < until, "the command never started");
        tokio::task::yield_now().await;
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_ends(&pid).await;
}

/// The log is cut after each of its lines, as a kill would leave it, and the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_killed_after_any_record_goes_on_with_a_strict_server() {
    let call = |name: &str, args: serde_json::Value| json!({ "functionCall": { "name": name, "args": args } });
    let mut first = call("read_file", json!({ "path": "a" }));
    first["thoughtSignature"] = "c2ln+/Mg==".into();
    let mut third = call("write_file", json!({ "path": "b", "content": "x\n" }));
    third["thoughtSignature"] = "c2lnMg==".into();
    let steps = [
        json!([{ "text": "Hm.", "thought": true }, first, call("git_status", json!({}))]),
        json!([{ "text": "I write." }, third]),
        json!([{ "text": "Done." }, { "text": "", "thoughtSignature": "ZW5k" }]),
    ];
    let goes_on = std::iter::repeat_n(json!([{ "text": "On." }]), 60);
    let server = Server::start(steps.into_iter().chain(goes_on).map(Answer::reply)).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "x\n").unwrap();
    let home = folder.path().join("home");
    let run = |home: &Path, arguments: &[&str]| {
        let mut command = trefoil(home, folder.path());
        command.env("GEMINI_API_KEY", KEY).env("GOOGLE_GEMINI_BASE_URL", &server.address);
        command.args(["--approval-mode", "accept-edits"]).args(arguments).output().unwrap()
    };
    let output = run(&home, &["go"]);
    assert!(output.status.success(), "{output:?}");

    let sessions = home.join("data/sessions");
    let sessions = if sessions.exists() { sessions } else { home.join("sessions") };
    let session = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let log = session.join("log.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    assert!(ends.len() > 12, "{whole}");
    for end in ends.iter().flat_map(|end| [*end, end - 3]) {
        std::fs::write(&log, &whole[..end]).unwrap();
        let id = session.file_name().unwrap().to_str().unwrap();
        let output = run(&home, &["-r", id, "go on"]);
        let sent = server.requests().pop().unwrap();
        assert!(output.status.success(), "cut at {end}: {output:?}\n{sent:#}");
        let signed = sent.to_string().matches("c2ln+/Mg==").count();
        let kept = whole[..end]
            .lines()
            .filter(|line| line.ends_with('}'))
            .any(|line| line.contains("c2ln+/Mg=="));
        assert_eq!(signed, usize::from(kept), "cut at {end}: {sent:#}");
    }
    let last = std::fs::read_to_string(&log).unwrap();
    assert!(
        last.lines().all(|line| serde_json::from_str::<Record>(line).is_ok() || line.len() > 2)
    );
}
