//! Foreign text made safe to show: every byte that comes from a model, a file, a process or a server
//! passes here once, where it enters the screen's state or goes to a terminal.

use std::borrow::Cow;
use std::fmt::Write;

const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Makes control, escape, bidirectional and zero-width characters visible; keeps newlines and tabs.
pub fn text(foreign: &str) -> Cow<'_, str> {
    if !foreign.chars().any(|c| is_odd(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(foreign);
    }
    let mut shown = String::with_capacity(foreign.len() + 16);
    let mut chars = foreign.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            _ => push(&mut shown, c, chars.peek().copied()),
        }
    }
    Cow::Owned(shown)
}

/// Like [`text`], on one line: newlines and tabs become visible too.
pub fn line(foreign: &str) -> Cow<'_, str> {
    if !foreign.chars().any(is_odd) {
        return Cow::Borrowed(foreign);
    }
    let mut shown = String::with_capacity(foreign.len() + 16);
    let mut chars = foreign.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => shown.push('⏎'),
            '\t' => shown.push('→'),
            '\r' if chars.peek() == Some(&'\n') => {}
            _ => push(&mut shown, c, chars.peek().copied()),
        }
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, c: char, next: Option<char>) {
    let infallible = "writing to a string cannot fail";
    match c {
        '\u{7f}' => shown.push_str("^?"),
        c if u32::from(c) < 0x20 => {
            shown.push('^');
            shown.push(char::from_u32(u32::from(c) + 0x40).unwrap_or('?'));
        }
        ZERO_WIDTH_JOINER | TEXT_STYLE | EMOJI_STYLE if joins(shown, c, next) => shown.push(c),
        c if is_odd(c) => write!(shown, "<U+{:04X}>", u32::from(c)).expect(infallible),
        c => shown.push(c),
    }
}

/// A joiner or a style selector is part of a picture only behind one; a joiner also needs one before it.
fn joins(shown: &str, c: char, next: Option<char>) -> bool {
    let follows = shown
        .chars()
        .next_back()
        .is_some_and(|last| !is_odd(last) && !last.is_ascii_graphic() && last != ' ')
        || (c != ZERO_WIDTH_JOINER
            && shown.ends_with(|last: char| last.is_ascii_digit() || "#*".contains(last)))
        || (c == ZERO_WIDTH_JOINER && shown.ends_with(EMOJI_STYLE));
    follows
        && (c != ZERO_WIDTH_JOINER || next.is_some_and(|next| !is_odd(next) && !next.is_ascii()))
}

/// Characters that do something to a terminal or to the order of text, or that nobody sees.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_made_visible() {
        for (foreign, shown) in [
            (
                "echo safe \u{202e} dlrow fr- mr \u{202c}",
                "echo safe <U+202E> dlrow fr- mr <U+202C>",
            ),
            ("ls\u{200b}-la", "ls<U+200B>-la"),
            ("echo a\rrm -rf x", "echo a^Mrm -rf x"),
            ("echo \u{1b}[2K\u{1b}[1Ghello", "echo ^[[2K^[[1Ghello"),
            ("a\u{202e}txt.exe", "a<U+202E>txt.exe"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("bell\u{7}", "bell^G"),
            ("del\u{7f}", "del^?"),
            ("nul\0", "nul^@"),
            ("a\u{feff}b", "a<U+FEFF>b"),
            ("a\u{2028}b", "a<U+2028>b"),
            ("a\u{e0041}b", "a<U+E0041>b"),
            ("a\u{200d}b", "a<U+200D>b"),
        ] {
            assert_eq!(text(foreign), shown, "{foreign:?}");
            assert_eq!(line(foreign), shown, "{foreign:?}");
        }
    }

    #[test]
    fn plain_text_is_not_even_copied() {
        for plain in ["", "hello", "你好，世界", "é à ñ", "a\nb\tc"] {
            assert!(matches!(text(plain), Cow::Borrowed(_)), "{plain:?}");
        }
    }

    #[test]
    fn pictures_of_several_characters_stay_whole() {
        for picture in ["👨‍👩‍👧‍👦", "❤️", "🇩🇪", "1️⃣", "🏳️‍🌈", "e\u{301}"]
        {
            assert_eq!(text(picture), picture);
        }
    }

    #[test]
    fn a_line_is_one_line_and_a_text_keeps_its_lines() {
        assert_eq!(text("a\r\nb\tc\n"), "a\nb\tc\n");
        assert_eq!(line("a\r\nb\tc\n"), "a⏎b→c⏎");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_drives_a_terminal_passes(foreign in "\\PC*|[\\x00-\\x9f\\u{200b}-\\u{206f}a-z]*") {
            let shown = text(&foreign);
            proptest::prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            proptest::prop_assert_eq!(text(&shown), shown.clone());
        }
    }
}
