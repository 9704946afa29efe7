//! Gemini's answer taken in, chunk by chunk, across the hops of a continued reply.

use serde_json::{Value, json};

use super::error;
use crate::provider::{Completion, Delta, ProviderError, Stop, call_id};
use crate::session::{Part, ToolCall, Usage};

/// What arrived of a reply.
#[derive(Debug, Default)]
pub struct Reading {
    parts: Vec<Part>,
    /// Tokens of the hops before this one.
    spent: Usage,
    /// What the server counted last, of this hop.
    counted: Value,
    finish: Option<String>,
    finish_message: Option<String>,
    prompt_block: Option<String>,
    continuation: Option<String>,
}

/// How a hop ended.
#[derive(Debug, PartialEq)]
pub enum End {
    Complete(Completion),
    /// The same request, with this token, brings more.
    Continue(String),
}

impl Reading {
    /// Takes one event in, which may hold several objects or an array of them.
    pub fn take(&mut self, data: &str) -> Result<Vec<Delta>, ProviderError> {
        let mut deltas = Vec::new();
        for value in serde_json::Deserializer::from_str(data).into_iter() {
            let value: Value = value.map_err(|_| error::garbage(data))?;
            match value {
                Value::Array(chunks) => {
                    for chunk in &chunks {
                        self.take_chunk(chunk, &mut deltas)?;
                    }
                }
                chunk => self.take_chunk(&chunk, &mut deltas)?,
            }
        }
        Ok(deltas)
    }

    /// Returns how much has arrived.
    pub fn size(&self) -> usize {
        let length = |part: &Part| match part {
            Part::Text { text, .. } | Part::Thinking { text, .. } => 1 + text.len(),
            Part::Call(_) => 1,
        };
        self.parts.iter().map(length).sum()
    }

    fn take_chunk(&mut self, chunk: &Value, deltas: &mut Vec<Delta>) -> Result<(), ProviderError> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(error::in_stream(chunk));
        }
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.prompt_block = Some(reason.to_owned());
        }
        if let Some(usage) = chunk["usageMetadata"].as_object() {
            for (key, count) in usage {
                self.counted[key] = count.clone();
            }
        }
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            deltas.extend(self.take_part(part));
        }
        let text = |key: &str| candidate[key].as_str().filter(|text| !text.is_empty());
        keep(&mut self.finish, text("finishReason"));
        keep(&mut self.finish_message, text("finishMessage"));
        keep(&mut self.continuation, text("continuationToken"));
        Ok(())
    }

    fn take_part(&mut self, part: &Value) -> Option<Delta> {
        let signature = part.get("thoughtSignature").filter(|signature| !signature.is_null());
        if let Some(call) = part.get("functionCall") {
            let call = read_call(call, signature);
            let name = call.name.clone();
            self.parts.push(Part::Call(call));
            return Some(Delta::Calling { name });
        }
        let text = match part["text"].as_str() {
            Some(text) => text,
            None if signature.is_some() => "",
            None => return None,
        };
        self.append(text, part["thought"] == true, signature)
    }

    /// Joins unsigned neighbours of a kind; a signed part stays as it came.
    fn append(&mut self, text: &str, thought: bool, signature: Option<&Value>) -> Option<Delta> {
        match (self.parts.last_mut(), signature) {
            (_, None) if text.is_empty() => {}
            (Some(Part::Text { text: last, opaque: None }), None) if !thought => {
                last.push_str(text);
            }
            (Some(Part::Thinking { text: last, opaque: None }), None) if thought => {
                last.push_str(text);
            }
            _ => {
                let (text, opaque) = (text.to_owned(), signature.cloned());
                self.parts.push(match thought {
                    true => Part::Thinking { text, opaque },
                    false => Part::Text { text, opaque },
                });
            }
        }
        let delta = if thought { Delta::Thinking } else { Delta::Text };
        (!text.is_empty()).then(|| delta(text.to_owned()))
    }

    /// Judges a hop after its last event.
    pub fn end(&mut self) -> Result<End, ProviderError> {
        self.spent += usage(&std::mem::take(&mut self.counted));
        if let Some(reason) = self.prompt_block.take() {
            return Err(error::blocked(&reason, None));
        }
        let reason = self.finish.take().ok_or_else(error::cut)?;
        let said = self.finish_message.take();
        match reason.as_str() {
            "CONTINUATION" => self.continuation.take().map(End::Continue).ok_or_else(error::cut),
            "STOP" if self.says_nothing() => Err(error::empty()),
            "STOP" => Ok(self.complete(Stop::Done)),
            "MAX_TOKENS" => Ok(self.complete(Stop::Truncated)),
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "MALFORMED_RESPONSE"
            | "TOO_MANY_TOOL_CALLS" => Err(error::bad_call(&reason, said.as_deref())),
            "MISSING_THOUGHT_SIGNATURE" => Err(error::signature(&reason, said.as_deref())),
            reason if is_policy(reason) => self.stopped(reason, said.as_deref()),
            _ => self.unexplained(),
        }
    }

    fn complete(&mut self, stop: Stop) -> End {
        let parts = std::mem::take(&mut self.parts);
        End::Complete(Completion { parts, usage: self.spent, stop })
    }

    /// A policy stopped it: what was said stands, no call of it runs.
    fn stopped(&mut self, reason: &str, said: Option<&str>) -> Result<End, ProviderError> {
        let error = error::blocked(reason, said);
        self.parts.retain(|part| !matches!(part, Part::Call(_)));
        if self.says_nothing() {
            return Err(error);
        }
        Ok(self.complete(Stop::Blocked(error.message)))
    }

    /// A reason that nobody knows: what was said stands, no call of it runs.
    fn unexplained(&mut self) -> Result<End, ProviderError> {
        self.parts.retain(|part| !matches!(part, Part::Call(_)));
        if self.says_nothing() { Err(error::empty()) } else { Ok(self.complete(Stop::Done)) }
    }

    fn says_nothing(&self) -> bool {
        !self.parts.iter().any(|part| match part {
            Part::Text { text, .. } => !text.trim().is_empty(),
            Part::Thinking { .. } => false,
            Part::Call(_) => true,
        })
    }
}

