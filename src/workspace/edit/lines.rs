//! Matching whole lines with white space overlooked; the new lines take the file's indentation.

use std::borrow::Cow;
use std::ops::Range;

use super::view::fold;
use super::{Splice, Tolerance, ending_at};
use crate::workspace::text;

/// A line of the file: its text, and where it and its ending stop.
struct Line<'a> {
    start: usize,
    end: usize,
    next: usize,
    text: &'a str,
}

/// A model's text in lines; `closed` when the last one has its newline.
struct Block<'a> {
    lines: Vec<&'a str>,
    closed: bool,
}

/// How the file's indentation differs from the model's, the same way on every line.
#[derive(Debug, PartialEq, Eq)]
enum Reindent {
    Add(String),
    Remove(String),
    /// The file has a tab where the model has so many spaces.
    ToTabs(usize),
    /// The file has so many spaces where the model has a tab.
    ToSpaces(usize),
}

/// Finds the old lines in the file, at most `most` times.
pub(super) fn splices(
    content: &str,
    old: &str,
    new: &str,
    tolerance: Tolerance,
    most: usize,
) -> Vec<Splice> {
    let file = lines(content);
    let old = Block::of(old);
    let new = if new.is_empty() && old.closed {
        Block { lines: vec![], closed: true }
    } else {
        Block::of(new)
    };
    let windows = windows(&file, &old, tolerance);
    let fits = windows.filter_map(|at| {
        let window = &file[at..at + old.lines.len()];
        let reindent = Reindent::between(&old.lines, window, tolerance)?;
        Some(splice(content, window, &old, &new, &reindent))
    });
    fits.take(most).collect()
}

fn lines(content: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    text::lines(content)
        .map(|line| {
            let (text, ending) = text::split_ending(line);
            let end = start + text.len();
            let line = Line { start, end, next: end + ending.len(), text };
            start = line.next;
            line
        })
        .collect()
}

impl<'a> Block<'a> {
    fn of(text: &'a str) -> Self {
        let closed = text.ends_with('\n');
        Self { lines: text.strip_suffix('\n').unwrap_or(text).split('\n').collect(), closed }
    }
}

/// Returns where the old lines stand, one line for one line; nothing when they are all blank.
fn windows<'a>(
    file: &'a [Line],
    old: &'a Block,
    tolerance: Tolerance,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let keys: Vec<_> = old.lines.iter().map(|line| key(line, tolerance)).collect();
    // The longest line tells places apart soonest.
    let anchor = (0..keys.len()).max_by_key(|at| keys[*at].len()).unwrap_or(0);
    let last = file.len().checked_sub(keys.len());
    let (Some(last), false) = (last, keys[anchor].is_empty()) else {
        return Box::new(std::iter::empty());
    };
    Box::new((0..=last).filter(move |at| {
        key(file[at + anchor].text, tolerance) == keys[anchor]
            && keys.iter().zip(&file[*at..]).all(|(old, line)| *old == key(line.text, tolerance))
    }))
}

/// Returns what counts of a line.
fn key(line: &str, tolerance: Tolerance) -> Cow<'_, str> {
    match tolerance {
        Tolerance::TrailingSpace => line.trim_end().into(),
        Tolerance::LookAlikesAndSpace => fold(line).trim().to_owned().into(),
        _ => line.trim().into(),
    }
}

/// Replaces only the lines that differ: shared ones at either end stay as the file has them.
fn splice(content: &str, window: &[Line], old: &Block, new: &Block, reindent: &Reindent) -> Splice {
    let (head, tail) = shared(old, new);
    let (first, last) = (&window[0], &window[window.len() - 1]);
    let ending = ending_at(content, first.start..last.next);
    let fresh = &new.lines[head..new.lines.len() - tail];
    let mut text: String =
        fresh.iter().flat_map(|line| [reindent.apply(line), ending.into()]).collect();
    let ends_with_file = tail == 0 && last.end == last.next;
    if tail == 0 && (!new.closed || ends_with_file) {
        text.truncate(text.len().saturating_sub(ending.len()));
    }
    let range = span(window, head, tail, old.closed);
    Splice { found: first.start, range, text }
}

fn span(window: &[Line], head: usize, tail: usize, closed: bool) -> Range<usize> {
    let last = &window[window.len() - 1];
    let start = window.get(head).map_or(last.next, |line| line.start);
    let end = match (tail, closed) {
        (0, true) => last.next,
        (0, false) => last.end,
        _ => window[window.len() - tail].start,
    };
    start..end
}

/// Counts the lines shared at either end; without a newline after both, the last line stays in play.
fn shared(old: &Block, new: &Block) -> (usize, usize) {
    let least = old.lines.len().min(new.lines.len());
    let pairs = old.lines.iter().rev().zip(new.lines.iter().rev());
    let tail = if old.closed == new.closed { pairs.take_while(|(a, b)| a == b).count() } else { 0 };
    let in_play = usize::from(tail == 0 && !(old.closed && new.closed));
    let most = least - tail - in_play.min(least - tail);
    let head = old.lines.iter().zip(&new.lines).take(most).take_while(|(a, b)| a == b).count();
    (head, tail)
}

impl Reindent {
    /// Finds the one way that leads from the model's indentation to the file's on every line.
    fn between(old: &[&str], file: &[Line], tolerance: Tolerance) -> Option<Self> {
        if tolerance == Tolerance::TrailingSpace {
            return Some(Self::Add(String::new()));
        }
        let written = old.iter().zip(file).filter(|(old, _)| !old.trim().is_empty());
        let pairs: Vec<_> = written.map(|(old, line)| (indent(old), indent(line.text))).collect();
        let ways = pairs.iter().flat_map(|(from, to)| Self::candidates(from, to));
        ways.take(16).find(|way| pairs.iter().all(|(from, to)| way.shift(from) == *to))
    }

    fn candidates(from: &str, to: &str) -> Vec<Self> {
        let mut ways = Vec::new();
        ways.extend(to.strip_suffix(from).map(|more| Self::Add(more.into())));
        ways.extend(from.strip_suffix(to).map(|less| Self::Remove(less.into())));
        if is_all(from, ' ') && is_all(to, '\t') && from.len().is_multiple_of(to.len()) {
            ways.push(Self::ToTabs(from.len() / to.len()));
        }
        if is_all(from, '\t') && is_all(to, ' ') && to.len().is_multiple_of(from.len()) {
            ways.push(Self::ToSpaces(to.len() / from.len()));
        }
        ways
    }

    /// Moves a line's indentation; a blank line stays blank.
    fn apply(&self, line: &str) -> String {
        if line.trim().is_empty() {
            return line.into();
        }
        let indent = indent(line);
        format!("{}{}", self.shift(indent), &line[indent.len()..])
    }

    fn shift(&self, indent: &str) -> String {
        match self {
            Self::Add(more) => format!("{more}{indent}"),
            Self::Remove(less) => indent.strip_prefix(less.as_str()).unwrap_or_default().into(),
            Self::ToTabs(width) => {
                let spaces = indent.len() - indent.trim_start_matches(' ').len();
                let tabs = "\t".repeat(spaces / width);
                format!("{tabs}{}{}", " ".repeat(spaces % width), &indent[spaces..])
            }
            Self::ToSpaces(width) => indent.replace('\t', &" ".repeat(*width)),
        }
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn is_all(text: &str, c: char) -> bool {
    !text.is_empty() && text.chars().all(|other| other == c)
}
