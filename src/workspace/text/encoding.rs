//! How a text's characters stand in bytes, and the way there and back without a byte lost.

use encoding_rs::{EncoderResult, WINDOWS_1252, mem};
use serde::{Deserialize, Serialize};

use super::TextError;

/// The byte-order mark as a character.
pub(super) const BOM: &str = "\u{feff}";
/// Bytes that Windows-1252 gives no meaning to.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// An encoding that Trefoil reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    #[default]
    Utf8,
    /// UTF-8 behind a byte-order mark.
    Utf8Bom,
    /// Little-endian; always with a byte-order mark.
    Utf16Le,
    /// Big-endian; always with a byte-order mark.
    Utf16Be,
    /// Bytes that are not UTF-8.
    Windows1252,
    /// Bytes that are neither UTF-8 nor all defined in Windows-1252: each byte is its code point.
    Latin1,
}

impl Encoding {
    /// Names the encoding for people and models.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Bom => "UTF-8 with a byte-order mark",
            Self::Utf16Le => "UTF-16 (little-endian)",
            Self::Utf16Be => "UTF-16 (big-endian)",
            Self::Windows1252 => "Windows-1252",
            Self::Latin1 => "Latin-1",
        }
    }

    /// Returns whether files of this encoding begin with a byte-order mark.
    pub fn has_bom(self) -> bool {
        matches!(self, Self::Utf8Bom | Self::Utf16Le | Self::Utf16Be)
    }

    /// Returns whether characters take two bytes at least.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::Utf16Le | Self::Utf16Be)
    }

    /// Recognises the encoding of bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ if std::str::from_utf8(bytes).is_ok() => {
                if bytes.starts_with(BOM.as_bytes()) {
                    Self::Utf8Bom
                } else {
                    Self::Utf8
                }
            }
            _ if bytes.iter().any(|byte| UNDEFINED.contains(byte)) => Self::Latin1,
            _ => Self::Windows1252,
        }
    }

    /// Decodes bytes of which this is the encoding, byte-order mark and all.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<String, TextError> {
        match self {
            Self::Utf8 | Self::Utf8Bom => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Windows1252 => Ok(WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()),
            Self::Latin1 => Ok(mem::decode_latin1(bytes).into_owned()),
        }
    }

    /// Encodes a text that the encoding can hold.
    pub(super) fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 | Self::Utf8Bom => text.into(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Windows1252 => WINDOWS_1252.encode(text).0.into_owned(),
            Self::Latin1 => mem::encode_latin1_lossy(text).into_owned(),
        }
    }

    /// Finds the first character that would not come back as itself: where it stands, and which it is.
    pub(super) fn first_it_lacks(self, text: &str) -> Option<(usize, char)> {
        // A NUL would make the file a binary one.
        let own = |c: char| match self {
            Self::Windows1252 => c == '\0' || ('\u{80}'..='\u{9f}').contains(&c),
            Self::Latin1 => c == '\0' || c > '\u{ff}',
            _ => c == '\0',
        };
        let first = text.char_indices().find(|(_, c)| own(*c));
        let foreign = (self == Self::Windows1252).then(|| unmappable(text)).flatten();
        first.into_iter().chain(foreign).min()
    }
}

fn unmappable(text: &str) -> Option<(usize, char)> {
    let mut encoder = WINDOWS_1252.new_encoder();
    let mut bytes = vec![0; text.len() + 8];
    match encoder.encode_from_utf8_without_replacement(text, &mut bytes, true) {
        (EncoderResult::Unmappable(c), read, _) => Some((read - c.len_utf8(), c)),
        _ => None,
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, TextError> {
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(TextError::HalfUnit { offset: bytes.len() - 1 });
    }
    let (mut text, mut offset) = (String::with_capacity(bytes.len() / 2), 0);
    for c in char::decode_utf16(units.iter().map(|bytes| unit(*bytes))) {
        let c = c.map_err(|_| TextError::HalfPair { offset })?;
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    Ok(text)
}
