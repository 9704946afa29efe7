//! Changes that wait together: decided one by one, asked as one review, written in their order.
//!
//! What was computed from something that then did not come to stand is computed anew, and asked anew.

use std::time::Instant;

use super::Agent;
use super::call::intend;
use super::inbox::Interrupted;
use super::permission::{self, Ruling};
use super::permit::{NOT_RUN, declined};
use super::protocol::{Approval, Verdict, Waiting};
use super::told;
use crate::session::{LogError, Proposal, ToolCall, TurnEnd, View, Why};
use crate::tool::{Intent, Outcome, Tool};
use crate::workspace::{Applied, ApplyError, Change, Selection};

/// Times a change is computed anew because the file changed under it.
const REBASES: u32 = 3;

/// A change that a call intends.
pub(super) struct Pending {
    pub call: ToolCall,
    pub tool: &'static dyn Tool,
    pub change: Change,
    /// Whether it was computed on top of a change that does not stand yet.
    pub is_on_proposed: bool,
    pub is_repeated: bool,
    /// What the model will be told besides what is written: what the person said so far.
    said: String,
    attempts: u32,
}

/// What becomes of a change.
enum Word {
    Stands(Option<Selection>),
    Declined(String),
    Ended(TurnEnd, String),
}

impl Pending {
    pub fn new(
        call: ToolCall,
        tool: &'static dyn Tool,
        change: Change,
        is_on_proposed: bool,
    ) -> Self {
        let (is_repeated, said) = (false, String::new());
        Self { call, tool, change, is_on_proposed, is_repeated, said, attempts: 0 }
    }

    pub fn repeated(self, is_repeated: bool) -> Self {
        Self { is_repeated, ..self }
    }

    fn proposal(&self) -> Proposal {
        Proposal::Change { files: self.change.diffs() }
    }
}

impl Agent {
    /// Decides on changes, asks for those that need it in one review, and writes what may stand.
    pub(super) async fn review(
        &mut self,
        changes: Vec<Pending>,
    ) -> Result<Option<TurnEnd>, LogError> {
        let started = Instant::now();
        let proposals: Vec<_> = changes.iter().map(Pending::proposal).collect();
        for (pending, proposal) in changes.iter().zip(&proposals) {
            self.proposed(&pending.call, proposal).await?;
        }
        let words = self.words(&changes, proposals).await?;
        let mut end = None;
        for (pending, word) in changes.into_iter().zip(words) {
            let call = pending.call.clone();
            if end.is_some() {
                self.finish(&call, Outcome::told(false, NOT_RUN), started).await?;
                continue;
            }
            match word {
                Word::Stands(selection) => end = self.stand(pending, selection).await?,
                Word::Declined(text) => {
                    self.finish(&call, Outcome::told(false, text), started).await?;
                }
                Word::Ended(how, text) => {
                    self.finish(&call, Outcome::told(false, text), started).await?;
                    end = Some(how);
                }
            }
        }
        Ok(end)
    }

    /// Returns a word on every change: by rule, by mode, or by the person.
    async fn words(
        &mut self,
        changes: &[Pending],
        proposals: Vec<Proposal>,
    ) -> Result<Vec<Word>, LogError> {
        self.catch_up_mode().await?;
        let mut words: Vec<Option<Word>> = Vec::new();
        let mut asked = Vec::new();
        let mut reasons = Vec::new();
        for (at, (pending, proposal)) in changes.iter().zip(proposals).enumerate() {
            let word = match self.ruling(pending, &proposal).await? {
                Ok(word) => Some(word),
                Err(reason) => {
                    reasons.push(reason);
                    asked.push((at, proposal));
                    None
                }
            };
            words.push(word);
        }
        let waiting: Vec<_> = asked
            .iter()
            .map(|(at, proposal)| Waiting {
                call: changes[*at].call.id.clone(),
                tool: changes[*at].call.name.clone(),
                proposal: proposal.clone(),
            })
            .collect();
        let answers = self.ask_about(changes, &asked, waiting, reasons).await?;
        for ((at, _), word) in asked.into_iter().zip(answers) {
            words[at] = Some(word);
        }
        Ok(words.into_iter().flatten().collect())
    }

