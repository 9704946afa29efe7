//! The workspace's `.env`: `NAME=value` lines, for keys and the model alone.

use std::path::Path;

use super::Environment;

/// Largest file that is read, in bytes.
const MOST: u64 = 64 * 1024;

/// Reads a `.env` file; one that is missing, no plain file or too large holds nothing.
pub fn read(path: &Path) -> Environment {
    let is_plain = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST);
    let text =
        if is_plain { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    text.lines().filter_map(variable).collect()
}

/// Reads `NAME=value`, with or without `export`, quotes, or a comment behind an unquoted value.
fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    if name.is_empty() || name.starts_with('#') {
        return None;
    }
    Some((name.to_owned(), unquoted(value.trim()).to_owned()))
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
        {
            return inner;
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_shells_write_them() {
        for (line, expected) in [
            ("A=1", Some(("A", "1"))),
            ("export A = 1", Some(("A", "1"))),
            ("A=\"1 # 2\" # three", Some(("A", "1 # 2"))),
            ("A='x'", Some(("A", "x"))),
            ("A=x # y", Some(("A", "x"))),
            ("A=x#y", Some(("A", "x#y"))),
            ("A=", Some(("A", ""))),
            ("# A=1", None),
            ("nothing", None),
            ("=1", None),
        ] {
            let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(variable(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_plain_file_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).iter().count(), 0);
        assert_eq!(read(&folder.path().join("missing")).iter().count(), 0);
    }
}
