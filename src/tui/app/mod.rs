//! The whole state of the screen, and what events do to it.
//!
//! [`App::update`] is a routing table; the work is in `keys` (what a key reaches), `run` (what a command
//! does), `slash` (what is typed after `/`), `agent` (what the agent tells), `approval` (the grace rule) and `prepare` (before a frame).

mod agent;
mod approval;
mod keys;
mod prepare;
mod run;
mod slash;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;

use self::approval::{Approvals, Ask};
use super::effect::Effect;
use super::event::Event;
use super::layout::Regions;
use super::overlay::{Completion, Overlay, Search};
use super::pane::{Composer, Conversation, Phases, Status, Title, ToolLog};
use super::theme::Theme;
use super::widget::Highlighter;
use crate::config::Mode;
use crate::session::{Entry, Usage};
use crate::workspace::FileDiff;

/// How long the second Ctrl+C may take.
const ARMED: Duration = Duration::from_secs(2);

/// How often moving things move.
const TICK: Duration = Duration::from_millis(200);

/// What the screen begins with, as plain data.
#[derive(Clone)]
pub struct Seed {
    /// The workspace as it is shown, the home folder as `~`.
    pub workspace: String,
    /// `PROVIDER/MODEL`.
    pub model: String,
    pub is_scripted: bool,
    pub mode: Mode,
    pub theme: Theme,
    /// What is recorded of this session so far.
    pub past: Vec<Entry>,
    /// Earlier messages, oldest first.
    pub history: Vec<String>,
    /// Is sent at once.
    pub prompt: Option<String>,
    /// A message that Tab puts into an empty draft.
    pub suggestion: Option<String>,
    pub notices: Vec<String>,
    /// Where the person is, for the times in the tool log.
    pub zone: TimeZone,
    /// What a model can hold, in tokens.
    pub window: fn(&str) -> Option<u64>,
    /// What a reply of a model cost, in dollars.
    pub cost: fn(&str, &Usage) -> Option<f64>,
}

/// Who gets the keys that nothing above takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Composer,
    Conversation,
    Tools,
}

/// The screen.
pub struct App {
    pub(super) seed: Seed,
    pub(super) theme: Theme,
    pub(super) highlighter: Highlighter,
    pub(super) title: Title,
    pub(super) phases: Phases,
    pub(super) conversation: Conversation,
    pub(super) tools: ToolLog,
    pub(super) composer: Composer,
    pub(super) status: Status,
    pub(super) overlays: Vec<Box<dyn Overlay>>,
    pub(super) approvals: Approvals,
    pub(super) completion: Option<Completion>,
    pub(super) search: Option<Search>,
    pub(super) focus: Focus,
    /// Which pane is seen where they share one place.
    pub(super) shows_tools: bool,
    pub(super) queued: Vec<String>,
    pub(super) notices: Vec<String>,
    pub(super) suggestion: Option<String>,
    /// What the last session here began with, safe to show.
    pub(super) last: Option<String>,
    pub(super) files: Option<Vec<String>>,
    pub(super) last_change: Option<Vec<FileDiff>>,
    pub(super) quits_until: Option<Instant>,
    pub(super) regions: Regions,
    pub(super) now: Instant,
}

impl App {
    /// Makes a screen from plain data, and the effects it begins with.
    pub fn new(mut seed: Seed, now: Instant) -> (Self, Vec<Effect>) {
        let past = std::mem::take(&mut seed.past);
        let prompt = seed.prompt.take();
        let mut app = Self {
            theme: seed.theme.clone(),
            highlighter: Highlighter::default(),
            title: Title::new(&seed.workspace, &seed.model, seed.is_scripted, seed.mode),
            phases: Phases::default(),
            conversation: Conversation::default(),
            tools: ToolLog::new(seed.zone.clone()),
            composer: Composer::new(std::mem::take(&mut seed.history)),
            status: Status { window: (seed.window)(&seed.model), ..Status::default() },
            overlays: Vec::new(),
            approvals: Approvals::new(ask()),
            completion: None,
            search: None,
            focus: Focus::Composer,
            shows_tools: false,
            queued: Vec::new(),
            notices: std::mem::take(&mut seed.notices),
            suggestion: seed.suggestion.take(),
            last: None,
            files: None,
            last_change: None,
            quits_until: None,
            regions: Regions::default(),
            now,
            seed,
        };
        past.into_iter().for_each(|entry| app.replay(entry));
        let mut effects = vec![Effect::ReadHead, Effect::FindLast];
        if let Some(prompt) = prompt {
            effects.extend(app.send(prompt));
        }
        (app, effects)
    }

    /// Takes one event, and says what is wished of the world. No IO, no waiting.
    pub fn update(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        self.now = now;
        match event {
            Event::Key(key) => self.key(key),
            Event::Paste(text) => self.paste(&text),
            Event::Resize { .. } => Vec::new(),
            Event::Agent(event) => self.agent(&event),
            Event::AgentGone => self.agent_gone(),
            Event::Elapsed => self.elapsed(),
            Event::Files(files) => self.files(files),
            Event::Head(head) => self.head(head),
            Event::Last(title) => self.last(&title),
            Event::Edited(text) => self.edited(text),
            Event::Failed(sentence) => self.say(sentence),
        }
    }

    /// Returns when [`Event::Elapsed`] is wished for; `None` sleeps until something happens.
    pub fn wake_at(&self) -> Option<Instant> {
        let moves = self.phases.is_working() && !self.approvals.is_open();
        let tick = moves.then(|| self.now + TICK);
        let grace = self.approvals.quiet_at().filter(|at| *at > self.now);
        [tick, grace, self.quits_until].into_iter().flatten().min()
    }

    fn elapsed(&mut self) -> Vec<Effect> {
        if self.quits_until.is_some_and(|until| self.now >= until) {
            self.quits_until = None;
            self.notices.clear();
        }
        Vec::new()
    }

    /// Shows a sentence above the composer until the next message is sent.
    fn say(&mut self, sentence: impl Into<String>) -> Vec<Effect> {
        self.notices = vec![crate::visible::text(&sentence.into()).into_owned()];
        Vec::new()
    }

    fn last(&mut self, title: &str) -> Vec<Effect> {
        self.last = Some(crate::visible::line(title).into_owned());
        Vec::new()
    }

    fn head(&mut self, head: Option<crate::workspace::git::Head>) -> Vec<Effect> {
        self.title.set_head(head);
        Vec::new()
    }

    fn files(&mut self, files: Vec<String>) -> Vec<Effect> {
        self.files = Some(files);
        self.complete()
    }

    fn edited(&mut self, text: Option<String>) -> Vec<Effect> {
        let open = self.overlays.last_mut().or_else(|| self.approvals.overlay_mut());
        if open.is_some_and(|overlay| overlay.edited(text.as_deref())) {
            return Vec::new();
        }
        match text {
            Some(text) => self.composer.set(text.trim_end_matches(['\r', '\n'])),
            None => return self.say("The editor changed nothing."),
        }
        Vec::new()
    }
}

/// Returns what opens an approval: a diff, or a command line.
fn ask() -> Ask {
    use super::overlay::{Review, RunApproval};
    use crate::session::Proposal;
    |approval| match approval.calls.first().map(|waiting| &waiting.proposal) {
        Some(Proposal::Change { .. }) => Box::new(Review::of(approval)),
        _ => Box::new(RunApproval::of(approval)),
    }
}
