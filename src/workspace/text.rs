//! Bytes as text and back, losing nothing: byte-order mark, line endings, a missing last newline.

const BOM: &str = "\u{feff}";

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

impl Text {
    /// Reads bytes as UTF-8, with or without a byte-order mark.
    pub fn decode(bytes: &[u8]) -> Result<Self, TextError> {
        if bytes.contains(&0) {
            return Err(TextError::Binary);
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| TextError::Encoding { offset: error.valid_up_to() })?;
        let content = text.strip_prefix(BOM).unwrap_or(text);
        Ok(Self { content: content.into(), has_bom: content.len() < text.len() })
    }

    /// Returns the bytes of new content, with this file's byte-order mark exactly once.
    pub fn encode(&self, content: &str) -> Vec<u8> {
        let content = content.strip_prefix(BOM).unwrap_or(content);
        let mark = if self.has_bom { BOM } else { "" };
        [mark, content].concat().into_bytes()
    }

    /// Returns the ending that most lines have.
    pub fn ending(&self) -> &'static str {
        ending_of(&self.content)
    }
}

/// Returns the ending that most lines of a text have, `\n` when it has none.
pub fn ending_of(text: &str) -> &'static str {
    let crlf = text.matches("\r\n").count();
    let lf = text.matches('\n').count() - crlf;
    if crlf > lf {
        return "\r\n";
    }
    if lf == 0 && crlf == 0 && text.contains('\r') { "\r" } else { "\n" }
}

/// Splits a text into lines with their endings. A lone `\r` is data, unless the text knows no other ending.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let separator = if ending_of(text) == "\r" { '\r' } else { '\n' };
    text.split_inclusive(separator)
}

/// Splits a line into its text and its ending.
pub fn split_ending(line: &str) -> (&str, &str) {
    let ending = ["\r\n", "\n", "\r"].into_iter().find(|ending| line.ends_with(ending));
    line.split_at(line.len() - ending.map_or(0, str::len))
}
