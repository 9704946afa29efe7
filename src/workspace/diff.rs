//! Differences as data: what changes in a file, in hunks of lines.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, TextDiff};

use super::text::{self, Encoding, Text};

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
    /// Where the file was before, when it moves here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Permission bits before and after, where they change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<(u32, u32)>,
    /// The content is no text: its bytes before and after; there are no hunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<(u64, u64)>,
    /// The encoding before and after, byte-order mark included, where it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<(Encoding, Encoding)>,
    /// Names that the file has; all of them see the change.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub links: u64,
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
}

fn one() -> u64 {
    1
}

fn is_one(links: &u64) -> bool {
    *links <= 1
}

/// What happens to the file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Created,
    Modified,
    Deleted,
    /// Another content takes the place of what stands there, as a whole.
    Replaced,
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
            let bytes = |side: Option<&[u8]>| side.unwrap_or_default().len() as u64;
            let binary = Some((bytes(before), bytes(after)));
            return Self { binary, ..Self::new(path, kind, Vec::new()) };
        };
        let encoding = change_of_encoding(&old, &new)
            .filter(|_| before.is_some_and(|b| !b.is_empty()) && after.is_some());
        Self { encoding, ..Self::new(path, kind, hunks(&old.content, &new.content)) }
    }

    /// Makes the diff of a file that has these hunks, counting their lines.
    pub fn new(path: &str, kind: FileKind, hunks: Vec<Hunk>) -> Self {
        let count = |kind| hunks.iter().flat_map(|h| &h.lines).filter(|l| l.kind == kind).count();
        let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
        let (from, mode, binary, encoding) = (None, None, None, None);
        let path = path.into();
        Self { path, kind, from, mode, binary, encoding, links: 1, hunks, added, removed }
    }

    /// Writes the diff as unified text, as `git diff` prints it.
    pub fn unified(&self) -> String {
        let source = self.from.as_ref().unwrap_or(&self.path);
        let old = if self.kind == FileKind::Created { "/dev/null" } else { &format!("a/{source}") };
        let new =
            if self.kind == FileKind::Deleted { "/dev/null" } else { &format!("b/{}", self.path) };
        let mut out = self.unified_head();
        if let Some((old, new)) = self.encoding {
            out.insert_str(0, &format!("Encoding: {} → {}\n", old.name(), new.name()));
        }
        if self.binary.is_some() {
            return format!("{out}Binary files {old} and {new} differ\n");
        }
        if self.hunks.is_empty() && self.encoding.is_none() && !out.is_empty() {
            return out;
        }
        out.push_str(&format!("--- {old}\n+++ {new}\n"));
        for hunk in &self.hunks {
            hunk.write_unified(&mut out);
        }
        out
    }
}

impl FileDiff {
    /// Says a move and a change of mode as git does; empty without either.
    fn unified_head(&self) -> String {
        let mut out = String::new();
        if let Some((old, new)) = self.mode {
            out.push_str(&format!("old mode 100{old:03o}\nnew mode 100{new:03o}\n"));
        }
        if let Some(from) = &self.from {
            out.push_str(&format!("rename from {from}\nrename to {}\n", self.path));
        }
        match out.is_empty() {
            true => out,
            false => {
                let from = self.from.as_ref().unwrap_or(&self.path);
                format!("diff --git a/{from} b/{}\n{out}", self.path)
            }
        }
    }
}

impl Hunk {
    /// Returns the lines of the old side, from 0.
    pub fn old_range(&self) -> Range<usize> {
        let start = self.old_start - 1;
        start..start + self.count_without(LineKind::Added)
    }

    /// Returns the lines of the new side, from 0.
    pub fn new_range(&self) -> Range<usize> {
        let start = self.new_start - 1;
        start..start + self.count_without(LineKind::Removed)
    }

