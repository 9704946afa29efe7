//! A process's output in bounded memory: its head and its tail as bytes, turned into text once, at the end.

use std::collections::VecDeque;

use vte::{Params, Parser, Perform};

/// Bytes that are turned into text for one live piece.
const LIVE: usize = 4 * 1024;
/// Bytes kept for each character that is told: escapes and overwritten progress bars take room too.
const ROOM: usize = 4;

/// What was captured of one stream.
pub(super) struct Capture {
    /// Characters told of each end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: usize,
    newlines: usize,
    live: Live,
}

/// The decoder of what is shown while it comes.
#[derive(Default)]
struct Live {
    parser: Parser,
    plain: Plain,
}

impl Capture {
    pub fn new(output_chars: usize) -> Self {
        Self {
            half: (output_chars / 2).max(1),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            newlines: 0,
            live: Live::default(),
        }
    }

    /// Takes bytes in; beyond head and tail they are only counted.
    pub fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        self.newlines += bytes.iter().filter(|byte| **byte == b'\n').count();
        let room = self.half * ROOM;
        let (head, rest) = bytes.split_at(bytes.len().min(room - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(room)..];
        self.tail.drain(..(self.tail.len() + rest.len()).saturating_sub(room).min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Returns the last of these bytes as plain text.
    pub fn live(&mut self, bytes: &[u8]) -> String {
        let Live { parser, plain } = &mut self.live;
        parser.advance(plain, &bytes[bytes.len().saturating_sub(LIVE)..]);
        std::mem::take(plain).text
    }

    /// Returns whether something was left out.
    pub fn is_cut(&self) -> bool {
        self.total > self.head.len() + self.tail.len()
            || self.whole().chars().count() > 2 * self.half
    }

    /// Returns the output as text for the model: whole, or its head and tail and what lies between.
    /// `clean` sees it before it is cut: a key cut in half is no longer found.
    pub fn text(&self, clean: impl Fn(String) -> String) -> String {
        let whole = clean(self.whole());
        let is_whole = self.total == self.head.len() + self.tail.len();
        if is_whole && whole.chars().count() <= 2 * self.half {
            return ended(whole);
        }
        let (head, tail) = if is_whole {
            (whole.clone(), whole)
        } else {
            let tail: Vec<u8> = self.tail.iter().copied().collect();
            (clean(plain(&self.head)), clean(plain(after_line(&tail))))
        };
        let head: String = head.chars().take(self.half).collect();
        let skipped = tail.chars().count().saturating_sub(self.half);
        let tail: String = tail.chars().skip(skipped).collect();
        let bytes = self.total.saturating_sub(head.len() + tail.len());
        let lines = self.newlines.saturating_sub(newlines(&head) + newlines(&tail));
        format!("{head}\n[… {bytes} bytes ({lines} lines) left out here …]\n{}", ended(tail))
    }

    fn whole(&self) -> String {
        let mut bytes = self.head.clone();
        bytes.extend(&self.tail);
        plain(&bytes)
    }
}

/// Begins behind the first line end near the front, so that neither a character nor an escape is cut in half.
fn after_line(bytes: &[u8]) -> &[u8] {
    match bytes.iter().take(LIVE).position(|byte| *byte == b'\n') {
        Some(at) => &bytes[at + 1..],
        None => {
            let start = bytes.iter().take(4).position(|byte| byte & 0b1100_0000 != 0b1000_0000);
            &bytes[start.unwrap_or(0)..]
        }
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Turns bytes into the text a terminal would leave standing: no escapes, overwritten lines overwritten.
fn plain(bytes: &[u8]) -> String {
    let mut plain = Plain::default();
    Parser::new().advance(&mut plain, bytes);
    // A character that the end cut in half is told as what it is: undecodable.
    if std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none()) {
        plain.print('\u{fffd}');
    }
    plain.text
}

/// A terminal of one endless line after the other.
#[derive(Default)]
struct Plain {
    text: String,
    /// Where the current line begins in `text`, in bytes.
    line: usize,
    /// The column in the current line where the next character goes; `None` is the line's end.
    column: Option<usize>,
}

impl Plain {
    /// Returns the byte offset of a column of the current line, if the line is that long.
    fn offset(&self, column: usize) -> Option<usize> {
        self.text[self.line..].char_indices().nth(column).map(|(at, _)| self.line + at)
    }

    fn step_back(&mut self) {
        let column = self.column.unwrap_or_else(|| self.text[self.line..].chars().count());
        self.column = Some(column.saturating_sub(1));
    }

    fn erase_to_end(&mut self) {
        if let Some(at) = self.column.and_then(|column| self.offset(column)) {
            self.text.truncate(at);
            self.column = None;
        }
    }
}

impl Perform for Plain {
    fn print(&mut self, c: char) {
        let place = self.column.map(|column| (column, self.offset(column)));
        match place {
            Some((column, Some(at))) => {
                let old = self.text[at..].chars().next().map_or(0, char::len_utf8);
                self.text.replace_range(at..at + old, c.encode_utf8(&mut [0; 4]));
                self.column = Some(column + 1);
            }
            _ => {
                self.text.push(c);
                self.column = None;
            }
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.text.push('\n');
                self.line = self.text.len();
                self.column = None;
            }
            b'\r' => self.column = Some(0),
            b'\t' => self.print('\t'),
            0x08 => self.step_back(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        match (action, first) {
            ('K', 0) => self.erase_to_end(),
            ('K', _) => {
                self.text.truncate(self.line);
                self.column = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pieces: &[&[u8]], chars: usize) -> String {
        let mut capture = Capture::new(chars);
        pieces.iter().for_each(|piece| capture.take(piece));
        capture.text(|text| text)
    }

    #[test]
    fn what_a_terminal_would_leave_standing_is_told() {
        for (bytes, text) in [
            (
                &b"\x1b[2J\x1b[H\x1b[?1049l\x1b]0;pwn\x07\x1b[31mred\x1b[0m\rover\n\x1b[?1000l\x07"
                    [..],
                "over\n",
            ),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"long line\rab\n", "abng line\n"),
            (b"long line\r\x1b[Kab\n", "ab\n"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"abc\x08X\n", "abX\n"),
            (b"a\tb\n", "a\tb\n"),
            (b"\xff\xfe\xfdabc", "\u{fffd}\u{fffd}\u{fffd}abc\n"),
            (b"cut \xe2\x80", "cut \u{fffd}\n"),
            (b"", ""),
        ] {
            assert_eq!(captured(&[bytes], 1_000), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_split_over_two_reads_stays_whole() {
        assert_eq!(captured(&[b"A\xe2", b"\x80\x94B\n"], 100), "A—B\n");
        let mut capture = Capture::new(100);
        let live = capture.live(b"A\xe2") + &capture.live(b"\x80\x94B\n");
        assert_eq!(live, "A—B\n");
    }

    #[test]
    fn too_much_keeps_head_and_tail_and_counts_the_rest() {
        let lines: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        let text = captured(&[lines.as_bytes()], 100);
        assert!(text.starts_with("line 0\nline 1\n"), "{text}");
        assert!(text.ends_with("line 9999\n"), "{text}");
        assert!(text.contains("lines) left out here"), "{text}");
        assert!(text.chars().count() < 200, "{text}");
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let mut capture = Capture::new(100);
        for _ in 0..1_000 {
            capture.take(&[b'x'; 16 * 1024]);
        }
        assert!(capture.head.capacity() + capture.tail.capacity() < 4_096);
        assert!(capture.text(|text| text).contains("left out"));
    }

    #[test]
    fn a_tail_never_begins_inside_a_character() {
        let text = captured(&["é".repeat(70_000).as_bytes()], 100);
        assert!(!text.contains('\u{fffd}'), "{text}");
    }
}
