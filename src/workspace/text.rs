//! Bytes as text and back, losing nothing: byte-order mark, line endings, a missing last newline.

/// A text file's content, with what is needed to write it back unharmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Without the byte-order mark; line endings as they stand.
    pub content: String,
    pub has_bom: bool,
}

/// Why bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("a binary file")]
    Binary,
    #[error("not UTF-8 (byte {offset} is the first that does not decode)")]
    Encoding { offset: usize },
}
