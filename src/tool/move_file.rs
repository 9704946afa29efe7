//! `move_file`: a file that would stand elsewhere, with its bytes and its mode.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Refusal, Tool, target};
use crate::session::Spec;
use crate::workspace::{Change, FileChange, Origin};

/// The tool `move_file`.
pub struct MoveFile;

impl Tool for MoveFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "move_file".into(),
            description: include_str!("../../assets/prompts/tools/move_file.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": { "from": { "type": "string" }, "to": { "type": "string" } },
                "required": ["from", "to"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["from", "to"])?;
        let to = args.text("to")?;
        let (from, version) = target::file(args.text("from")?, cx)?;
        let (place, before) = target::free_or_file(to, cx)?;
        if place == from {
            return Err(Refusal(format!(
                "'{}' stands there already; there is nothing to move.",
                from.shown
            )));
        }
        let (after, mode) = (Some(version.bytes.clone()), Some(version.mode));
        let replaces = before.is_some();
        let from = Some(Origin { place: from, version });
        let file = FileChange { from, mode, replaces, ..FileChange::to(place, before, after) };
        Ok(Intent::Change(Change { files: vec![file] }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;
    use crate::session::Proposal;
    use crate::workspace::FileKind;

    fn move_file(desk: &Desk, from: &str, to: &str) -> Result<(), String> {
        desk.change(&MoveFile, json!({ "from": from, "to": to }))
    }

    #[test]
    fn a_file_moves_into_a_new_folder() {
        let desk = Desk::with("a", b"\0text");
        move_file(&desk, "a", "deep/er/b").unwrap();
        assert_eq!(desk.read("deep/er/b"), b"\0text");
        assert!(!desk.path().join("a").exists());
    }

    #[test]
    fn moving_over_a_file_is_a_replacement_that_shows_what_goes() {
        let desk = Desk::with("a", b"new\n");
        desk.write("b", b"keep me\n");
        let args = json!({ "from": "a", "to": "b" });
        let Ok(intent) = MoveFile.intend(args.clone(), &desk.context) else { panic!("refused") };
        let proposal = intent.proposal();
        assert_eq!(proposal.subjects(), ["a", "b"]);
        let Proposal::Change { files } = proposal else { panic!("no change") };
        assert_eq!((files[0].kind, files[0].removed), (FileKind::Replaced, 1));
        assert!(files[0].unified().contains("-keep me\n"));
        desk.change(&MoveFile, args).unwrap();
        assert_eq!(desk.read("b"), b"new\n");
    }

    #[test]
    fn what_cannot_move_is_refused_and_stays() {
        let desk = Desk::with("a", b"x");
        desk.write("folder/f", b"y");
        for (from, to, reason) in [
            ("a", "./a", "nothing to move"),
            ("missing", "b", "There is no 'missing'"),
            ("a", "folder", "is a folder"),
            ("a", "folder/", "names a folder"),
            ("a", ".git/hooks/x", "git's own data"),
            ("a", "../b", "outside"),
            ("folder", "g", "is a folder"),
        ] {
            let told = move_file(&desk, from, to).unwrap_err();
            assert!(told.contains(reason), "{from} {to}: {told}");
        }
        assert_eq!(desk.read("a"), b"x");
    }
}
