//! The real agent, real tools, a temporary workspace and a scripted model.

use trefoil::agent::{AgentEvent, AgentRequest, Approval, Live, Verdict};
use trefoil::config::Mode;
use trefoil::session::{CallId, Message, Part, Proposal, Record, TurnEnd, Why};

use crate::support::desk::{Desk, Plan};

const EDIT: &str = r#"
    [[reply]]
    text = "I change it."
    calls = [{ tool = "edit_file", args = { path = "a.txt", old_str = "one", new_str = "ONE" } }]
    [[reply]]
    text = "Done."
"#;

fn accept(_: &Approval) -> Verdict {
    Verdict::Accept
}

fn approved_call(event: &AgentEvent) -> Option<CallId> {
    match event {
        AgentEvent::Live(Live::Approval(approval)) => Some(approval.call.clone()),
        _ => None,
    }
}

/// Every call in the conversation has exactly one result, right behind its reply, in call order.
fn assert_paired(messages: &[Message]) {
    for (at, message) in messages.iter().enumerate() {
        let Message::Assistant(reply) = message else { continue };
        let calls: Vec<_> = reply.calls().map(|call| &call.id).collect();
        if calls.is_empty() {
            continue;
        }
        let Some(Message::Results { results }) = messages.get(at + 1) else {
            panic!("calls without results: {messages:#?}")
        };
        assert_eq!(results.iter().map(|result| &result.id).collect::<Vec<_>>(), calls);
    }
}

#[tokio::test]
async fn what_is_approved_is_what_is_written() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\ntwo\n");
    let turn = desk.say("change it", Verdict::Accept).await;

    let [approval] = turn.approvals.as_slice() else { panic!("{:?}", turn.approvals) };
    let Proposal::Change { files } = &approval.calls[0].proposal else { panic!("{approval:?}") };
    assert_eq!((files[0].path.as_str(), files[0].added, files[0].removed), ("a.txt", 1, 1));
    assert_eq!(approval.rule.as_deref(), Some("edit_file(a.txt)"));
    assert_eq!(desk.read("a.txt"), "ONE\ntwo\n");
    assert_eq!(turn.last_text(), "Done.");
    assert_eq!(turn.end(), &TurnEnd::Done);
}

#[tokio::test]
async fn nothing_is_written_before_the_word_is_given() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    desk.send(AgentRequest::Prompt("change it".to_owned())).await;
    let call = desk.until(approved_call).await;
    assert_eq!(desk.read("a.txt"), "one\n");
    desk.send(AgentRequest::Answer { call, verdict: Verdict::Accept }).await;
    desk.finish(&mut accept).await;
    assert_eq!(desk.read("a.txt"), "ONE\n");
}

#[tokio::test]
async fn a_rejection_reaches_the_model_with_its_comment_and_the_turn_goes_on() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    let comment = Some("use lower case".to_owned());
    let turn = desk.say("change it", Verdict::Reject { comment }).await;
    let results = turn.results();
    assert!(!results[0].ok && results[0].text.contains("use lower case"), "{results:?}");
    assert_eq!(desk.read("a.txt"), "one\n");
    assert_eq!(turn.end(), &TurnEnd::Done);
}

#[tokio::test]
async fn reject_and_stop_ends_the_turn_and_the_next_one_can_go_on() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "write_file", args = { path = "a.txt", content = "x" } },
          { tool = "read_file", args = { path = "b.txt" } },
        ]
        [[reply]]
        text = "Going on."
        "#,
    ));
    let turn = desk.say("go", Verdict::Stop).await;
    assert_eq!(turn.end(), &TurnEnd::Stopped);
    assert_eq!(turn.results().len(), 2);
    assert!(!desk.has("a.txt"));
    assert_paired(&desk.conversation().messages());

    let turn = desk.say("and now?", Verdict::Stop).await;
    assert_eq!(turn.last_text(), "Going on.");
}

#[tokio::test]
async fn always_grants_this_target_for_the_session_and_no_other() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [{ tool = "run_command", args = { command = "touch a" } }]
        [[reply]]
        calls = [{ tool = "run_command", args = { command = "touch a", timeout_s = 5 } }]
        [[reply]]
        calls = [{ tool = "run_command", args = { command = "touch b" } }]
        [[reply]]
        text = "Done."
        "#,
    ));
    let turn = desk.say("go", Verdict::Always).await;
    let asked: Vec<_> =
        turn.approvals.iter().map(|a| a.calls[0].proposal.subjects().join("")).collect();
    assert_eq!(asked, ["touch a", "touch b"]);
    let by_rule = turn.records.iter().any(|record| {
        matches!(record, Record::Decided { allowed: true, why: Why::Rule { rule }, .. } if rule == "run_command(touch a)")
    });
    assert!(by_rule, "{:?}", turn.records);
}

