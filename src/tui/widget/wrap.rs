//! Breaking text at the width it has on the screen: graphemes, wide characters, tabs.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns between tab stops.
const TAB: usize = 4;

/// Returns the columns that a text takes; tabs are expanded from its beginning.
pub fn width(text: &str) -> usize {
    graphemes(text, 0).map(|(_, width)| width).sum()
}

/// Cuts a text to a width, with `…` where something was cut.
pub fn clip(text: &str, columns: u16) -> String {
    let columns = usize::from(columns);
    if width(text) <= columns {
        return expanded(text);
    }
    let mut shown = String::new();
    let mut taken = 0;
    for (grapheme, width) in graphemes(text, 0) {
        if taken + width + 1 > columns {
            break;
        }
        push(&mut shown, grapheme, width);
        taken += width;
    }
    if columns > 0 {
        shown.push('…');
    }
    shown
}

/// Breaks a text into lines of at most `columns`, between words where it can.
pub fn wrap(text: &str, columns: u16) -> Vec<String> {
    let plain = |line: Line<'static>| line.spans.into_iter().map(|span| span.content).collect();
    text.split('\n')
        .flat_map(|line| wrapped(vec![Span::raw(line.to_owned())], columns, &[], &[]))
        .map(plain)
        .collect()
}

/// Breaks styled text between words; the first line begins with `first`, the others with `next`.
pub fn wrapped(
    spans: Vec<Span<'static>>,
    columns: u16,
    first: &[Span<'static>],
    next: &[Span<'static>],
) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, first, next);
    let mut word = Word::default();
    for span in &spans {
        for (grapheme, columns) in graphemes(&span.content, sheet.column) {
            let is_space = grapheme == " " || grapheme == "\t";
            if is_space || columns > 1 {
                sheet.place(std::mem::take(&mut word));
            }
            if is_space {
                sheet.space(grapheme, columns, span.style);
            } else {
                word.push(grapheme, columns, span.style);
            }
            if columns > 1 && !is_space {
                sheet.place(std::mem::take(&mut word));
            }
        }
    }
    sheet.place(word);
    sheet.finish()
}

/// Breaks styled text wherever the width ends, keeping every space: for code.
pub fn hard_wrapped(
    spans: Vec<Span<'static>>,
    columns: u16,
    first: &[Span<'static>],
    next: &[Span<'static>],
) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, first, next);
    for span in &spans {
        for (grapheme, columns) in graphemes(&span.content, sheet.column) {
            sheet.make_room(columns);
            sheet.push(grapheme, columns, span.style);
        }
    }
    sheet.finish()
}

/// Returns the columns from `offset` on, at most `columns` of them, and whether more would follow.
pub fn window(spans: &[Span<'static>], offset: usize, columns: u16) -> (Vec<Span<'static>>, bool) {
    let end = offset + usize::from(columns);
    let mut shown: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for span in spans {
        let mut text = String::new();
        for (grapheme, columns) in graphemes(&span.content, at) {
            if at + columns > end {
                shown.push(Span::styled(text, span.style));
                return (shown, true);
            }
            if at >= offset {
                push(&mut text, grapheme, columns);
            } else if at + columns > offset {
                // What the edge cuts in half leaves blank columns.
                text.extend(std::iter::repeat_n(' ', at + columns - offset));
            }
            at += columns;
        }
        if !text.is_empty() {
            shown.push(Span::styled(text, span.style));
        }
    }
    (shown, false)
}

/// Graphemes that stay together.
#[derive(Default)]
struct Word {
    graphemes: Vec<(String, usize, Style)>,
    columns: usize,
}

impl Word {
    fn push(&mut self, grapheme: &str, columns: usize, style: Style) {
        self.graphemes.push((grapheme.to_owned(), columns, style));
        self.columns += columns;
    }
}

/// The lines as they come to be.
struct Sheet<'a> {
    columns: usize,
    next: &'a [Span<'static>],
    lines: Vec<Line<'static>>,
    line: Vec<Span<'static>>,
    /// Columns taken in the open line behind its prefix.
    column: usize,
    room: usize,
    next_room: usize,
    /// A space that is only written if a word follows on the same line.
    pending: Option<(String, usize, Style)>,
}

