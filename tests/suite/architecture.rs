//! The arrows of `lib.rs`: a module imports only what it may.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What anyone may import: foreign text made safe to show.
const OPEN: &str = "visible";

/// Who may import whom. Tests beside the code are held to the same arrows.
const ARROWS: &[(&str, &[&str])] = &[
    ("config", &[]),
    ("visible", &[]),
    ("trace", &["config"]),
    ("launcher", &[]),
    ("workspace", &["config", "launcher"]),
    ("session", &["workspace", "config"]),
    ("provider", &["session", "config"]),
    ("tool", &["workspace", "session", "config"]),
    ("agent", &["provider", "tool", "workspace", "session", "config"]),
    ("demo", &["provider", "config"]),
    ("cli", &["config"]),
    ("print", &["agent", "session", "workspace", "config", "cli"]),
    ("tui", &["agent", "session", "workspace", "config"]),
];

/// The arrows inside the screen.
const SCREEN: &[(&str, &[&str])] = &[
    ("theme", &[]),
    ("foreign", &[]),
    ("widget", &["theme"]),
    ("event", &[]),
    ("effect", &[]),
    ("command", &[]),
    ("keymap", &["command"]),
    ("layout", &[]),
    ("pane", &["widget", "theme", "command", "effect", "overlay", "keymap", "foreign"]),
    ("overlay", &["widget", "theme", "command", "effect", "keymap", "pane", "foreign"]),
];

#[test]
fn every_import_follows_an_arrow() {
    let wrong: Vec<String> = ARROWS
        .iter()
        .flat_map(|(room, allowed)| strays(&source(), "crate::", room, allowed))
        .collect();
    assert!(wrong.is_empty(), "imports against the arrows:\n{}", wrong.join("\n"));
}

#[test]
fn every_import_inside_the_screen_follows_an_arrow() {
    let wrong: Vec<String> = SCREEN
        .iter()
        .flat_map(|(room, allowed)| strays(&source().join("tui"), "crate::tui::", room, allowed))
        .collect();
    assert!(wrong.is_empty(), "imports against the arrows:\n{}", wrong.join("\n"));
}

#[test]
fn every_room_of_the_house_is_in_the_list() {
    let listed: BTreeSet<String> = ARROWS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(rooms(), listed);
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rooms() -> BTreeSet<String> {
    let name =
        |entry: std::fs::DirEntry| entry.path().file_stem().unwrap().to_string_lossy().into_owned();
    let doors = ["main", "opening", "lib"].map(str::to_owned);
    let entries = std::fs::read_dir(source()).unwrap();
    entries.map(|entry| name(entry.unwrap())).filter(|room| !doors.contains(room)).collect()
}

/// Returns the imports of a room that no arrow allows.
fn strays(folder: &Path, prefix: &str, room: &str, allowed: &[&str]) -> Vec<String> {
    let files = files_of(&folder.join(room)).into_iter().chain([folder.join(format!("{room}.rs"))]);
    let mut strays = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for target in targets(&text, prefix) {
            if target != room && target != OPEN && !allowed.contains(&target.as_str()) {
                strays.push(format!("{}: {prefix}{target}", file.display()));
            }
        }
    }
    strays
}

/// Returns the first path segment after every occurrence of `prefix` in code.
fn targets(text: &str, prefix: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.match_indices(prefix).map(|(at, _)| &line[at + prefix.len()..]))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .filter(|target: &String| target.starts_with(char::is_lowercase))
        .collect()
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files_of(&path),
            path => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
