//! `list_files`: what is in a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::DirEntry;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::{Context, Intent, Look, Outcome, Refusal, Tool, nearby};
use crate::session::Spec;
use crate::visible;
use crate::workspace::{Place, walk};

/// Ignored names told before the rest is only counted.
const MOST_IGNORED: usize = 10;

/// The tool `list_files`.
pub struct ListFiles;

/// A folder's listing while it grows.
#[derive(Default)]
struct Listing {
    lines: Vec<String>,
    folders: Vec<PathBuf>,
    shown: BTreeSet<PathBuf>,
    left_out: usize,
    unreadable: Vec<String>,
}

impl Tool for ListFiles {
    fn spec(&self) -> Spec {
        Spec {
            name: "list_files".into(),
            description: include_str!("../../assets/prompts/tools/list_files.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": { "path": { "type": "string" }, "depth": { "type": "integer" } },
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path", "depth"])?;
        let place = cx.root.resolve(args.optional_text("path")?.unwrap_or("."))?;
        let depth = args.optional_integer("depth")?.unwrap_or(1).max(1) as usize;
        let cx = cx.clone();
        Ok(Intent::Look(Look {
            subject: place.shown.clone(),
            look: Box::new(move |cancel| list(&place, depth, &cx, cancel)),
        }))
    }
}

fn list(place: &Place, depth: usize, cx: &Context, cancel: &CancellationToken) -> Outcome {
    if !place.absolute.exists() {
        return Outcome::told(false, nearby::missing(place, cx));
    }
    if !place.absolute.is_dir() {
        return Outcome::told(
            false,
            format!("'{}' is no folder; read_file reads it.", place.shown),
        );
    }
    let mut listing = Listing::default();
    let mut entries = walk::below(&cx.root, place, Some(depth));
    entries.sort_by_file_name(std::ffi::OsStr::cmp);
    for entry in entries.build() {
        if cancel.is_cancelled() {
            return Outcome::told(false, "The listing was interrupted.");
        }
        match entry {
            Ok(entry) => listing.add(&entry, &place.absolute, depth, cx.limits.list_entries),
            Err(error) => listing.unreadable.push(error.to_string()),
        }
    }
    Outcome::told(true, listing.tell(place))
}

impl Listing {
    fn add(&mut self, entry: &DirEntry, top: &Path, depth: usize, most: usize) {
        let Ok(inside) = entry.path().strip_prefix(top) else { return };
        let level = inside.components().count();
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder && level < depth && self.lines.len() < most {
            self.folders.push(entry.path().to_owned());
        }
        if level == 0 {
            return;
        }
        if self.lines.len() == most {
            self.left_out += 1;
            return;
        }
        self.shown.insert(entry.path().to_owned());
        self.lines.push(describe(entry, top));
    }

    fn tell(&self, place: &Place) -> String {
        let mut out = format!("{}:\n", visible::line(&place.shown));
        for line in &self.lines {
            out.push_str(&format!("  {line}\n"));
        }
        if self.lines.is_empty() {
            out.push_str("  (nothing)\n");
        }
        if self.left_out > 0 {
            out.push_str(&format!(
                "[{} more entries; list a folder of these, or use a smaller depth.]\n",
                self.left_out
            ));
        }
        out.push_str(&self.tell_ignored(&place.absolute));
        for error in self.unreadable.iter().take(MOST_IGNORED) {
            out.push_str(&format!("[Not readable: {error}]\n"));
        }
        out
    }

    /// Names what stands in the listed folders and was left out by ignore rules.
    fn tell_ignored(&self, top: &Path) -> String {
        if self.left_out > 0 {
            return String::new();
        }
        let ignored: BTreeSet<_> = self
            .folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flat_map(|entries| entries.filter_map(Result::ok))
            .filter(|entry| entry.file_name() != ".git" && !self.shown.contains(&entry.path()))
            .map(|entry| relative(&entry.path(), top))
            .collect();
        if ignored.is_empty() {
            return String::new();
        }
        let named: Vec<_> = ignored.iter().take(MOST_IGNORED).cloned().collect();
        let more = match ignored.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("[Ignored by .gitignore, name one to list it: {}{more}]\n", named.join(", "))
    }
}

fn describe(entry: &DirEntry, top: &Path) -> String {
    let name = relative(entry.path(), top);
    let Some(kind) = entry.file_type() else { return name };
    if kind.is_dir() {
        return format!("{name}/  folder");
    }
    if kind.is_symlink() {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        return format!("{name} -> {}  link", visible::line(&target.to_string_lossy()));
    }
    match entry.metadata() {
        Ok(facts) if kind.is_file() => format!("{name}  {} bytes", facts.len()),
        _ => format!("{name}  special"),
    }
}

fn relative(path: &Path, top: &Path) -> String {
    let path = path.strip_prefix(top).unwrap_or(path);
    visible::line(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::desk::Desk;
    use super::*;

    #[test]
    fn a_folder_is_listed_and_what_is_ignored_is_named() {
        let desk = Desk::with("main.py", b"12345");
        desk.write(".gitignore", b"node_modules/\n*.log\n");
        desk.write("node_modules/x/y.js", b"1");
        desk.write("a.log", b"");
        desk.write("pkg/deep/z", b"");
        std::os::unix::fs::symlink(".", desk.path().join("loop")).unwrap();
        let listed = ".:\n  .gitignore  20 bytes\n  loop -> .  link\n  main.py  5 bytes\n  pkg/  folder\n[Ignored by .gitignore, name one to list it: a.log, node_modules]\n";
        assert_eq!(desk.look(&ListFiles, json!({})).text, listed);
        let ignored = desk.look(&ListFiles, json!({ "path": "node_modules", "depth": 9 }));
        assert_eq!(ignored.text, "node_modules:\n  x/  folder\n  x/y.js  1 bytes\n");
        assert!(
            desk.look(&ListFiles, json!({ "depth": 3 })).text.contains("  pkg/deep/z  0 bytes\n")
        );
    }

    #[test]
    fn the_limit_is_told() {
        let mut desk = Desk::new();
        desk.context.limits.list_entries = 2;
        for name in ["a", "b", "c"] {
            desk.write(name, b"");
        }
        assert!(desk.look(&ListFiles, json!({})).text.ends_with(
            "b  0 bytes\n[1 more entries; list a folder of these, or use a smaller depth.]\n"
        ));
        assert!(!desk.look(&ListFiles, json!({ "path": "a" })).ok);
        assert!(desk.look(&ListFiles, json!({ "path": "none" })).text.contains("no 'none'"));
    }
}
