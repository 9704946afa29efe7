//! The session that the flags ask for: new, or opened again and put in order.

use trefoil::cli::Cli;
use trefoil::config::{Loaded, Paths};
use trefoil::session::{
    CallId, Checkpoints, Conversation, Entry, Log, LogError, Record, Store, ToolResult, View,
};
use trefoil::workspace::Root;

use super::Problem;

pub const NO_HOME: &str = "HOME is not set, so nothing is saved. Set HOME or TREFOIL_HOME.";

/// A session, new or opened again.
pub struct Session {
    pub log: Log,
    pub past: Vec<Entry>,
    pub conversation: Conversation,
    pub checkpoints: Checkpoints,
}

impl Session {
    /// Opens the session that the flags ask for, or a new one; where none can be kept, one that is not.
    pub fn of(
        cli: &Cli,
        paths: Option<&Paths>,
        root: &Root,
        loaded: &mut Loaded,
        notices: &mut Vec<String>,
    ) -> Result<Self, Problem> {
        let Some(paths) = paths else {
            notices.push(NO_HOME.to_owned());
            return Ok(Self::unsaved());
        };
        let store = Store::new(paths.sessions.clone());
        let Some(id) = wanted(cli, &store, root, notices) else {
            return Ok(Self::begin(&store, root, loaded, notices));
        };
        let session = Self::reopen(&store, &id, notices).map_err(anyhow::Error::from)?;
        Ok(session.settle(cli, root, loaded, notices).map_err(anyhow::Error::from)?)
    }

    fn unsaved() -> Self {
        Self {
            log: Log::unsaved(),
            past: Vec::new(),
            conversation: Conversation::default(),
            checkpoints: Checkpoints::default(),
        }
    }

    fn begin(store: &Store, root: &Root, loaded: &Loaded, notices: &mut Vec<String>) -> Self {
        let config = &loaded.config;
        match store.create(root.path(), &config.model, config.approval_mode) {
            Ok(log) => Self { log, ..Self::unsaved() },
            Err(error) => {
                notices.push(format!("This session is not saved: {error}"));
                Self::unsaved()
            }
        }
    }

    fn reopen(store: &Store, id: &str, notices: &mut Vec<String>) -> Result<Self, LogError> {
        let opened = store.open(id)?;
        if opened.damaged > 0 {
            notices.push(format!(
                "{} lines of the session's log could not be read and are left out; the log keeps them.",
                opened.damaged
            ));
        }
        let conversation = Conversation::replay(&opened.entries);
        let checkpoints = Checkpoints::replay(&opened.entries);
        Ok(Self { log: opened.log, past: opened.entries, conversation, checkpoints })
    }

    /// Writes down what a kill left open, and that the session goes on, with its model and mode unless told others.
    fn settle(
        mut self,
        cli: &Cli,
        root: &Root,
        loaded: &mut Loaded,
        notices: &mut Vec<String>,
    ) -> Result<Self, LogError> {
        remove_leftovers(&self.past, root);
        // The agent looks itself how far a change came that was cut short.
        let is_cut_short =
            |id: &CallId| self.checkpoints.unfinished().any(|(unfinished, _)| unfinished == id);
        let open = self.conversation.unanswered().into_iter();
        let open: Vec<_> = open.filter(|call| !is_cut_short(&call.id)).cloned().collect();
        for call in open {
            let text =
                "Trefoil was stopped while this call was open; it may have partly run.".to_owned();
            let result = ToolResult { id: call.id, name: call.name, ok: false, text };
            self.append(Record::Finished { result, view: View::Text, millis: 0 })?;
        }
        let config = &mut loaded.config;
        if cli.model.is_none() && !self.conversation.model().is_empty() {
            self.conversation.model().clone_into(&mut config.model);
        }
        if cli.approval_mode.is_none() {
            config.approval_mode = self.conversation.mode();
        }
        let (model, mode) = (config.model.clone(), config.approval_mode);
        self.append(Record::Resumed { model, mode })?;
        let was_elsewhere = self.past.iter().find_map(|entry| match &entry.record {
            Record::Started { workspace, .. } if workspace != root.path() => Some(workspace),
            _ => None,
        });
        if let Some(workspace) = was_elsewhere {
            notices.push(format!("This session began in {}.", workspace.display()));
        }
        Ok(self)
    }

    fn append(&mut self, record: Record) -> Result<(), LogError> {
        let entry = self.log.append(record)?;
        self.conversation.apply(&entry.record);
        self.checkpoints.apply(&entry);
        self.past.push(entry);
        Ok(())
    }
}

/// Returns the session to go on with, if the flags ask for one and there is one.
fn wanted(cli: &Cli, store: &Store, root: &Root, notices: &mut Vec<String>) -> Option<String> {
    if cli.resume.is_some() || !cli.continue_last {
        return cli.resume.clone();
    }
    let latest = store.latest(root.path()).map(|session| session.id);
    if latest.is_none() {
        notices.push("There is no session of this folder to go on with; a new one begins.".into());
    }
    latest
}

/// Removes the temporary files of a change that a kill stopped before it was written.
fn remove_leftovers(past: &[Entry], root: &Root) {
    let staged = past.iter().filter_map(|entry| match &entry.record {
        Record::Acting { staged, .. } => Some(staged),
        _ => None,
    });
    for path in staged.flatten() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.starts_with(root.path()) && name.starts_with(".trefoil-") {
            std::fs::remove_file(path).ok();
        }
    }
}
