//! Arguments out of JSON, with errors a model can act on.

use serde_json::{Map, Value};

use super::Refusal;

/// A call's arguments, every name known to the tool.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Takes an object with no other than the known parameters; `null` counts as absent.
    pub fn of(args: Value, known: &[&str]) -> Result<Self, Refusal> {
        let Value::Object(mut args) = args else {
            return Err(Refusal(format!(
                "The arguments must be a JSON object with {}, not {}.",
                known.join(", "),
                kind(&args)
            )));
        };
        args.retain(|_, value| !value.is_null());
        match args.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refusal(format!(
                "There is no parameter '{name}'. The parameters are: {}.",
                known.join(", ")
            ))),
            None => Ok(Self(args)),
        }
    }

    /// Returns a text that must be there.
    pub fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional_text(name)?
            .ok_or_else(|| Refusal(format!("The parameter '{name}' (a string) is missing.")))
    }

    /// Returns a text that may be absent.
    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(mistyped(name, "a string", other)),
        }
    }

    /// Returns a whole number that may be absent; `"12"` and `12.0` count.
    pub fn optional_integer(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        let whole = |number: f64| {
            (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as u64)
        };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| mistyped(name, "a whole number", value))
    }

    /// Returns a yes or no that may be absent; `"true"` counts.
    pub fn optional_bool(&self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::Bool(yes)) => Ok(Some(*yes)),
            Some(Value::String(text)) if text == "true" || text == "false" => {
                Ok(Some(text == "true"))
            }
            Some(other) => Err(mistyped(name, "true or false", other)),
        }
    }

    /// Returns a list of texts that may be absent.
    pub fn optional_texts(&self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        let own = |item: &Value| item.as_str().map(str::to_owned);
        let texts = value.as_array().and_then(|items| items.iter().map(own).collect());
        texts.map(Some).ok_or_else(|| mistyped(name, "a list of strings", value))
    }
}

fn mistyped(name: &str, expected: &str, got: &Value) -> Refusal {
    Refusal(format!("The parameter '{name}' must be {expected}, not {}.", kind(got)))
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(args: Value) -> Arguments {
        Arguments::of(args, &["path", "line", "all", "args"]).unwrap()
    }

    #[test]
    fn values_are_read_as_models_write_them() {
        let args = of(json!({ "path": "a", "line": "12", "all": "true", "args": ["x"] }));
        assert_eq!(args.text("path").unwrap(), "a");
        assert_eq!(args.optional_integer("line").unwrap(), Some(12));
        assert_eq!(args.optional_bool("all").unwrap(), Some(true));
        assert_eq!(args.optional_texts("args").unwrap(), Some(vec!["x".to_owned()]));
        let args = of(json!({ "line": 3.0, "all": null }));
        assert_eq!(args.optional_integer("line").unwrap(), Some(3));
        assert_eq!(args.optional_bool("all").unwrap(), None);
    }

    #[test]
    fn errors_name_the_parameter_what_was_expected_and_what_came() {
        let error = |args: Value| of(args).text("path").unwrap_err().0;
        assert_eq!(error(json!({})), "The parameter 'path' (a string) is missing.");
        assert_eq!(
            error(json!({ "path": 3 })),
            "The parameter 'path' must be a string, not the number 3."
        );
        let integer = |args: Value| of(args).optional_integer("line").unwrap_err().0;
        assert!(integer(json!({ "line": -1 })).contains("a whole number, not the number -1"));
        assert!(integer(json!({ "line": "x" })).contains("a whole number, not a string"));
        assert!(of(json!({ "args": [1] })).optional_texts("args").is_err());
        let refusal = |args: Value| Arguments::of(args, &["path"]).map(|_| ()).unwrap_err().0;
        assert_eq!(
            refusal(json!({ "file": 1 })),
            "There is no parameter 'file'. The parameters are: path."
        );
        assert_eq!(
            refusal(json!([])),
            "The arguments must be a JSON object with path, not a list."
        );
    }
}
