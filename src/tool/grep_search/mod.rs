//! `grep_search`: lines that match a regular expression, through ripgrep's own libraries.

mod found;
mod lines;

use std::path::Path;
use std::sync::Mutex;

use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::{DirEntry, WalkState};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::{Context, Intent, Look, Outcome, Refusal, Tool, nearby};
use crate::session::Spec;
use crate::workspace::{Place, walk};
use found::Found;
use lines::Lines;

/// Lines of context that one search may ask for.
const MOST_CONTEXT: u64 = 20;

/// Bytes that a compiled pattern may take: enough for any pattern that a person would write.
const PROGRAM: usize = 2 << 20;
/// Bytes of one file that may be held at once; a longer line is told as an error.
const HEAP: usize = 64 << 20;

/// The tool `grep_search`.
pub struct GrepSearch;

/// What is looked for, and where.
struct Search {
    matcher: RegexMatcher,
    pattern: String,
    files: Option<GlobMatcher>,
    place: Place,
    context: usize,
    cx: Context,
}

impl Tool for GrepSearch {
    fn spec(&self) -> Spec {
        Spec {
            name: "grep_search".into(),
            description: include_str!("../../../assets/prompts/tools/grep_search.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string" },
                    "file_pattern": { "type": "string" },
                    "path": { "type": "string" },
                    "case_sensitive": { "type": "boolean" },
                    "context": { "type": "integer" },
                },
                "required": ["pattern"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let known = ["pattern", "file_pattern", "path", "case_sensitive", "context"];
        let args = Arguments::of(args, &known)?;
        let pattern = args.text("pattern")?;
        let search = Search {
            matcher: matcher(pattern, args.optional_bool("case_sensitive")?.unwrap_or(false))?,
            pattern: pattern.into(),
            files: args.optional_text("file_pattern")?.map(glob).transpose()?,
            place: cx.root.resolve(args.optional_text("path")?.unwrap_or("."))?,
            context: args.optional_integer("context")?.unwrap_or(0).min(MOST_CONTEXT) as usize,
            cx: cx.clone(),
        };
        let subject = format!("{pattern} in {}", search.place.shown);
        Ok(Intent::Look(Look { subject, look: Box::new(move |cancel| search.run(cancel)) }))
    }
}

fn matcher(pattern: &str, case_sensitive: bool) -> Result<RegexMatcher, Refusal> {
    if pattern.is_empty() {
        return Err(Refusal("The pattern is empty; it would match every line.".into()));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(!case_sensitive)
        .crlf(true)
        .size_limit(PROGRAM)
        .dfa_size_limit(PROGRAM)
        .build(pattern)
        .map_err(|error| Refusal(format!("The pattern is no valid regular expression: {error}")))
}

/// Makes a glob that, without a slash, matches file names at any depth.
fn glob(pattern: &str) -> Result<GlobMatcher, Refusal> {
    let anywhere = if pattern.contains('/') { pattern.into() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build();
    let glob = glob.map_err(|error| Refusal(format!("file_pattern is no valid glob: {error}.")))?;
    Ok(glob.compile_matcher())
}

impl Search {
    fn run(&self, cancel: &CancellationToken) -> Outcome {
        if !self.place.absolute.exists() {
            return Outcome::told(false, nearby::missing(&self.place, &self.cx));
        }
        let found = Mutex::new(Found::new(self.cx.limits.grep_lines));
        walk::below(&self.cx.root, &self.place, None).build_parallel().run(|| {
            let mut searcher = self.searcher();
            let found = &found;
            Box::new(move |entry| {
                if cancel.is_cancelled() {
                    return WalkState::Quit;
                }
                self.visit(entry, &mut searcher, found, cancel);
                WalkState::Continue
            })
        });
        if cancel.is_cancelled() {
            return Outcome::told(false, "The search was interrupted.");
        }
        let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Outcome::told(true, found.tell(&self.pattern, &self.place.shown))
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(HEAP))
            .build()
    }

    fn visit(
        &self,
        entry: Result<DirEntry, ignore::Error>,
        searcher: &mut Searcher,
        found: &Mutex<Found>,
        cancel: &CancellationToken,
    ) {
        let lock = || found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = match entry {
            Ok(entry) if self.is_wanted(&entry) => entry,
            Ok(_) => return,
            Err(error) => return lock().unreadable.push(self.shorten(&error.to_string())),
        };
        let mut lines = Lines::new(&self.matcher, self.cx.limits.grep_lines, cancel);
        let result = searcher.search_path(&self.matcher, entry.path(), &mut lines);
        let path = self.shown(entry.path());
        match result {
            Ok(()) => lock().add(path, lines),
            Err(error) => lock().unreadable.push(format!("{path}: {error}")),
        }
    }

    fn is_wanted(&self, entry: &DirEntry) -> bool {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let files = self.files.as_ref();
        is_file && files.is_none_or(|glob| glob.is_match(self.shown(entry.path())))
    }

    fn shown(&self, path: &Path) -> String {
        self.cx.root.place_of(path).map_or_else(|| path.display().to_string(), |place| place.shown)
    }

    /// Leaves the root out of a path in somebody else's message.
    fn shorten(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.cx.root.path().display()), "")
    }
}

#[cfg(test)]
mod tests;
