//! Bytes as text and back, losing nothing: encoding, byte-order mark, line endings, a missing last newline.

mod encoding;

use std::ops::Range;

use encoding::BOM;
pub use encoding::Encoding;

/// A text file's content, with what is needed to write it back unharmed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Without the byte-order mark; line endings as they stand.
    pub content: String,
    pub encoding: Encoding,
}

/// Why bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("a binary file")]
    Binary,
    #[error("broken UTF-16 (the byte at {offset}, its last, is half a code unit)")]
    HalfUnit { offset: usize },
    #[error("broken UTF-16 (at byte {offset} stands half a surrogate pair)")]
    HalfPair { offset: usize },
}

/// A text has a character that its file's encoding does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} has {} (U+{:04X}), which {} cannot hold. Write it with characters of that encoding, or ask the person to convert the file.",
    shown(*.character), *.character as u32, .encoding.name()
)]
pub struct Unencodable {
    pub character: char,
    /// Counts from 1.
    pub line: usize,
    pub encoding: Encoding,
}

fn shown(c: char) -> String {
    if c.is_control() { "a control character".into() } else { format!("'{c}'") }
}

impl Text {
    /// Reads bytes as UTF-8, as UTF-16 with a byte-order mark, else as Windows-1252 or Latin-1.
    ///
    /// What decodes encodes to the same bytes again.
    pub fn decode(bytes: &[u8]) -> Result<Self, TextError> {
        let encoding = Encoding::of(bytes);
        if !encoding.is_wide() && bytes.contains(&0) {
            return Err(TextError::Binary);
        }
        let mut content = encoding.decode(bytes)?;
        if encoding.is_wide() && content.contains('\0') {
            return Err(TextError::Binary);
        }
        if encoding.has_bom() {
            content.drain(..BOM.len());
        }
        Ok(Self { content, encoding })
    }

    /// Returns the bytes of new content in this file's encoding, behind its byte-order mark.
    pub fn encode(&self, content: &str) -> Result<Vec<u8>, Unencodable> {
        if let Some((at, character)) = self.encoding.first_it_lacks(content) {
            let line = line_at(content, at);
            return Err(Unencodable { character, line, encoding: self.encoding });
        }
        let mark = if self.encoding.has_bom() { BOM } else { "" };
        Ok(self.encoding.encode(&[mark, content].concat()))
    }

    /// Takes a whole new content: this file's byte-order mark is not written twice.
    pub fn without_second_bom<'a>(&self, content: &'a str) -> &'a str {
        let marked = content.strip_prefix(BOM).filter(|_| self.encoding.has_bom());
        marked.unwrap_or(content)
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

/// Returns the ending in use at a place: there, else on the rest of its line, else in the whole text.
pub fn ending_at(text: &str, place: Range<usize>) -> &'static str {
    let rest = text[place.end..].split_inclusive('\n').next().unwrap_or_default();
    let there = [&text[place], rest].into_iter().find(|there| there.contains('\n'));
    ending_of(there.unwrap_or(text))
}

/// Splits a text into lines with their endings. A lone `\r` is data, unless the text knows no other ending.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(separator(text))
}

/// Returns the character that ends every line.
fn separator(text: &str) -> char {
    if text.contains('\r') && !text.contains('\n') { '\r' } else { '\n' }
}

/// Returns the number of the line, from 1, in which a byte stands.
pub fn line_at(text: &str, at: usize) -> usize {
    1 + text[..at].matches(separator(text)).count()
}

/// Splits a line into its text and its ending.
pub fn split_ending(line: &str) -> (&str, &str) {
    let ending = ["\r\n", "\n", "\r"].into_iter().find(|ending| line.ends_with(ending));
    line.split_at(line.len() - ending.map_or(0, str::len))
}

#[cfg(test)]
mod tests;