    /// Returns the word that needs nobody, or why somebody is asked.
    async fn ruling(
        &mut self,
        pending: &Pending,
        proposal: &Proposal,
    ) -> Result<Result<Word, String>, LogError> {
        let call = &pending.call;
        match permission::decide(self.mode, &self.rules, &call.name, proposal) {
            Ruling::Allow(why) if !pending.is_repeated => {
                self.decided(call, true, why).await?;
                Ok(Ok(Word::Stands(None)))
            }
            Ruling::Deny { why, text } => {
                self.decided(call, false, why).await?;
                Ok(Ok(Word::Declined(text)))
            }
            Ruling::Ask { .. } if self.rest_of_turn.is_some() && !pending.is_repeated => {
                let stands = self.rest_of_turn == Some(true);
                self.decided(call, stands, Why::RestOfTurn).await?;
                let text = "Declined by the person, with every other change of this turn.";
                Ok(Ok(if stands { Word::Stands(None) } else { Word::Declined(text.to_owned()) }))
            }
            Ruling::Ask { reason } if !pending.is_repeated => Ok(Err(reason)),
            _ => Ok(Err("the model makes this same call again and again".to_owned())),
        }
    }

    async fn ask_about(
        &mut self,
        changes: &[Pending],
        asked: &[(usize, Proposal)],
        waiting: Vec<Waiting>,
        reasons: Vec<String>,
    ) -> Result<Vec<Word>, LogError> {
        let (Some(first), Some(reason)) = (waiting.first(), reasons.into_iter().next()) else {
            return Ok(Vec::new());
        };
        if !self.is_attended {
            return self.nobody_there(changes, asked).await;
        }
        if asked.iter().any(|(at, _)| changes[*at].is_repeated) {
            self.repeat.reset();
        }
        let rule = match waiting.as_slice() {
            [one] => permission::exact_rule(&one.tool, &one.proposal),
            _ => None,
        };
        let approval =
            Approval { call: first.call.clone(), calls: waiting, reason, rule: rule.clone() };
        let calls: Vec<_> = asked.iter().map(|(at, _)| changes[*at].call.clone()).collect();
        match self.ask_now(approval).await {
            Ok(verdict) => self.spread(&calls, verdict, rule).await,
            Err(Interrupted) => {
                for call in &calls {
                    self.decided(call, false, Why::Person { comment: None }).await?;
                }
                let word = |_| Word::Ended(TurnEnd::Interrupted, NOT_RUN.to_owned());
                Ok(calls.iter().map(word).collect())
            }
        }
    }

    async fn nobody_there(
        &mut self,
        changes: &[Pending],
        asked: &[(usize, Proposal)],
    ) -> Result<Vec<Word>, LogError> {
        let mut words = Vec::new();
        for (at, proposal) in asked {
            let Pending { call, is_repeated, .. } = &changes[*at];
            words.push(match is_repeated {
                true => {
                    let (end, text) = self.end_repetition(call).await?;
                    Word::Ended(end, text)
                }
                false => Word::Declined(self.nobody(call, proposal).await?),
            });
        }
        Ok(words)
    }

