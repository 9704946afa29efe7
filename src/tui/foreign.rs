//! Whole foreign values made safe to show: diffs and the words of a decision, each string once through [`visible`].

use crate::session::Why;
use crate::visible;
use crate::workspace::{FileDiff, Hunk, Line};

/// Returns the diffs with every path and line made safe; tabs stay, the diff widget sets them.
pub fn diffs(files: &[FileDiff]) -> Vec<FileDiff> {
    files.iter().map(diff).collect()
}

fn diff(file: &FileDiff) -> FileDiff {
    let hunks = file.hunks.iter().map(hunk).collect();
    let path = visible::line(&file.path).into_owned();
    let from = file.from.as_ref().map(|from| visible::line(from).into_owned());
    FileDiff { path, from, hunks, ..*file }
}

/// Returns a hunk with every line made safe.
pub fn hunk(hunk: &Hunk) -> Hunk {
    Hunk { lines: hunk.lines.iter().map(line).collect(), ..*hunk }
}

fn line(line: &Line) -> Line {
    Line { text: visible::text(&line.text).into_owned(), ..*line }
}

/// Returns the decision with its rule or comment made safe.
pub fn why(why: &Why) -> Why {
    let line = |text: &String| visible::line(text).into_owned();
    match why {
        Why::Rule { rule } => Why::Rule { rule: line(rule) },
        Why::Nobody { rule } => Why::Nobody { rule: line(rule) },
        Why::Person { comment } => Why::Person { comment: comment.as_ref().map(line) },
        Why::Reads | Why::Mode { .. } | Why::RestOfTurn | Why::Refused => why.clone(),
    }
}
