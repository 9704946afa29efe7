//! The path of a tool call: intend → decide ([`super::permit`]) → carry out ([`super::carry_out`]) → record.
//!
//! Changes that stand side by side in a reply are gathered and reviewed together ([`super::review`]).

use std::time::Instant;

use super::Agent;
use super::carry_out::{Step, broke};
use super::permit::{NOT_RUN, Permit};
use super::repeat::Repeated;
use super::review::Pending;
use crate::session::{LogError, Record, ToolCall, ToolResult, TurnEnd, Why};
use crate::tool::{self, Context, Intent, Outcome, Proposed, Refusal, Tool};

impl Agent {
    /// Answers every call of a reply in order; an end of the turn answers the rest with why they never ran.
    pub(super) async fn answer(&mut self, calls: &[ToolCall]) -> Result<Option<TurnEnd>, LogError> {
        let mut rest = calls;
        while let Some(call) = rest.first() {
            let changes = self.gather(rest).await;
            let taken = changes.len().max(1);
            let end = match changes.is_empty() {
                true => self.call(call).await?,
                false => self.review(changes).await?,
            };
            rest = &rest[taken..];
            if let Some(end) = end {
                for call in rest {
                    self.finish(call, Outcome::told(false, NOT_RUN), Instant::now()).await?;
                }
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Returns the changes that a reply begins with, each computed on top of those before it.
    async fn gather(&mut self, calls: &[ToolCall]) -> Vec<Pending> {
        let mut proposed = Proposed::default();
        let mut gathered = Vec::new();
        for call in calls {
            let Some(tool) = tool::find(&call.name) else { break };
            if call.fault.is_some() || !self.repeat.is_new(call) {
                break;
            }
            let context = Context { proposed: proposed.clone(), ..self.context.clone() };
            let Ok(Intent::Change(change)) = intend(tool, call, &context).await else { break };
            self.repeat.notice(call);
            let is_on_proposed = proposed.is_under(&change);
            proposed = proposed.with(&change);
            gathered.push(Pending::new(call.clone(), tool, change, is_on_proposed));
        }
        gathered
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
        match intend(tool, call, &self.context).await {
            Ok(Intent::Change(change)) => {
                let pending = Pending::new(call.clone(), tool, change, false);
                self.review(vec![pending.repeated(is_repeated)]).await
            }
            Ok(intent) => self.attempt(call, intent, is_repeated).await,
            Err(refusal) => self.refuse(call, &refusal.0).await.map(|()| None),
        }
    }

    /// Asks for a look or a command, and does it.
    async fn attempt(
        &mut self,
        call: &ToolCall,
        intent: Intent,
        is_repeated: bool,
    ) -> Result<Option<TurnEnd>, LogError> {
        let started = Instant::now();
        let proposal = intent.proposal();
        self.proposed(call, &proposal).await?;
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
                Ok(None)
            }
            Step::Interrupted(outcome) => {
                self.finish(call, outcome, acting).await?;
                Ok(Some(TurnEnd::Interrupted))
            }
        }
    }

    pub(super) async fn proposed(
        &mut self,
        call: &ToolCall,
        proposal: &crate::session::Proposal,
    ) -> Result<(), LogError> {
        let (id, tool, proposal) = (call.id.clone(), call.name.clone(), proposal.clone());
        self.journal.record(Record::Proposed { call: id, tool, proposal }).await
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

    pub(super) async fn finish(
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
pub(super) async fn intend(
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
