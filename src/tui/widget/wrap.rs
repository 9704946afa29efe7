//! Plain text in columns: wrapped at words, cut with an ellipsis, tabs set to their stops.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const TAB: usize = 4;

/// Cuts a line to `width` columns; an ellipsis stands for what is left out.
pub fn clip(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |grapheme: &&str| match left.checked_sub(grapheme.width()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut clipped: String = text.graphemes(true).take_while(fits).collect();
    clipped.extend((width > 0).then_some('…'));
    clipped
}

/// Wraps text to lines of `width` columns, at spaces where there are some; nothing is left out but the
/// spaces at which a line was broken.
pub fn wrap(text: &str, width: u16) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        wrap_line(&set_tabs(line), usize::from(width.max(1)), &mut lines);
    }
    lines
}

fn wrap_line(line: &str, width: usize, lines: &mut Vec<String>) {
    let (mut start, mut used) = (0, 0);
    // The end of the last word that fits, and the begin of the one after it.
    let mut space: Option<(usize, usize)> = None;
    for (at, grapheme) in line.grapheme_indices(true) {
        let is_space = grapheme == " ";
        if used + grapheme.width() > width && !is_space {
            let (end, next) = space.take().unwrap_or((at, at));
            lines.push(line[start..end].to_owned());
            (start, used) = (next, line[next..at].width());
        }
        used += grapheme.width();
        if is_space {
            let end = space.filter(|&(_, next)| next == at).map_or(at, |(end, _)| end);
            space = (end > start).then_some((end, at + 1));
        }
    }
    let rest = &line[start..];
    lines.push(if rest.width() > width { rest.trim_end() } else { rest }.to_owned());
}

/// Replaces tabs by spaces up to the next stop.
fn set_tabs(line: &str) -> String {
    let mut set = String::with_capacity(line.len());
    for (index, piece) in line.split('\t').enumerate() {
        if index > 0 {
            let to_stop = TAB - set.width() % TAB;
            set.extend(std::iter::repeat_n(' ', to_stop));
        }
        set.push_str(piece);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_with_an_ellipsis() {
        for (text, width, clipped) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("你好吗", 5, "你好…"),
            ("你好", 3, "你…"),
            ("ab", 0, ""),
        ] {
            assert_eq!(clip(text, width), clipped, "{text} {width}");
        }
    }

    #[test]
    fn words_stay_whole_where_they_fit_and_nothing_is_lost() {
        for (text, width, lines) in [
            ("", 5, vec![""]),
            ("one two three", 7, vec!["one two", "three"]),
            ("one  two", 4, vec!["one", "two"]),
            ("abcdefgh", 3, vec!["abc", "def", "gh"]),
            ("a bcdefgh", 3, vec!["a", "bcd", "efg", "h"]),
            ("  in dent", 6, vec!["  in", "dent"]),
            ("     abc", 3, vec![" ", "abc"]),
            ("你好世界", 5, vec!["你好", "世界"]),
            ("a\tb\n\tc", 9, vec!["a   b", "    c"]),
        ] {
            assert_eq!(wrap(text, width), lines, "{text:?} {width}");
        }
    }
}
