//! JSON Schema that every server takes: a pure pass over a tool's schema.

use serde_json::{Map, Value, json};

/// Keywords that some server refuses and none needs.
const DROPPED: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Keywords whose values are data, not schemas.
const DATA: &[&str] = &["default", "enum", "const", "required", "propertyOrdering"];

/// Keywords that hold schemas by name.
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas"];

/// Combinators, which no root may carry.
const COMBINATORS: &[&str] = &["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"];

/// Returns the schema with references inlined and what is refused somewhere taken out.
pub fn clean(schema: &Value) -> Value {
    let mut root = Cleaner { root: schema, open: Vec::new() }.node(schema);
    let Value::Object(object) = &mut root else {
        return json!({ "type": "object", "properties": {} });
    };
    object.retain(|key, _| !COMBINATORS.contains(&key.as_str()));
    object.insert("type".into(), "object".into());
    object.entry("properties").or_insert_with(|| json!({}));
    root
}

struct Cleaner<'a> {
    root: &'a Value,
    /// References that are being inlined: one that comes again is recursive.
    open: Vec<&'a str>,
}

impl<'a> Cleaner<'a> {
    fn node(&mut self, schema: &'a Value) -> Value {
        let Value::Object(object) = schema else { return schema.clone() };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            return self.inline(reference, object);
        }
        let mut clean = Map::new();
        for (key, value) in object {
            if let Some(value) = self.keyword(key, value) {
                clean.insert(key.clone(), value);
            }
        }
        tidy_values(&mut clean);
        if clean.contains_key("anyOf") {
            clean.retain(|key, _| matches!(key.as_str(), "anyOf" | "description"));
        }
        Value::Object(clean)
    }

    fn keyword(&mut self, key: &str, value: &'a Value) -> Option<Value> {
        match value {
            _ if DROPPED.contains(&key) => None,
            Value::Null if key == "default" => None,
            _ if DATA.contains(&key) => Some(value.clone()),
            Value::Object(named) if NAMED.contains(&key) => {
                Some(named.iter().map(|(name, schema)| (name.clone(), self.node(schema))).collect())
            }
            Value::Array(list) => Some(list.iter().map(|schema| self.node(schema)).collect()),
            _ => Some(self.node(value)),
        }
    }

    /// Puts what a reference means in its place; what it means inside itself stays any object.
    fn inline(&mut self, reference: &'a str, object: &'a Map<String, Value>) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let mut meant = match target {
            Some(target) if !self.open.contains(&reference) => {
                self.open.push(reference);
                let meant = self.node(target);
                self.open.pop();
                meant
            }
            _ => json!({ "type": "object" }),
        };
        if let (Some(said), Some(meant)) = (object.get("description"), meant.as_object_mut()) {
            meant.insert("description".into(), said.clone());
        }
        meant
    }
}

/// Turns `const` into `enum`, and an `enum` that is not all text into words of the description.
fn tidy_values(node: &mut Map<String, Value>) {
    if let Some(only) = node.shift_remove("const") {
        node.insert("enum".into(), json!([only]));
    }
    let Some(Value::Array(values)) = node.get("enum") else { return };
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if values.iter().all(is_text) {
        return;
    }
    let list = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    let said = node.get("description").and_then(Value::as_str).unwrap_or_default();
    let said = format!("{said} One of: {list}.").trim_start().to_owned();
    node.shift_remove("enum");
    node.insert("description".into(), said.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_cleaned_for_every_server() {
        let empty = json!({ "type": "object", "properties": {} });
        let table = [
            (json!(null), empty.clone()),
            (json!({}), empty.clone()),
            (json!({ "type": "object", "oneOf": [{}], "$schema": "x" }), empty),
            (
                json!({ "type": "object", "properties": {
                    "const": { "const": "a", "examples": ["a"] },
                    "level": { "type": "integer", "enum": [1, 2], "description": "How far." },
                    "path": { "type": ["string", "null"], "default": null, "readOnly": true },
                }, "required": ["path"], "additionalProperties": false }),
                json!({ "type": "object", "properties": {
                    "const": { "enum": ["a"] },
                    "level": { "type": "integer", "description": "How far. One of: 1, 2." },
                    "path": { "type": ["string", "null"] },
                }, "required": ["path"], "additionalProperties": false }),
            ),
            (
                json!({
                    "$defs": { "tree": { "type": "object", "properties": {
                        "next": { "$ref": "#/$defs/tree" }
                    } } },
                    "properties": { "tree": { "$ref": "#/$defs/tree", "description": "A tree." } },
                }),
                json!({ "properties": { "tree": { "type": "object", "properties": {
                    "next": { "type": "object" }
                }, "description": "A tree." } }, "type": "object" }),
            ),
            (
                json!({ "properties": { "a": {
                    "type": "string", "description": "d", "anyOf": [{ "type": "string" }]
                } } }),
                json!({ "properties": { "a": {
                    "description": "d", "anyOf": [{ "type": "string" }]
                } }, "type": "object" }),
            ),
        ];
        for (schema, wanted) in table {
            assert_eq!(clean(&schema), wanted, "{schema}");
        }
    }

    #[test]
    fn cleaning_twice_changes_nothing() {
        let schema = json!({ "properties": { "a": { "const": 1 } }, "$id": "x" });
        assert_eq!(clean(&clean(&schema)), clean(&schema));
    }
}
