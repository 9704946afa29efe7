//! Which key means which command, read from the command table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::command::{COMMANDS, Command, When};

/// Returns the command of a key.
pub fn command(key: KeyEvent, draft_is_empty: bool) -> Option<Command> {
    let fits = |when| when == When::Always || draft_is_empty;
    COMMANDS.iter().find_map(|row| {
        let meant = |(name, when): &(&str, When)| fits(*when) && is_named(key, name);
        row.keys.iter().any(meant).then_some(row.command)
    })
}

/// Returns whether a key is the one that the table calls `name`, like `Ctrl+P`.
pub fn is_named(key: KeyEvent, name: &str) -> bool {
    parse(name).is_some_and(|parsed| parsed == normal(key))
}

/// Terminals tell the same key in several ways: letters lose Shift, `BackTab` is Shift+Tab.
fn normal(key: KeyEvent) -> (KeyCode, KeyModifiers) {
    let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
    let modifiers = key.modifiers & known;
    match key.code {
        KeyCode::BackTab => (KeyCode::Tab, modifiers | KeyModifiers::SHIFT),
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            (KeyCode::Char(c.to_ascii_lowercase()), modifiers)
        }
        KeyCode::Char(c) => (KeyCode::Char(c), modifiers - KeyModifiers::SHIFT),
        code => (code, modifiers),
    }
}

fn parse(name: &str) -> Option<(KeyCode, KeyModifiers)> {
    let (modifiers, key) = match name.rsplit_once('+') {
        Some((modifiers, key)) => (modifiers, key),
        None => ("", name),
    };
    let modifiers =
        modifiers.split('+').map(modifier).fold(KeyModifiers::NONE, |all, one| all | one);
    let code = code(key)?;
    let KeyCode::Char(c) = code else { return Some((code, modifiers)) };
    Some((KeyCode::Char(if modifiers.is_empty() { c } else { c.to_ascii_lowercase() }), modifiers))
}

fn modifier(name: &str) -> KeyModifiers {
    match name {
        "Ctrl" => KeyModifiers::CONTROL,
        "Alt" => KeyModifiers::ALT,
        "Shift" => KeyModifiers::SHIFT,
        _ => KeyModifiers::NONE,
    }
}

fn code(name: &str) -> Option<KeyCode> {
    Some(match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "F1" => KeyCode::F(1),
        _ => KeyCode::Char(name.chars().next()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_table_means_its_command() {
        for row in COMMANDS {
            for (name, _) in row.keys {
                let (code, modifiers) = parse(name).unwrap();
                assert_eq!(
                    command(KeyEvent::new(code, modifiers), true),
                    Some(row.command),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn terminals_tell_the_same_key_in_several_ways() {
        let key = |code, modifiers| command(KeyEvent::new(code, modifiers), true);
        for (code, modifiers, meant) in [
            (KeyCode::BackTab, KeyModifiers::NONE, Command::NextMode),
            (KeyCode::BackTab, KeyModifiers::SHIFT, Command::NextMode),
            (KeyCode::Tab, KeyModifiers::SHIFT, Command::NextMode),
            (KeyCode::Char('?'), KeyModifiers::SHIFT, Command::Help),
            (KeyCode::Char('?'), KeyModifiers::NONE, Command::Help),
            (KeyCode::Char('P'), KeyModifiers::CONTROL, Command::Palette),
        ] {
            assert_eq!(key(code, modifiers), Some(meant), "{code:?} {modifiers:?}");
        }
    }

    #[test]
    fn a_draft_keeps_its_question_mark() {
        assert_eq!(command(KeyEvent::from(KeyCode::Char('?')), false), None);
    }
}
