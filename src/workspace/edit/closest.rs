//! The part of a file that old text was probably meant to be, for the error that says it is not there.

use std::collections::{HashMap, HashSet};

/// Lines shown of the closest region.
const MOST_LINES: usize = 12;
/// Characters shown of each.
const MOST_CHARS: usize = 200;
/// Bytes past which a line is not compared word by word.
const LONG_LINE: usize = 500;

/// Describes the closest region in sentences that follow another; empty when nothing is close.
pub(super) fn describe(content: &str, old: &str) -> String {
    let file: Vec<&str> = content.lines().collect();
    let old: Vec<&str> = old.lines().collect();
    let Some(at) = by_equal_lines(&file, &old).or_else(|| by_words(&file, &old)) else {
        return " Nothing in it is close; read the file again and copy the text exactly.".into();
    };
    let until = (at + old.len().min(MOST_LINES)).min(file.len());
    let mut text =
        format!(" The closest text is at line {}; copy it exactly (without the numbers):", at + 1);
    for (number, line) in (at + 1..).zip(&file[at..until]) {
        let shown: String = line.chars().take(MOST_CHARS).collect();
        text.push_str(&format!("\n{number:>5}│{shown}"));
    }
    text
}

/// Finds where most of the old lines stand in their order, indentation aside.
fn by_equal_lines(file: &[&str], old: &[&str]) -> Option<usize> {
    let mut index = HashMap::new();
    for (at, line) in old.iter().enumerate().filter(|(_, line)| line.trim().len() > 2) {
        index.entry(line.trim()).or_insert(at);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in file.iter().enumerate() {
        if let Some(start) = index.get(line.trim()).map(|offset| at.saturating_sub(*offset)) {
            *votes.entry(start).or_default() += 1;
        }
    }
    votes.into_iter().max_by_key(|(at, votes)| (*votes, std::cmp::Reverse(*at))).map(|(at, _)| at)
}

/// Finds the line that shares most words with the longest old one, if that is at least half of them.
fn by_words(file: &[&str], old: &[&str]) -> Option<usize> {
    let (offset, longest) = old.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let wanted = words(longest);
    let score = |line: &str| {
        let have = words(line);
        let common = wanted.intersection(&have).count();
        (common * 2 >= wanted.len().max(have.len()) && common > 0).then_some(common)
    };
    let short = file.iter().enumerate().filter(|(_, line)| line.len() <= LONG_LINE);
    let scored = short.filter_map(|(at, line)| Some((score(line)?, at)));
    let (_, at) = scored.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at)))?;
    Some(at.saturating_sub(offset))
}

fn words(line: &str) -> HashSet<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}
