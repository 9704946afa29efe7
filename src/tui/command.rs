//! Everything a person can ask for: one table that feeds keymap, palette, help, hints and `/` names.

/// A wish of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    Send,
    Newline,
    Earlier,
    Later,
    Unqueue,
    Edit,
    Back,
    Cancel,
    QuitIfEmpty,
    NextPane,
    NextMode,
    PageUp,
    PageDown,
    ToStart,
    ToEnd,
    Expand,
    Search,
    Diff,
    Changes,
    Undo,
    Redo,
    Palette,
    Help,
    Model,
    Mode,
    Theme,
    Clear,
    Repaint,
    Suspend,
    Quit,
}

/// When a key means its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Always,
    /// Only while nothing is typed; otherwise the key is text or moves the caret.
    EmptyDraft,
}

/// A command with all that is said about it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub command: Command,
    pub name: &'static str,
    pub help: &'static str,
    pub keys: &'static [(&'static str, When)],
    /// Its name after `/`.
    pub slash: Option<&'static str>,
    /// What the `/` name takes, for help; empty when nothing.
    pub argument: &'static str,
}

use Command as C;
use When::{Always, EmptyDraft};

const fn row(
    command: C,
    name: &'static str,
    help: &'static str,
    keys: &'static [(&'static str, When)],
) -> Row {
    Row { command, name, help, keys, slash: None, argument: "" }
}

impl Row {
    const fn slash(self, slash: &'static str, argument: &'static str) -> Self {
        Self { slash: Some(slash), argument, ..self }
    }

    /// Returns the first key, as it is shown.
    pub fn key(&self) -> Option<&'static str> {
        self.keys.first().map(|(key, _)| *key)
    }
}

/// Every command there is, in the order that help shows.
pub const COMMANDS: &[Row] = &[
    row(C::Send, "Send", "Send the message", &[("Enter", Always)]),
    row(
        C::Newline,
        "New line",
        "Begin a new line (a \\ before Enter does the same)",
        &[("Shift+Enter", Always), ("Alt+Enter", Always), ("Ctrl+J", Always)],
    ),
    row(C::Earlier, "Earlier message", "Bring back what was sent before", &[("Up", Always)]),
    row(C::Later, "Later message", "Go forward to what was sent after", &[("Down", Always)]),
    row(C::Unqueue, "Take back", "Take the last queued message back", &[("Alt+Up", Always)]),
    row(C::Edit, "External editor", "Write the message in $EDITOR", &[("Ctrl+G", Always)]),
    row(C::Back, "Stop or close", "Close what is open, or stop the work", &[("Esc", Always)]),
    row(
        C::Cancel,
        "Clear, stop, quit",
        "Clear the message, then stop the work, then quit when pressed twice",
        &[("Ctrl+C", Always)],
    ),
    row(
        C::QuitIfEmpty,
        "Quit when empty",
        "Quit when no message is begun",
        &[("Ctrl+D", EmptyDraft)],
    ),
    row(C::NextPane, "Next pane", "Complete, or move between panes", &[("Tab", Always)]),
    row(
        C::NextMode,
        "Next mode",
        "Go through plan, ask and accept-edits",
        &[("Shift+Tab", Always)],
    ),
    row(C::PageUp, "Scroll up", "Scroll a page up; following pauses", &[("PgUp", Always)]),
    row(C::PageDown, "Scroll down", "Scroll a page down", &[("PgDn", Always)]),
    row(
        C::ToStart,
        "To the start",
        "Go to the start",
        &[("Ctrl+Home", Always), ("Home", EmptyDraft)],
    ),
    row(
        C::ToEnd,
        "To the end",
        "Go to the end and follow it",
        &[("Ctrl+End", Always), ("End", EmptyDraft)],
    ),
    row(C::Expand, "Expand", "Unfold or fold tool calls and thoughts", &[("Ctrl+O", Always)]),
    row(C::Search, "Search", "Search the conversation", &[("Ctrl+F", Always)])
        .slash("search", "[TEXT]"),
    row(C::Diff, "Show diff", "Look at the last change again", &[]).slash("diff", ""),
    row(
        C::Changes,
        "Show changes",
        "Look at all that changed in this session, and put parts of it back",
        &[],
    )
    .slash("changes", ""),
    row(C::Undo, "Undo", "Take the last turn's changes back; shown first", &[]).slash("undo", ""),
    row(C::Redo, "Redo", "Bring back what was taken back; shown first", &[]).slash("redo", ""),
    row(C::Palette, "Palette", "Find a command by its name", &[("Ctrl+P", Always)])
        .slash("palette", ""),
    row(C::Help, "Help", "Show keys and commands", &[("?", EmptyDraft), ("F1", Always)])
        .slash("help", ""),
    row(C::Model, "Model", "Choose another model", &[]).slash("model", "PROVIDER/MODEL"),
    row(C::Mode, "Mode", "Choose what stands without being asked", &[])
        .slash("mode", "plan|ask|accept-edits"),
    row(C::Theme, "Theme", "Choose the colours", &[]).slash("theme", "NAME"),
    row(C::Clear, "Clear", "Begin a new conversation", &[]).slash("clear", ""),
    row(C::Repaint, "Redraw", "Draw the screen anew", &[("Ctrl+L", Always)]),
    row(C::Suspend, "Suspend", "Go to the shell; fg comes back", &[("Ctrl+Z", Always)]),
    row(C::Quit, "Quit", "Leave Trefoil", &[]).slash("quit", ""),
];

impl Command {
    /// Returns the row of the table.
    pub fn row(self) -> &'static Row {
        COMMANDS
            .iter()
            .find(|row| row.command == self)
            .expect("a test proves that every command has its row")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_command_key_or_slash_name_is_in_the_table_twice() {
        let mut seen = BTreeSet::new();
        for row in COMMANDS {
            assert!(seen.insert(format!("{:?}", row.command)));
            assert!(row.keys.iter().all(|(key, _)| seen.insert((*key).to_owned())), "{}", row.name);
            assert!(row.slash.is_none_or(|slash| seen.insert(format!("/{slash}"))));
        }
    }

    #[test]
    fn every_command_can_be_reached() {
        let is_reachable = |row: &Row| !row.keys.is_empty() || row.slash.is_some();
        assert!(COMMANDS.iter().all(is_reachable));
    }
}
