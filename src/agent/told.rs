//! What the model is told of a change: what stands now, what the person declined, changed and said.

use crate::workspace::{
    FileDiff, FileKind, FileSelection, Hunk, HunkChoice, LineKind, Note, Selection,
};

/// Lines of an edited hunk that are told back.
const MOST_LINES: usize = 40;

/// Tells what was written.
pub fn written(files: &[FileDiff]) -> String {
    let lines: Vec<String> = files.iter().map(file).collect();
    format!("Written: {}.", lines.join(", "))
}

fn file(file: &FileDiff) -> String {
    let verb = match (file.kind, &file.from) {
        (FileKind::Replaced, None) => "replaced",
        (FileKind::Created, _) => "created",
        (FileKind::Deleted, _) => "deleted",
        (FileKind::Modified, None) => "changed",
        (FileKind::Replaced, Some(from)) => {
            return format!("moved {from} over {}, replaced{}", file.path, counts(file));
        }
        (FileKind::Modified, Some(from)) => {
            return format!("moved {from} to {}{}", file.path, counts(file));
        }
    };
    format!("{verb} {}{}", file.path, counts(file))
}

fn counts(file: &FileDiff) -> String {
    let mode = file.mode.map_or_else(String::new, |(_, new)| format!(", mode {new:03o}"));
    format!(" (+{} −{}{mode})", file.added, file.removed)
}

/// Tells what the person did not let stand as it was proposed, to follow another sentence; empty when that is nothing.
pub fn said(files: &[FileDiff], selection: &Selection) -> String {
    let told = files.iter().zip(&selection.files).flat_map(|(file, selected)| of(file, selected));
    told.map(|line| format!("\n- {line}")).collect()
}

fn of(file: &FileDiff, selected: &FileSelection) -> Vec<String> {
    let mut told = Vec::new();
    let count = file.hunks.len();
    if !selected.stands {
        told.push(format!(
            "{}: the person declined the whole change of this file{}",
            file.path,
            saying(selected, None)
        ));
    } else {
        for (at, (hunk, choice)) in file.hunks.iter().zip(&selected.hunks).enumerate() {
            let place = format!("{} hunk {} of {count} ({})", file.path, at + 1, lines_of(hunk));
            told.extend(choice_told(&place, hunk, choice, &saying(selected, Some(at))));
        }
    }
    let notes = selected.notes.iter().filter(|note| is_remark(selected, note));
    told.extend(notes.map(|note| remark(file, note)));
    told
}

fn choice_told(place: &str, hunk: &Hunk, choice: &HunkChoice, saying: &str) -> Option<String> {
    match choice {
        HunkChoice::Accept => None,
        HunkChoice::Reject => Some(format!("{place}: declined{saying}")),
        HunkChoice::Lines(stand) => {
            let lines = hunk.lines.iter().zip(stand);
            let declined =
                lines.filter(|(line, stands)| !*stands && line.kind != LineKind::Context);
            let listed: String = declined
                .map(|(line, _)| format!("\n    {}{}", sign(line.kind), line.text))
                .collect();
            Some(format!("{place}: these lines were declined, the others stand{saying}{listed}"))
        }
        HunkChoice::Text(text) => {
            let lines: Vec<_> = text.lines().collect();
            let shown: String =
                lines.iter().take(MOST_LINES).map(|line| format!("\n    {line}")).collect();
            let more = if lines.len() > MOST_LINES { "\n    …" } else { "" };
            Some(format!(
                "{place}: the person edited it{saying}; these lines now read:{shown}{more}"
            ))
        }
    }
}

/// What was said of a hunk as a whole; of a file as a whole without a hunk.
fn saying(selected: &FileSelection, hunk: Option<usize>) -> String {
    let mut said = selected.notes.iter().filter(|note| note.hunk == hunk && note.line.is_none());
    said.next().map_or_else(String::new, |note| format!("; the person says: {}", note.text))
}

/// Returns whether a note is not told beside its hunk already.
fn is_remark(selected: &FileSelection, note: &Note) -> bool {
    match note.hunk {
        None => selected.stands,
        Some(_) if !selected.stands || note.line.is_some() => true,
        Some(hunk) => selected.hunks.get(hunk) == Some(&HunkChoice::Accept),
    }
}

