//! Whether a call may act: rules and mode, then the person, or what is told where nobody can be asked.

use super::Agent;
use super::inbox::Interrupted;
use super::permission::{self, Ruling};
use super::protocol::{Approval, Live, Verdict, Waiting};
use crate::session::{Failure, LogError, Proposal, Record, ToolCall, TurnEnd, Why};

/// What the model is told of a call that the end of the turn came before.
pub(super) const NOT_RUN: &str = "Not run: the person stopped the turn before this call.";
const REPEATS: &str = "The model made the same call three times in a row; the turn was ended.";

/// Whether a call may act.
pub(super) enum Permit {
    Granted,
    Refused(String),
    Ended(TurnEnd, String),
}

impl Agent {
    /// Rules, mode and, where they leave it open, the person.
    pub(super) async fn permit(
        &mut self,
        call: &ToolCall,
        proposal: &Proposal,
        is_repeated: bool,
    ) -> Result<Permit, LogError> {
        self.catch_up_mode().await?;
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
            let (end, text) = self.end_repetition(call).await?;
            return Ok(Permit::Ended(end, text));
        }
        Ok(Permit::Refused(self.nobody(call, proposal).await?))
    }

    /// A mode chosen meanwhile holds from this decision on.
    pub(super) async fn catch_up_mode(&mut self) -> Result<(), LogError> {
        match self.inbox.take_mode() {
            Some(mode) => self.set_mode(mode).await,
            None => Ok(()),
        }
    }

    /// Ends a turn in which nobody can stop a model that goes round in circles.
    pub(super) async fn end_repetition(
        &mut self,
        call: &ToolCall,
    ) -> Result<(TurnEnd, String), LogError> {
        self.decided(call, false, Why::Refused).await?;
        let end = TurnEnd::Failed { kind: Failure::Other, message: REPEATS.to_owned() };
        Ok((end, REPEATS.to_owned()))
    }

    async fn ask_person(
        &mut self,
        call: &ToolCall,
        proposal: &Proposal,
        reason: String,
    ) -> Result<Permit, LogError> {
        let rule = permission::exact_rule(&call.name, proposal);
        let (id, tool, proposal) = (call.id.clone(), call.name.clone(), proposal.clone());
        let calls = vec![Waiting { call: id.clone(), tool, proposal }];
        let approval = Approval { call: id, calls, reason, rule: rule.clone() };
        let Ok(verdict) = self.ask_now(approval).await else {
            self.decided(call, false, Why::Person { comment: None }).await?;
            return Ok(Permit::Ended(TurnEnd::Interrupted, NOT_RUN.to_owned()));
        };
        self.take_verdict(call, verdict, rule).await
    }

    pub(super) async fn ask_now(&mut self, approval: Approval) -> Result<Verdict, Interrupted> {
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
            // A command has no parts.
            Verdict::Stop | Verdict::Select { .. } => {
                Permit::Ended(TurnEnd::Stopped, declined(None))
            }
        })
    }

    pub(super) async fn grant(&mut self, rule: String) -> Result<(), LogError> {
        match self.rules.grant(&rule) {
            Ok(()) => self.journal.record(Record::Allowed { rule }).await,
            Err(error) => self.warn(error.to_string()).await,
        }
    }

    /// Returns what the model is told where nobody can be asked.
    pub(super) async fn nobody(
        &mut self,
        call: &ToolCall,
        proposal: &Proposal,
    ) -> Result<String, LogError> {
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
        Ok(text)
    }
}

pub(super) fn declined(comment: Option<&str>) -> String {
    match comment {
        Some(comment) => format!("Declined by the person, who says: {comment}"),
        None => "Declined by the person, without a comment.".to_owned(),
    }
}
