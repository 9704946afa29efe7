//! `read_file`: numbered lines of a text file.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Look, Outcome, Refusal, Tool, nearby};
use crate::session::Spec;
use crate::workspace::{Encoding, Found, Place, Text, TextError, Version, text};

/// The tool `read_file`.
pub struct ReadFile;

/// The lines asked for, from 1; without an end, as many as come at once.
#[derive(Clone, Copy)]
struct Wanted {
    start: usize,
    end: Option<usize>,
}

impl Tool for ReadFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "read_file".into(),
            description: include_str!("../../assets/prompts/tools/read_file.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "start_line": { "type": "integer" },
                    "end_line": { "type": "integer" },
                },
                "required": ["path"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path", "start_line", "end_line"])?;
        let place = cx.root.resolve(args.text("path")?)?;
        let line = |name| args.optional_integer(name).map(|line| line.map(|line| line as usize));
        let wanted = Wanted { start: line("start_line")?.unwrap_or(1), end: line("end_line")? };
        let cx = cx.clone();
        Ok(Intent::Look(Look {
            subject: place.shown.clone(),
            look: Box::new(move |_| match read(&place, wanted, &cx) {
                Ok(text) => Outcome::told(true, text),
                Err(reason) => Outcome::told(false, reason),
            }),
        }))
    }
}

fn read(place: &Place, wanted: Wanted, cx: &Context) -> Result<String, String> {
    let (path, limit) = (&place.shown, cx.limits.file_bytes);
    match place.read(limit) {
        Ok(Found::File(version)) => {
            cx.seen.note(path, version.hash);
            read_version(path, &version, wanted, cx)
        }
        Ok(Found::Missing) => Err(nearby::missing(place, cx)),
        Ok(Found::Folder) => Err(format!("'{path}' is a folder; list_files shows what is in it.")),
        Ok(Found::Special(kind)) => Err(format!("'{path}' is {kind}; only files can be read.")),
        Ok(Found::TooLarge { bytes }) => Err(format!(
            "'{path}' has {bytes} bytes; files of more than {limit} bytes are not read. Search it with grep_search, or cut a piece out with run_command."
        )),
        Err(error) => Err(format!("'{path}' cannot be read: {error}.")),
    }
}

fn read_version(
    path: &str,
    version: &Version,
    wanted: Wanted,
    cx: &Context,
) -> Result<String, String> {
    match Text::decode(&version.bytes) {
        Ok(text) => Ok(number(path, &text.content, wanted, cx)? + &encoding_note(text.encoding)),
        Err(TextError::Binary) => Ok(format!(
            "'{path}' is a binary file ({}) of {} bytes.",
            kind(&version.bytes),
            version.bytes.len()
        )),
        Err(error) => Err(format!("'{path}' ({} bytes) is {error}.", version.bytes.len())),
    }
}

/// Says what the encoding is where it matters for what is written.
fn encoding_note(encoding: Encoding) -> String {
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => String::new(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            format!("[Encoding: {}; edits keep it.]\n", encoding.name())
        }
        Encoding::Windows1252 | Encoding::Latin1 => format!(
            "[Encoding: {}; edits keep it, and refuse characters that it does not have.]\n",
            encoding.name()
        ),
    }
}

fn number(path: &str, content: &str, wanted: Wanted, cx: &Context) -> Result<String, String> {
    let lines: Vec<_> = text::lines(content).collect();
    let (count, start) = (lines.len(), wanted.start);
    if count == 0 {
        return Ok(format!("'{path}' is empty.\n"));
    }
    if start == 0 || start > count || wanted.end.is_some_and(|end| end < start) {
        let end = wanted.end.map_or("the end".into(), |end| end.to_string());
        return Err(format!("'{path}' has {count} lines; there are no lines {start} to {end}."));
    }
    let end = wanted.end.unwrap_or(count).min(count).min(start - 1 + cx.limits.read_lines);
    let (mut out, mut chars, mut at) = (String::new(), 0, start);
    while at <= end {
        let (line, _) = text::split_ending(lines[at - 1]);
        chars += line.chars().count();
        if chars > cx.limits.read_chars {
            break;
        }
        out.push_str(&format!("{at:>5}│{line}\n"));
        at += 1;
    }
    if at == start {
        let cut: String = lines[at - 1].chars().take(cx.limits.read_chars).collect();
        out.push_str(&format!(
            "{at:>5}│{cut}\n[Line {at} is cut after {} characters; search it with grep_search.]\n",
            cx.limits.read_chars
        ));
        at += 1;
    }
    if at <= wanted.end.unwrap_or(count).min(count) {
        out.push_str(&format!(
            "[Lines {start} to {} of {count}; go on with start_line {at}.]\n",
            at - 1
        ));
    }
    Ok(out)
}

