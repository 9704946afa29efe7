//! What stands behind a key that was pressed: a line to type, a question, an edit, the list of keys.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;

use super::edit::{Edit, Step};
use super::{Purpose, Reaction, Review};
use crate::agent::Verdict;
use crate::tui::overlay::answer::{edits_a_line, is_chord};
use crate::tui::overlay::comment::Comment;
use crate::tui::theme::Theme;
use crate::tui::widget::{Spot, wrap};

/// Where the keys go.
#[derive(Debug)]
pub enum Stage {
    /// To the review itself.
    Keys,
    /// Why something is rejected: the part, or all that waits.
    WhyNot(Box<Comment>, Scope),
    /// What is said of a spot.
    Remark(Box<Comment>, Spot),
    /// The rule is shown and waits for a yes.
    Rule,
    /// Whether later changes of this turn stand, or are declined, unasked.
    Rest(bool),
    Edit(Box<Edit>),
    Legend,
}

/// How much a word is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Part,
    Waiting,
}

impl Stage {
    /// Takes pasted text where text is typed.
    pub fn paste(&mut self, text: &str) {
        match self {
            Self::WhyNot(comment, _) | Self::Remark(comment, _) => comment.paste(text),
            Self::Edit(edit) => edit.paste(text),
            Self::Keys | Self::Rule | Self::Rest(_) | Self::Legend => {}
        }
    }
}

impl Review {
    /// Hands a key to what stands behind the last one.
    pub(super) fn stage_key(&mut self, key: KeyEvent, was_leaving: bool) -> Reaction {
        match &self.stage {
            Stage::Edit(_) => self.edit_key(key, was_leaving),
            Stage::WhyNot(..) | Stage::Remark(..) => self.comment_key(key),
            _ if is_chord(key) => Reaction::Ignored,
            Stage::Keys => self.first_key(key, was_leaving),
            Stage::Rule => self.yes_or_no(key, |review| review.say(Verdict::Always)),
            Stage::Rest(stands) => {
                let stands = *stands;
                self.yes_or_no(key, move |review| review.decide_rest(stands))
            }
            Stage::Legend => self.go(Stage::Keys),
        }
    }

    fn yes_or_no(&mut self, key: KeyEvent, yes: impl FnOnce(&mut Self) -> Reaction) -> Reaction {
        match key.code {
            KeyCode::Char('y') => yes(self),
            KeyCode::Char('n') | KeyCode::Esc => self.go(Stage::Keys),
            _ => Reaction::Taken,
        }
    }

    fn comment_key(&mut self, key: KeyEvent) -> Reaction {
        match key.code {
            KeyCode::Esc => return self.go(Stage::Keys),
            KeyCode::Enter => return self.said(),
            _ if is_chord(key) && !edits_a_line(key) => return Reaction::Ignored,
            _ => {}
        }
        if let Stage::WhyNot(comment, _) | Stage::Remark(comment, _) = &mut self.stage {
            comment.key(key);
        }
        Reaction::Taken
    }

    /// Takes what was typed to where it belongs.
    fn said(&mut self) -> Reaction {
        match std::mem::replace(&mut self.stage, Stage::Keys) {
            Stage::WhyNot(comment, Scope::Part) => self.reject(comment.text()),
            Stage::WhyNot(comment, Scope::Waiting) => self.reject_waiting(comment.text()),
            Stage::Remark(comment, spot) => self.remark(spot, comment.text()),
            other => self.go(other),
        }
    }

    fn edit_key(&mut self, key: KeyEvent, was_leaving: bool) -> Reaction {
        let Stage::Edit(edit) = &mut self.stage else { return Reaction::Taken };
        let hunk = edit.hunk;
        match edit.key(key) {
            Step::On => Reaction::Taken,
            Step::Done(text) => {
                self.stage = Stage::Keys;
                self.replace(hunk, &text);
                Reaction::Taken
            }
            Step::Elsewhere(text) => {
                self.stage = Stage::Keys;
                self.edit_elsewhere(hunk, text)
            }
            Step::Drop if edit.is_changed() && !was_leaving => {
                self.is_leaving = true;
                self.advise("Esc again drops what you edited; Ctrl+S keeps it.")
            }
            Step::Drop => self.go(Stage::Keys),
        }
    }

    /// Returns the question that stands under the diff, and the column of the caret in its last line.
    pub(super) fn question(&self, width: u16, theme: &Theme) -> (Vec<Line<'static>>, Option<u16>) {
        let text = match &self.stage {
            Stage::WhyNot(comment, _) | Stage::Remark(comment, _) => {
                let (line, caret) = comment.shown(width, theme);
                return (vec![line], Some(caret));
            }
            Stage::Rule => format!("Always allow {} in this session?", self.rule()),
            Stage::Rest(true) => REST_STANDS.to_owned(),
            Stage::Rest(false) => REST_FALLS.to_owned(),
            Stage::Keys | Stage::Edit(_) | Stage::Legend => return (Vec::new(), None),
        };
        let lines = wrap(&text, width).into_iter().map(|line| Line::styled(line, theme.warn));
        (lines.collect(), None)
    }

    pub(super) fn rule(&self) -> &str {
        match &self.purpose {
            Purpose::Answer { rule: Some(rule), .. } => rule,
            _ => "",
        }
    }

    /// Returns the keys that answer the question; none where the review itself has the keys.
    pub(super) fn stage_hints(&self) -> &'static [(&'static str, &'static str)] {
        match &self.stage {
            Stage::Keys => &[],
            Stage::WhyNot(..) => &[("Enter", "reject"), ("Esc", "back")],
            Stage::Remark(..) => &[("Enter", "keep"), ("Esc", "back")],
            Stage::Rule => &[("y", "always"), ("n", "back")],
            Stage::Rest(_) => &[("y", "yes"), ("n", "back")],
            Stage::Edit(_) => &[("Ctrl+S", "keep"), ("Ctrl+G", "$EDITOR"), ("Esc", "drop")],
            Stage::Legend => &[("Any key", "back")],
        }
    }
}

const REST_STANDS: &str =
    "Accept what waits here, and let every later change of this turn stand unasked?";
const REST_FALLS: &str =
    "Reject what waits here, and decline every later change of this turn unasked?";