#[tokio::test]
async fn accept_edits_lets_changes_stand_and_still_asks_for_commands() {
    let mut desk = Desk::open(
        Plan::new(
            r#"
            [[reply]]
            calls = [
              { tool = "write_file", args = { path = "new/a.txt", content = "x\n" } },
              { tool = "run_command", args = { command = "touch PWNED" } },
            ]
            [[reply]]
            text = "Done."
            "#,
        )
        .mode(Mode::AcceptEdits),
    );
    let turn = desk.say("go", Verdict::Reject { comment: None }).await;
    assert_eq!(turn.approvals.len(), 1);
    assert_eq!(desk.read("new/a.txt"), "x\n");
    assert!(!desk.has("PWNED"));
}

#[tokio::test]
async fn plan_mode_changes_and_runs_nothing_and_asks_nobody() {
    let mut desk = Desk::open(
        Plan::new(
            r#"
            [[reply]]
            calls = [
              { tool = "write_file", args = { path = "a.txt", content = "x" } },
              { tool = "run_command", args = { command = "touch PWNED" } },
              { tool = "read_file", args = { path = "b.txt" } },
            ]
            [[reply]]
            text = "This is what I would do."
            "#,
        )
        .mode(Mode::Plan),
    );
    desk.write("b.txt", "beta\n");
    let turn = desk.say("go", Verdict::Accept).await;
    assert!(turn.approvals.is_empty());
    assert!(!desk.has("a.txt") && !desk.has("PWNED"));
    assert_eq!(
        turn.results().iter().map(|result| result.ok).collect::<Vec<_>>(),
        [false, false, true]
    );
}

#[tokio::test]
async fn unknown_tools_and_broken_arguments_are_told_and_the_valid_call_runs() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "bash_commands", args = { command = "ls" } },
          { tool = "Read_File", args = { path = "a.txt" } },
          { tool = "functions.read_file", args = { path = "a.txt" } },
          { tool = "read_file", args = { path = "a.txt" } },
          { tool = "write_file", malformed = '{"path":"b.txt","content":"ha' },
          { tool = "read_file", args = { file = "a.txt" } },
        ]
        [[reply]]
        text = "I see."
        "#,
    ));
    desk.write("a.txt", "alpha\n");
    let turn = desk.say("go", Verdict::Accept).await;
    let results = turn.results();
    assert_eq!(
        results.iter().map(|result| result.ok).collect::<Vec<_>>(),
        [false, false, false, true, false, false]
    );
    assert!(results[0].text.contains("read_file"), "{}", results[0].text);
    assert!(results[3].text.contains("alpha"));
    assert!(results[5].text.contains("path"), "{}", results[5].text);
    assert!(!desk.has("b.txt"));
    assert_eq!(turn.end(), &TurnEnd::Done);
    assert_paired(&desk.conversation().messages());
}

#[tokio::test]
async fn parallel_calls_are_answered_in_order() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "read_file", args = { path = "a.txt" } },
          { tool = "read_file", args = { path = "b.txt" } },
          { tool = "grep_search", args = { pattern = "alpha" } },
        ]
        [[reply]]
        text = "Read."
        "#,
    ));
    desk.write("a.txt", "alpha\n");
    desk.write("b.txt", "beta\n");
    let turn = desk.say("go", Verdict::Accept).await;
    let Some(Record::Replied { reply, .. }) =
        turn.records.iter().find(|record| matches!(record, Record::Replied { .. }))
    else {
        panic!("no reply")
    };
    assert_eq!(turn.ids(), reply.calls().map(|call| call.id.clone()).collect::<Vec<_>>());
    assert!(turn.results()[0].text.contains("alpha") && turn.results()[1].text.contains("beta"));
}

const LOOP: &str = r#"
    [[reply]]
    label = "again"
    calls = [{ tool = "read_file", args = { path = "a.txt" } }]
    then = "again"
"#;

