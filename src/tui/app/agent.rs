//! What the agent tells, handed to every fold that wants to know.

use super::App;
use crate::agent::{AgentEvent, Changes, Live};
use crate::session::{Entry, Record, View};
use crate::tui::effect::Effect;
use crate::tui::overlay::Review;

impl App {
    pub(super) fn agent(&mut self, event: &AgentEvent) -> Vec<Effect> {
        self.phases.apply(event, self.now);
        self.approvals.apply(event);
        self.fold(event);
        match event {
            AgentEvent::Recorded(entry) => self.follow_up(&entry.record),
            AgentEvent::Live(live) => self.live(live),
        }
    }

    /// Takes a fact of an earlier sitting in: it is shown, but nothing works and nothing is asked.
    pub(super) fn replay(&mut self, entry: Entry) {
        self.fold(&AgentEvent::Recorded(entry));
    }

    fn fold(&mut self, event: &AgentEvent) {
        self.conversation.apply(event);
        self.tools.apply(event);
        if let AgentEvent::Recorded(entry) = event {
            self.record(&entry.record);
        }
    }

    fn record(&mut self, record: &Record) {
        let cost = self.seed.cost;
        self.title.apply(record);
        self.status.apply(record, |usage| cost(&self.title.model, usage));
        match record {
            Record::Prompted { text } => self.unqueue(text),
            Record::ModelChanged { model } => self.status.window = (self.seed.window)(model),
            Record::Finished { view: View::Change { files }, .. } => {
                self.last_change = Some(files.clone());
            }
            Record::Restored { files, .. } => self.last_change = Some(files.clone()),
            Record::Cleared => self.last_change = None,
            _ => {}
        }
    }

    /// What the world should look at again after a fact.
    fn follow_up(&mut self, record: &Record) -> Vec<Effect> {
        match record {
            Record::Finished { view: View::Change { .. } | View::Process { .. }, .. }
            | Record::Restored { .. } => {
                self.files = None;
                vec![Effect::ReadHead]
            }
            _ => Vec::new(),
        }
    }

    fn live(&mut self, live: &Live) -> Vec<Effect> {
        match live {
            Live::Queued { text } => self.queued.push(text.clone()),
            Live::Unqueued { text } => self.take_back(text),
            Live::Changes(changes) => return self.show_changes(changes.clone()),
            _ => {}
        }
        Vec::new()
    }

    fn show_changes(&mut self, changes: Changes) -> Vec<Effect> {
        let is_empty = changes.sets.iter().all(|set| set.files.is_empty());
        if is_empty && changes.notes.is_empty() {
            return self.say("Nothing that was changed in this session stands.");
        }
        if is_empty {
            return self.say(changes.notes.join("\n"));
        }
        self.open(Review::of_session(changes))
    }

    fn unqueue(&mut self, text: &str) {
        if let Some(index) = self.queued.iter().position(|queued| queued == text) {
            self.queued.remove(index);
        }
    }

    /// A queued message returns to the draft, before what is typed there.
    fn take_back(&mut self, text: &str) {
        self.unqueue(text);
        let draft = self.composer.take();
        let joined = if draft.is_empty() { text.to_owned() } else { format!("{text}\n{draft}") };
        self.composer.set(&joined);
    }

    pub(super) fn agent_gone(&mut self) -> Vec<Effect> {
        self.phases.fail(self.now);
        self.approvals.clear();
        self.say("The agent has ended unexpectedly. Quit with Ctrl+D and start again with trefoil -c; nothing is lost.")
    }
}
