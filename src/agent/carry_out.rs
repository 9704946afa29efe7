//! What was let stand is done: a look, a change or a command, each to an outcome.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::inbox::Interrupted;
use super::journal::Journal;
use super::protocol::Live;
use crate::session::{CallId, LogError, Record, ToolCall, View};
use crate::tool::{Intent, Look, Outcome};
use crate::workspace::shell;
use crate::workspace::{Applied, ApplyError, Change, Command, Ended};

const INTERRUPTED: &str = "Interrupted by the person; the tool may have partly run.";

/// What a call came to.
pub(super) enum Step {
    Done(Outcome),
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
            Intent::Run(command) => self.run(call, command).await,
            // Changes are reviewed together before they get here.
            Intent::Change(_) => Ok(Step::Done(broke())),
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

    /// Writes a change, after what stood there is kept: all files, or none.
    pub(super) async fn write(
        &mut self,
        call: &CallId,
        change: &Change,
    ) -> Result<Result<Applied, ApplyError>, LogError> {
        let touches = self.keep_images(change).await?;
        let owned = change.clone();
        let staged = match tokio::task::spawn_blocking(move || owned.stage()).await {
            Ok(Ok(staged)) => staged,
            Ok(Err(error)) => return Ok(Err(error)),
            Err(_) => return Ok(Err(fault_of_ours(change))),
        };
        let (id, staged_at) = (call.clone(), staged.temporaries());
        let acting = Record::Acting { call: id, staged: staged_at, touches: touches.clone() };
        self.journal.record(acting).await?;
        self.journal.sync()?;
        let commit = tokio::task::spawn_blocking(move || staged.commit()).await;
        let result = commit.unwrap_or_else(|_| Err(fault_of_ours(change)));
        if let Err(ApplyError::Torn { cause, .. }) = &result {
            self.settle(call, touches, cause.trim_end_matches('.')).await?;
        }
        Ok(result)
    }

    async fn run(&mut self, call: &ToolCall, command: Command) -> Result<Step, LogError> {
        self.look_before().await?;
        let (id, staged, touches) = (call.id.clone(), Vec::new(), Vec::new());
        self.journal.record(Record::Acting { call: id, staged, touches }).await?;
        self.journal.sync()?;
        let cancel = CancellationToken::new();
        let (live, mut chunks) = mpsc::channel(64);
        let keep = self.journal.keep(&call.id);
        let (launcher, token) = (self.context.launcher.clone(), cancel.clone());
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
        self.note_touched(&call.id).await?;
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

fn fault_of_ours(change: &Change) -> ApplyError {
    let path = change.files.first().map_or_else(String::new, |file| file.place.shown.clone());
    ApplyError::Io {
        path,
        source: std::io::Error::other("the write broke, which is a fault of Trefoil"),
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
