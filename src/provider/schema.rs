//! JSON Schema hygiene.
