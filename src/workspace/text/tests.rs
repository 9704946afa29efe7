use proptest::prelude::*;

use super::*;

fn text(content: &str, encoding: Encoding) -> Text {
    Text { content: content.into(), encoding }
}

#[test]
fn bytes_are_read_in_the_encoding_they_are_in() {
    use Encoding::*;
    let cases: &[(&[u8], Text)] = &[
        (b"", text("", Utf8)),
        (b"caf\xc3\xa9", text("café", Utf8)),
        (b"\xef\xbb\xbfa", text("a", Utf8Bom)),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", text("\u{feff}a", Utf8Bom)),
        (b"\xff\xfe", text("", Utf16Le)),
        (b"\xff\xfea\0\n\0\x3d\xd8\x00\xde", text("a\n\u{1f600}", Utf16Le)),
        (b"\xfe\xff\0a\xd8\x3d\xde\x00", text("a\u{1f600}", Utf16Be)),
        (b"caf\xe9 \x80 \x93", text("café € “", Windows1252)),
        (b"caf\xe9 \x80 \x81", text("café \u{80} \u{81}", Latin1)),
        (b"\xef\xbb\xbfcaf\xe9", text("ï»¿café", Windows1252)),
    ];
    for (bytes, expected) in cases {
        let decoded = Text::decode(bytes).unwrap();
        assert_eq!(decoded, *expected);
        assert_eq!(decoded.encode(&decoded.content).unwrap(), *bytes, "{expected:?}");
    }
}

#[test]
fn what_is_no_text_is_refused_with_the_place() {
    let cases: &[(&[u8], TextError)] = &[
        (b"a\0b", TextError::Binary),
        (b"caf\xe9\0", TextError::Binary),
        (b"\xff\xfe\0\0a\0\0\0", TextError::Binary),
        (b"\xff\xfea\0b", TextError::HalfUnit { offset: 4 }),
        (b"\xff\xfea\0\x3d\xd8b\0", TextError::HalfPair { offset: 4 }),
        (b"\xff\xfea\0\x00\xde", TextError::HalfPair { offset: 4 }),
        (b"\xfe\xff\xd8\x3d", TextError::HalfPair { offset: 2 }),
    ];
    for (bytes, expected) in cases {
        assert_eq!(Text::decode(bytes).as_ref(), Err(expected), "{bytes:?}");
    }
}

#[test]
fn what_an_encoding_cannot_hold_is_refused_with_character_line_and_name() {
    use Encoding::*;
    let cases = [
        (Windows1252, "a\n“ok” → x", Some(('→', 2))),
        (Windows1252, "a\n\u{81}→", Some(('\u{81}', 2))),
        (Windows1252, "→\u{81}", Some(('→', 1))),
        (Windows1252, "é€Ž“”…ÿ", None),
        (Latin1, "é\u{81}ÿ", None),
        (Latin1, "a\rb\r€", Some(('€', 3))),
        (Utf8, "a\r\n\0", Some(('\0', 2))),
        (Utf16Le, "\u{1f600}→\0", Some(('\0', 1))),
        (Utf16Be, "\u{1f600}→", None),
    ];
    for (encoding, content, expected) in cases {
        let refused = text("", encoding).encode(content).err();
        let expected = expected.map(|(character, line)| Unencodable { character, line, encoding });
        assert_eq!(refused, expected, "{content:?}");
    }
    let refused = text("", Windows1252).encode("→").unwrap_err().to_string();
    assert!(
        refused.starts_with("line 1 has '→' (U+2192), which Windows-1252 cannot hold."),
        "{refused}"
    );
}

#[test]
fn only_newlines_and_returns_before_them_end_lines() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("a\nb\r\nc\r\n", &["a\n", "b\r\n", "c\r\n"], "\r\n"),
        ("a\rb\nc", &["a\rb\n", "c"], "\n"),
        ("a\rb\r", &["a\r", "b\r"], "\r"),
        ("a\u{2028}b\u{b}c\u{c}d\u{85}e\n", &["a\u{2028}b\u{b}c\u{c}d\u{85}e\n"], "\n"),
        ("a\r\n\r\n", &["a\r\n", "\r\n"], "\r\n"),
        ("a\r\r\n", &["a\r\r\n"], "\r\n"),
        ("", &[], "\n"),
    ];
    for (content, expected, ending) in cases {
        assert_eq!(lines(content).collect::<Vec<_>>(), *expected, "{content:?}");
        assert_eq!(ending_of(content), *ending, "{content:?}");
    }
    assert_eq!(line_at("a\rb\rc", 4), 3);
    assert_eq!(line_at("a\rb\nc", 4), 2);
}

#[test]
fn a_new_line_takes_the_ending_at_its_place() {
    let content = "a\r\nb\r\ntwo\nc\r\nlast";
    for (place, ending) in
        [(0..1, "\r\n"), (6..9, "\n"), (0..10, "\r\n"), (6..10, "\n"), (13..17, "\r\n")]
    {
        assert_eq!(ending_at(content, place.clone()), ending, "{place:?}");
    }
    assert_eq!(ending_at("a\rb\r", 0..1), "\r");
}

proptest! {
    #[test]
    fn every_text_comes_back_byte_for_byte(
        mark in prop_oneof![
            Just(&b""[..]), Just(&b"\xef\xbb\xbf"[..]), Just(&b"\xff\xfe"[..]), Just(&b"\xfe\xff"[..])
        ],
        bytes in prop_oneof![
            proptest::collection::vec(1u8..=255, 0..80),
            "\\PC{0,30}".prop_map(String::into_bytes),
            "[a\u{e9}\r\n\t\u{201c}\u{1f600}]{0,20}"
                .prop_map(|text| Encoding::Utf16Le.encode(&text)),
        ],
    ) {
        let bytes = [mark, &bytes].concat();
        match Text::decode(&bytes) {
            Ok(text) => prop_assert_eq!(text.encode(&text.content).unwrap(), bytes),
            Err(error) => prop_assert!(
                mark.len() == 2 || bytes.contains(&0) || bytes[0] >= 0xfe, "{}", error
            ),
        }
    }
}
