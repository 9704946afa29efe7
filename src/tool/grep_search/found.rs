//! What a search found, in path order whatever the order of finding, and no more than is told.

use std::collections::BTreeMap;

use super::lines::Lines;
use crate::visible;

/// Warnings told before the rest is only counted.
const MOST_WARNINGS: usize = 5;

/// The first files in path order that have matches, and the count of all.
pub(super) struct Found {
    most: usize,
    files: BTreeMap<String, Vec<Option<(bool, String)>>>,
    kept: usize,
    matches: usize,
    matching_files: usize,
    pub unreadable: Vec<String>,
}

impl Found {
    pub fn new(most: usize) -> Self {
        let files = BTreeMap::new();
        Self { most, files, kept: 0, matches: 0, matching_files: 0, unreadable: Vec::new() }
    }

    /// Adds a file's lines; the last files in path order go when they can no longer be told.
    pub fn add(&mut self, path: String, lines: Lines) {
        if lines.matches == 0 {
            return;
        }
        self.matches += lines.matches;
        self.matching_files += 1;
        self.kept += count(&lines.lines);
        self.files.insert(path, lines.lines);
        while let Some(last) = self.files.last_entry() {
            let last_count = count(last.get());
            if self.kept - last_count < self.most {
                break;
            }
            self.kept -= last_count;
            last.remove();
        }
    }

    pub fn tell(&self, pattern: &str, place: &str) -> String {
        let mut out = String::new();
        let told = self.tell_files(&mut out);
        if self.matches == 0 {
            out.push_str(&format!("Nothing in {place} matches '{pattern}'.\n"));
        } else if told < self.matches {
            out.push_str(&format!(
                "[{told} of {} matching lines in {} files; narrow it down with pattern, path or file_pattern.]\n",
                self.matches, self.matching_files
            ));
        } else {
            out.push_str(&format!(
                "[{} matching lines in {} files.]\n",
                self.matches, self.matching_files
            ));
        }
        for warning in self.unreadable.iter().take(MOST_WARNINGS) {
            out.push_str(&format!("[Not searched: {warning}]\n"));
        }
        if self.unreadable.len() > MOST_WARNINGS {
            out.push_str(&format!(
                "[Not searched: {} more]\n",
                self.unreadable.len() - MOST_WARNINGS
            ));
        }
        out
    }

    /// Writes the files and their lines, and returns how many matching lines that were.
    fn tell_files(&self, out: &mut String) -> usize {
        let mut told = 0;
        for (path, lines) in &self.files {
            out.push_str(&format!("{}\n", visible::line(path)));
            for line in lines {
                match line {
                    Some((true, _)) if told == self.most => return told,
                    Some((is_match, text)) => {
                        told += usize::from(*is_match);
                        out.push_str(&format!("  {text}\n"));
                    }
                    None => out.push_str("  …\n"),
                }
            }
        }
        told
    }
}

fn count(lines: &[Option<(bool, String)>]) -> usize {
    lines.iter().flatten().filter(|(is_match, _)| *is_match).count()
}