#[tokio::test]
async fn a_model_that_repeats_itself_is_told_and_then_the_person_is_asked() {
    let mut desk = Desk::open(Plan::new(LOOP));
    desk.write("a.txt", "alpha\n");
    let turn = desk.say("go", Verdict::Stop).await;
    let results = turn.results();
    assert!(results[0].ok);
    assert!(results[1].text.contains("exact call") && results[1].text.contains("alpha"));
    assert_eq!(turn.approvals.len(), 1);
    assert_eq!(turn.end(), &TurnEnd::Stopped);
}

#[tokio::test]
async fn with_nobody_to_ask_the_repeating_model_is_stopped() {
    let mut desk = Desk::open(Plan::new(LOOP).unattended());
    desk.write("a.txt", "alpha\n");
    let turn = desk.say("go", Verdict::Accept).await;
    let TurnEnd::Failed { message, .. } = turn.end() else { panic!("{:?}", turn.end()) };
    assert!(message.contains("same call"), "{message}");
    assert_paired(&desk.conversation().messages());
}

#[tokio::test]
async fn the_turn_limit_ends_a_turn_that_never_ends() {
    let mut desk = Desk::open(
        Plan::new(
            r#"
            [[reply]]
            label = "a"
            calls = [{ tool = "list_files", args = {} }]
            [[reply]]
            calls = [{ tool = "git_status", args = {} }]
            then = "a"
            "#,
        )
        .max_turns(5),
    );
    let turn = desk.say("go", Verdict::Accept).await;
    assert_eq!(turn.end(), &TurnEnd::Limit { requests: 5 });
    assert_paired(&desk.conversation().messages());
}

#[tokio::test]
async fn an_edit_that_changes_nothing_is_refused_with_that_reason() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "edit_file", args = { path = "a.txt", old_str = "one", new_str = "one" } },
          { tool = "write_file", args = { path = "a.txt", content = "one\n" } },
        ]
        [[reply]]
        text = "I see."
        "#,
    ));
    desk.write("a.txt", "one\n");
    let turn = desk.say("go", Verdict::Accept).await;
    assert!(turn.approvals.is_empty());
    for result in turn.results() {
        assert!(!result.ok && result.text.contains("nothing"), "{}", result.text);
    }
}

#[tokio::test]
async fn with_nobody_to_ask_the_model_learns_which_rule_would_admit_it() {
    let script = r#"
        [[reply]]
        calls = [
          { tool = "run_command", args = { command = "touch PWNED" } },
          { tool = "run_command", args = { command = "touch PWNED; ls" } },
        ]
        [[reply]]
        text = "I could not."
    "#;
    let mut desk = Desk::open(Plan::new(script).unattended());
    let turn = desk.say("go", Verdict::Accept).await;
    let results = turn.results();
    assert!(results[0].text.contains("--allow 'run_command(touch PWNED)'"), "{}", results[0].text);
    assert!(results[1].text.contains("no rule can"), "{}", results[1].text);
    assert!(!desk.has("PWNED"));
    assert_eq!(turn.end(), &TurnEnd::Done);
}

#[tokio::test]
async fn an_allow_rule_lets_a_command_stand() {
    let script = r#"
        [[reply]]
        calls = [{ tool = "run_command", args = { command = "touch made" } }]
        [[reply]]
        text = "Made."
    "#;
    let mut desk = Desk::open(Plan::new(script).unattended().allow("run_command(touch *)"));
    let turn = desk.say("go", Verdict::Accept).await;
    assert!(desk.has("made"), "{:?}", turn.results());
}

#[tokio::test]
async fn an_interrupt_in_the_middle_of_the_stream_keeps_what_was_said() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        text = "This is the beginning of a long answer that never comes to its end."
        fault = { kind = "hang" }
        [[reply]]
        text = "Back again."
        "#,
    ));
    desk.send(AgentRequest::Prompt("talk".to_owned())).await;
    desk.until(|event| matches!(event, AgentEvent::Live(Live::TextDelta { .. })).then_some(()))
        .await;
    desk.send(AgentRequest::Interrupt).await;
    let turn = desk.finish(&mut accept).await;
    assert_eq!(turn.end(), &TurnEnd::Interrupted);
    assert!(turn.last_text().starts_with("This is"), "{}", turn.last_text());

    let turn = desk.say("are you there?", Verdict::Accept).await;
    assert_eq!(turn.last_text(), "Back again.");
    assert_paired(&desk.conversation().messages());
}

