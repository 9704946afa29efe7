//! The repository around the root, read through libgit2 only: no hook, filter, pager or external diff ever runs.
//!
//! libgit2 knows only its own filters (line endings, ident): `filter.*`, `diff.*.textconv`,
//! `diff.external` and `core.fsmonitor` name programs that it does not start.

mod diff;
mod status;
mod tracked;

use std::path::{Path, PathBuf};

use git2::{ErrorCode, Repository, RepositoryOpenFlags};

pub use diff::{FilePatch, Patches, patches};
pub use status::{Entry, Status, status};
pub use tracked::Tracked;

use super::Root;
use crate::visible;

/// What the title bar shows of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch, or a short commit id when detached.
    pub name: String,
    /// Files that differ from HEAD, untracked ones included.
    pub changed: usize,
}

/// Why a repository cannot be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("{0} is not in a git repository.")]
    NoRepository(String),
    #[error(
        "git does not trust the repository at {0} (dubious ownership: it belongs to another user). The person can allow it with: git config --global --add safe.directory '{0}'"
    )]
    Ownership(String),
    #[error("The repository is bare: it has no files to compare.")]
    Bare,
    #[error("The repository cannot be read: {0}.")]
    Other(String),
}

impl From<git2::Error> for GitError {
    fn from(error: git2::Error) -> Self {
        Self::Other(error.message().to_owned())
    }
}

/// Returns the head of the repository that holds the root; `None` outside of one.
pub fn head(root: &Root) -> Option<Head> {
    let repository = Around::open(root).ok()?;
    let changed = repository.count_changed().ok()?;
    Some(Head { name: repository.head_name(), changed })
}

/// A repository with a working tree, and where the root lies in it.
struct Around {
    repository: Repository,
    /// The root below the working tree; empty when they are the same.
    prefix: PathBuf,
}

impl Around {
    fn open(root: &Root) -> Result<Self, GitError> {
        let shown = root.path().display().to_string();
        let no_ceiling: [&Path; 0] = [];
        let opened = Repository::open_ext(root.path(), RepositoryOpenFlags::empty(), no_ceiling);
        let repository = opened.map_err(|error| match error.code() {
            ErrorCode::NotFound => GitError::NoRepository(shown.clone()),
            ErrorCode::Owner => GitError::Ownership(top_of(root)),
            _ => error.into(),
        })?;
        let top = repository.workdir().ok_or(GitError::Bare)?;
        let top = top.canonicalize().map_err(|error| GitError::Other(error.to_string()))?;
        let prefix = root.path().strip_prefix(&top).map_err(|_| GitError::NoRepository(shown))?;
        let prefix = prefix.to_owned();
        Ok(Self { repository, prefix })
    }

    /// Returns the branch, also one without a commit, or a short commit id.
    fn head_name(&self) -> String {
        let name = self.branch().or_else(|| {
            let commit = self.repository.head().ok()?.target()?;
            Some(commit.to_string()[..8].to_owned())
        });
        name.unwrap_or_else(|| "no branch".into())
    }

    fn branch(&self) -> Option<String> {
        let head = self.repository.find_reference("HEAD").ok()?;
        let target = String::from_utf8_lossy(head.symbolic_target_bytes()?).into_owned();
        Some(target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned())
    }

    fn is_unborn(&self) -> bool {
        self.repository.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch)
    }

    /// Returns a path of the repository as it is seen from the root, safe to show.
    fn shown(&self, path: &[u8]) -> String {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        name(path.strip_prefix(&self.prefix).unwrap_or(path))
    }
}

/// Returns the nearest folder at or above the root that holds a `.git`: what git wants to be told to trust.
fn top_of(root: &Root) -> String {
    let top = root.path().ancestors().find(|folder| folder.join(".git").exists());
    top.unwrap_or(root.path()).display().to_string()
}

/// Writes a path so that it stands on one line and can be told from every other: bytes that are no
/// UTF-8 become `\xff`, control characters visible.
fn name(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    visible::line(&out).into_owned()
}

#[cfg(test)]
mod tests;
