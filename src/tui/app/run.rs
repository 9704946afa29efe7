//! What a command does: one arm, one call.

use super::{ARMED, App, Focus};
use crate::agent::AgentRequest;
use crate::tui::command::Command;
use crate::tui::effect::Effect;
use crate::tui::overlay::{Help, Palette, Review, Search};

impl App {
    pub(super) fn run(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::Send => self.submit(),
            Command::Newline => self.edit(|composer| composer.newline()),
            Command::Earlier => self.edit(|composer| composer.up()),
            Command::Later => self.edit(|composer| composer.down()),
            Command::Unqueue => self.ask_back(),
            Command::Edit => self.edit_draft(),
            Command::Back => self.back(),
            Command::Cancel => self.cancel(),
            Command::QuitIfEmpty | Command::Quit => vec![Effect::Quit],
            Command::NextPane => self.next_pane(),
            Command::NextMode => self.set_mode(self.title.mode.next()),
            Command::PageUp => self.scroll(|pane| pane.page(-1), |pane| pane.page(-1)),
            Command::PageDown => self.scroll(|pane| pane.page(1), |pane| pane.page(1)),
            Command::ToStart => self.scroll(|pane| pane.to_start(), |pane| pane.to_start()),
            Command::ToEnd => self.scroll(|pane| pane.to_end(), |pane| pane.to_end()),
            Command::Expand => self.scroll(|pane| pane.toggle(), |pane| pane.toggle()),
            Command::Search => self.search_for(""),
            Command::Diff => self.show_diff(),
            Command::Changes => self.ask_idle(AgentRequest::Changes, "changes"),
            Command::Undo => self.ask_idle(AgentRequest::Undo, "undo"),
            Command::Redo => self.ask_idle(AgentRequest::Redo, "redo"),
            Command::Palette => self.open(Palette::open()),
            Command::Help => self.open(Help::default()),
            Command::Model | Command::Mode | Command::Theme => self.begin_slash(command),
            Command::Clear => self.ask_idle(AgentRequest::Clear, "clear"),
            Command::Repaint => vec![Effect::Repaint],
            Command::Suspend => vec![Effect::Suspend],
        }
    }

    fn edit_draft(&self) -> Vec<Effect> {
        vec![Effect::Edit { text: self.composer.text(), suffix: ".md".into() }]
    }

    pub(super) fn open(&mut self, overlay: impl super::Overlay + 'static) -> Vec<Effect> {
        self.completion = None;
        self.overlays.push(Box::new(overlay));
        Vec::new()
    }

    fn edit(&mut self, edit: impl FnOnce(&mut super::Composer)) -> Vec<Effect> {
        edit(&mut self.composer);
        self.focus = Focus::Composer;
        self.approvals.typed(self.now);
        Vec::new()
    }

    /// Enter: a `\` before the caret continues the line, `/` runs a command, all else is sent.
    fn submit(&mut self) -> Vec<Effect> {
        if self.composer.continue_line() {
            return Vec::new();
        }
        let text = self.composer.text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        if let Some(effects) = self.slash(&text) {
            return effects;
        }
        self.composer.take();
        self.send(text)
    }

    pub(super) fn send(&mut self, text: String) -> Vec<Effect> {
        self.completion = None;
        self.notices.clear();
        self.suggestion = None;
        self.composer.remember(&text);
        self.conversation.to_end();
        self.phases.begin(self.now);
        vec![Effect::Remember(text.clone()), Effect::Send(AgentRequest::Prompt(text))]
    }

    fn ask_back(&mut self) -> Vec<Effect> {
        if self.queued.is_empty() {
            return Vec::new();
        }
        vec![Effect::Send(AgentRequest::Unqueue)]
    }

    /// Esc: closes what is open, else stops the work. The draft stays.
    fn back(&mut self) -> Vec<Effect> {
        if self.overlays.pop().is_some() {
            return Vec::new();
        }
        if self.focus != Focus::Composer {
            self.focus = Focus::Composer;
            return Vec::new();
        }
        if self.phases.is_working() {
            return vec![Effect::Send(AgentRequest::Interrupt)];
        }
        self.notices.clear();
        Vec::new()
    }

    /// Ctrl+C: closes, clears, stops; with nothing of that to do it arms quitting.
    fn cancel(&mut self) -> Vec<Effect> {
        if self.overlays.pop().is_some() {
            return Vec::new();
        }
        if !self.composer.is_empty() {
            let draft = self.composer.take();
            self.composer.remember(&draft);
            self.completion = None;
            return Vec::new();
        }
        if self.phases.is_working() {
            return vec![Effect::Send(AgentRequest::Interrupt)];
        }
        if self.quits_until.is_some_and(|until| self.now < until) {
            return vec![Effect::Quit];
        }
        self.quits_until = Some(self.now + ARMED);
        self.say("Press Ctrl+C again to quit.")
    }

    /// Tab: takes the suggestion, goes to an approval, else round the panes.
    fn next_pane(&mut self) -> Vec<Effect> {
        if self.approvals.choose(self.composer.is_empty(), self.now) {
            return Vec::new();
        }
        if let Some(suggestion) = self.suggestion.take_if(|_| self.composer.is_empty()) {
            self.composer.set(&suggestion);
            return Vec::new();
        }
        self.focus = match self.focus {
            Focus::Composer => Focus::Conversation,
            Focus::Conversation => Focus::Tools,
            Focus::Tools => Focus::Composer,
        };
        self.shows_tools = self.focus == Focus::Tools;
        Vec::new()
    }

    /// Moves the pane that is read: the tools where they have the focus, else the conversation.
    fn scroll(
        &mut self,
        conversation: impl FnOnce(&mut super::Conversation),
        tools: impl FnOnce(&mut super::ToolLog),
    ) -> Vec<Effect> {
        match self.focus {
            Focus::Tools => tools(&mut self.tools),
            _ => conversation(&mut self.conversation),
        }
        Vec::new()
    }

    pub(super) fn search_for(&mut self, text: &str) -> Vec<Effect> {
        self.completion = None;
        self.search = Some(Search { typed: text.to_owned() });
        self.conversation.find(text);
        Vec::new()
    }

    fn show_diff(&mut self) -> Vec<Effect> {
        match self.last_change.clone() {
            Some(files) => self.open(Review::read_only(files)),
            None => self.say("Nothing has been changed yet in this session."),
        }
    }

    /// Asks the agent for what cannot be done while it works.
    fn ask_idle(&mut self, request: AgentRequest, name: &str) -> Vec<Effect> {
        if self.phases.is_working() {
            let sentence = format!("The work goes on. Stop it with Esc first, then /{name}.");
            return self.say(sentence);
        }
        vec![Effect::Send(request)]
    }
}