fn remark(file: &FileDiff, note: &Note) -> String {
    let hunk = note.hunk.and_then(|hunk| file.hunks.get(hunk));
    let line =
        hunk.zip(note.line).and_then(|(hunk, at)| Some((hunk.lines.get(at)?, number(hunk, at))));
    match (line, hunk) {
        (Some((line, number)), _) => format!(
            "{}:{number} \"{}{}\": the person says: {}",
            file.path,
            sign(line.kind),
            line.text.trim(),
            note.text
        ),
        (None, Some(hunk)) => {
            format!("{} ({}): the person says: {}", file.path, lines_of(hunk), note.text)
        }
        (None, None) => format!("{}: the person says: {}", file.path, note.text),
    }
}

/// Returns the number of a line of a hunk, on the side where it stands.
fn number(hunk: &Hunk, at: usize) -> usize {
    let is_removed = hunk.lines[at].kind == LineKind::Removed;
    let (start, other) = match is_removed {
        true => (hunk.old_start, LineKind::Added),
        false => (hunk.new_start, LineKind::Removed),
    };
    start + hunk.lines[..at].iter().filter(|line| line.kind != other).count()
}

fn lines_of(hunk: &Hunk) -> String {
    let range = hunk.old_range();
    match range.len() {
        0 => format!("after line {}", range.start),
        1 => format!("line {}", range.start + 1),
        _ => format!("lines {} to {}", range.start + 1, range.end),
    }
}

fn sign(kind: LineKind) -> char {
    match kind {
        LineKind::Context => ' ',
        LineKind::Removed => '-',
        LineKind::Added => '+',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff() -> FileDiff {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old
            .replace("\n3\n", "\nthree\n")
            .replace("\n15\n", "\n")
            .replace("\n28\n", "\n28\n28b\n");
        FileDiff::between("f.py", Some(old.as_bytes()), Some(new.as_bytes()))
    }

    fn told(hunks: Vec<HunkChoice>, notes: Vec<Note>) -> String {
        said(&[diff()], &Selection { files: vec![FileSelection { stands: true, hunks, notes }] })
    }

    fn note(hunk: usize, line: Option<usize>, text: &str) -> Note {
        Note { hunk: Some(hunk), line, text: text.into() }
    }

    #[test]
    fn every_word_of_the_person_reaches_the_model_with_its_place() {
        use HunkChoice::{Accept, Reject, Text};
        let notes = vec![note(0, Some(3), "why a word?"), note(1, None, "keep it")];
        let expected = "\n- f.py hunk 2 of 3 (lines 12 to 18): declined; the person says: keep it\
            \n- f.py hunk 3 of 3 (lines 26 to 30): the person edited it; these lines now read:\n    28\n    x\
            \n- f.py:3 \"+three\": the person says: why a word?";
        assert_eq!(told(vec![Accept, Reject, Text("28\nx".into())], notes), expected);
        assert_eq!(told(vec![Accept, Accept, Accept], vec![]), "");
        let notes = vec![note(2, None, "nice")];
        let expected = "\n- f.py (lines 26 to 30): the person says: nice";
        assert_eq!(told(vec![Accept, Accept, Accept], notes), expected);
    }

    #[test]
    fn declined_lines_and_files_are_named() {
        let lines = HunkChoice::Lines(vec![true, true, false, true, true, true, true]);
        let expected = "\n- f.py hunk 1 of 3 (lines 1 to 6): these lines were declined, the others stand\n    -3";
        assert_eq!(told(vec![lines, HunkChoice::Accept, HunkChoice::Accept], vec![]), expected);
        let whole = FileSelection {
            stands: false,
            hunks: vec![],
            notes: vec![Note { hunk: None, line: None, text: "no".into() }],
        };
        let expected =
            "\n- f.py: the person declined the whole change of this file; the person says: no";
        assert_eq!(said(&[diff()], &Selection { files: vec![whole] }), expected);
    }

    #[test]
    fn what_is_written_is_told_with_what_happened_to_the_file_itself() {
        let moved = FileDiff {
            from: Some("a".into()),
            kind: FileKind::Replaced,
            mode: Some((0o644, 0o755)),
            ..diff()
        };
        let text = written(&[diff(), moved]);
        let expected =
            "Written: changed f.py (+2 −2), moved a over f.py, replaced (+2 −2, mode 755).";
        assert_eq!(text, expected);
    }
}
