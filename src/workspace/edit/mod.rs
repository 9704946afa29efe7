//! Finding old text in a file and putting new text in its place; not a byte elsewhere changes.
//!
//! Exact text wins. Tolerance grows step by step, and a step counts only with a single place to show.

mod closest;
mod lines;
mod view;

use std::ops::Range;

use super::text::ending_of;
use view::View;

/// Places named in an error before the rest is only counted.
const MOST_NAMED: usize = 20;

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub content: String,
    /// The lines, from 1, at which the old text stood.
    pub lines: Vec<usize>,
    pub tolerance: Tolerance,
}

/// What had to be overlooked for the old text to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    Nothing,
    TrailingSpace,
    Indentation,
    LookAlikes,
    LookAlikesAndSpace,
}

/// Why there is no edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(
        "old_str is empty, but the file is not. Give the text to replace; only a new or empty file takes an empty old_str."
    )]
    EmptyOld,
    #[error("old_str does not occur in the file.{0}")]
    NotFound(String),
    #[error(
        "old_str occurs more than once: at lines {0}. Add surrounding lines until it is unique, or set replace_all."
    )]
    Ambiguous(String),
    #[error(
        "old_str matches only when {tolerance} is overlooked, and then more than once: at lines {lines}. Copy the text exactly as read_file shows it."
    )]
    Vague { tolerance: &'static str, lines: String },
    #[error(
        "The edit would change nothing: the file already reads so. Send a new_str that differs."
    )]
    Nothing,
}

/// New text for a span of the old content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Splice {
    /// The whole place that matched, for line numbers.
    found: usize,
    range: Range<usize>,
    text: String,
}

impl Tolerance {
    /// Names what was overlooked.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::TrailingSpace => "trailing white space",
            Self::Indentation => "indentation",
            Self::LookAlikes => "the kind of quotes, dashes and spaces",
            Self::LookAlikesAndSpace => "white space and the kind of quotes and dashes",
        }
    }

    const STEPS: [Self; 5] = [
        Self::Nothing,
        Self::TrailingSpace,
        Self::Indentation,
        Self::LookAlikes,
        Self::LookAlikesAndSpace,
    ];
}

/// Replaces `old`, which must stand in one place, or every occurrence with `all`.
///
/// `\n` matches any line ending, and new lines get the ending of the place they come to.
pub fn replace(content: &str, old: &str, new: &str, all: bool) -> Result<Edited, EditError> {
    let old = plain(old);
    let new = plain(new);
    if old.is_empty() {
        return fill(content, &new);
    }
    for tolerance in Tolerance::STEPS {
        let found = splices(content, &old, &new, all, tolerance);
        if found.is_empty() {
            continue;
        }
        if found.len() > 1 && !(all && tolerance == Tolerance::Nothing) {
            return Err(ambiguous(content, &found, tolerance));
        }
        return apply(content, &found, tolerance);
    }
    Err(EditError::NotFound(closest::describe(content, &old)))
}

fn fill(content: &str, new: &str) -> Result<Edited, EditError> {
    match (content.is_empty(), new.is_empty()) {
        (false, _) => Err(EditError::EmptyOld),
        (true, true) => Err(EditError::Nothing),
        _ => Ok(Edited { content: new.into(), lines: vec![1], tolerance: Tolerance::Nothing }),
    }
}

fn splices(content: &str, old: &str, new: &str, all: bool, tolerance: Tolerance) -> Vec<Splice> {
    let most = if all { usize::MAX } else { MOST_NAMED + 1 };
    match tolerance {
        Tolerance::Nothing => within_lines(&View::of(content), old, new, all, most),
        Tolerance::LookAlikes => {
            within_lines(&View::with_look_alikes(content), old, new, false, MOST_NAMED + 1)
        }
        _ => lines::splices(content, old, new, tolerance, MOST_NAMED + 1),
    }
}

/// Finds the old text anywhere, also within a line.
fn within_lines(view: &View, old: &str, new: &str, all: bool, most: usize) -> Vec<Splice> {
    let needle = view.fold(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = view.folded[from..].find(&needle).map(|at| from + at) {
        found.push(splice(view, at..at + needle.len(), old, new));
        if found.len() == most {
            break;
        }
        // Overlapping places are two places, unless each is to be replaced.
        let step = if all {
            needle.len()
        } else {
            view.folded[at..].chars().next().map_or(1, char::len_utf8)
        };
        from = at + step;
    }
    found
}

/// Replaces only what differs between old and new: what they share stays as the file has it.
fn splice(view: &View, place: Range<usize>, old: &str, new: &str) -> Splice {
    let (head, tail) = shared(old, new);
    let matched = &view.folded[place.clone()];
    let start = place.start + bytes_of_chars(matched.chars(), head);
    let end = place.end - bytes_of_chars(matched.chars().rev(), tail);
    let middle = &new[bytes_of_chars(new.chars(), head)..];
    let middle = &middle[..middle.len() - bytes_of_chars(middle.chars().rev(), tail)];
    let whole = view.original(place.start)..view.original(place.end);
    let text = middle.replace('\n', ending_at(view.content, whole.clone()));
    Splice { found: whole.start, range: view.original(start)..view.original(end), text }
}

/// Counts the characters that two texts share at the start and, of the rest, at the end.
fn shared(old: &str, new: &str) -> (usize, usize) {
    let head = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let rest = old.chars().count().min(new.chars().count()) - head;
    let tail =
        old.chars().rev().zip(new.chars().rev()).take(rest).take_while(|(a, b)| a == b).count();
    (head, tail)
}

fn bytes_of_chars(chars: impl Iterator<Item = char>, count: usize) -> usize {
    chars.take(count).map(char::len_utf8).sum()
}

/// Returns the line ending in use at a place: there, or else in the whole file.
fn ending_at(content: &str, place: Range<usize>) -> &'static str {
    let there = &content[place];
    ending_of(if there.contains('\n') { there } else { content })
}

fn apply(content: &str, splices: &[Splice], tolerance: Tolerance) -> Result<Edited, EditError> {
    let mut edited = String::with_capacity(content.len());
    let mut at = 0;
    for splice in splices {
        edited.push_str(&content[at..splice.range.start]);
        edited.push_str(&splice.text);
        at = splice.range.end;
    }
    edited.push_str(&content[at..]);
    if edited == content {
        return Err(EditError::Nothing);
    }
    Ok(Edited { content: edited, lines: line_numbers(content, splices), tolerance })
}

fn ambiguous(content: &str, splices: &[Splice], tolerance: Tolerance) -> EditError {
    let numbers = line_numbers(content, splices);
    let named: Vec<_> = numbers.iter().take(MOST_NAMED).map(usize::to_string).collect();
    let more = if numbers.len() > MOST_NAMED { " and more" } else { "" };
    let lines = format!("{}{more}", named.join(", "));
    match tolerance {
        Tolerance::Nothing => EditError::Ambiguous(lines),
        _ => EditError::Vague { tolerance: tolerance.name(), lines },
    }
}

fn line_numbers(content: &str, splices: &[Splice]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let mut numbers = Vec::with_capacity(splices.len());
    for splice in splices {
        line += content[at..splice.found].matches('\n').count();
        at = splice.found;
        numbers.push(line);
    }
    numbers
}

/// A model's text: `\n` for every ending, and no byte-order mark.
fn plain(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests;