    /// Returns the hunk with another new side, given as lines with `\n`.
    pub fn with_new_side(&self, text: &str) -> Self {
        let of = |other: LineKind| self.lines.iter().filter(move |line| line.kind != other);
        let old: Vec<&Line> = of(LineKind::Added).collect();
        let endings: Vec<Ending> = of(LineKind::Removed).map(|line| line.ending).collect();
        let usual = endings.first().copied().unwrap_or_default();
        let texts: Vec<&str> = old.iter().map(|line| line.text.as_str()).collect();
        let new: Vec<&str> = text.lines().collect();
        let mut lines = Vec::new();
        for change in TextDiff::from_slices(&texts, &new).iter_all_changes() {
            lines.push(match (change.old_index(), change.new_index()) {
                (Some(at), Some(_)) => Line { kind: LineKind::Context, ..old[at].clone() },
                (Some(at), None) => Line { kind: LineKind::Removed, ..old[at].clone() },
                (None, at) => {
                    let ending = at.and_then(|at| endings.get(at)).copied().unwrap_or(usual);
                    Line { kind: LineKind::Added, text: change.value().to_owned(), ending }
                }
            });
        }
        Self { lines, ..*self }
    }

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

fn text_of(bytes: Option<&[u8]>) -> Option<Text> {
    Text::decode(bytes.unwrap_or_default()).ok()
}

/// ASCII reads the same in every encoding without a byte-order mark, so that it changes into none.
fn change_of_encoding(old: &Text, new: &Text) -> Option<(Encoding, Encoding)> {
    let plain = !old.encoding.has_bom() && !new.encoding.has_bom();
    let same = plain && (old.content.is_ascii() || new.content.is_ascii());
    (old.encoding != new.encoding && !same).then_some((old.encoding, new.encoding))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(old: Option<&str>, new: Option<&str>) -> String {
        FileDiff::between("f", old.map(str::as_bytes), new.map(str::as_bytes)).unified()
    }

    #[test]
    fn a_diff_reads_as_git_prints_it() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("5\n6\n", "five\n6\n").replace("19\n", "");
        let expected = "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n";
        assert_eq!(unified(Some(&old), Some(&new)), expected);
        assert_eq!(unified(None, Some("a\n")), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified(Some("a\n"), None), "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(Some("a"), Some("a")), "--- a/f\n+++ b/f\n");
    }

    #[test]
    fn endings_that_matter_are_told() {
        let no_newline = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(unified(Some("a"), Some("a\n")), format!("--- a/f\n+++ b/f\n{no_newline}"));
        let diff = FileDiff::between("f", Some(b"a\r\nb\rc\n"), Some(b"a\nb\rc\n"));
        let lines: Vec<_> =
            diff.hunks[0].lines.iter().map(|l| (l.kind, l.text.as_str(), l.ending)).collect();
        let expected = [
            (LineKind::Removed, "a", Ending::CrLf),
            (LineKind::Added, "a", Ending::Lf),
            (LineKind::Context, "b\rc", Ending::Lf),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_no_text_has_no_hunks() {
        let diff = FileDiff::between("f", Some(b"a\0b"), Some(b"text\n"));
        assert_eq!(
            (diff.kind, diff.binary, diff.hunks.len()),
            (FileKind::Modified, Some((3, 5)), 0)
        );
        assert_eq!(diff.unified(), "Binary files a/f and b/f differ\n");
    }

    #[test]
    fn lines_are_shown_in_every_encoding_and_a_change_of_it_is_told() {
        use Encoding::*;
        let cases = [
            (&b"caf\xe9\na\n"[..], &b"caf\xe9\nb\n"[..], 3, None),
            (b"\xff\xfea\0\n\0", b"\xff\xfeb\0\n\0", 2, None),
            (b"\xef\xbb\xbfa\n", b"a\n", 0, Some((Utf8Bom, Utf8))),
            (b"a\n", b"\xef\xbb\xbfa\n", 0, Some((Utf8, Utf8Bom))),
            (b"caf\xe9\n", b"caf\xc3\xa9\n", 0, Some((Windows1252, Utf8))),
            (b"\xff\xfea\0\n\0", b"a\n", 0, Some((Utf16Le, Utf8))),
            (b"caf\xe9\n", b"cafe\n", 2, None),
            (b"", b"\xef\xbb\xbfa\n", 1, None),
        ];
        for (old, new, lines, encoding) in cases {
            let diff = FileDiff::between("f", Some(old), Some(new));
            let shown: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
            assert_eq!((shown, diff.encoding), (lines, encoding), "{old:?}");
        }
        let diff = FileDiff::between("f", Some(b"\xef\xbb\xbfa\n"), Some(b"a\n"));
        assert!(
            diff.unified().starts_with("Encoding: UTF-8 with a byte-order mark → UTF-8\n--- a/f\n")
        );
    }

    #[test]
    fn only_changed_words_are_marked() {
        let span = |start, end| std::iter::once(start..end).collect::<Vec<_>>();
        let (old, new) = ("let value = one(two);", "let value = one(three);");
        assert_eq!(intraline(old, new), (span(16, 19), span(16, 21)));
        assert_eq!(intraline("return x", "if (a) { b() }"), (vec![], vec![]));
        let (old, new) = ("caf\u{e9} au lait", "caf\u{e9} au sucre");
        assert_eq!(intraline(old, new), (span(9, 13), span(9, 14)));
    }

    #[test]
    fn ten_thousand_changed_lines_are_compared_within_patience() {
        let side = |word: &str| -> String {
            (0..10_000).map(|n| format!("{word} {}\n", n % 97)).collect()
        };
        let diff =
            FileDiff::between("f", Some(side("old").as_bytes()), Some(side("new").as_bytes()));
        assert_eq!((diff.added, diff.removed), (10_000, 10_000));
    }

    #[test]
    fn applying_the_hunks_gives_the_new_text() {
        use proptest::prelude::*;
        proptest!(|(old in "([a-c]?\r?\n){0,20}[a-c]?", new in "([a-c]?\r?\n){0,20}[a-c]?")| {
            let diff = FileDiff::between("f", Some(old.as_bytes()), Some(new.as_bytes()));
            let lines: Vec<_> = text::lines(&old).collect();
            let (mut at, mut made) = (0, String::new());
            for hunk in &diff.hunks {
                made.extend(lines[at..hunk.old_start - 1].iter().copied());
                at = hunk.old_start - 1 + hunk.count_without(LineKind::Added);
                for line in hunk.lines.iter().filter(|line| line.kind != LineKind::Removed) {
                    made.push_str(&line.text);
                    made.push_str(match line.ending { Ending::Lf => "\n", Ending::CrLf => "\r\n", Ending::Cr => "\r", Ending::Missing => "" });
                }
            }
            made.extend(lines[at..].iter().copied());
            prop_assert_eq!(made, new);
        });
    }
}