#[tokio::test]
async fn an_interrupt_in_the_middle_of_a_command_kills_it_and_answers_every_call() {
    let mut desk = Desk::open(Plan::new(
        r#"
            [[reply]]
            calls = [
              { tool = "run_command", args = { command = "echo started; sleep 300" } },
              { tool = "read_file", args = { path = "a.txt" } },
            ]
            [[reply]]
            text = "Going on."
            "#,
    ));
    desk.send(AgentRequest::Prompt("go".to_owned())).await;
    loop {
        match desk.next().await {
            AgentEvent::Live(Live::Approval(approval)) => {
                let verdict = Verdict::Accept;
                desk.send(AgentRequest::Answer { call: approval.call, verdict }).await;
            }
            AgentEvent::Live(Live::OutputDelta { text, .. }) if text.contains("started") => break,
            _ => {}
        }
    }
    desk.send(AgentRequest::Interrupt).await;
    let turn = desk.finish(&mut accept).await;
    assert_eq!(turn.end(), &TurnEnd::Interrupted);
    assert_eq!(turn.results().len(), 2);
    assert!(turn.results()[0].text.contains("nterrupted"), "{}", turn.results()[0].text);
    assert_paired(&desk.conversation().messages());

    let turn = desk.say("continue", Verdict::Accept).await;
    assert_eq!(turn.last_text(), "Going on.");
}

#[tokio::test]
async fn an_interrupt_while_an_approval_waits_leaves_the_file_alone() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    desk.send(AgentRequest::Prompt("change it".to_owned())).await;
    desk.until(|event| matches!(event, AgentEvent::Live(Live::Approval(_))).then_some(())).await;
    desk.send(AgentRequest::Interrupt).await;
    let turn = desk.finish(&mut accept).await;
    assert_eq!(turn.end(), &TurnEnd::Interrupted);
    assert_eq!(desk.read("a.txt"), "one\n");
    assert_paired(&desk.conversation().messages());
}

#[tokio::test]
async fn a_message_typed_meanwhile_goes_with_the_next_request() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    desk.send(AgentRequest::Prompt("change it".to_owned())).await;
    let call = desk.until(approved_call).await;
    desk.send(AgentRequest::Prompt("and be quick".to_owned())).await;
    desk.until(|event| matches!(event, AgentEvent::Live(Live::Queued { .. })).then_some(())).await;
    desk.send(AgentRequest::Answer { call, verdict: Verdict::Accept }).await;
    desk.finish(&mut accept).await;
    let messages = desk.conversation().messages();
    let said = Message::User { text: "and be quick".to_owned() };
    let at =
        messages.iter().position(|message| *message == said).expect("it is in the conversation");
    assert!(matches!(messages[at - 1], Message::Results { .. }));
    assert!(matches!(&messages[at + 1], Message::Assistant(reply) if reply.text() == "Done."));
}

#[tokio::test]
async fn a_queued_message_can_be_taken_back_and_comes_back_after_an_interrupt() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    desk.send(AgentRequest::Prompt("change it".to_owned())).await;
    desk.until(|event| matches!(event, AgentEvent::Live(Live::Approval(_))).then_some(())).await;
    for text in ["first", "second"] {
        desk.send(AgentRequest::Prompt(text.to_owned())).await;
    }
    desk.send(AgentRequest::Unqueue).await;
    let unqueued = |event: &AgentEvent| match event {
        AgentEvent::Live(Live::Unqueued { text }) => Some(text.clone()),
        _ => None,
    };
    assert_eq!(desk.until(unqueued).await, "second");
    desk.send(AgentRequest::Prompt("third".to_owned())).await;
    desk.send(AgentRequest::Interrupt).await;
    assert_eq!(desk.until(unqueued).await, "third", "the last goes into the draft first");
    assert_eq!(desk.until(unqueued).await, "first", "and the first before it");
    let turn = desk.finish(&mut accept).await;
    assert_eq!(turn.end(), &TurnEnd::Interrupted);
}

