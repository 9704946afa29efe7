//! What a key reaches: the top overlay, the approval, the search line, completion, the focused pane;
//! then the keymap; then the draft.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, Focus};
use crate::tui::effect::Effect;
use crate::tui::keymap;
use crate::tui::overlay::{Completion, Reaction, Step};

impl App {
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if let Some(effects) = self.offer(key) {
            return effects;
        }
        // Whatever reaches the draft counts as typing: it holds an approval back.
        let draft_is_empty = self.composer.is_empty();
        if let Some(command) = keymap::command(key, draft_is_empty) {
            return self.run(command);
        }
        // Text that is no answer is the beginning of a message: from here on the keys are the draft's.
        self.write(key)
    }

    /// Offers the key to whatever is above the draft, top first.
    fn offer(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if let Some(overlay) = self.overlays.last_mut() {
            let reaction = overlay.key(key);
            return self.react_overlay(reaction, key);
        }
        if self.search.is_some() {
            return self.search_key(key);
        }
        if self.approval_takes_keys() {
            let reaction = self.approvals.overlay_mut().map(|overlay| overlay.key(key))?;
            return self.react_approval(reaction);
        }
        if self.approvals.is_open() {
            self.hold_approval(key);
        }
        if self.completion.is_some() {
            return self.completion_key(key);
        }
        self.pane_key(key)
    }

    /// Typing holds the approval back; Tab and what scrolls does not.
    fn hold_approval(&mut self, key: KeyEvent) {
        let is_typing = matches!(key.code, KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace);
        let is_early_tab = key.code == KeyCode::Tab && !self.approvals.is_quiet(self.now);
        if is_typing || is_early_tab {
            self.approvals.typed(self.now);
        }
    }

    pub(super) fn approval_takes_keys(&self) -> bool {
        self.approvals.takes_keys(self.composer.is_empty(), self.now)
    }

    /// A key that an overlay ignores still is a command, but never text of the draft below.
    fn react_overlay(&mut self, reaction: Reaction, key: KeyEvent) -> Option<Vec<Effect>> {
        match reaction {
            Reaction::Ignored => {
                let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
                let is_text = plain && matches!(key.code, KeyCode::Char(_) | KeyCode::Enter);
                is_text.then(Vec::new)
            }
            Reaction::Taken => Some(Vec::new()),
            Reaction::Close => {
                self.overlays.pop();
                Some(Vec::new())
            }
            Reaction::Run(command) => {
                self.overlays.pop();
                Some(self.run(command))
            }
            Reaction::Effects { close, effects } => {
                if close {
                    self.overlays.pop();
                }
                Some(effects)
            }
        }
    }

    fn react_approval(&mut self, reaction: Reaction) -> Option<Vec<Effect>> {
        match reaction {
            Reaction::Ignored => None,
            // Nothing closes an approval but an answer.
            Reaction::Taken | Reaction::Close => Some(Vec::new()),
            Reaction::Run(command) => Some(self.run(command)),
            Reaction::Effects { close, effects } => {
                if close {
                    self.approvals.close();
                }
                Some(effects)
            }
        }
    }

    fn search_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let search = self.search.as_mut()?;
        match search.key(key) {
            Step::Find => self.conversation.find(&search.typed),
            Step::Next => self.conversation.find_next(),
            Step::Previous => self.conversation.find_prev(),
            Step::Close => {
                self.search = None;
                self.conversation.find("");
            }
            Step::Ignored => return None,
        }
        Some(Vec::new())
    }

    fn completion_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if !key.modifiers.is_empty() {
            return None;
        }
        match key.code {
            KeyCode::Up => self.completion.as_mut()?.select(-1),
            KeyCode::Down => self.completion.as_mut()?.select(1),
            KeyCode::Esc => self.completion = None,
            KeyCode::Tab => drop(self.accept_completion()),
            KeyCode::Enter if self.accept_completion() => {
                return Some(self.run(crate::tui::command::Command::Send));
            }
            KeyCode::Enter => return Some(self.complete()),
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Puts the selected offer into the draft; returns whether it is all that need be typed.
    fn accept_completion(&mut self) -> bool {
        let Some(completion) = self.completion.take() else { return false };
        let (offer, chars) = completion.accept();
        self.composer.replace_before(chars, &offer.text);
        offer.is_whole
    }

    /// A pane takes its keys; text that it ignores goes back to the draft, where it is meant to be.
    fn pane_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let reaction = match self.focus {
            Focus::Composer => Reaction::Ignored,
            Focus::Conversation => self.conversation.key(key),
            Focus::Tools => self.tools.key(key),
        };
        match reaction {
            Reaction::Ignored => None,
            Reaction::Taken | Reaction::Close => Some(Vec::new()),
            Reaction::Run(command) => Some(self.run(command)),
            Reaction::Effects { effects, .. } => Some(effects),
        }
    }

    fn write(&mut self, key: KeyEvent) -> Vec<Effect> {
        if !self.composer.key(key) {
            return Vec::new();
        }
        self.focus = Focus::Composer;
        self.approvals.typed(self.now);
        self.complete()
    }

    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if let Some(overlay) = self.overlays.last_mut() {
            overlay.paste(&text);
        } else if self.approval_takes_keys() {
            self.approvals.overlay_mut().into_iter().for_each(|overlay| overlay.paste(&text));
        } else {
            self.approvals.typed(self.now);
            self.focus = Focus::Composer;
            self.composer.paste(&text);
            return self.complete();
        }
        Vec::new()
    }

    /// Offers what could stand at the caret; the first `@` asks for the files.
    pub(super) fn complete(&mut self) -> Vec<Effect> {
        let before = self.composer.before_caret();
        self.completion = None;
        if self.composer.is_on_first_line() && before.starts_with('/') {
            self.completion = self.complete_slash(before);
            return Vec::new();
        }
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        if !word.starts_with('@') {
            return Vec::new();
        }
        let Some(files) = &self.files else {
            self.files = Some(Vec::new());
            return vec![Effect::ListFiles];
        };
        self.completion = Completion::of_files(word, files);
        Vec::new()
    }
}
