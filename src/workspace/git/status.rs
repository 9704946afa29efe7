//! Which files differ from the last commit, and on which side of the index.

use git2::StatusOptions;

use super::{Around, GitError};
use crate::workspace::Root;

/// The state of the working tree below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub branch: String,
    pub has_commits: bool,
    /// In path order.
    pub entries: Vec<Entry>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As seen from the root, control characters made visible.
    pub path: String,
    /// What the index holds against the last commit: `added`, `modified`, …
    pub staged: Option<&'static str>,
    /// What the file is against the index: `modified`, `untracked`, …
    pub unstaged: Option<&'static str>,
}

/// Returns what differs below the root.
pub fn status(root: &Root) -> Result<Status, GitError> {
    let around = Around::open(root)?;
    let statuses = around.repository.statuses(Some(&mut around.options(true)))?;
    let mut entries: Vec<_> = statuses
        .iter()
        .map(|entry| Entry {
            path: around.shown(entry.path_bytes()),
            staged: staged(entry.status()),
            unstaged: unstaged(entry.status()),
        })
        .collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Status { branch: around.head_name(), has_commits: !around.is_unborn(), entries })
}

impl Around {
    /// Counts what differs; an untracked folder counts once.
    pub(super) fn count_changed(&self) -> Result<usize, GitError> {
        Ok(self.repository.statuses(Some(&mut self.options(false)))?.len())
    }

    fn options(&self, each_untracked: bool) -> StatusOptions {
        let mut options = StatusOptions::new();
        // The index file is the person's: its cached times are not written back.
        options
            .include_untracked(true)
            .recurse_untracked_dirs(each_untracked)
            .update_index(false)
            .disable_pathspec_match(true);
        if !self.prefix.as_os_str().is_empty() {
            options.pathspec(&self.prefix);
        }
        options
    }
}

fn staged(status: git2::Status) -> Option<&'static str> {
    let kinds = [
        (git2::Status::CONFLICTED, "in conflict"),
        (git2::Status::INDEX_NEW, "added"),
        (git2::Status::INDEX_MODIFIED, "modified"),
        (git2::Status::INDEX_DELETED, "deleted"),
        (git2::Status::INDEX_RENAMED, "renamed"),
        (git2::Status::INDEX_TYPECHANGE, "type changed"),
    ];
    first(status, &kinds)
}

fn unstaged(status: git2::Status) -> Option<&'static str> {
    let kinds = [
        (git2::Status::WT_NEW, "untracked"),
        (git2::Status::WT_MODIFIED, "modified"),
        (git2::Status::WT_DELETED, "deleted"),
        (git2::Status::WT_RENAMED, "renamed"),
        (git2::Status::WT_TYPECHANGE, "type changed"),
        (git2::Status::WT_UNREADABLE, "unreadable"),
    ];
    first(status, &kinds)
}

fn first(status: git2::Status, kinds: &[(git2::Status, &'static str)]) -> Option<&'static str> {
    kinds.iter().find(|(kind, _)| status.contains(*kind)).map(|(_, name)| *name)
}
