//! What the front end asks, taken in at any moment: an interrupt cuts work short, the rest waits.

use std::collections::VecDeque;
use std::future::Future;

use tokio::sync::mpsc;

use super::protocol::{AgentEvent, AgentRequest, Live, Verdict};
use crate::config::Mode;
use crate::session::CallId;

/// The person stopped the turn, or the front end is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted;

/// The receiving end of the seam.
pub struct Inbox {
    requests: mpsc::Receiver<AgentRequest>,
    events: mpsc::Sender<AgentEvent>,
    waiting: VecDeque<AgentRequest>,
    answers: Vec<(CallId, Verdict)>,
    is_gone: bool,
}

impl Inbox {
    /// Makes an inbox that announces queued messages on `events`.
    pub fn new(requests: mpsc::Receiver<AgentRequest>, events: mpsc::Sender<AgentEvent>) -> Self {
        Self { requests, events, waiting: VecDeque::new(), answers: Vec::new(), is_gone: false }
    }

    /// Waits for the next request; `None` once the front end is gone.
    pub async fn next(&mut self) -> Option<AgentRequest> {
        match self.waiting.pop_front() {
            Some(request) => Some(request),
            None => self.requests.recv().await,
        }
    }

    /// Returns the next request that waited while work was done and that a turn can take in.
    pub fn take_waiting(&mut self) -> Option<AgentRequest> {
        use AgentRequest::{Prompt, SetMode, SetModel};
        let is_for_a_turn =
            |request: &AgentRequest| matches!(request, Prompt(_) | SetMode(_) | SetModel(_));
        let at = self.waiting.iter().position(is_for_a_turn)?;
        self.waiting.remove(at)
    }

    /// Returns the mode last chosen while work was done: it holds from the next decision on.
    pub fn take_mode(&mut self) -> Option<Mode> {
        let mut last = None;
        self.waiting.retain(|request| match request {
            AgentRequest::SetMode(mode) => {
                last = Some(*mode);
                false
            }
            _ => true,
        });
        last
    }

    /// Returns whether a message waits.
    pub fn has_prompt(&self) -> bool {
        self.waiting.iter().any(|request| matches!(request, AgentRequest::Prompt(_)))
    }

    /// Does the work, unless the person interrupts first; the work is dropped then.
    pub async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        if self.is_gone {
            return Err(Interrupted);
        }
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                request = self.requests.recv() => self.take(request).await?,
                done = &mut work => return Ok(done),
            }
        }
    }

    /// Forgets every answer given so far: whatever is asked next was not yet shown.
    pub async fn forget_answers(&mut self) -> Result<(), Interrupted> {
        while let Ok(request) = self.requests.try_recv() {
            self.take(Some(request)).await?;
        }
        self.answers.clear();
        Ok(())
    }

    /// Waits for the person's word on a call.
    pub async fn verdict(&mut self, call: &CallId) -> Result<Verdict, Interrupted> {
        loop {
            if let Some((_, verdict)) = self.answers.pop() {
                return Ok(verdict);
            }
            let request = self.requests.recv().await;
            self.take(request).await?;
            self.answers.retain(|(answered, _)| answered == call);
        }
    }

    /// Gives messages that never went to the model back to the front end.
    pub async fn give_back(&mut self) {
        // Each goes before what is in the draft already, so the last said goes first.
        for request in std::mem::take(&mut self.waiting).into_iter().rev() {
            match request {
                AgentRequest::Prompt(text) => self.tell(Live::Unqueued { text }).await,
                other => self.waiting.push_front(other),
            }
        }
    }

    async fn take(&mut self, request: Option<AgentRequest>) -> Result<(), Interrupted> {
        match request {
            None => {
                self.is_gone = true;
                return Err(Interrupted);
            }
            Some(AgentRequest::Interrupt) => return Err(Interrupted),
            Some(AgentRequest::Answer { call, verdict }) => self.answers.push((call, verdict)),
            Some(AgentRequest::Unqueue) => self.unqueue().await,
            Some(AgentRequest::Prompt(text)) => {
                self.tell(Live::Queued { text: text.clone() }).await;
                self.waiting.push_back(AgentRequest::Prompt(text));
            }
            // The turn cannot go on in a conversation that is gone: it ends, then all is cleared.
            Some(AgentRequest::Clear) => {
                self.waiting.push_back(AgentRequest::Clear);
                return Err(Interrupted);
            }
            Some(other) => self.waiting.push_back(other),
        }
        Ok(())
    }

    async fn unqueue(&mut self) {
        let is_prompt = |request: &AgentRequest| matches!(request, AgentRequest::Prompt(_));
        let Some(last) = self.waiting.iter().rposition(is_prompt) else { return };
        if let Some(AgentRequest::Prompt(text)) = self.waiting.remove(last) {
            self.tell(Live::Unqueued { text }).await;
        }
    }

    async fn tell(&mut self, live: Live) {
        self.is_gone |= self.events.send(AgentEvent::Live(live)).await.is_err();
    }
}