impl<'a> Sheet<'a> {
    fn new(columns: u16, first: &[Span<'static>], next: &'a [Span<'static>]) -> Self {
        let columns = usize::from(columns.max(1));
        let room = |prefix: &[Span<'static>]| {
            columns.saturating_sub(prefix.iter().map(Span::width).sum()).max(1)
        };
        Self {
            columns,
            next,
            lines: Vec::new(),
            line: first.to_vec(),
            column: 0,
            room: room(first),
            next_room: room(next),
            pending: None,
        }
    }

    fn place(&mut self, word: Word) {
        if word.graphemes.is_empty() {
            return;
        }
        let space = self.pending.as_ref().map_or(0, |(_, columns, _)| *columns);
        if self.column + space + word.columns > self.room && self.column > 0 {
            self.pending = None;
            self.break_line();
        }
        if let Some((text, columns, style)) = self.pending.take() {
            self.make_room(columns);
            self.push(&text, columns, style);
        }
        for (grapheme, columns, style) in word.graphemes {
            self.make_room(columns);
            self.push(&grapheme, columns, style);
        }
    }

    fn space(&mut self, grapheme: &str, columns: usize, style: Style) {
        match &mut self.pending {
            Some((text, taken, _)) => {
                push(text, grapheme, columns);
                *taken += columns;
            }
            None => {
                let mut text = String::new();
                push(&mut text, grapheme, columns);
                self.pending = Some((text, columns, style));
            }
        }
    }

    /// Begins a new line if so many columns do not fit into this one.
    fn make_room(&mut self, columns: usize) {
        if self.column + columns > self.room && self.column > 0 {
            self.break_line();
        }
    }

    fn push(&mut self, grapheme: &str, columns: usize, style: Style) {
        self.column += columns;
        // A wide character does not fit into a column that is one wide.
        if columns > self.columns {
            return;
        }
        match self.line.last_mut() {
            Some(span) if span.style == style && self.column > columns => {
                push(span.content.to_mut(), grapheme, columns);
            }
            _ => {
                let mut text = String::new();
                push(&mut text, grapheme, columns);
                self.line.push(Span::styled(text, style));
            }
        }
    }

    fn break_line(&mut self) {
        self.lines.push(Line::from(std::mem::replace(&mut self.line, self.next.to_vec())));
        self.column = 0;
        self.room = self.next_room;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.lines.push(Line::from(self.line));
        self.lines
    }
}

/// Returns each grapheme with its columns; a tab reaches to the next stop, counted from `column`.
fn graphemes(text: &str, column: usize) -> impl Iterator<Item = (&str, usize)> {
    let mut column = column;
    text.graphemes(true).map(move |grapheme| {
        let columns = if grapheme == "\t" { TAB - column % TAB } else { grapheme.width() };
        column += columns;
        (grapheme, columns)
    })
}

fn push(text: &mut String, grapheme: &str, columns: usize) {
    if grapheme == "\t" {
        text.extend(std::iter::repeat_n(' ', columns));
    } else {
        text.push_str(grapheme);
    }
}

fn expanded(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (grapheme, columns) in graphemes(text, 0) {
        push(&mut shown, grapheme, columns);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_wide_ones_are_broken() {
        for (text, columns, lines) in [
            ("one two three", 7, vec!["one two", "three"]),
            ("one two three", 8, vec!["one two", "three"]),
            ("abcdefgh", 3, vec!["abc", "def", "gh"]),
            ("a  b", 10, vec!["a  b"]),
            ("  indented", 20, vec!["  indented"]),
            ("你好，世界", 4, vec!["你好", "，世", "界"]),
            ("a\tb", 10, vec!["a   b"]),
            ("", 5, vec![""]),
            ("a\nb", 5, vec!["a", "b"]),
            ("👨‍👩‍👧‍👦é", 2, vec!["👨‍👩‍👧‍👦", "é"]),
            ("ab", 1, vec!["a", "b"]),
            ("ab", 0, vec!["a", "b"]),
        ] {
            assert_eq!(wrap(text, columns), lines, "{text:?} at {columns}");
        }
    }

    #[test]
    fn a_cut_is_marked_and_fits() {
        for (text, columns, cut) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("你好吗", 4, "你…"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
        ] {
            assert_eq!(clip(text, columns), cut);
        }
    }

    #[test]
    fn code_keeps_its_spaces() {
        let lines = hard_wrapped(vec![Span::raw("  if  x:\ty")], 6, &[], &[Span::raw("↪")]);
        let plain: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(plain, ["  if  ", "↪x:", "↪    y"]);
    }

    #[test]
    fn a_window_shows_its_columns_and_says_whether_more_follow() {
        let spans = [Span::raw("ab你"), Span::raw("\tcd")];
        let shown = |offset, columns| {
            let (spans, more) = window(&spans, offset, columns);
            (spans.iter().map(|span| span.content.as_ref()).collect::<String>(), more)
        };
        assert_eq!(shown(0, 20), ("ab你    cd".to_owned(), false));
        assert_eq!(shown(0, 3), ("ab".to_owned(), true));
        assert_eq!(shown(3, 4), (" ".to_owned(), true));
        assert_eq!(shown(8, 4), ("cd".to_owned(), false));
        assert_eq!(shown(30, 4), (String::new(), false));
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_wider_than_asked(text in "[a-z你😀 \\t]{0,60}", columns in 2u16..40) {
            for line in wrap(&text, columns) {
                proptest::prop_assert!(width(&line) <= usize::from(columns), "{line:?}");
            }
        }

        #[test]
        fn no_word_is_lost(text in "[a-z ]{0,80}", columns in 1u16..30) {
            let joined: String = wrap(&text, columns).concat();
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            proptest::prop_assert_eq!(letters(&joined), letters(&text));
        }
    }
}