fn keep(kept: &mut Option<String>, new: Option<&str>) {
    if let Some(new) = new {
        *kept = Some(new.to_owned());
    }
}

/// Returns whether a finish reason means that somebody's rules ended the reply.
fn is_policy(reason: &str) -> bool {
    const REASONS: &[&str] = &[
        "SAFETY",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "MODEL_ARMOR",
        "RECITATION",
        "LANGUAGE",
        "PUP_LIMITED_DISABLED",
        "ESCALATION",
    ];
    REASONS.contains(&reason) || reason.starts_with("IMAGE_")
}

fn read_call(call: &Value, signature: Option<&Value>) -> ToolCall {
    let (args, fault) = match &call["args"] {
        Value::Null => (json!({}), None),
        args @ Value::Object(_) => (args.clone(), None),
        other => (json!({}), Some(not_an_object(other))),
    };
    let wire_id = call["id"].as_str().filter(|id| !id.is_empty());
    ToolCall {
        id: call_id::mint(),
        wire_id: wire_id.map(str::to_owned),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        args,
        fault,
        opaque: signature.cloned(),
    }
}

fn not_an_object(args: &Value) -> String {
    let raw: String = args.to_string().chars().take(500).collect();
    format!("The arguments must be a JSON object, but they were: {raw}")
}

/// Reads the counts. Some servers count thoughts among the candidates' tokens; then the sum shows it.
fn usage(counted: &Value) -> Usage {
    let count = |key: &str| counted[key].as_u64().unwrap_or(0);
    let input = count("promptTokenCount") + count("toolUsePromptTokenCount");
    let (answer, thinking) = (count("candidatesTokenCount"), count("thoughtsTokenCount"));
    let is_inside = thinking <= answer && input + answer == count("totalTokenCount");
    let output = if is_inside { answer } else { answer + thinking };
    Usage { input, cached: count("cachedContentTokenCount"), output, thinking }
}

#[cfg(test)]
mod tests;
