//! A temporary workspace for the tests of tools.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Context, Intent, Outcome, Proposed, Seen, Tool};
use crate::config::Limits;
use crate::workspace::{Launcher, Root};

/// A workspace with its context.
pub struct Desk {
    folder: tempfile::TempDir,
    pub context: Context,
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let context = Context {
            root: Arc::new(Root::open(folder.path()).unwrap()),
            limits: Limits::default(),
            python: String::new(),
            environment: Arc::new(vec![]),
            launcher: Launcher { program: "no-launcher".into() },
            seen: Seen::default(),
            proposed: Proposed::default(),
        };
        Self { folder, context }
    }

    pub fn with(path: &str, bytes: &[u8]) -> Self {
        let desk = Self::new();
        desk.write(path, bytes);
        desk
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap()
    }

    /// Intends a change and carries it out.
    pub fn change(&self, tool: &dyn Tool, args: Value) -> Result<(), String> {
        match tool.intend(args, &self.context) {
            Ok(Intent::Change(change)) => change
                .stage()
                .and_then(|staged| staged.commit())
                .map(drop)
                .map_err(|e| e.to_string()),
            Ok(_) => panic!("the tool changes files"),
            Err(refusal) => Err(refusal.0),
        }
    }

    /// Intends a look and takes it; a refusal is an outcome, too.
    pub fn look(&self, tool: &dyn Tool, args: Value) -> Outcome {
        match tool.intend(args, &self.context) {
            Ok(Intent::Look(look)) => (look.look)(&CancellationToken::new()),
            Ok(_) => panic!("the tool looks"),
            Err(refusal) => Outcome::told(false, refusal.0),
        }
    }
}
