//! `write_file`: a whole file, or a range of its lines.
//!
//! A file that the model never read may be overwritten, since the person sees the diff; one that it
//! read and that somebody changed since may not, because then the model does not know what it undoes.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::target::Target;
use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;
use crate::workspace::text;

/// The tool `write_file`.
pub struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "write_file".into(),
            description: include_str!("../../assets/prompts/tools/write_file.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "content": { "type": "string" },
                    "start_line": { "type": "integer", "description": "counts from 1" },
                    "end_line": { "type": "integer", "description": "inclusive" },
                },
                "required": ["path", "content"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path", "content", "start_line", "end_line"])?;
        let content = args.text("content")?;
        let start = args.optional_integer("start_line")?;
        let end = args.optional_integer("end_line")?;
        let target = Target::at(args.text("path")?, cx)?;
        target.must_be_as_seen(cx)?;
        if start.is_none() && end.is_none() {
            return target.become_text(content, cx);
        }
        let edited = with_lines(&target.text.content, content, start.unwrap_or(1), end)
            .map_err(|reason| Refusal(format!("'{}' was not written: {reason}", target.shown())))?;
        target.become_text(&edited, cx)
    }
}

/// Puts whole lines in the place of a range of lines, in the file's own line ending.
fn with_lines(old: &str, new: &str, start: u64, end: Option<u64>) -> Result<String, String> {
    let lines: Vec<_> = text::lines(old).collect();
    let count = lines.len() as u64;
    let end = end.unwrap_or(count.max(start));
    check_range(start, end, count)?;
    let (start, end) = (start as usize - 1, end.min(count) as usize);
    let ending = text::ending_of(old);
    let mut fresh = new.replace("\r\n", "\n").replace('\n', ending);
    if !fresh.is_empty() && !fresh.ends_with(ending) {
        fresh.push_str(ending);
    }
    let before = lines[..start].concat();
    let after = lines[end.max(start)..].concat();
    // What follows a last line without newline must still stand on its own line.
    let joint = if before.is_empty()
        || fresh.is_empty()
        || before.ends_with(ending)
        || before.ends_with('\n')
    {
        ""
    } else {
        ending
    };
    if after.is_empty()
        && !new.ends_with('\n')
        && !old.is_empty()
        && text::split_ending(old).1.is_empty()
    {
        fresh.truncate(fresh.trim_end_matches(['\r', '\n']).len());
    }
    Ok([&before, joint, &fresh, &after].concat())
}

fn check_range(start: u64, end: u64, count: u64) -> Result<(), String> {
    if start == 0 {
        return Err("lines count from 1, so start_line cannot be 0.".into());
    }
    if start > count + 1 {
        return Err(format!(
            "it has {count} lines, so start_line {start} lies beyond its end. Use {} to append.",
            count + 1
        ));
    }
    if end > count && start <= count {
        return Err(format!("it has {count} lines, so end_line {end} lies beyond its end."));
    }
    if end < start && start <= count {
        return Err(format!("end_line {end} comes before start_line {start}."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;

    #[test]
    fn a_range_of_lines_is_replaced_and_nothing_else() {
        for (old, new, start, end, expected) in [
            ("a\nb\nc\n", "B", 2, Some(2), "a\nB\nc\n"),
            ("a\r\nb\r\nc\r\n", "B\nB2", 2, Some(2), "a\r\nB\r\nB2\r\nc\r\n"),
            ("a\r\nb\nc\r\n", "C", 3, Some(3), "a\r\nb\nC\r\n"),
            ("a\nb\nc\n", "", 2, Some(3), "a\n"),
            ("a\nb\nc\n", "X", 2, None, "a\nX\n"),
            ("a\nb\n", "c", 3, None, "a\nb\nc\n"),
            ("a\nb", "c\n", 3, Some(3), "a\nb\nc\n"),
            ("a\nb", "B", 2, Some(2), "a\nB"),
            ("a\nb", "A", 1, Some(1), "A\nb"),
            ("", "a", 1, None, "a\n"),
            ("", "a", 1, Some(1), "a\n"),
        ] {
            assert_eq!(
                with_lines(old, new, start, end).as_deref(),
                Ok(expected),
                "{old:?} {new:?}"
            );
        }
    }

    #[test]
    fn a_range_beyond_the_file_is_refused_with_the_line_count() {
        for (start, end) in [(4, None), (9, Some(9)), (1, Some(3)), (0, None)] {
            with_lines("a\nb\n", "x", start, end).unwrap_err();
        }
        let reason = with_lines("a\nb\n", "x", 4, None).unwrap_err();
        assert!(reason.contains("2 lines") && reason.contains("Use 3"), "{reason}");
        assert!(with_lines("a\nb\n", "x", 2, Some(1)).unwrap_err().contains("before"));
    }

    #[test]
    fn a_whole_file_is_written_byte_for_byte() {
        let desk = Desk::with("f", b"\xef\xbb\xbfalpha\n");
        desk.change(&WriteFile, json!({ "path": "f", "content": "x\n" })).unwrap();
        assert_eq!(desk.read("f"), b"\xef\xbb\xbfx\n");
        let content = "d\u{2019}h\u{f4}te \"q\"";
        desk.change(&WriteFile, json!({ "path": "new/deep/g", "content": content })).unwrap();
        assert_eq!(desk.read("new/deep/g"), content.as_bytes());
    }

    #[test]
    fn what_the_person_wrote_meanwhile_is_not_overwritten() {
        let desk = Desk::with("f", b"v1\n");
        let known = desk.context.root.resolve("f").unwrap();
        desk.context.seen.note(&known.shown, blake3::hash(b"v1\n"));
        desk.write("f", b"v1\nuser line\n");
        let args = json!({ "path": "f", "content": "v2\n" });
        assert!(desk.change(&WriteFile, args.clone()).unwrap_err().contains("since you read it"));
        assert_eq!(desk.read("f"), b"v1\nuser line\n");
        desk.write("f", b"v1\n");
        desk.change(&WriteFile, args).unwrap();
        desk.change(&WriteFile, json!({ "path": "f", "content": "v3\n" })).unwrap();
        assert_eq!(desk.read("f"), b"v3\n", "its own writing is no surprise");
    }

    #[test]
    fn gits_own_data_is_never_written() {
        let desk = Desk::with(".git/config", b"[core]\n");
        desk.write("sub/x", b"");
        for path in [
            ".git/hooks/pre-commit",
            "./.git/config",
            ".GIT/config",
            "sub/../.git/config",
            "sub/.git/hooks/x",
            ".git",
        ] {
            let refused = desk.change(&WriteFile, json!({ "path": path, "content": "x" }));
            assert!(refused.unwrap_err().contains(".git"), "{path}");
        }
        for path in [".gitignore", ".github/x"] {
            desk.change(&WriteFile, json!({ "path": path, "content": "x" })).unwrap();
        }
        assert_eq!(desk.read(".git/config"), b"[core]\n");
    }
}
