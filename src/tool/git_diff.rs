//! `git_diff`: what differs from the last commit, staged and not staged apart.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Look, Outcome, Refusal, Tool, nearby};
use crate::session::Spec;
use crate::workspace::git::{self, FilePatch, Patches};

/// The tool `git_diff`.
pub struct GitDiff;

impl Tool for GitDiff {
    fn spec(&self) -> Spec {
        Spec {
            name: "git_diff".into(),
            description: include_str!("../../assets/prompts/tools/git_diff.md").trim().into(),
            schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path"])?;
        let only = args.optional_text("path")?.map(|path| named(path, cx)).transpose()?;
        let cx = cx.clone();
        Ok(Intent::Look(Look {
            subject: only.clone().unwrap_or_else(|| "git diff".into()),
            look: Box::new(move |_| {
                match git::patches(&cx.root, only.as_deref(), cx.limits.output_chars) {
                    Ok(patches) if patches.is_empty() => nothing(only.as_deref(), &cx),
                    Ok(patches) => Outcome::told(true, tell(&patches, cx.limits.output_chars)),
                    Err(error) => Outcome::told(false, error.to_string()),
                }
            }),
        }))
    }
}

/// Takes a name as git_status shows it; a path that leads outside is refused.
fn named(path: &str, cx: &Context) -> Result<String, Refusal> {
    let place = cx.root.resolve(path)?;
    let inside = path.strip_prefix(&format!("{}/", cx.root.path().display()));
    // A link is a file of its own to git: the name counts, not where it leads.
    Ok(inside
        .map_or_else(|| if path.contains("..") { place.shown } else { path.into() }, str::to_owned))
}

/// Tells a path that does not exist from one that is as it was committed.
fn nothing(only: Option<&str>, cx: &Context) -> Outcome {
    let place = only.and_then(|path| cx.root.resolve(path).ok());
    match place.filter(|place| place.absolute.symlink_metadata().is_err()) {
        Some(place) => Outcome::told(false, nearby::missing(&place, cx)),
        None => Outcome::told(true, "Nothing differs from the last commit."),
    }
}

fn tell(patches: &Patches, most: usize) -> String {
    let mut out = String::new();
    let mut left_out = Vec::new();
    for (title, files) in [("Staged", &patches.staged), ("Not staged", &patches.unstaged)] {
        if !files.is_empty() {
            out.push_str(&format!("{title}:\n"));
            tell_files(files, most, &mut out, &mut left_out);
        }
    }
    if !left_out.is_empty() {
        let named: Vec<_> = left_out.iter().take(20).copied().collect();
        out.push_str(&format!(
            "[{} files are left out; ask for them by path: {}]\n",
            left_out.len(),
            named.join(", ")
        ));
    }
    out
}

fn tell_files<'a>(
    files: &'a [FilePatch],
    most: usize,
    out: &mut String,
    left_out: &mut Vec<&'a str>,
) {
    for file in files {
        let room = most.saturating_sub(out.len());
        if file.text.is_empty() || room == 0 {
            left_out.push(&file.path);
        } else if file.text.len() <= room {
            out.push_str(&file.text);
        } else {
            let cut = &file.text[..file.text.floor_char_boundary(room)];
            out.push_str(&format!(
                "{cut}\n[{} is cut here; read_file shows the rest.]\n",
                file.path
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_diff_is_cut_and_says_what_is_left_out() {
        let file = |path: &str| FilePatch {
            path: path.into(),
            text: format!("{path} {}\n", "\u{e9}".repeat(30)),
        };
        let patches = Patches { staged: vec![], unstaged: vec![file("a"), file("b"), file("c")] };
        let text = tell(&patches, 100);
        assert!(text.starts_with("Not staged:\na \u{e9}"), "{text}");
        assert!(text.contains("[b is cut here;"), "{text}");
        assert!(text.ends_with("[1 files are left out; ask for them by path: c]\n"), "{text}");
    }
}