#[tokio::test]
async fn a_file_that_changes_under_an_open_approval_is_never_overwritten_unseen() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    let path = desk.root().join("a.txt");
    let mut times = 0;
    let turn = desk
        .say_and_answer("change it", |approval| {
            times += 1;
            if times == 1 {
                std::fs::write(&path, "zero\none\n").unwrap();
            } else {
                let Proposal::Change { files } = &approval.calls[0].proposal else { panic!() };
                assert_eq!(
                    files[0].hunks[0].lines.len(),
                    3,
                    "the diff is against what is there now"
                );
            }
            Verdict::Accept
        })
        .await;
    assert_eq!(turn.approvals.len(), 2);
    assert_eq!(desk.read("a.txt"), "zero\nONE\n");
}

#[tokio::test]
async fn a_session_opened_again_goes_on_with_the_same_conversation() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    desk.say("change it", Verdict::Accept).await;
    let before = desk.conversation().messages();
    desk.reopen().await;
    let turn = desk.say("once more", Verdict::Accept).await;
    assert!(turn.last_text().contains("nothing more") || !turn.last_text().is_empty());
    let after = desk.conversation().messages();
    assert_eq!(after[..before.len()], before[..]);
}

#[tokio::test]
async fn a_faulty_server_is_asked_again_and_what_it_half_said_does_not_count() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        text = "Here is the whole answer, in one piece."
        fault = { kind = "cut" }
        "#,
    ));
    let turn = desk.say("go", Verdict::Accept).await;
    assert_eq!(turn.last_text(), "Here is the whole answer, in one piece.");
    let replies = turn.records.iter().filter(|record| matches!(record, Record::Replied { .. }));
    assert_eq!(replies.count(), 1);
}

#[tokio::test]
async fn a_failure_ends_the_turn_with_a_sentence_and_keeps_the_prompt() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        text = "Never said."
        fault = { kind = "quota" }
        "#,
    ));
    let turn = desk.say("a long and careful question", Verdict::Accept).await;
    assert!(matches!(turn.end(), TurnEnd::Failed { .. }), "{:?}", turn.end());
    let messages = desk.conversation().messages();
    assert!(
        matches!(&messages[0], Message::User { text } if text == "a long and careful question"),
        "{messages:?}"
    );
    let turn = desk.say("again", Verdict::Accept).await;
    assert_eq!(turn.last_text(), "Never said.");
}

#[tokio::test]
async fn every_call_has_one_record_of_why_it_ran() {
    let mut desk = Desk::open(Plan::new(EDIT));
    desk.write("a.txt", "one\n");
    let turn = desk.say("change it", Verdict::Accept).await;
    let why: Vec<_> = turn
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Decided { why, .. } => Some(why.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(why, [Why::Person { comment: None }]);
    let logged: Vec<_> = desk.log().into_iter().skip(1).collect();
    assert_eq!(logged, turn.records, "what was told is what was written");
    assert!(matches!(desk.log()[2], Record::Replied { ref reply, .. }
        if reply.parts.iter().any(|part| matches!(part, Part::Call(_)))));
}

#[tokio::test]
async fn a_mode_chosen_meanwhile_holds_from_the_next_decision_on() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        calls = [
          { tool = "write_file", args = { path = "a.txt", content = "a\n" } },
          { tool = "write_file", args = { path = "b.txt", content = "b\n" } },
        ]
        [[reply]]
        text = "Done."
        "#,
    ));
    desk.send(AgentRequest::Prompt("go".to_owned())).await;
    let call = desk.until(approved_call).await;
    desk.send(AgentRequest::SetMode(Mode::AcceptEdits)).await;
    desk.send(AgentRequest::Answer { call, verdict: Verdict::Accept }).await;
    let turn = desk.finish(&mut accept).await;
    assert!(turn.approvals.is_empty(), "{:?}", turn.approvals);
    assert_eq!(desk.read("b.txt"), "b\n");
}

#[tokio::test]
async fn an_approved_call_that_repeats_is_noticed_all_the_same() {
    let mut desk = Desk::open(Plan::new(
        r#"
        [[reply]]
        label = "again"
        calls = [{ tool = "run_command", args = { command = "echo hello" } }]
        then = "again"
        "#,
    ));
    let mut times = 0;
    let turn = desk
        .say_and_answer("go", |_| {
            times += 1;
            if times == 1 { Verdict::Accept } else { Verdict::Stop }
        })
        .await;
    assert!(turn.results()[1].text.contains("exact call"), "{}", turn.results()[1].text);
    assert_eq!(turn.approvals.len(), 2);
    assert!(turn.approvals[1].reason.contains("again"), "{}", turn.approvals[1].reason);
}
