//! What was let stand is done: a look, a change or a command, each to an outcome.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::inbox::Interrupted;
use super::journal::Journal;
use super::protocol::Live;
use crate::session::{LogError, Record, ToolCall, View};
use crate::tool::{Intent, Look, Outcome};
use crate::workspace::shell;
use crate::workspace::{ApplyError, Change, Command, Ended, FileDiff, FileKind};

const INTERRUPTED: &str = "Interrupted by the person; the tool may have partly run.";

/// What a call came to.
pub(super) enum Step {
    Done(Outcome),
    /// The file changed since the intent was computed.
    Drifted(String),
    Interrupted(Outcome),
}

impl Agent {
    pub(super) async fn carry_out(
        &mut self,
        call: &ToolCall,
        intent: Intent,
    ) -> Result<Step, LogError> {
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
}

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

/// Tells the model what stands on disk now.
fn written(files: &[FileDiff]) -> String {
    let line = |file: &FileDiff| {
        let verb = match file.kind {
            FileKind::Created => "created",
            FileKind::Deleted => "deleted",
            FileKind::Modified => "changed",
            FileKind::Replaced => "replaced",
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

/// Tells of a tool that broke: a fault of ours, never the end of the turn.
pub(super) fn broke() -> Outcome {
    Outcome::told(
        false,
        "The tool broke while it ran; this is a fault of Trefoil. Try another way.",
    )
}
