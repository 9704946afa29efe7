//! The path of a tool call: intend → decide → (ask) → carry out → record.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::inbox::Interrupted;
use super::journal::Journal;
use super::permission::{self, Ruling};
use super::protocol::{Approval, Live, Verdict};
use super::repeat::Repeated;
use crate::session::{
    Failure, LogError, Proposal, Record, ToolCall, ToolResult, TurnEnd, View, Why,
};
use crate::tool::{self, Context, Intent, Look, Outcome, Refusal, Tool};
use crate::workspace::shell;
use crate::workspace::{ApplyError, Change, Command, Ended, FileDiff, FileKind};

/// Times a change is computed anew because the file changed under it.
const REBASES: u32 = 3;

const INTERRUPTED: &str = "Interrupted by the person; the tool may have partly run.";
const NOT_RUN: &str = "Not run: the person stopped the turn before this call.";

/// What a call came to.
enum Step {
    Done(Outcome),
    /// The file changed since the intent was computed.
    Drifted(String),
    Interrupted(Outcome),
}

/// Whether a call may act.
enum Permit {
    Granted,
    Refused(String),
    Ended(TurnEnd, String),
}

impl Agent {
    /// Answers every call of a reply in order; an end of the turn answers the rest with why they never ran.
    pub(super) async fn answer(&mut self, calls: &[ToolCall]) -> Result<Option<TurnEnd>, LogError> {
        for (done, call) in calls.iter().enumerate() {
            if let Some(end) = self.call(call).await? {
                for rest in &calls[done + 1..] {
                    self.finish(rest, Outcome::told(false, NOT_RUN), Instant::now()).await?;
                }
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    async fn call(&mut self, call: &ToolCall) -> Result<Option<TurnEnd>, LogError> {
        let is_repeated = match self.repeat.notice(call) {
            Repeated::No => false,
            Repeated::Tell(text) => return self.refuse(call, &text).await.map(|()| None),
            Repeated::Ask => true,
        };
        let Some(tool) = tool::find(&call.name) else {
            return self.refuse(call, &unknown(&call.name)).await.map(|()| None);
        };
        if let Some(fault) = &call.fault {
            return self.refuse(call, fault).await.map(|()| None);
        }
        self.attempt(call, tool, is_repeated).await
    }

    /// Intends, asks and acts; a change whose file moved under it is computed and asked anew.
    async fn attempt(
        &mut self,
        call: &ToolCall,
        tool: &'static dyn Tool,
        is_repeated: bool,
    ) -> Result<Option<TurnEnd>, LogError> {
        let mut drift = String::new();
        for _ in 0..REBASES {
            let started = Instant::now();
            let intent = match intend(tool, call, &self.context).await {
                Ok(intent) => intent,
                Err(refusal) => return self.refuse(call, &refusal.0).await.map(|()| None),
            };
            let proposal = intent.proposal();
            let tool = call.name.clone();
            let record =
                Record::Proposed { call: call.id.clone(), tool, proposal: proposal.clone() };
            self.journal.record(record).await?;
            match self.permit(call, &proposal, is_repeated).await? {
                Permit::Granted => {}
                Permit::Refused(text) => {
                    self.finish(call, Outcome::told(false, text), started).await?;
                    return Ok(None);
                }
                Permit::Ended(end, text) => {
                    self.finish(call, Outcome::told(false, text), started).await?;
                    return Ok(Some(end));
                }
            }
            let acting = Instant::now();
            match self.carry_out(call, intent).await? {
                Step::Done(outcome) => {
                    self.finish(call, outcome, acting).await?;
                    return Ok(None);
                }
                Step::Interrupted(outcome) => {
                    self.finish(call, outcome, acting).await?;
                    return Ok(Some(TurnEnd::Interrupted));
                }
                Step::Drifted(text) => drift = text,
            }
        }
        self.finish(call, Outcome::told(false, drift), Instant::now()).await?;
        Ok(None)
    }

    /// Rules, mode and, where they leave it open, the person.
    async fn permit(
        &mut self,
        call: &ToolCall,
        proposal: &Proposal,
        is_repeated: bool,
    ) -> Result<Permit, LogError> {
        if let Some(mode) = self.inbox.take_mode() {
            self.set_mode(mode).await?;
        }
        let ruling = permission::decide(self.mode, &self.rules, &call.name, proposal);
        let reason = match ruling {
            Ruling::Allow(why) if !is_repeated => {
                self.decided(call, true, why).await?;
                return Ok(Permit::Granted);
            }
            Ruling::Deny { why, text } => {
                self.decided(call, false, why).await?;
                return Ok(Permit::Refused(text));
            }
            Ruling::Ask { reason } if !is_repeated => reason,
            _ => "the model makes this same call again and again".to_owned(),
        };
        if self.is_attended {
            if is_repeated {
                self.repeat.reset();
            }
            return self.ask_person(call, proposal, reason).await;
        }
        if is_repeated {
            let end = TurnEnd::Failed { kind: Failure::Other, message: REPEATS.to_owned() };
            self.decided(call, false, Why::Refused).await?;
            return Ok(Permit::Ended(end, REPEATS.to_owned()));
        }
        self.nobody(call, proposal).await
    }

    async fn ask_person(
        &mut self,
        call: &ToolCall,
        proposal: &Proposal,
        reason: String,
    ) -> Result<Permit, LogError> {
        let rule = permission::exact_rule(&call.name, proposal);
        let approval = Approval {
            call: call.id.clone(),
            tool: call.name.clone(),
            proposal: proposal.clone(),
            reason,
            rule: rule.clone(),
        };
        let Ok(verdict) = self.ask_now(approval).await else {
            self.decided(call, false, Why::Person { comment: None }).await?;
            return Ok(Permit::Ended(TurnEnd::Interrupted, NOT_RUN.to_owned()));
        };
        self.take_verdict(call, verdict, rule).await
    }

    async fn ask_now(&mut self, approval: Approval) -> Result<Verdict, Interrupted> {
        let call = approval.call.clone();
        self.inbox.forget_answers().await?;
        self.journal.live(Live::Approval(approval)).await;
        self.inbox.verdict(&call).await
    }

    async fn take_verdict(
        &mut self,
        call: &ToolCall,
        verdict: Verdict,
        rule: Option<String>,
    ) -> Result<Permit, LogError> {
        if let (Verdict::Always, Some(rule)) = (&verdict, rule) {
            self.grant(rule).await?;
        }
        let comment = match &verdict {
            Verdict::Reject { comment } => comment.clone(),
            _ => None,
        };
        let is_granted = matches!(verdict, Verdict::Accept | Verdict::Always);
        self.decided(call, is_granted, Why::Person { comment: comment.clone() }).await?;
        Ok(match verdict {
            Verdict::Accept | Verdict::Always => Permit::Granted,
            Verdict::Reject { .. } => Permit::Refused(declined(comment.as_deref())),
            Verdict::Stop => Permit::Ended(TurnEnd::Stopped, declined(None)),
        })
    }

    async fn grant(&mut self, rule: String) -> Result<(), LogError> {
        match self.rules.grant(&rule) {
            Ok(()) => self.journal.record(Record::Allowed { rule }).await,
            Err(error) => self.warn(error.to_string()).await,
        }
    }

    async fn nobody(&mut self, call: &ToolCall, proposal: &Proposal) -> Result<Permit, LogError> {
        let rule = permission::exact_rule(&call.name, proposal);
        let text = match &rule {
            Some(rule) => format!(
                "Not done: it needs an approval and nobody is there to give one. \
                 The person can admit it with --allow '{rule}'. Go on without it."
            ),
            None => "Not done: it needs an approval, nobody is there to give one, and no rule can \
                     admit a line with shell syntax. Run simple commands one at a time."
                .to_owned(),
        };
        self.decided(call, false, Why::Nobody { rule: rule.unwrap_or_default() }).await?;
        Ok(Permit::Refused(text))
    }

    async fn decided(&mut self, call: &ToolCall, allowed: bool, why: Why) -> Result<(), LogError> {
        self.journal.record(Record::Decided { call: call.id.clone(), allowed, why }).await
    }

    async fn carry_out(&mut self, call: &ToolCall, intent: Intent) -> Result<Step, LogError> {
        match intent {
            Intent::Look(look) => Ok(self.look(look).await),
            Intent::Change(change) => self.write(call, change).await,
            Intent::Run(command) => self.run(call, command).await,
        }
    }

    async fn look(&mut self, look: Look) -> Step {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let work = tokio::task::spawn_blocking(move || (look.look)(&token));
        match self.inbox.during(work).await {
            Ok(outcome) => Step::Done(outcome.unwrap_or_else(|_| broke())),
            Err(Interrupted) => {
                cancel.cancel();
                Step::Interrupted(Outcome::told(false, INTERRUPTED))
            }
        }
    }

    async fn write(&mut self, call: &ToolCall, change: Change) -> Result<Step, LogError> {
        let staging = tokio::task::spawn_blocking(move || change.stage()).await;
        let staged = match staging {
            Ok(Ok(staged)) => staged,
            Ok(Err(error)) => return Ok(unwritten(&error)),
            Err(_) => return Ok(Step::Done(broke())),
        };
        let call = call.id.clone();
        self.journal.record(Record::Acting { call, staged: staged.temporaries() }).await?;
        self.journal.sync()?;
        let commit = tokio::task::spawn_blocking(move || staged.commit()).await;
        Ok(match commit {
            Ok(Ok(applied)) => Step::Done(Outcome {
                ok: true,
                text: written(&applied.files),
                view: View::Change { files: applied.files },
            }),
            Ok(Err(error)) => unwritten(&error),
            Err(_) => Step::Done(broke()),
        })
    }

    async fn run(&mut self, call: &ToolCall, command: Command) -> Result<Step, LogError> {
        self.journal.record(Record::Acting { call: call.id.clone(), staged: vec![] }).await?;
        self.journal.sync()?;
        let cancel = CancellationToken::new();
        let (live, mut chunks) = mpsc::channel(64);
        let keep = self.journal.keep(&call.id);
        let (launcher, token) = (self.launcher.clone(), cancel.clone());
        let mut work =
            tokio::spawn(async move { shell::run(command, &launcher, live, keep, token).await });
        let Self { inbox, journal, .. } = self;
        let watched = inbox.during(watch(&mut work, &mut chunks, journal, call)).await;
        let ended = match watched {
            Ok(ended) => ended,
            Err(Interrupted) => {
                cancel.cancel();
                work.await
            }
        };
        Ok(match ended {
            Ok(Ok(output)) => ran(output),
            Ok(Err(error)) => {
                Step::Done(Outcome::told(false, format!("The command could not start: {error}.")))
            }
            Err(_) => Step::Done(broke()),
        })
    }

    /// Answers a call that never acts.
    pub(super) async fn refuse(&mut self, call: &ToolCall, text: &str) -> Result<(), LogError> {
        self.decided(call, false, Why::Refused).await?;
        self.finish(call, Outcome::told(false, text), Instant::now()).await
    }

    async fn finish(
        &mut self,
        call: &ToolCall,
        outcome: Outcome,
        started: Instant,
    ) -> Result<(), LogError> {
        self.repeat.keep(&outcome.text);
        let Outcome { ok, text, view } = outcome;
        let result = ToolResult { id: call.id.clone(), name: call.name.clone(), ok, text };
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.journal.record(Record::Finished { result, view, millis }).await
    }
}

const REPEATS: &str = "The model made the same call three times in a row; the turn was ended.";

/// Tells a command's output as it comes, until the command ends.
async fn watch<T>(
    work: &mut tokio::task::JoinHandle<T>,
    chunks: &mut mpsc::Receiver<String>,
    journal: &Journal,
    call: &ToolCall,
) -> Result<T, tokio::task::JoinError> {
    loop {
        tokio::select! {
            Some(text) = chunks.recv() => {
                let text = journal.redact(text);
                journal.live(Live::OutputDelta { call: call.id.clone(), text }).await;
            }
            ended = &mut *work => return ended,
        }
    }
}

/// Reads through files, so it runs on a blocking thread; a tool that breaks is told as a refusal.
async fn intend(
    tool: &'static dyn Tool,
    call: &ToolCall,
    context: &Context,
) -> Result<Intent, Refusal> {
    let (args, context) = (call.args.clone(), context.clone());
    tokio::task::spawn_blocking(move || tool.intend(args, &context))
        .await
        .unwrap_or_else(|_| Err(Refusal(broke().text)))
}

fn unknown(name: &str) -> String {
    let names: Vec<String> = tool::TOOLS.iter().map(|tool| tool.spec().name).collect();
    format!("There is no tool '{name}'. The tools are: {}.", names.join(", "))
}

fn declined(comment: Option<&str>) -> String {
    match comment {
        Some(comment) => format!("Declined by the person, who says: {comment}"),
        None => "Declined by the person, without a comment.".to_owned(),
    }
}

/// Tells the model what stands on disk now.
fn written(files: &[FileDiff]) -> String {
    let line = |file: &FileDiff| {
        let verb = match file.kind {
            FileKind::Created => "created",
            FileKind::Deleted => "deleted",
            FileKind::Modified | FileKind::Binary => "changed",
        };
        format!("{verb} {} (+{} −{})", file.path, file.added, file.removed)
    };
    let lines: Vec<String> = files.iter().map(line).collect();
    format!("Written: {}.", lines.join(", "))
}

fn unwritten(error: &ApplyError) -> Step {
    match error {
        ApplyError::Drifted { .. } => Step::Drifted(error.to_string()),
        _ => Step::Done(Outcome::told(false, error.to_string())),
    }
}

fn ran(output: shell::Output) -> Step {
    let (exit, timed_out) = match output.ended {
        Ended::Exit(code) => (Some(code), false),
        Ended::TimedOut => (None, true),
        Ended::Signal(_) | Ended::Interrupted => (None, false),
    };
    let outcome =
        Outcome { ok: exit == Some(0), text: output.text, view: View::Process { exit, timed_out } };
    match output.ended {
        Ended::Interrupted => Step::Interrupted(outcome),
        _ => Step::Done(outcome),
    }
}

fn broke() -> Outcome {
    Outcome::told(
        false,
        "The tool broke while it ran; this is a fault of Trefoil. Try another way.",
    )
}
