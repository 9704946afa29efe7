use super::*;
use crate::tui::theme::Depth;

const TEXT: &str = "# Title\n\nSome *words* and `code` that go on for a while,\nover lines.\n\n\
    - one\n- two\n  - deeper\n- three\n\n1. first\n2. second\n\n> a quote\n> of two lines\n\n\
    | a | b |\n|---|--:|\n| 1 | 22 |\n| x | y |\n\n```rust\nfn main() {\n    let x = 1;\n}\n```\n\n\
    Between.\n\n---\n\n- [ ] to do\n- [x] done\n\nSee [the page](https://example.org) and <b>html</b>.\n\n\
    ~~~\nplain\n~~~\nLast **word**";

fn theme() -> Theme {
    Theme::built_in("dark", Depth::True).unwrap()
}

fn whole(text: &str, columns: u16) -> Vec<Line<'static>> {
    let mut markdown = Markdown::default();
    markdown.push(text);
    markdown.lay_out(columns, &theme(), &mut Highlighter::default());
    markdown.lines().to_vec()
}

fn plain(lines: &[Line<'static>]) -> String {
    lines.iter().map(|line| line.to_string().trim_end().to_owned() + "\n").collect()
}

#[test]
fn every_block_is_shown() {
    let shown = plain(&whole(TEXT, 40));
    let expected = "Title\n\nSome words and code that go on for a\nwhile, over lines.\n\n\
        • one\n• two\n  • deeper\n• three\n\n1. first\n2. second\n\n▎ a quote of two lines\n\n\
        a │  b\n──┼───\n1 │ 22\nx │  y\n\n  rust\n  fn main() {\n      let x = 1;\n  }\n\n\
        Between.\n\n────────────────────────────────────────\n\n☐ to do\n☑ done\n\n\
        See the page (https://example.org) and\n<b>html</b>.\n\n  plain\n\nLast word\n";
    assert_eq!(shown, expected);
}

#[test]
fn streamed_by_the_character_it_ends_as_the_whole() {
    for columns in [12, 40, 100] {
        let mut streamed = Markdown::default();
        let (theme, mut code) = (theme(), Highlighter::default());
        for c in TEXT.chars() {
            streamed.push(c.encode_utf8(&mut [0; 4]));
            streamed.lay_out(columns, &theme, &mut code);
        }
        assert_eq!(plain(streamed.lines()), plain(&whole(TEXT, columns)), "at {columns}");
        assert_eq!(streamed.lines(), whole(TEXT, columns), "at {columns}");
    }
}

#[test]
fn a_list_that_streams_keeps_its_numbers() {
    let text = "1. a\n1. b\n1. c\n1. d\n";
    let mut streamed = Markdown::default();
    for line in text.split_inclusive('\n') {
        streamed.push(line);
        streamed.lay_out(20, &theme(), &mut Highlighter::default());
    }
    assert_eq!(plain(streamed.lines()), "1. a\n2. b\n3. c\n4. d\n");
}

#[test]
fn a_wide_table_wraps_its_cells() {
    let text = "| name | what it does |\n|---|---|\n| x | a long explanation of it |\n";
    let shown = plain(&whole(text, 24));
    assert!(shown.lines().all(|line| line.chars().count() <= 24), "{shown}");
    assert!(shown.contains("explanation"), "{shown}");
}

#[test]
fn an_open_fence_is_code_already() {
    assert_eq!(plain(&whole("```py\nx = 1\ny", 20)), "  py\n  x = 1\n  y\n");
    assert_eq!(plain(&whole("```py", 20)), "  py\n");
}

proptest::proptest! {
    #[test]
    fn no_text_panics_and_streaming_ends_as_the_whole(text in "[a-c#*`>|\\-1. \\n]{0,80}", columns in 1u16..30) {
        let mut streamed = Markdown::default();
        let (theme, mut code) = (theme(), Highlighter::default());
        for c in text.chars() {
            streamed.push(c.encode_utf8(&mut [0; 4]));
            streamed.lay_out(columns, &theme, &mut code);
        }
        proptest::prop_assert_eq!(plain(streamed.lines()), plain(&whole(&text, columns)));
    }
}
