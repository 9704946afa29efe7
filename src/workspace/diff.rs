//! Differences as data: what changes in a file, in hunks of lines.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, TextDiff};

use super::text;

/// Unchanged lines shown around each change.
const CONTEXT: usize = 3;
/// Time after which a diff is finished coarsely: right, though perhaps not the smallest.
const PATIENCE: Duration = Duration::from_millis(300);
/// Bytes past which a line is not compared word by word.
const LONG_LINE: usize = 2_000;

/// How one file would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Relative to the workspace.
    pub path: String,
    pub kind: FileKind,
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
}

/// What happens to the file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Created,
    Modified,
    Deleted,
    /// The content is no text; there are no hunks.
    Binary,
}

/// A run of changed lines with three lines of context. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub kind: LineKind,
    /// Without its line ending.
    pub text: String,
    /// The line's own ending where it matters to the eye: `\r\n`, or none at the end of the file.
    #[serde(default, skip_serializing_if = "Ending::is_plain")]
    pub ending: Ending,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    #[default]
    Lf,
    CrLf,
    Cr,
    /// The last line of a file that has no last newline.
    Missing,
}

impl Ending {
    fn is_plain(&self) -> bool {
        *self == Self::Lf
    }

    fn of(ending: &str) -> Self {
        match ending {
            "\n" => Self::Lf,
            "\r\n" => Self::CrLf,
            "\r" => Self::Cr,
            _ => Self::Missing,
        }
    }
}

/// On which side a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

impl FileDiff {
    /// Compares what stands with what would stand; `None` is an absent file.
    pub fn between(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Self {
        let kind = match (before, after) {
            (None, _) => FileKind::Created,
            (_, None) => FileKind::Deleted,
            _ => FileKind::Modified,
        };
        let (Some(old), Some(new)) = (text_of(before), text_of(after)) else {
            return Self::new(path, FileKind::Binary, Vec::new());
        };
        Self::new(path, kind, hunks(old, new))
    }

    fn new(path: &str, kind: FileKind, hunks: Vec<Hunk>) -> Self {
        let count = |kind| hunks.iter().flat_map(|h| &h.lines).filter(|l| l.kind == kind).count();
        let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
        Self { path: path.into(), kind, hunks, added, removed }
    }

    /// Writes the diff as unified text, as `git diff` prints it.
    pub fn unified(&self) -> String {
        let old =
            if self.kind == FileKind::Created { "/dev/null" } else { &format!("a/{}", self.path) };
        let new =
            if self.kind == FileKind::Deleted { "/dev/null" } else { &format!("b/{}", self.path) };
        if self.kind == FileKind::Binary {
            return format!("Binary files {old} and {new} differ\n");
        }
        let mut out = format!("--- {old}\n+++ {new}\n");
        for hunk in &self.hunks {
            hunk.write_unified(&mut out);
        }
        out
    }
}

impl Hunk {
    fn write_unified(&self, out: &mut String) {
        let old = unified_range(self.old_start, self.count_without(LineKind::Added));
        let new = unified_range(self.new_start, self.count_without(LineKind::Removed));
        out.push_str(&format!("@@ -{old} +{new} @@\n"));
        for line in &self.lines {
            line.write_unified(out);
        }
    }

    fn count_without(&self, kind: LineKind) -> usize {
        self.lines.iter().filter(|line| line.kind != kind).count()
    }
}

impl Line {
    fn write_unified(&self, out: &mut String) {
        out.push(match self.kind {
            LineKind::Context => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        });
        out.push_str(&self.text);
        out.push_str(match self.ending {
            Ending::Lf => "\n",
            Ending::CrLf => "\r\n",
            Ending::Cr => "\r",
            Ending::Missing => "\n\\ No newline at end of file\n",
        });
    }
}

/// An empty range names the line before it, and a single line needs no count.
fn unified_range(start: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    }
}

fn text_of(bytes: Option<&[u8]>) -> Option<&str> {
    let bytes = bytes.unwrap_or_default();
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let (old, new): (Vec<_>, Vec<_>) = (text::lines(old).collect(), text::lines(new).collect());
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .timeout(PATIENCE)
        .diff_slices(&old, &new);
    diff.grouped_ops(CONTEXT).iter().map(|ops| hunk(ops, &old, &new)).collect()
}

fn hunk(ops: &[DiffOp], old: &[&str], new: &[&str]) -> Hunk {
    let mut lines = Vec::new();
    for op in ops {
        if op.tag() == DiffTag::Equal {
            lines.extend(old[op.old_range()].iter().map(|text| line(LineKind::Context, text)));
            continue;
        }
        lines.extend(old[op.old_range()].iter().map(|text| line(LineKind::Removed, text)));
        lines.extend(new[op.new_range()].iter().map(|text| line(LineKind::Added, text)));
    }
    let first = |range: fn(&DiffOp) -> Range<usize>| ops.first().map_or(0, |op| range(op).start);
    Hunk { old_start: first(DiffOp::old_range) + 1, new_start: first(DiffOp::new_range) + 1, lines }
}

fn line(kind: LineKind, line: &str) -> Line {
    let (text, ending) = text::split_ending(line);
    Line { kind, text: text.into(), ending: Ending::of(ending) }
}

/// Returns the byte ranges of an old and a new line that differ, by words; none when the lines
/// have so little in common that marking the rest would only be noise.
pub fn intraline(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len().max(new.len()) > LONG_LINE {
        return Default::default();
    }
    let diff = TextDiff::from_unicode_words(old, new);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut old_at, mut new_at, mut common) = (0, 0, 0);
    for change in diff.iter_all_changes() {
        let word = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                old_at += word.len();
                new_at += word.len();
                common += word.trim().len();
            }
            ChangeTag::Delete => extend(&mut removed, &mut old_at, word.len()),
            ChangeTag::Insert => extend(&mut added, &mut new_at, word.len()),
        }
    }
    let visible = old.trim().len().max(new.trim().len());
    if common * 3 < visible { Default::default() } else { (removed, added) }
}

/// Appends a changed span, joined to the one before it where they touch.
fn extend(ranges: &mut Vec<Range<usize>>, at: &mut usize, length: usize) {
    let span = *at..*at + length;
    *at = span.end;
    match ranges.last_mut() {
        Some(last) if last.end == span.start => last.end = span.end,
        _ => ranges.push(span),
    }
}
