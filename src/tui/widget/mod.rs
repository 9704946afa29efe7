//! Draws plain data.

/// Colours code.
#[derive(Debug, Default)]
pub struct Highlighter {
    _private: (),
}
