use proptest::prelude::*;

use super::*;

fn edit(content: &str, old: &str, new: &str) -> Result<(String, Tolerance), EditError> {
    replace(content, old, new, false).map(|edited| (edited.content, edited.tolerance))
}

#[test]
fn old_text_is_found_and_only_it_is_replaced() {
    use Tolerance::*;
    let cases: &[(&str, &str, &str, &str, Tolerance)] = &[
        ("a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nB2\n", "a\r\nB\r\nB2\r\nc\r\n", Nothing),
        (
            "one\r\ntwo\nprog 1%\rprog 2%\nfour\r\n",
            "two",
            "TWO",
            "one\r\nTWO\nprog 1%\rprog 2%\nfour\r\n",
            Nothing,
        ),
        ("a\nb\n", "a\r\nb", "a\r\nc", "a\nc\n", Nothing),
        ("x\r\nfoo\r\n", "\nfoo", "bar", "xbar\r\n", Nothing),
        (
            "A OLD B\n",
            "OLD",
            "$$ $& $` $' $1 \\1 ${x} \\0",
            "A $$ $& $` $' $1 \\1 ${x} \\0 B\n",
            Nothing,
        ),
        ("aa\nbb\ncc", "aa\nbb", "AA\nbb", "AA\nbb\ncc", Nothing),
        ("x = '%s'\n", "'%s'", "\u{2018}%s\u{2019}", "x = \u{2018}%s\u{2019}\n", Nothing),
        ("\t\treturn 1\n", "\t\treturn 1", "\t\treturn 2", "\t\treturn 2\n", Nothing),
        (
            "f {\n\t\treturn 1\n}\n",
            "        return 1",
            "        return 2\n            x",
            "f {\n\t\treturn 2\n\t\t\tx\n}\n",
            Indentation,
        ),
        ("if a:\n    b\n    c\n", "b\nc", "b\nd", "if a:\n    b\n    d\n", Indentation),
        ("b\n  c\n", "    b\n      c\n", "    b\n      d\n", "b\n  d\n", Indentation),
        ("a  \nb\n", "a\nb", "a\nc", "a  \nc\n", TrailingSpace),
        ("a\nb", "a\nb\n", "a\nc\n", "a\nc", TrailingSpace),
        (
            "label = \"10\u{a0}km\"; other = \"5\u{a0}kg\"\n",
            "label = \"10 km\"",
            "label = \"7 km\"",
            "label = \"7\u{a0}km\"; other = \"5\u{a0}kg\"\n",
            LookAlikes,
        ),
        (
            "say \u{201c}hi\u{201d}\n",
            "say \"hi\"",
            "say \"ho\"",
            "say \u{201c}ho\u{201d}\n",
            LookAlikes,
        ),
        (
            "  a \u{2013} b\n  c\n",
            "a - b\nc",
            "a - b\nd",
            "  a \u{2013} b\n  d\n",
            LookAlikesAndSpace,
        ),
        ("", "", "new\n", "new\n", Nothing),
        ("a\rb\r", "a\nb", "a\nc", "a\rc\r", Nothing),
    ];
    for (content, old, new, expected, tolerance) in cases {
        assert_eq!(
            edit(content, old, new),
            Ok((expected.to_string(), *tolerance)),
            "{old:?} in {content:?}"
        );
    }
}

#[test]
fn a_similar_block_is_not_the_block() {
    let content =
        "if a:\n    x = 1\n    beta(2)\nend\n  if a:\n      x = 1\n      beta(3)\n  end\n";
    for old in ["if a:\nx = 1\nbeta(9)\nend", "if a:\nx = 1\nbeta(2)\nend"] {
        let Err(EditError::NotFound(near)) = edit(content, old, "gone") else { panic!("{old}") };
        assert!(near.contains("at line 1;"), "{near}");
    }
}

#[test]
fn several_places_are_all_named() {
    assert_eq!(edit("a\nb\na\n", "a", "c"), Err(EditError::Ambiguous("1, 3".into())));
    assert_eq!(edit("aaa", "aa", "b"), Err(EditError::Ambiguous("1, 1".into())));
    let tolerant = EditError::Vague { tolerance: "indentation", lines: "1, 4".into() };
    assert_eq!(edit(" x = 1\n y\n\n  x = 1\n  y\n", "x = 1\ny", "z"), Err(tolerant));
}

#[test]
fn replace_all_replaces_each_place_and_names_their_lines() {
    let edited = replace("a a\r\na\n", "a", "bb", true).unwrap();
    assert_eq!((edited.content.as_str(), edited.lines), ("bb bb\r\nbb\n", vec![1, 1, 2]));
}

#[test]
fn an_edit_that_says_nothing_new_is_refused() {
    assert_eq!(edit("a\r\n", "a\n", "a\n"), Err(EditError::Nothing));
    for all in [false, true] {
        assert_eq!(replace("abc", "", "X", all), Err(EditError::EmptyOld));
    }
}

#[test]
fn a_large_file_is_searched_at_every_tolerance() {
    let content = "let value = compute(some, arguments);\n".repeat(30_000);
    let error = edit(&content, "let value = compute(other)\nend", "x").unwrap_err();
    assert!(matches!(error, EditError::NotFound(_)));
}

proptest! {
    #[test]
    fn every_byte_outside_the_edit_is_identical(
        before in "[a-c \t\r\n\u{e9}\u{201c}]{0,60}",
        after in "[a-c \t\r\n\u{e9}\u{201c}]{0,60}",
        new in "[X-Z$\\\\ \n]{1,20}",
    ) {
        // A newline of the new text must not meet a lone return of the old one.
        let content = format!("{before}<OLD>{after}");
        let edited = replace(&content, "<OLD>", &new, false).unwrap().content;
        prop_assert!(edited.starts_with(&before));
        prop_assert!(edited.ends_with(&after));
        let middle = &edited[before.len()..edited.len() - after.len()];
        prop_assert_eq!(middle.replace("\r\n", "\n").replace('\r', "\n"), new);
    }

    #[test]
    fn tolerant_edits_touch_only_their_lines(
        before in "([a-c ]{0,8}\r?\n){0,6}",
        after in "(\r?\n[a-c ]{0,8}){0,6}",
        indent in "[ \t]{1,6}",
    ) {
        let content = format!("{before}{indent}OLD  {after}");
        let edited = replace(&content, "OLD\n", "NEW\n", false);
        let edited = match edited {
            Ok(edited) => edited.content,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert!(edited.starts_with(&format!("{before}{indent}NEW")), "{:?}", edited);
        prop_assert!(edited.ends_with(&after));
    }
}
