//! THE loop: ask the model, do what it asked, repeat until it has nothing more to ask.

use std::time::Instant;

use futures::StreamExt;

use super::Agent;
use super::inbox::Interrupted;
use super::protocol::{AgentRequest, Live};
use crate::provider::{Completion, Delta, ErrorKind, ProviderError, Request, Stop};
use crate::session::{LogError, Origin, Part, Record, Reply, ToolCall, TurnEnd, Usage};

/// What came of one request to the model.
enum Asked {
    Replied(Completion),
    Interrupted,
    Failed(ProviderError),
}

impl Agent {
    /// Plays one turn: from a person's message to the model's last word.
    pub(super) async fn turn(&mut self, prompt: String) -> Result<(), LogError> {
        self.repeat.reset();
        self.rest_of_turn = None;
        self.journal.record(Record::Prompted { text: prompt }).await?;
        let end = self.steps().await?;
        if end != TurnEnd::Done {
            self.inbox.give_back().await;
        }
        self.journal.record(Record::TurnEnded { end }).await?;
        self.journal.sync()
    }

    async fn steps(&mut self) -> Result<TurnEnd, LogError> {
        for request in 1..=self.max_turns {
            self.take_in().await?;
            let completion = match self.ask(request).await? {
                Asked::Replied(completion) => completion,
                Asked::Interrupted => return Ok(TurnEnd::Interrupted),
                Asked::Failed(error) => return Ok(failed(error)),
            };
            let calls = calls_of(&completion);
            if let Some(end) = self.close(&completion).await? {
                return Ok(end);
            }
            if let Some(end) = self.answer(&calls).await? {
                return Ok(end);
            }
            if calls.is_empty() && !self.inbox.has_prompt() {
                return Ok(TurnEnd::Done);
            }
        }
        Ok(TurnEnd::Limit { requests: self.max_turns })
    }

    /// Takes in what the person said meanwhile; it goes with the next request.
    async fn take_in(&mut self) -> Result<(), LogError> {
        while let Some(request) = self.inbox.take_waiting() {
            match request {
                AgentRequest::Prompt(text) => {
                    self.repeat.reset();
                    self.journal.record(Record::Prompted { text }).await?;
                }
                AgentRequest::SetMode(mode) => self.set_mode(mode).await?,
                AgentRequest::SetModel(model) => self.set_model(model).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Streams one reply and records it.
    async fn ask(&mut self, request: u32) -> Result<Asked, LogError> {
        self.journal.live(Live::Asking { request }).await;
        let started = Instant::now();
        let mut first_token = None;
        let mut shown = String::new();
        let mut stream = match self.open() {
            Ok(stream) => stream,
            Err(error) => return Ok(Asked::Failed(error)),
        };
        loop {
            let delta = match self.inbox.during(stream.next()).await {
                Ok(Some(Ok(delta))) => delta,
                Ok(Some(Err(error))) => return Ok(Asked::Failed(error)),
                Ok(None) => return Ok(Asked::Failed(cut())),
                Err(Interrupted) => {
                    drop(stream);
                    self.keep_partial(shown, started).await?;
                    return Ok(Asked::Interrupted);
                }
            };
            if !matches!(delta, Delta::Retry { .. }) {
                first_token.get_or_insert_with(|| started.elapsed());
            }
            match delta {
                Delta::Text(text) => {
                    shown.push_str(&text);
                    self.journal.live(Live::TextDelta { text }).await;
                }
                Delta::Thinking(text) => self.journal.live(Live::ThinkingDelta { text }).await,
                Delta::Calling { name } => self.journal.live(Live::Calling { tool: name }).await,
                Delta::Retry { attempt, wait, reason } => {
                    shown.clear();
                    let wait_ms = millis(wait);
                    self.journal.live(Live::Retrying { attempt, wait_ms, reason }).await;
                }
                Delta::Done(completion) => {
                    let reply = self.reply(completion.parts.clone(), false);
                    let record = Record::Replied {
                        reply,
                        usage: completion.usage,
                        millis: millis(started.elapsed()),
                        first_token_millis: first_token.map(millis),
                    };
                    self.journal.record(record).await?;
                    return Ok(Asked::Replied(completion));
                }
            }
        }
    }

    fn open(
        &mut self,
    ) -> Result<futures::stream::BoxStream<'static, Result<Delta, ProviderError>>, ProviderError>
    {
        if self.connection.is_none() {
            self.connection = Some((self.connect)(&self.model)?);
        }
        let Some(connection) = &self.connection else { return Err(cut()) };
        Ok(connection.provider.stream(Request {
            model: connection.model.clone(),
            role: "pair",
            system: self.system.clone(),
            tools: self.tools.clone(),
            messages: self.journal.conversation.messages(),
        }))
    }

    /// Keeps the text that had arrived; half a call is dropped.
    async fn keep_partial(&mut self, text: String, started: Instant) -> Result<(), LogError> {
        if text.is_empty() {
            return Ok(());
        }
        let reply = self.reply(vec![Part::Text { text, opaque: None }], true);
        let millis = millis(started.elapsed());
        let usage = Usage::default();
        let record = Record::Replied { reply, usage, millis, first_token_millis: None };
        self.journal.record(record).await
    }

    fn reply(&self, parts: Vec<Part>, interrupted: bool) -> Reply {
        let (provider, model) = self.model.split_once('/').unwrap_or(("", &self.model));
        let origin = Origin { provider: provider.to_owned(), model: model.to_owned() };
        Reply { parts, origin, interrupted }
    }

    /// Says what a stop other than "done" means.
    async fn close(&mut self, completion: &Completion) -> Result<Option<TurnEnd>, LogError> {
        match &completion.stop {
            Stop::Done => Ok(None),
            Stop::Truncated => {
                self.warn("The reply reached the model's output limit and was cut there.".into())
                    .await?;
                Ok(None)
            }
            Stop::Blocked(reason) => {
                let error = ProviderError::new(ErrorKind::Blocked, reason.clone());
                for call in &calls_of(completion) {
                    self.refuse(call, "The reply was stopped by a policy; nothing ran.").await?;
                }
                Ok(Some(failed(error)))
            }
        }
    }
}

fn calls_of(completion: &Completion) -> Vec<ToolCall> {
    let call = |part: &Part| match part {
        Part::Call(call) => Some(call.clone()),
        _ => None,
    };
    completion.parts.iter().filter_map(call).collect()
}

fn cut() -> ProviderError {
    ProviderError::new(ErrorKind::Cut, "The model's stream ended early. Send the message again.")
}

fn failed(error: ProviderError) -> TurnEnd {
    TurnEnd::Failed { kind: error.kind.failure(), message: error.message }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
