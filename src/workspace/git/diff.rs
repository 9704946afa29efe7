//! What differs from the last commit, as unified text per file.

use git2::{Delta, Diff, DiffDelta, DiffOptions, Patch};

use super::{Around, GitError};
use crate::workspace::Root;

/// Larger files are told as binary, so that a huge one costs little.
const LARGEST: i64 = 20_000_000;

/// The two steps from the last commit to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patches {
    /// From the last commit to the index.
    pub staged: Vec<FilePatch>,
    /// From the index to the files, untracked ones included.
    pub unstaged: Vec<FilePatch>,
}

impl Patches {
    /// Returns whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.unstaged.is_empty()
    }
}

/// One file's difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// As seen from the root, as in the status.
    pub path: String,
    pub text: String,
}

/// Returns what differs below the root, or at and below one path as the status shows it.
///
/// Whoever wants only `most` bytes of text gets little more.
pub fn patches(root: &Root, only: Option<&str>, most: usize) -> Result<Patches, GitError> {
    let around = Around::open(root)?;
    let repository = &around.repository;
    let tree = match around.is_unborn() {
        true => None,
        false => Some(repository.head()?.peel_to_tree()?),
    };
    let staged =
        repository.diff_tree_to_index(tree.as_ref(), None, Some(&mut around.diff_options()))?;
    let unstaged = repository.diff_index_to_workdir(None, Some(&mut around.diff_options()))?;
    Ok(Patches {
        staged: around.texts(&staged, only, most)?,
        unstaged: around.texts(&unstaged, only, most)?,
    })
}

impl Around {
    fn diff_options(&self) -> DiffOptions {
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .show_untracked_content(true)
            .update_index(false)
            .max_size(LARGEST)
            .disable_pathspec_match(true);
        if !self.prefix.as_os_str().is_empty() {
            options.pathspec(&self.prefix);
        }
        options
    }

    fn texts(
        &self,
        diff: &Diff,
        only: Option<&str>,
        most: usize,
    ) -> Result<Vec<FilePatch>, GitError> {
        let (mut found, mut size) = (Vec::new(), 0);
        for (at, delta) in diff.deltas().enumerate() {
            let path = self.shown(path_of(&delta));
            if only.is_some_and(|only| !is_at_or_below(&path, only)) {
                continue;
            }
            if size > most {
                found.push(FilePatch { path, text: String::new() });
                continue;
            }
            let text = text(diff, at, &path, &delta)?;
            size += text.len();
            found.push(FilePatch { path, text });
        }
        Ok(found)
    }
}

fn path_of<'a>(delta: &DiffDelta<'a>) -> &'a [u8] {
    delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes()).unwrap_or_default()
}

fn is_at_or_below(path: &str, only: &str) -> bool {
    let only = only.trim_start_matches("./").trim_end_matches('/');
    only == "." || path == only || path.strip_prefix(only).is_some_and(|rest| rest.starts_with('/'))
}

fn text(diff: &Diff, at: usize, path: &str, delta: &DiffDelta) -> Result<String, GitError> {
    let Some(patch) = Patch::from_diff(diff, at)? else {
        return Ok(format!("Binary file {path} differs\n"));
    };
    if patch.delta().flags().is_binary() {
        return Ok(format!("Binary file {path} differs\n"));
    }
    let is_new = matches!(delta.status(), Delta::Added | Delta::Untracked);
    let old = if is_new { "/dev/null".into() } else { format!("a/{path}") };
    let new =
        if delta.status() == Delta::Deleted { "/dev/null".into() } else { format!("b/{path}") };
    let mut out = format!("--- {old}\n+++ {new}\n");
    if delta.old_file().mode() != delta.new_file().mode()
        && !is_new
        && delta.status() != Delta::Deleted
    {
        let (old, new) = (i32::from(delta.old_file().mode()), i32::from(delta.new_file().mode()));
        out.push_str(&format!("mode {old:o} -> {new:o}\n"));
    }
    for hunk in 0..patch.num_hunks() {
        write_hunk(&patch, hunk, &mut out)?;
    }
    Ok(out)
}

fn write_hunk(patch: &Patch, hunk: usize, out: &mut String) -> Result<(), GitError> {
    let (header, lines) = patch.hunk(hunk)?;
    out.push_str(&String::from_utf8_lossy(header.header()));
    for at in 0..lines {
        let line = patch.line_in_hunk(hunk, at)?;
        if matches!(line.origin(), ' ' | '+' | '-') {
            out.push(line.origin());
        }
        out.push_str(&String::from_utf8_lossy(line.content()));
    }
    Ok(())
}
