//! Searching the transcript: where a word stands, in which cell, and which of the matches is meant now.

use std::ops::Range;

use super::transcript::Transcript;

/// What is looked for. Letters match in either case unless one of them is a capital.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    text: String,
    exact: bool,
}

impl Query {
    /// Makes a query; `None` when there is nothing to look for.
    pub fn new(text: &str) -> Option<Self> {
        let exact = text.chars().any(char::is_uppercase);
        (!text.is_empty()).then(|| Self { text: text.to_owned(), exact })
    }

    /// Returns the byte ranges that match, one after the other.
    pub fn ranges<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.first(text, from)?;
            from = found.end;
            Some(found)
        })
    }

    fn first(&self, text: &str, from: usize) -> Option<Range<usize>> {
        text[from..].char_indices().find_map(|(at, _)| {
            let start = from + at;
            Some(start..start + self.length_at(&text[start..])?)
        })
    }

    /// Returns how many bytes of the beginning match.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut chars = text.char_indices();
        for wanted in self.text.chars() {
            let (_, found) = chars.next()?;
            let same = found == wanted || (!self.exact && is_same_letter(found, wanted));
            if !same {
                return None;
            }
        }
        Some(chars.next().map_or(text.len(), |(at, _)| at))
    }
}

fn is_same_letter(a: char, b: char) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(&b);
    }
    a.to_lowercase().eq(b.to_lowercase())
}

/// The `nth` match in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    pub cell: usize,
    pub nth: usize,
}

/// A search under way.
#[derive(Debug)]
pub struct Search {
    pub query: Query,
    matches: Vec<Match>,
    current: usize,
    /// Cells from here on have to be looked through again.
    stale_from: usize,
}

impl Search {
    /// Looks through everything; the first match at or below `cell` is meant first.
    pub fn new(query: Query, transcript: &Transcript, cell: usize) -> Self {
        let mut search = Self { query, matches: Vec::new(), current: 0, stale_from: 0 };
        search.refresh(transcript);
        let below = search.matches.iter().position(|found| found.cell >= cell);
        search.current = below.unwrap_or(search.matches.len().saturating_sub(1));
        search
    }

    /// Notes that a cell changed, and perhaps those behind it.
    pub fn touch(&mut self, cell: usize) {
        self.stale_from = self.stale_from.min(cell);
    }

    /// Looks through what has changed.
    pub fn refresh(&mut self, transcript: &Transcript) {
        self.matches.truncate(self.matches.partition_point(|found| found.cell < self.stale_from));
        for (cell, entry) in transcript.entries().enumerate().skip(self.stale_from) {
            let count: usize =
                entry.said().iter().map(|said| self.query.ranges(said).count()).sum();
            self.matches.extend((0..count).map(|nth| Match { cell, nth }));
        }
        self.stale_from = transcript.len();
        self.current = self.current.min(self.matches.len().saturating_sub(1));
    }

    /// Returns the match that is meant now.
    pub fn current(&self) -> Option<Match> {
        self.matches.get(self.current).copied()
    }

    /// Returns the number of the current match, from 1, and how many there are.
    pub fn position(&self) -> (usize, usize) {
        let count = self.matches.len();
        ((self.current + 1).min(count), count)
    }

    /// Goes to another match, round the ends.
    pub fn step(&mut self, by: isize) -> Option<Match> {
        let count = self.matches.len();
        if count == 0 {
            return None;
        }
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let next = (self.current.cast_signed() + by).rem_euclid(count);
        self.current = next.cast_unsigned();
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_match_both_and_a_capital_only_itself() {
        for (query, text, found) in [
            ("sum", "Sum the sums", vec![(0, 3), (8, 11)]),
            ("Sum", "Sum the sums", vec![(0, 3)]),
            ("é", "É é", vec![(0, 2), (3, 5)]),
            ("aa", "aaaa", vec![(0, 2), (2, 4)]),
            ("x", "nothing", vec![]),
            ("你好", "说你好，你好", vec![(3, 9), (12, 18)]),
        ] {
            let query = Query::new(query).unwrap();
            let found_in = |text| -> Vec<_> {
                query.ranges(text).map(|range| (range.start, range.end)).collect()
            };
            assert_eq!(found_in(text), found, "{query:?}");
        }
        assert_eq!(Query::new(""), None);
    }
}
