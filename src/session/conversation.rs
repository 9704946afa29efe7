//! The conversation as a fold over records: what the next request to a model holds.

use super::{Message, Record};

/// The messages so far, always valid: every call has its result.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    #[allow(unused)]
    messages: Vec<Message>,
}

impl Conversation {
    /// Takes one fact in.
    pub fn apply(&mut self, _record: &Record) {
        todo!()
    }
}
