//! Notices a model that makes the same call again and again.

use serde_json::Value;

use crate::session::ToolCall;

/// The last call and how often in a row it was made.
#[derive(Debug, Default)]
pub struct Repeat {
    last: Option<(String, Value)>,
    times: u32,
    result: String,
}

/// What to do about a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Repeated {
    No,
    /// The second time in a row: it does not run, and the model is told this.
    Tell(String),
    /// The third time or more: the person decides.
    Ask,
}

impl Repeat {
    /// Returns whether a call is not the one made just before.
    pub fn is_new(&self, call: &ToolCall) -> bool {
        self.last.as_ref() != Some(&(call.name.clone(), call.args.clone()))
    }

    /// Counts a call in.
    pub fn notice(&mut self, call: &ToolCall) -> Repeated {
        let now = (call.name.clone(), call.args.clone());
        if self.last.as_ref() != Some(&now) {
            *self = Self { last: Some(now), times: 1, result: String::new() };
            return Repeated::No;
        }
        self.times += 1;
        if self.times > 2 {
            return Repeated::Ask;
        }
        Repeated::Tell(format!(
            "You made this exact call just before, so it was not run again. Its result was:\n{}\n\
             Do something else: change the arguments, try another tool, or answer.",
            self.result
        ))
    }

    /// Keeps what came of the last call that ran.
    pub fn keep(&mut self, result: &str) {
        if self.times == 1 {
            self.result = result.to_owned();
        }
    }

    /// Forgets: the person spoke, or let the call run once more.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::CallId;
    use serde_json::json;

    fn call(id: &str, path: &str) -> ToolCall {
        ToolCall {
            id: CallId(id.to_owned()),
            wire_id: None,
            name: "read_file".to_owned(),
            args: json!({ "path": path }),
            fault: None,
            opaque: None,
        }
    }

    #[test]
    fn the_second_is_told_the_first_result_and_the_third_is_asked() {
        let mut repeat = Repeat::default();
        assert_eq!(repeat.notice(&call("1", "a")), Repeated::No);
        repeat.keep("alpha");
        let Repeated::Tell(text) = repeat.notice(&call("2", "a")) else { panic!("not told") };
        assert!(text.contains("alpha"), "{text}");
        repeat.keep("You made this exact call");
        assert_eq!(repeat.notice(&call("3", "a")), Repeated::Ask);
        assert_eq!(repeat.notice(&call("4", "b")), Repeated::No);
        assert_eq!(repeat.notice(&call("5", "a")), Repeated::No);
    }
}
