//! One stream of facts: a record is written, folded and only then announced.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use super::protocol::{AgentEvent, Live};
use crate::config::Keys;
use crate::session::{
    BlobError, Blobs, CallId, Checkpoints, Conversation, Entry, Image, Level, Log, LogError, Record,
};
use crate::workspace::shell::Keep;

/// The log, what follows from it, and who is told.
pub struct Journal {
    log: Log,
    keys: Keys,
    blobs: Arc<Mutex<Blobs>>,
    pub conversation: Conversation,
    pub checkpoints: Checkpoints,
    events: mpsc::Sender<AgentEvent>,
}

impl Journal {
    /// Makes a journal that goes on from what is folded already; `cap` bounds the kept contents, in bytes.
    pub fn new(
        log: Log,
        keys: Keys,
        (conversation, checkpoints): (Conversation, Checkpoints),
        cap: u64,
        events: mpsc::Sender<AgentEvent>,
    ) -> Self {
        let blobs = Arc::new(Mutex::new(Blobs::open(log.folder(), cap)));
        Self { log, keys, blobs, conversation, checkpoints, events }
    }

    /// Writes a fact, takes it in and tells it.
    pub async fn record(&mut self, record: Record) -> Result<(), LogError> {
        let record = without_keys(record, &self.keys);
        if let Some(digest) = digest(&record) {
            tracing::info!("{digest}");
        }
        let entry = self.log.append(record)?;
        self.conversation.apply(&entry.record);
        self.checkpoints.apply(&entry);
        self.send(AgentEvent::Recorded(entry)).await;
        Ok(())
    }

    /// Returns once everything written is on the disk.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.log.sync()
    }

    /// Tells what only the moment needs.
    pub async fn live(&self, live: Live) {
        self.send(AgentEvent::Live(live)).await;
    }

    /// Tells something that could not be written.
    pub async fn lament(&self, error: &LogError) {
        let record = Record::Noticed { level: Level::Error, text: error.to_string() };
        let at = jiff::Timestamp::now().as_millisecond();
        self.send(AgentEvent::Recorded(Entry { at, record })).await;
    }

    /// Replaces every known key in a text that is told but not recorded.
    pub fn redact(&self, text: String) -> String {
        match self.keys.redact(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(clean) => clean,
        }
    }

    /// Keeps a content of a file, on the disk when this returns; a sentence's end says why it is not.
    pub fn keep_image(&self, bytes: &[u8]) -> Result<(), String> {
        if self.keys.are_in(bytes) {
            return Err("it holds a key, which is never written anywhere else".to_owned());
        }
        self.lock().put(bytes).map(drop).map_err(|error| error.to_string())
    }

    /// Returns a kept content.
    pub fn kept_image(&self, image: &Image) -> Result<Vec<u8>, BlobError> {
        let hash = blake3::Hash::from_hex(&image.hash).map_err(|_| BlobError::Damaged)?;
        self.lock().get(&hash)
    }

    /// Returns the kept contents, for work on another thread.
    pub fn blobs(&self) -> Arc<Mutex<Blobs>> {
        Arc::clone(&self.blobs)
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    fn lock(&self) -> MutexGuard<'_, Blobs> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the output of a call passes; in a session that is kept, it is kept whole.
    pub fn keep(&self, call: &CallId) -> Keep {
        let path =
            self.log.folder().map(|folder| folder.join("outputs").join(format!("{call}.txt")));
        Keep::new(path, self.keys.clone())
    }

    /// A front end that is gone is noticed by the inbox; what it would have been told is in the log.
    async fn send(&self, event: AgentEvent) {
        self.events.send(event).await.ok();
    }
}

/// Replaces every known key in a fact, wherever in it one stands: neither the log nor a model gets it.
fn without_keys(record: Record, keys: &Keys) -> Record {
    let clean = serde_json::to_string(&record).ok().and_then(|json| match keys.redact(&json) {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(clean) => serde_json::from_str(&clean).ok(),
    });
    clean.unwrap_or(record)
}

/// Says a fact in a line for the log file: what happened and how long it took, never what was said.
fn digest(record: &Record) -> Option<String> {
    Some(match record {
        Record::Prompted { .. } => "a turn begins".to_owned(),
        Record::Replied { reply, usage, millis, .. } => format!(
            "a reply with {} calls after {millis} ms, {} tokens in, {} out",
            reply.calls().count(),
            usage.input,
            usage.output
        ),
        Record::Decided { call, allowed, why } => {
            let word = if *allowed { "allowed" } else { "refused" };
            format!("{call} {word}: {}", why.told())
        }
        Record::Finished { result, millis, .. } => {
            let word = if result.ok { "done" } else { "failed" };
            format!("{} {} {word} after {millis} ms", result.id, result.name)
        }
        Record::TurnEnded { end } => format!("the turn ended: {end:?}"),
        Record::ModelChanged { model } => format!("the model is {model}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn no_fact_holds_a_key_wherever_it_stands() {
        let environment = Environment::from([("GEMINI_API_KEY", "sk-TESTSECRET")]);
        let keys = Keys::from(&environment, &Environment::default());
        let prompted = |text: &str| Record::Prompted { text: text.to_owned() };
        assert_eq!(without_keys(prompted("plain"), &keys), prompted("plain"));
        assert_eq!(
            without_keys(prompted("use \"sk-TESTSECRET\"\n"), &keys),
            prompted("use \"[redacted]\"\n")
        );
    }
}
