//! The person's word on a call: the keys, the question behind a key, and what goes to the agent.
//! A change has parts and its own keys: see the review.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use super::Reaction;
use super::comment::Comment;
use crate::agent::{AgentRequest, Approval, Verdict};
use crate::session::CallId;
use crate::tui::effect::Effect;
use crate::tui::theme::Theme;
use crate::tui::widget::wrap;
use crate::visible;

/// A call that waits, and how far the answer has come.
#[derive(Debug)]
pub struct Answer {
    call: CallId,
    /// The rule that `always` grants, safe to show.
    pub rule: Option<String>,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Keys,
    Comment(Box<Comment>),
    /// The rule is shown and waits for a yes.
    Rule,
}

impl Answer {
    /// Begins the answer to an approval.
    pub fn to(approval: &Approval) -> Self {
        let rule = approval.rule.as_deref().map(|rule| visible::line(rule).into_owned());
        Self { call: approval.call.clone(), rule, stage: Stage::Keys }
    }

    /// Takes a key that answers; others are ignored.
    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        match &mut self.stage {
            Stage::Keys => self.first_key(key),
            Stage::Rule => self.rule_key(key),
            Stage::Comment(comment) => match key.code {
                KeyCode::Esc => self.back(),
                KeyCode::Enter => {
                    let comment = comment.text();
                    self.say(Verdict::Reject { comment })
                }
                _ if is_chord(key) && !edits_a_line(key) => Reaction::Ignored,
                _ => {
                    comment.key(key);
                    Reaction::Taken
                }
            },
        }
    }

    fn first_key(&mut self, key: KeyEvent) -> Reaction {
        if is_chord(key) {
            return Reaction::Ignored;
        }
        match key.code {
            KeyCode::Char('y') => self.say(Verdict::Accept),
            KeyCode::Char('n') => self.go(Stage::Comment(Box::new(Comment::why_not()))),
            KeyCode::Char('a') if self.rule.is_some() => self.go(Stage::Rule),
            KeyCode::Esc => self.say(Verdict::Stop),
            _ => Reaction::Ignored,
        }
    }

    fn rule_key(&mut self, key: KeyEvent) -> Reaction {
        if is_chord(key) {
            return Reaction::Ignored;
        }
        match key.code {
            KeyCode::Char('y') => self.say(Verdict::Always),
            KeyCode::Char('n') | KeyCode::Esc => self.back(),
            _ => Reaction::Taken,
        }
    }

    fn back(&mut self) -> Reaction {
        self.go(Stage::Keys)
    }

    fn go(&mut self, stage: Stage) -> Reaction {
        self.stage = stage;
        Reaction::Taken
    }

    fn say(&self, verdict: Verdict) -> Reaction {
        let answer = AgentRequest::Answer { call: self.call.clone(), verdict };
        Reaction::Effects { close: true, effects: vec![Effect::Send(answer)] }
    }

    /// Takes pasted text into the comment.
    pub fn paste(&mut self, text: &str) {
        if let Stage::Comment(comment) = &mut self.stage {
            comment.paste(text);
        }
    }

    /// Returns whether a question stands behind a key that was pressed.
    pub fn asks(&self) -> bool {
        !matches!(self.stage, Stage::Keys)
    }

    /// Returns the question behind a key and the column of the caret in its last line, if one is typed in.
    pub fn question(&self, width: u16, theme: &Theme) -> (Vec<Line<'static>>, Option<u16>) {
        match &self.stage {
            Stage::Keys => (Vec::new(), None),
            Stage::Comment(comment) => {
                let (line, caret) = comment.shown(width, theme);
                (vec![line], Some(caret))
            }
            Stage::Rule => {
                let rule = self.rule.as_deref().unwrap_or_default();
                let text = format!("Always allow {rule} in this session?");
                let lines = wrap(&text, width).into_iter();
                (lines.map(|line| Line::styled(line, theme.warn)).collect(), None)
            }
        }
    }

    /// Returns the keys that answer the question; `keys` are those of the frame itself.
    pub fn hints(&self, keys: &[(&'static str, &'static str)], theme: &Theme) -> Line<'static> {
        match &self.stage {
            Stage::Keys => hints(keys, theme),
            Stage::Comment(_) => hints(&[("Enter", "send"), ("Esc", "back")], theme),
            Stage::Rule => hints(&[("y", "always"), ("n", "back")], theme),
        }
    }
}