    /// Hands one verdict to each of the calls it was given on.
    async fn spread(
        &mut self,
        calls: &[ToolCall],
        verdict: Verdict,
        rule: Option<String>,
    ) -> Result<Vec<Word>, LogError> {
        if let (Verdict::Always, Some(rule)) = (&verdict, rule) {
            self.grant(rule).await?;
        }
        if let Verdict::Select { rest, .. } = &verdict {
            self.rest_of_turn = self.rest_of_turn.or(*rest);
        }
        let mut words = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let word = word(&verdict, at);
            let comment = match &verdict {
                Verdict::Reject { comment } => comment.clone(),
                _ => None,
            };
            let stands = matches!(word, Word::Stands(_));
            self.decided(call, stands, Why::Person { comment }).await?;
            words.push(word);
        }
        Ok(words)
    }

    /// Writes what may stand of a change, and tells the model precisely what came of it.
    async fn stand(
        &mut self,
        mut pending: Pending,
        selection: Option<Selection>,
    ) -> Result<Option<TurnEnd>, LogError> {
        let started = Instant::now();
        let call = pending.call.clone();
        let mut change = pending.change.clone();
        if let Some(selection) = selection {
            pending.said.push_str(&told::said(&change.diffs(), &selection));
            change = match change.select(&selection) {
                Ok(change) => change,
                Err(error) => {
                    let text = format!("{error}{}", pending.said);
                    self.finish(&call, Outcome::told(false, text), started).await?;
                    return Ok(None);
                }
            };
        }
        if change.files.is_empty() {
            let text = format!("Nothing was written.{}", pending.said);
            self.finish(&call, Outcome::told(false, text), started).await?;
            return Ok(None);
        }
        match self.write(&call.id, &change).await? {
            Ok(applied) => {
                let outcome = self.written(applied, &pending.said).await;
                self.finish(&call, outcome, started).await?;
                Ok(None)
            }
            Err(error @ ApplyError::Drifted { .. }) => self.again(pending, change, &error).await,
            Err(error) => {
                self.finish(&call, Outcome::told(false, error.to_string()), started).await?;
                Ok(None)
            }
        }
    }

    async fn written(&mut self, applied: Applied, said: &str) -> Outcome {
        let text = format!("{}{said}", told::written(&applied.files));
        Outcome { ok: true, text, view: View::Change { files: applied.files } }
    }

    /// Computes a change anew against what is there now, and asks anew.
    async fn again(
        &mut self,
        pending: Pending,
        wanted: Change,
        error: &ApplyError,
    ) -> Result<Option<TurnEnd>, LogError> {
        let started = Instant::now();
        if pending.attempts == REBASES {
            let outcome = Outcome::told(false, format!("{error}{}", pending.said));
            self.finish(&pending.call, outcome, started).await?;
            return Ok(None);
        }
        // What was seen never stood on disk, so there is nothing to merge it with.
        let merged = if pending.is_on_proposed { None } else { self.merged(wanted).await };
        let change = match merged {
            Some(change) => Ok(change),
            None => self.intended_anew(&pending).await,
        };
        match change {
            Ok(change) => {
                let (is_on_proposed, attempts) = (false, pending.attempts + 1);
                let next = Pending { change, is_on_proposed, attempts, ..pending };
                Box::pin(self.review(vec![next])).await
            }
            Err(reason) => {
                let text = format!("Nothing was written: {reason}{}", pending.said);
                self.finish(&pending.call, Outcome::told(false, text), started).await?;
                Ok(None)
            }
        }
    }

    /// Joins a change with what others wrote meanwhile; `None` where both changed the same lines.
    async fn merged(&self, wanted: Change) -> Option<Change> {
        let limit = self.context.limits.file_bytes;
        let merged = tokio::task::spawn_blocking(move || wanted.onto_disk(limit)).await;
        merged.ok()?.ok().filter(|change| !change.is_nothing())
    }

    async fn intended_anew(&self, pending: &Pending) -> Result<Change, String> {
        match intend(pending.tool, &pending.call, &self.context).await {
            Ok(Intent::Change(change)) => Ok(change),
            Ok(_) => Err("it is no change any more.".to_owned()),
            Err(refusal) => Err(refusal.0),
        }
    }
}

/// Returns what a verdict means for the call at a place.
fn word(verdict: &Verdict, at: usize) -> Word {
    match verdict {
        Verdict::Accept | Verdict::Always => Word::Stands(None),
        Verdict::Reject { comment } => Word::Declined(declined(comment.as_deref())),
        Verdict::Stop if at == 0 => Word::Ended(TurnEnd::Stopped, declined(None)),
        Verdict::Stop => Word::Ended(TurnEnd::Stopped, NOT_RUN.to_owned()),
        Verdict::Select { selections, .. } => match selections.get(at) {
            Some(selection) if selection.is_all() => Word::Stands(None),
            Some(selection) => Word::Stands(Some(selection.clone())),
            None => Word::Declined(declined(None)),
        },
    }
}
