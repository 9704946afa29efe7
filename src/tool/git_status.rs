//! `git_status`: the branch and what differs from its last commit.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Look, Outcome, Refusal, Tool};
use crate::session::Spec;
use crate::workspace::git::{self, Status};

/// The tool `git_status`.
pub struct GitStatus;

impl Tool for GitStatus {
    fn spec(&self) -> Spec {
        Spec {
            name: "git_status".into(),
            description: include_str!("../../assets/prompts/tools/git_status.md").trim().into(),
            schema: json!({ "type": "object", "properties": {} }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        Arguments::of(args, &[])?;
        let cx = cx.clone();
        Ok(Intent::Look(Look {
            subject: "git status".into(),
            look: Box::new(move |_| match git::status(&cx.root) {
                Ok(status) => Outcome::told(true, tell(&status, cx.limits.list_entries)),
                Err(error) => Outcome::told(false, error.to_string()),
            }),
        }))
    }
}

fn tell(status: &Status, most: usize) -> String {
    let mut out = format!("On branch {}", status.branch);
    out.push_str(if status.has_commits { "\n" } else { ", which has no commits yet\n" });
    if status.entries.is_empty() {
        out.push_str("Nothing differs from the last commit.\n");
    }
    for entry in status.entries.iter().take(most) {
        let staged = entry.staged.map(|kind| format!("{kind} (staged)"));
        let unstaged = entry.unstaged.map(str::to_owned);
        let both: Vec<_> = staged.into_iter().chain(unstaged).collect();
        out.push_str(&format!("  {}: {}\n", both.join(", then "), entry.path));
    }
    if status.entries.len() > most {
        out.push_str(&format!("[{} more files differ.]\n", status.entries.len() - most));
    }
    out
}