/// Names a binary format by its first bytes.
fn kind(bytes: &[u8]) -> &'static str {
    let kinds: [(&[u8], &str); 8] = [
        (b"\x89PNG", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"%PDF", "PDF"),
        (b"PK\x03\x04", "ZIP archive"),
        (b"\x1f\x8b", "gzip archive"),
        (b"\x7fELF", "ELF program"),
        (b"SQLite format 3", "SQLite database"),
    ];
    kinds
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic))
        .map_or("unknown type", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;

    fn read(desk: &Desk, args: Value) -> (bool, String) {
        let outcome = desk.look(&ReadFile, args);
        (outcome.ok, outcome.text)
    }

    #[test]
    fn lines_are_numbered_and_kept_as_they_are() {
        let desk = Desk::with("f", b"\xef\xbb\xbffunc f() {\r\n\t\treturn\t1\r\n}");
        let expected = "    1│func f() {\n    2│\t\treturn\t1\n    3│}\n";
        assert_eq!(read(&desk, json!({ "path": "f" })), (true, expected.into()));
        let range = json!({ "path": "./f", "start_line": 2, "end_line": "2" });
        assert_eq!(
            read(&desk, range).1,
            "    2│\t\treturn\t1\n",
            "what was asked for is whole, so nothing is said of the rest"
        );
        assert!(!desk.context.seen.has_changed("f", blake3::hash(&desk.read("f"))));
        assert!(desk.context.seen.has_changed("f", blake3::hash(b"other")));
    }

    #[test]
    fn a_last_line_names_an_encoding_that_is_not_utf_8() {
        let cases: &[(&[u8], &str)] = &[
            (b"caf\xc3\xa9\n", "    1│café\n"),
            (
                b"caf\xe9 \x80\n",
                "    1│café €\n[Encoding: Windows-1252; edits keep it, and refuse characters that it does not have.]\n",
            ),
            (
                b"caf\xe9\x81",
                "    1│café\u{81}\n[Encoding: Latin-1; edits keep it, and refuse characters that it does not have.]\n",
            ),
            (b"\xff\xfea\0\n\0", "    1│a\n[Encoding: UTF-16 (little-endian); edits keep it.]\n"),
            (b"\xfe\xff\0a", "    1│a\n[Encoding: UTF-16 (big-endian); edits keep it.]\n"),
        ];
        for (bytes, expected) in cases {
            let desk = Desk::with("f", bytes);
            assert_eq!(read(&desk, json!({ "path": "f" })), (true, (*expected).into()));
        }
    }

    #[test]
    fn every_limit_says_how_to_get_the_rest() {
        let mut desk = Desk::with("f", "abc\n".repeat(10).as_bytes());
        desk.context.limits.read_lines = 4;
        assert!(
            read(&desk, json!({ "path": "f" }))
                .1
                .ends_with("[Lines 1 to 4 of 10; go on with start_line 5.]\n")
        );
        desk.context.limits.read_chars = 7;
        assert!(
            read(&desk, json!({ "path": "f" }))
                .1
                .ends_with("[Lines 1 to 2 of 10; go on with start_line 3.]\n")
        );
        desk.context.limits.read_chars = 2;
        assert!(read(&desk, json!({ "path": "f" })).1.contains("    1│ab\n[Line 1 is cut after 2"));
        desk.context.limits.file_bytes = 20;
        let (ok, text) = read(&desk, json!({ "path": "f" }));
        assert!(!ok && text.contains("40 bytes"), "{text}");
    }

    #[test]
    fn what_cannot_be_read_says_what_it_is() {
        let desk = Desk::with("pkg/calculator.py", b"x\ny\n");
        desk.write("pic", b"\x89PNG\0\0");
        desk.write("wide", b"\xff\xfea\0b");
        desk.write("empty", b"");
        for (path, ok, reason) in [
            ("pic", true, "binary file (PNG image) of 6 bytes"),
            ("wide", false, "broken UTF-16 (the byte at 4"),
            ("empty", true, "is empty"),
            ("pkg", false, "is a folder"),
            ("calculator.py", false, "Did you mean 'pkg/calculator.py'?"),
            ("pkg/calculater.py", false, "Did you mean 'pkg/calculator.py'?"),
            ("../x", false, "outside the workspace"),
        ] {
            let (was_ok, text) = read(&desk, json!({ "path": path }));
            assert!(was_ok == ok && text.contains(reason), "{path}: {text}");
        }
        let args = json!({ "path": "pkg/calculator.py", "start_line": 3 });
        assert!(read(&desk, args).1.contains("has 2 lines"));
    }
}
