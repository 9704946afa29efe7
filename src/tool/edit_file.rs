//! `edit_file`: one piece of text in a file becomes another.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::target::Target;
use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;
use crate::workspace::edit;

/// The tool `edit_file`.
pub struct EditFile;

impl Tool for EditFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "edit_file".into(),
            description: include_str!("../../assets/prompts/tools/edit_file.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "old_str": { "type": "string" },
                    "new_str": { "type": "string" },
                    "replace_all": { "type": "boolean" },
                },
                "required": ["path", "old_str", "new_str"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path", "old_str", "new_str", "replace_all"])?;
        let (old, new) = (args.text("old_str")?, args.text("new_str")?);
        let all = args.optional_bool("replace_all")?.unwrap_or(false);
        let target = Target::at(args.text("path")?, cx)?;
        if target.is_new() {
            return create(target, old, new, cx);
        }
        let edited = edit::replace(&target.text.content, old, new, all)
            .map_err(|error| Refusal(format!("'{}' was not edited: {error}", target.shown())))?;
        target.become_text(&edited.content, cx)
    }
}

fn create(target: Target, old: &str, new: &str, cx: &Context) -> Result<Intent, Refusal> {
    if !old.is_empty() {
        return Err(Refusal(format!(
            "There is no file '{}', so there is nothing to replace. Check the path with list_files; an empty old_str creates the file.",
            target.shown()
        )));
    }
    target.become_text(new, cx)
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;

    fn edit(desk: &Desk, old: &str, new: &str) -> Result<(), String> {
        desk.change(&EditFile, json!({ "path": "f", "old_str": old, "new_str": new }))
    }

    #[test]
    fn only_the_old_text_changes() {
        let cases: &[(&[u8], &str, &str, &[u8])] = &[
            (b"a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nB2\n", b"a\r\nB\r\nB2\r\nc\r\n"),
            (
                b"\xef\xbb\xbf# Title\nbody\n",
                "# Title\nbody",
                "# New\nbody",
                b"\xef\xbb\xbf# New\nbody\n",
            ),
            (b"a\nb", "b", "c", b"a\nc"),
            (b"A OLD B\n", "OLD", "$& \\0 ${x}", b"A $& \\0 ${x} B\n"),
            (b"", "", "new\n", b"new\n"),
        ];
        for (before, old, new, after) in cases {
            let desk = Desk::with("f", before);
            edit(&desk, old, new).unwrap();
            assert_eq!(desk.read("f"), *after);
        }
    }

    #[test]
    fn an_empty_old_text_only_creates() {
        let desk = Desk::with("f", b"abc");
        for all in [false, true] {
            let args = json!({ "path": "f", "old_str": "", "new_str": "X", "replace_all": all });
            assert!(desk.change(&EditFile, args).unwrap_err().contains("old_str is empty"));
        }
        assert_eq!(desk.read("f"), b"abc");
        let args = json!({ "path": "new/g", "old_str": "", "new_str": "X" });
        desk.change(&EditFile, args).unwrap();
        assert_eq!(desk.read("new/g"), b"X");
        let args = json!({ "path": "h", "old_str": "x", "new_str": "X" });
        assert!(desk.change(&EditFile, args).unwrap_err().contains("no file 'h'"));
    }

    #[test]
    fn what_cannot_be_edited_unharmed_is_refused() {
        for (bytes, new, reason) in [
            (&b"a\0b"[..], "b", "a binary file"),
            (b"\xff\xfea\0b", "b", "broken UTF-16 (the byte at 4"),
            (b"\xff\xfea\0\x3d\xd8", "b", "broken UTF-16 (at byte 4"),
            (b"c\xe9\nxax\n", "\u{2192}", "line 2 has '\u{2192}' (U+2192), which Windows-1252"),
        ] {
            let desk = Desk::with("f", bytes);
            let refused = edit(&desk, "a", new).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
            assert_eq!(desk.read("f"), bytes);
        }
        let desk = Desk::with("f", b"same");
        assert!(edit(&desk, "same", "same").unwrap_err().contains("change nothing"));
    }
}
