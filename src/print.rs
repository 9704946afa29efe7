//! The front end without a screen: one prompt in, the result out, an exit code for scripts.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use crate::agent::{AgentEvent, AgentHandle, AgentRequest, Live};
use crate::cli::OutputFormat;
use crate::session::{Failure, Record, TurnEnd, Usage, Why};
use crate::visible;

/// How a run is printed.
#[derive(Debug, Clone)]
pub struct Style {
    pub format: OutputFormat,
    pub verbose: bool,
    /// Whether stdout is a terminal: what goes there is made safe to show.
    pub is_terminal: bool,
    /// The log file, named where something fails.
    pub log: Option<PathBuf>,
}

/// What is known when the run is over.
#[derive(Debug, Default, Serialize)]
struct Summary {
    #[serde(rename = "type")]
    kind: &'static str,
    session: String,
    status: &'static str,
    exit_code: u8,
    result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    model_requests: u32,
    tool_calls: u32,
    /// Calls that needed an approval, with the rules that would have admitted them.
    unapproved: Vec<String>,
    usage: Usage,
    #[serde(skip)]
    end: Option<TurnEnd>,
}

/// Sends the prompt, prints what comes of it, and returns the exit code (0, 1, 4, 5, 6, 75 or 130).
pub async fn run(
    mut handle: AgentHandle,
    session: String,
    prompt: String,
    style: Style,
) -> anyhow::Result<u8> {
    let mut summary = Summary { kind: "result", session, ..Summary::default() };
    // Listened to for the whole run: what comes while an event is printed must not be lost.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    handle.requests.send(AgentRequest::Prompt(prompt)).await.context("The agent is gone.")?;
    loop {
        tokio::select! {
            event = handle.events.recv() => {
                let Some(event) = event else { break };
                let is_idle = event == AgentEvent::Live(Live::Idle);
                summary.take(&event, &style)?;
                if is_idle { break }
                continue;
            }
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        // Whoever stops us means what we run as well: the turn ends in order, and its command with it.
        handle.requests.send(AgentRequest::Interrupt).await.ok();
    }
    summary.close(&style)
}

impl Summary {
    fn take(&mut self, event: &AgentEvent, style: &Style) -> anyhow::Result<()> {
        if style.format == OutputFormat::StreamJson {
            out(&serde_json::to_string(event)?)?;
        }
        match event {
            AgentEvent::Recorded(entry) => self.fold(&entry.record, style),
            AgentEvent::Live(live) => progress(live),
        }
        Ok(())
    }

    fn fold(&mut self, record: &Record, style: &Style) {
        match record {
            Record::Replied { reply, usage, .. } => {
                self.model_requests += 1;
                self.usage += *usage;
                self.tool_calls += u32::try_from(reply.calls().count()).unwrap_or(u32::MAX);
                self.result = reply.text();
            }
            Record::Decided { why: Why::Nobody { rule }, .. } => self.unapproved.push(rule.clone()),
            Record::Noticed { text, .. } => say(text),
            Record::TurnEnded { end } => self.end = Some(end.clone()),
            _ => {}
        }
        if style.verbose {
            verbose(record);
        }
    }

    fn close(mut self, style: &Style) -> anyhow::Result<u8> {
        let (code, status, error) = verdict(self.end.as_ref(), &self.unapproved);
        (self.exit_code, self.status, self.error) = (code, status, error);
        if let Some(error) = &self.error {
            say(error);
            if let Some(log) = &style.log {
                say(&format!("The log is {}.", log.display()));
            }
        }
        self.unapproved.iter().for_each(|rule| say(&unapproved_told(rule)));
        if style.verbose {
            say(&format!(
                "tokens: {} in ({} cached), {} out",
                self.usage.input, self.usage.cached, self.usage.output
            ));
        }
        match style.format {
            OutputFormat::Text if self.result.trim().is_empty() => {}
            OutputFormat::Text if style.is_terminal => out(&visible::text(self.result.trim_end()))?,
            OutputFormat::Text => out(self.result.trim_end())?,
            OutputFormat::Json | OutputFormat::StreamJson => out(&serde_json::to_string(&self)?)?,
        }
        Ok(code)
    }
}

/// Returns exit code, status and what went wrong.
fn verdict(end: Option<&TurnEnd>, unapproved: &[String]) -> (u8, &'static str, Option<String>) {
    match end {
        Some(TurnEnd::Done) if unapproved.is_empty() => (0, "done", None),
        Some(TurnEnd::Done) => (4, "unapproved", None),
        Some(TurnEnd::Interrupted) => (130, "interrupted", Some("Interrupted.".to_owned())),
        Some(TurnEnd::Stopped) => (1, "stopped", None),
        Some(TurnEnd::Limit { requests }) => {
            let error = format!(
                "The turn reached its limit of {requests} model requests. Raise --max-turns, or go on with -c."
            );
            (5, "limit", Some(error))
        }
        Some(TurnEnd::Failed { kind, message }) => {
            let code = match kind {
                Failure::Auth => 6,
                Failure::Unavailable => 75,
                Failure::Other => 1,
            };
            (code, "failed", Some(message.clone()))
        }
        None => (1, "failed", Some("The agent ended without a result.".to_owned())),
    }
}

fn unapproved_told(rule: &str) -> String {
    if rule.is_empty() {
        return "An approval was needed that nobody could give, and no rule can admit a line with \
                shell syntax. Run without -p to give it."
            .to_owned();
    }
    format!("An approval was needed that nobody could give; --allow '{rule}' admits it.")
}

fn progress(live: &Live) {
    if let Live::Retrying { attempt, wait_ms, reason } = live {
        let seconds = *wait_ms as f64 / 1000.0;
        say(&format!("{reason} (attempt {attempt}, the next in {seconds:.1} s)"));
    }
}

fn verbose(record: &Record) {
    match record {
        Record::Proposed { tool, proposal, .. } => {
            say(&format!("{tool}  {}", proposal.subjects().join(", ")));
        }
        Record::Decided { allowed, why, .. } => {
            let word = if *allowed { "allowed" } else { "refused" };
            say(&format!("  {word}: {}", why.told()));
        }
        Record::Finished { result, millis, .. } => {
            let word = if result.ok { "ok" } else { "failed" };
            say(&format!("  {word} after {millis} ms"));
        }
        _ => {}
    }
}

/// Writes a line to stdout; a reader that has gone away is not an error.
fn out(line: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{line}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn say(line: &str) {
    writeln!(std::io::stderr().lock(), "{}", visible::text(line)).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_exit_code() {
        let failed = |kind| TurnEnd::Failed { kind, message: "no".to_owned() };
        for (end, unapproved, code) in [
            (Some(TurnEnd::Done), vec![], 0),
            (Some(TurnEnd::Done), vec!["edit_file(a)".to_owned()], 4),
            (Some(TurnEnd::Limit { requests: 60 }), vec![], 5),
            (Some(TurnEnd::Interrupted), vec![], 130),
            (Some(TurnEnd::Stopped), vec![], 1),
            (Some(failed(Failure::Auth)), vec![], 6),
            (Some(failed(Failure::Unavailable)), vec![], 75),
            (Some(failed(Failure::Other)), vec![], 1),
            (None, vec![], 1),
        ] {
            assert_eq!(verdict(end.as_ref(), &unapproved).0, code, "{end:?}");
        }
    }
}
