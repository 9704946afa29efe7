//! The matching lines of one file, cut to a length that a model can read.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use tokio_util::sync::CancellationToken;

/// Bytes of a line that are shown.
const MOST_BYTES: usize = 300;

/// Collects lines; those past the limit are counted only.
pub(super) struct Lines<'a> {
    matcher: &'a RegexMatcher,
    most: usize,
    cancel: &'a CancellationToken,
    pub matches: usize,
    /// Whether each line matches (else it is context), and how it is shown; `None` is a gap.
    pub lines: Vec<Option<(bool, String)>>,
}

impl<'a> Lines<'a> {
    pub fn new(matcher: &'a RegexMatcher, most: usize, cancel: &'a CancellationToken) -> Self {
        Self { matcher, most, cancel, matches: 0, lines: Vec::new() }
    }

    fn push(&mut self, is_match: bool, number: Option<u64>, text: String) {
        let sign = if is_match { ':' } else { '-' };
        self.lines.push(Some((is_match, format!("{}{sign}{text}", number.unwrap_or(0)))));
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.matches <= self.most {
            let at = self.matcher.find(found.bytes()).ok().flatten();
            let (start, end) = at.map_or((0, 0), |at| (at.start(), at.end()));
            self.push(true, found.line_number(), cut(found.bytes(), start, end));
        }
        Ok(!self.cancel.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.matches <= self.most {
            self.push(false, context.line_number(), cut(context.bytes(), 0, 0));
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.matches < self.most {
            self.lines.push(None);
        }
        Ok(true)
    }
}

/// Cuts a long line to the surroundings of its match, and says what was left out.
fn cut(line: &[u8], start: usize, end: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MOST_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let room = MOST_BYTES.saturating_sub(end - start) / 2;
    let from = boundary(line, start.saturating_sub(room));
    let to = boundary(line, (from + MOST_BYTES).min(line.len()));
    let text = String::from_utf8_lossy(&line[from..to]);
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    format!("{head}{text}{tail} [cut: the line has {} bytes]", line.len())
}

/// Moves a position back to the start of the character it is in.
fn boundary(line: &[u8], mut at: usize) -> usize {
    while at > 0 && at < line.len() && line[at] & 0xc0 == 0x80 {
        at -= 1;
    }
    at
}
