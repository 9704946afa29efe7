//! Finds the step that answers a request, and plays it as a stream.

use std::time::Duration;

use futures::{FutureExt, StreamExt, future, stream};
use serde_json::{Value, json};

use super::script::{Call, Fault, Step, find_label};
use super::{NAME, Pace};
use crate::provider::{Completion, Delta, ErrorKind, ProviderError, Request, Stop, call_id};
use crate::session::{Message, Part, ToolCall, Usage};

/// What a script says that has no step for what happened.
const NOTHING_MORE: &str = "The script has nothing more to say here. \
     Choose another model with /model, or start anew with /clear.";

/// Where a request stands in its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scene {
    role: &'static str,
    /// Replies that were played before.
    replies: usize,
    /// The step to play; none when no step fits.
    pub step: Option<usize>,
}

impl Scene {
    /// Plays the script over the conversation, as it was played before, up to this request.
    pub fn find(steps: &[Step], request: &Request) -> Self {
        let (mut at, mut replies, mut news_from) = (0, 0, 0);
        for (index, message) in request.messages.iter().enumerate() {
            let Message::Assistant(reply) = message else { continue };
            if reply.origin.provider == NAME {
                let played = choose(steps, at, &request.messages[news_from..index]);
                at = played.map_or(at, |step| after(steps, step));
                replies += 1;
            }
            news_from = index + 1;
        }
        let step = choose(steps, at, &request.messages[news_from..]);
        Self { role: request.role, replies, step }
    }
}

/// Returns the first step from `at` on whose condition holds.
fn choose(steps: &[Step], at: usize, news: &[Message]) -> Option<usize> {
    (at..steps.len()).find(|&index| steps[index].when.holds(news))
}

/// Returns from where to look on after a step was played.
fn after(steps: &[Step], played: usize) -> usize {
    let then = steps[played].then.as_ref();
    then.and_then(|then| find_label(steps, then.get_ref())).unwrap_or(played + 1)
}

/// A moment of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Beat {
    Wait(Duration),
    Send(Delta),
    Fail(ProviderError),
    Hang,
}

/// Returns a step as beats: what is shown word by word, then the whole.
pub fn beats(step: Option<&Step>, fault: Option<&Fault>, request: &Request) -> Vec<Beat> {
    let nothing_more = Step { text: NOTHING_MORE.into(), ..Step::default() };
    let step = step.unwrap_or(&nothing_more);
    let mut beats = vec![Beat::Wait(Duration::from_millis(350))];
    beats.extend(words(&step.thinking).flat_map(|word| written(Delta::Thinking(word))));
    beats.extend(words(&step.text).flat_map(|word| written(Delta::Text(word))));
    let Some(fault) = fault else {
        beats.extend(step.calls.iter().flat_map(|call| calling(&call.tool)));
        beats.push(end(step, request));
        return beats;
    };
    beats.truncate(if fault.kind.is_mid_stream() { beats.len().div_ceil(2) } else { 1 });
    beats.push(fault.kind.error().map_or(Beat::Hang, |kind| Beat::Fail(failure(kind, fault))));
    beats
}

/// A reply without words and calls is the failure that it is with every model.
fn end(step: &Step, request: &Request) -> Beat {
    if step.text.is_empty() && step.calls.is_empty() && step.blocked.is_none() {
        let message = "The script answered with nothing; give its reply a text or calls.";
        return Beat::Fail(ProviderError::new(ErrorKind::Empty, message));
    }
    Beat::Send(Delta::Done(completion(step, request)))
}

/// Cuts a text after each word, with the blank that follows it.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive([' ', '\n']).map(str::to_owned)
}

fn written(delta: Delta) -> [Beat; 2] {
    let letters = match &delta {
        Delta::Thinking(word) | Delta::Text(word) => word.chars().count() as u64,
        _ => 0,
    };
    [Beat::Wait(Duration::from_millis(8 + 4 * letters.min(12))), Beat::Send(delta)]
}

fn calling(tool: &str) -> [Beat; 2] {
    let name = tool.to_owned();
    [Beat::Send(Delta::Calling { name }), Beat::Wait(Duration::from_millis(250))]
}

fn failure(kind: ErrorKind, fault: &Fault) -> ProviderError {
    let message = fault.message.clone().unwrap_or_else(|| {
        format!("The script plays a failure here ({kind:?}); change its `fault` to go on.")
    });
    let retry_after = fault.wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    ProviderError { kind, message, retry_after }
}

fn completion(step: &Step, request: &Request) -> Completion {
    let mut parts = Vec::new();
    if !step.thinking.is_empty() {
        parts.push(Part::Thinking { text: step.thinking.clone(), opaque: None });
    }
    if !step.text.is_empty() {
        parts.push(Part::Text { text: step.text.clone(), opaque: None });
    }
    parts.extend(step.calls.iter().map(|call| Part::Call(tool_call(call))));
    let stop = match &step.blocked {
        Some(reason) => Stop::Blocked(reason.clone()),
        None if step.truncated => Stop::Truncated,
        None => Stop::Done,
    };
    Completion { parts, usage: usage(step, request), stop }
}

fn tool_call(call: &Call) -> ToolCall {
    let (args, fault) = match &call.malformed {
        Some(raw) => (json!({}), Some(format!("The arguments are not valid JSON: {raw}"))),
        None => (Value::Object(call.args.clone()), None),
    };
    let name = call.tool.clone();
    ToolCall { id: call_id::mint(), wire_id: None, name, args, fault, opaque: None }
}

/// Returns the script's figures, or a guess of four characters to a token.
fn usage(step: &Step, request: &Request) -> Usage {
    if let Some(said) = step.usage {
        let (input, cached) = (said.input, said.cached);
        return Usage { input, cached, output: said.output, thinking: said.thinking };
    }
    let asked = request.system.len() + request.messages.iter().map(length).sum::<usize>();
    let thinking = tokens(step.thinking.len());
    let called: usize = step.calls.iter().map(|call| json!(call.args).to_string().len()).sum();
    let output = tokens(step.text.len() + called) + thinking;
    Usage { input: tokens(asked), cached: 0, output, thinking }
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

fn length(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant(reply) => reply.text().len(),
        Message::Results { results } => results.iter().map(|result| result.text.len()).sum(),
    }
}

/// Plays beats; the waits only at a realistic pace.
pub fn stream(
    beats: Vec<Beat>,
    pace: Pace,
) -> stream::BoxStream<'static, Result<Delta, ProviderError>> {
    let heard = move |beat: &Beat| pace == Pace::Realistic || !matches!(beat, Beat::Wait(_));
    stream::iter(beats.into_iter().filter(heard)).filter_map(act).boxed()
}

fn act(beat: Beat) -> future::BoxFuture<'static, Option<Result<Delta, ProviderError>>> {
    match beat {
        Beat::Wait(time) => tokio::time::sleep(time).map(|()| None).boxed(),
        Beat::Send(delta) => future::ready(Some(Ok(delta))).boxed(),
        Beat::Fail(error) => future::ready(Some(Err(error))).boxed(),
        Beat::Hang => future::pending().boxed(),
    }
}
