//! What can happen to the screen.

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::agent::AgentEvent;
use crate::workspace::git::Head;

/// Something happened. `App::update` takes one at a time, with the instant it happened at.
#[derive(Debug, Clone)]
pub enum Event {
    Key(KeyEvent),
    Paste(String),
    Resize {
        width: u16,
        height: u16,
    },
    Agent(AgentEvent),
    /// The agent's task is gone; nothing more comes from it.
    AgentGone,
    /// A timer that `App::wake_at` asked for has come due.
    Elapsed,
    /// The files that completion may offer.
    Files(Vec<String>),
    Head(Option<Head>),
    /// What the workspace's last session began with.
    Last(String),
    /// The external editor gave this text back; `None` when it failed or was left without saving.
    Edited(Option<String>),
    /// Something that the world was asked for could not be done: a sentence to show.
    Failed(String),
}

/// Turns what a terminal sent in one go into events.
///
/// An Enter with text right behind it was pasted by a terminal without bracketed paste: it begins a
/// new line and sends nothing.
pub fn typed(batch: &[Terminal]) -> Vec<Event> {
    let followed_by_text = |index: usize| batch.get(index + 1).is_some_and(is_text);
    batch
        .iter()
        .enumerate()
        .filter_map(|(index, event)| match event {
            Terminal::Key(key) if key.kind == KeyEventKind::Release => None,
            Terminal::Key(key) if is_enter(key) && followed_by_text(index) => {
                Some(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::SHIFT)))
            }
            Terminal::Key(key) => Some(Event::Key(*key)),
            Terminal::Paste(text) => Some(Event::Paste(text.clone())),
            Terminal::Resize(width, height) => {
                Some(Event::Resize { width: *width, height: *height })
            }
            Terminal::Mouse(_) | Terminal::FocusGained | Terminal::FocusLost => None,
        })
        .collect()
}

fn is_enter(key: &KeyEvent) -> bool {
    key.code == KeyCode::Enter && key.modifiers.is_empty()
}

fn is_text(event: &Terminal) -> bool {
    let Terminal::Key(key) = event else { return false };
    let plain = key.modifiers - KeyModifiers::SHIFT;
    let is_line_feed = key.code == KeyCode::Char('j') && plain == KeyModifiers::CONTROL;
    is_line_feed || plain.is_empty() && matches!(key.code, KeyCode::Char(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(text: &str) -> Vec<Terminal> {
        let code = |c| if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) };
        text.chars().map(|c| Terminal::Key(KeyEvent::from(code(c)))).collect()
    }

    fn enters(text: &str) -> Vec<bool> {
        let is_plain = |event: &Event| match event {
            Event::Key(key) if key.code == KeyCode::Enter => Some(key.modifiers.is_empty()),
            _ => None,
        };
        typed(&batch(text)).iter().filter_map(is_plain).collect()
    }

    #[test]
    fn only_the_last_enter_of_a_burst_sends() {
        for (text, plain) in [
            ("1人\r", vec![true]),
            ("a\rb\rc", vec![false, false]),
            ("a\rb\r", vec![false, true]),
            ("\r", vec![true]),
        ] {
            assert_eq!(enters(text), plain, "{text:?}");
        }
    }

    #[test]
    fn no_key_of_a_burst_is_lost() {
        assert_eq!(typed(&batch("2つ")).len(), 2);
    }
}
