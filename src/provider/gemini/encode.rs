//! The request as Gemini reads it. The same conversation always gives the same bytes, and a longer one
//! the same bytes with more behind them, so that the server's prompt cache hits.

use serde_json::{Value, json};

use super::NAME;
use crate::provider::{Request, catalog, schema};
use crate::session::{Message, Part, Reply, ToolCall, ToolResult};

/// What Gemini takes in place of a signature that another model, or nobody, wrote.
const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Output that is asked for where the model's limit is unknown: thoughts eat from it too.
const OUTPUT: u64 = 32_768;

/// Output that Gemini streams for one request at most.
const OUTPUT_CAP: u64 = 65_536;

/// What stands where a call has no result. The conversation gives each call one; Gemini refuses less.
const NO_RESULT: &str = "No result was recorded; the tool may have partly run.";

/// Which signatures a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatures {
    /// Those that this model gave.
    Echo,
    /// None: a placeholder on the first call of each turn.
    Placeholder,
}

/// Returns the body of a request.
pub fn body(request: &Request, signatures: Signatures) -> Value {
    let mut body = json!({});
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": &*request.system }] });
    }
    if !request.tools.is_empty() {
        body["tools"] = tools(request);
        body["toolConfig"] = json!({ "functionCallingConfig": { "mode": "AUTO" } });
    }
    body["generationConfig"] = generation(&request.model);
    body["contents"] = contents(request, signatures);
    body
}

fn tools(request: &Request) -> Value {
    let declare = |spec: &crate::session::Spec| {
        json!({
            "name": spec.name,
            "description": spec.description,
            "parametersJsonSchema": schema::clean(&spec.schema),
        })
    };
    let declarations: Vec<Value> = request.tools.iter().map(declare).collect();
    json!([{ "functionDeclarations": declarations }])
}

fn generation(model: &str) -> Value {
    let known = catalog::lookup(&format!("{NAME}/{model}"));
    let output = known.map_or(OUTPUT, |info| info.max_output.min(OUTPUT_CAP));
    let mut config = json!({ "maxOutputTokens": output });
    if thinks(model) {
        config["thinkingConfig"] = json!({ "includeThoughts": true });
    }
    config
}

/// Returns whether a model may be asked for its thoughts; older ones answer that with 400.
fn thinks(model: &str) -> bool {
    !["gemini-1", "gemini-2.0", "gemma"].iter().any(|old| model.starts_with(old))
}

fn contents(request: &Request, signatures: Signatures) -> Value {
    let mut contents = Contents { list: Vec::new(), model: &request.model, signatures };
    let mut messages = request.messages.iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            Message::User { text } => contents.say(text),
            Message::Assistant(reply) => {
                let results = match messages.peek() {
                    Some(Message::Results { results }) => results.as_slice(),
                    _ => &[],
                };
                contents.replied(reply, results);
            }
            // Taken with the reply before it; an orphan would be refused.
            Message::Results { .. } => {}
        }
    }
    contents.close()
}

/// The contents so far, neighbours of one role merged.
struct Contents<'a> {
    list: Vec<(&'static str, Vec<Value>)>,
    model: &'a str,
    signatures: Signatures,
}

impl Contents<'_> {
    fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.list.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, before)) if *last == role => before.extend(parts),
            _ => self.list.push((role, parts)),
        }
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.push("user", vec![json!({ "text": text })]);
        }
    }

    fn replied(&mut self, reply: &Reply, results: &[ToolResult]) {
        let is_own = reply.origin.provider == NAME && reply.origin.model == self.model;
        let echoes = is_own && self.signatures == Signatures::Echo;
        if self.list.is_empty() {
            self.say("Go on.");
        }
        let mut unsigned = (!echoes).then_some(PLACEHOLDER);
        let part = |part: &Part| match part {
            Part::Call(call) => Some(call_part(call, is_own, echoes, unsigned.take())),
            Part::Text { text, opaque } => text_part(text, opaque.as_ref().filter(|_| echoes)),
            Part::Thinking { text, opaque } => {
                let mut part = text_part(text, Some(opaque.as_ref().filter(|_| echoes)?))?;
                part["thought"] = true.into();
                Some(part)
            }
        };
        let parts = reply.parts.iter().filter_map(part).collect();
        self.push("model", parts);
        let answers = reply.calls().map(|call| answer(call, results, is_own)).collect();
        self.push("user", answers);
    }

    fn close(mut self) -> Value {
        if self.list.last().is_none_or(|(role, _)| *role == "model") {
            self.say("Go on.");
        }
        let content = |(role, parts)| json!({ "role": role, "parts": Value::Array(parts) });
        self.list.into_iter().map(content).collect()
    }
}

/// A text; an empty one only where it carries a signature.
fn text_part(text: &str, signature: Option<&Value>) -> Option<Value> {
    let mut part = json!({ "text": text });
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.clone();
    } else if text.is_empty() {
        return None;
    }
    Some(part)
}

fn call_part(call: &ToolCall, is_own: bool, echoes: bool, placeholder: Option<&str>) -> Value {
    let mut function = json!({});
    if let Some(id) = call.wire_id.as_ref().filter(|_| is_own) {
        function["id"] = id.as_str().into();
    }
    function["name"] = wire_name(&call.name).into();
    function["args"] = if call.args.is_object() { call.args.clone() } else { json!({}) };
    let mut part = json!({ "functionCall": function });
    let own = call.opaque.clone().filter(|_| echoes);
    if let Some(signature) = own.or_else(|| placeholder.map(Value::from)) {
        part["thoughtSignature"] = signature;
    }
    part
}

fn answer(call: &ToolCall, results: &[ToolResult], is_own: bool) -> Value {
    let response = match results.iter().find(|result| result.id == call.id) {
        Some(result) if result.ok => json!({ "output": result.text }),
        Some(result) => json!({ "error": result.text }),
        None => json!({ "error": NO_RESULT }),
    };
    let mut function = json!({});
    if let Some(id) = call.wire_id.as_ref().filter(|_| is_own) {
        function["id"] = id.as_str().into();
    }
    function["name"] = wire_name(&call.name).into();
    function["response"] = response;
    json!({ "functionResponse": function })
}

/// Returns a name that every server takes. A model may invent others, even an empty one.
fn wire_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let plain = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' });
    let plain: String = plain.take(64).collect();
    match plain.chars().next() {
        None => "unnamed".into(),
        Some(first) if first.is_ascii_digit() || first == '-' => {
            std::iter::once('_').chain(plain.chars()).take(64).collect()
        }
        Some(_) => plain,
    }
}

#[cfg(test)]
mod tests;
