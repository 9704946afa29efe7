//! A content with some differences folded away, and the way back to the bytes it was made from.

use crate::workspace::text::ending_of;

/// Folded text, in which positions can be traced to the original.
pub(super) struct View<'a> {
    pub content: &'a str,
    pub folded: String,
    /// From each folded position on, where the original stands; ascending.
    shifts: Vec<(usize, usize)>,
    look_alikes: bool,
}

impl<'a> View<'a> {
    /// Folds every line ending to `\n`.
    pub fn of(content: &'a str) -> Self {
        Self::new(content, false)
    }

    /// Also folds typographic quotes, dashes and spaces to their ASCII forms.
    pub fn with_look_alikes(content: &'a str) -> Self {
        Self::new(content, true)
    }

    fn new(content: &'a str, look_alikes: bool) -> Self {
        let folded = String::with_capacity(content.len());
        let mut view = Self { content, folded, shifts: vec![(0, 0)], look_alikes };
        let lone_returns_end_lines = ending_of(content) == "\r";
        let mut chars = content.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let before_newline = c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some();
            let width = c.len_utf8() + usize::from(before_newline);
            let to = match c {
                '\r' if before_newline || lone_returns_end_lines => '\n',
                _ if look_alikes => ascii(c),
                _ => c,
            };
            view.folded.push(to);
            if to.len_utf8() != width {
                view.shifts.push((view.folded.len(), at + width));
            }
        }
        view
    }

    /// Folds a text to be found here; it holds no `\r\n`.
    pub fn fold(&self, text: &str) -> String {
        if self.look_alikes { fold(text) } else { text.into() }
    }

    /// Returns where a folded position stands in the original.
    pub fn original(&self, folded: usize) -> usize {
        let after = self.shifts.partition_point(|(at, _)| *at <= folded);
        let (at, original) = self.shifts[after - 1];
        original + (folded - at)
    }
}

/// Folds typographic quotes, dashes and spaces to ASCII, a character for a character.
pub(super) fn fold(text: &str) -> String {
    text.chars().map(ascii).collect()
}

fn ascii(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        _ => c,
    }
}
