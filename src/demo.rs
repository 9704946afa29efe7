//! The demo: a fresh copy of the calculator under git, and a script that plays the model.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use include_dir::{Dir, include_dir};

use crate::config::Network;
use crate::provider::scripted::{Pace, Script};
use crate::provider::{Connection, ErrorKind, ProviderError};

/// What the screen suggests to ask.
pub const SUGGESTION: &str = "fix the failing test";

/// The name under which the script's model is shown.
pub const MODEL: &str = "scripted/demo";

static CALCULATOR: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sandbox-demo");

/// Connects to the script that fixes the calculator: also from a session that is gone on with.
pub fn connect(pace: Pace, network: &Network) -> Result<Connection, ProviderError> {
    let script = Script::parse(include_str!("../assets/demo.toml")).map_err(|error| {
        ProviderError::new(ErrorKind::BadRequest, format!("The demo's script is broken: {error}"))
    })?;
    Ok(Connection::to_script("demo", script, pace, network))
}

/// Lays the calculator into a new folder under `parent`, with one commit; the folder is kept.
pub fn lay_out(parent: &Path) -> anyhow::Result<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix("trefoil-demo-")
        .tempdir_in(parent)
        .with_context(|| format!("No folder for the demo can be made in {}.", parent.display()))?
        .keep();
    CALCULATOR.extract(&folder).context("The demo's files could not be written.")?;
    commit_all(&folder).context("The demo's repository could not be made.")?;
    Ok(folder)
}

fn commit_all(folder: &Path) -> Result<(), git2::Error> {
    let mut options = git2::RepositoryInitOptions::new();
    options.initial_head("main").external_template(false);
    let repository = git2::Repository::init_opts(folder, &options)?;
    let mut index = repository.index()?;
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let author = git2::Signature::now("Trefoil", "trefoil@localhost")?;
    repository.commit(Some("HEAD"), &author, &author, "A calculator", &tree, &[])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_can_be_read() {
        connect(Pace::Instant, &Network::default()).map(|_| ()).unwrap();
    }

    #[test]
    fn the_copy_is_a_clean_repository_with_one_commit() {
        let parent = tempfile::tempdir().unwrap();
        let folder = lay_out(parent.path()).unwrap();
        let repository = git2::Repository::open(&folder).unwrap();
        let mut walk = repository.revwalk().unwrap();
        walk.push_head().unwrap();
        assert_eq!(walk.count(), 1);
        assert_eq!(repository.statuses(None).unwrap().len(), 0);
        assert!(folder.join("pkg/calculator.py").is_file());
    }
}