/// Returns keys and what they do, as a frame shows them.
pub fn hints(keys: &[(&'static str, &'static str)], theme: &Theme) -> Line<'static> {
    let hint = |&(key, help): &(&'static str, &'static str)| {
        [Span::styled(format!(" {key}"), theme.key), Span::styled(format!(" {help} "), theme.dim)]
    };
    Line::from_iter(keys.iter().flat_map(hint))
}

/// Returns whether a key is a command of the screen rather than an answer.
pub fn is_chord(key: KeyEvent) -> bool {
    key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// Returns whether a chord edits a line being typed.
pub fn edits_a_line(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char('a' | 'e' | 'u' | 'w'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rule: Option<&str>) -> Answer {
        Answer::to(&Approval {
            call: CallId("7".into()),
            calls: Vec::new(),
            reason: "The mode is ask.".into(),
            rule: rule.map(Into::into),
        })
    }

    fn says(verdict: Verdict) -> Reaction {
        let answer = AgentRequest::Answer { call: CallId("7".into()), verdict };
        Reaction::Effects { close: true, effects: vec![Effect::Send(answer)] }
    }

    /// Presses keys and returns what the last one did; `⏎` and `⎋` stand for Enter and Esc.
    fn press(answer: &mut Answer, keys: &str) -> Reaction {
        let code = |c| match c {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '⌫' => KeyCode::Backspace,
            c => KeyCode::Char(c),
        };
        keys.chars().map(|c| answer.key(code(c).into())).last().unwrap()
    }

    #[test]
    fn keys_lead_to_verdicts() {
        let comment = |text: &str| says(Verdict::Reject { comment: Some(text.into()) });
        for (keys, reaction) in [
            ("y", says(Verdict::Accept)),
            ("⎋", says(Verdict::Stop)),
            ("⏎", Reaction::Ignored),
            ("n", Reaction::Taken),
            ("n⏎", says(Verdict::Reject { comment: None })),
            ("n  ⏎", says(Verdict::Reject { comment: None })),
            ("nuse a table⏎", comment("use a table")),
            ("nyes⌫⏎", comment("ye")),
            ("nno⎋y", says(Verdict::Accept)),
            ("n⎋⎋", says(Verdict::Stop)),
            ("a", Reaction::Taken),
            ("a⏎", Reaction::Taken),
            ("ay", says(Verdict::Always)),
            ("any", says(Verdict::Accept)),
            ("a⎋y", says(Verdict::Accept)),
            ("x", Reaction::Ignored),
        ] {
            assert_eq!(press(&mut answer(Some("edit_file(a)")), keys), reaction, "{keys}");
        }
    }

    #[test]
    fn always_is_not_there_when_no_rule_is_offered() {
        assert_eq!(press(&mut answer(None), "a"), Reaction::Ignored);
        assert_eq!(press(&mut answer(None), "ay"), says(Verdict::Accept));
    }

    #[test]
    fn a_chord_never_answers() {
        let mut answer = answer(Some("edit_file(a)"));
        for c in ['y', 'n', 'a', 'c'] {
            let chord = KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
            assert_eq!(answer.key(chord), Reaction::Ignored, "{c}");
        }
    }

    #[test]
    fn a_pasted_comment_is_one_line_and_the_caret_stays_in_sight() {
        let mut answer = answer(None);
        press(&mut answer, "n");
        answer.paste("use\na \u{1b}table\n");
        let (lines, caret) = answer.question(80, &Theme::default());
        assert_eq!((lines[0].to_string().as_str(), caret), ("Why not? use a  table", Some(21)));
        let (lines, caret) = answer.question(16, &Theme::default());
        assert_eq!((lines[0].to_string().as_str(), caret), ("Why not?  table", Some(15)));
    }
}
