//! The path of a tool call: intend → decide ([`super::permit`]) → carry out ([`super::carry_out`]) → record.

use std::time::Instant;

use super::Agent;
use super::carry_out::{Step, broke};
use super::permit::{NOT_RUN, Permit};
use super::repeat::Repeated;
use crate::session::{LogError, Record, ToolCall, ToolResult, TurnEnd, Why};
use crate::tool::{self, Context, Intent, Outcome, Refusal, Tool};

/// Times a change is computed anew because the file changed under it.
const REBASES: u32 = 3;

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

    pub(super) async fn decided(
        &mut self,
        call: &ToolCall,
        allowed: bool,
        why: Why,
    ) -> Result<(), LogError> {
        self.journal.record(Record::Decided { call: call.id.clone(), allowed, why }).await
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
