//! `delete_file`: a file that would no longer stand.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Refusal, Tool, target};
use crate::session::Spec;
use crate::workspace::{Change, FileChange};

/// The tool `delete_file`.
pub struct DeleteFile;

impl Tool for DeleteFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "delete_file".into(),
            description: include_str!("../../assets/prompts/tools/delete_file.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": { "path": { "type": "string" } },
                "required": ["path"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path"])?;
        let (place, version) = target::file(args.text("path")?, cx)?;
        let files = vec![FileChange::to(place, Some(version), None)];
        Ok(Intent::Change(Change { files }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;

    fn delete(desk: &Desk, path: &str) -> Result<(), String> {
        desk.change(&DeleteFile, json!({ "path": path }))
    }

    #[test]
    fn a_file_of_any_content_can_go() {
        let desk = Desk::with("sub/a.bin", b"\0\xff");
        delete(&desk, "sub/a.bin").unwrap();
        assert!(!desk.path().join("sub/a.bin").exists());
    }

    #[test]
    fn what_is_no_file_is_refused_with_the_reason() {
        let desk = Desk::with("pkg/calculator.py", b"x");
        std::os::unix::fs::symlink("pkg/calculator.py", desk.path().join("link")).unwrap();
        for (path, reason) in [
            ("pkg", "is a folder"),
            ("calculator.py", "Did you mean 'pkg/calculator.py'?"),
            ("link", "is a symbolic link"),
            (".git/config", "git's own data"),
            ("../x", "outside"),
        ] {
            let told = delete(&desk, path).unwrap_err();
            assert!(told.contains(reason), "{path}: {told}");
        }
        assert_eq!(desk.read("pkg/calculator.py"), b"x");
    }
}
