//! `run_python_file`: a file of the workspace, run by the project's own interpreter.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;
use crate::workspace::Command;
use crate::workspace::shell::Report;

/// The tool `run_python_file`.
pub struct RunPythonFile;

impl Tool for RunPythonFile {
    fn spec(&self) -> Spec {
        Spec {
            name: "run_python_file".into(),
            description: include_str!("../../assets/prompts/tools/run_python_file.md")
                .trim()
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "args": { "type": "array", "items": { "type": "string" } },
                },
                "required": ["path"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["path", "args"])?;
        let place = cx.root.resolve(args.text("path")?)?;
        if !place.absolute.is_file() {
            return Err(Refusal(format!("There is no file '{}' to run.", place.shown)));
        }
        if place.absolute.extension().is_none_or(|extension| extension != "py") {
            return Err(Refusal(format!("'{}' is no Python file (.py).", place.shown)));
        }
        let rest = args.optional_texts("args")?.unwrap_or_default();
        if rest.iter().any(|arg| arg.contains('\0')) {
            return Err(Refusal("An argument holds a NUL byte; no program takes that.".into()));
        }
        let interpreter = interpreter(cx)?;
        let words = [interpreter.clone(), place.shown].into_iter().chain(rest);
        let argv: Vec<String> = words.collect();
        Ok(Intent::Run(Command {
            line: argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            argv: argv.iter().map(Into::into).collect(),
            cwd: cx.root.path().to_owned(),
            cwd_shown: ".".into(),
            timeout: Duration::from_secs(cx.limits.python_seconds),
            environment: cx.environment.to_vec(),
            report: Report::Sections { interpreter },
            output_chars: cx.limits.output_chars,
        }))
    }
}

/// Finds the interpreter: configured, the workspace's `.venv`, `$VIRTUAL_ENV`, then `PATH`.
fn interpreter(cx: &Context) -> Result<String, Refusal> {
    if !cx.python.is_empty() {
        return Ok(cx.python.clone());
    }
    let local = Path::new(".venv/bin/python");
    if cx.root.path().join(local).is_file() {
        return Ok(local.display().to_string());
    }
    let active = cx.variable("VIRTUAL_ENV").map(|folder| Path::new(folder).join("bin/python"));
    if let Some(python) = active.filter(|python| python.is_file()) {
        return Ok(python.display().to_string());
    }
    let found = ["python3", "python"].into_iter().find(|name| cx.program(name).is_some());
    found.map(str::to_owned).ok_or_else(|| {
        Refusal(
            "No Python interpreter was found. The person can install python3 or name one in the config (python = …)."
                .into(),
        )
    })
}

/// Writes a word so that a shell would read it as this one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::workspace::{Launcher, Root};
    use std::sync::Arc;

    fn context(folder: &Path, python: &str, variables: &[(&str, &str)]) -> Context {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Context {
            root: Arc::new(Root::open(folder).unwrap()),
            limits: Limits::default(),
            python: python.to_owned(),
            environment: Arc::new(variables.iter().map(own).collect()),
            launcher: Launcher { program: "no-launcher".into() },
            seen: crate::tool::Seen::default(),
            proposed: crate::tool::Proposed::default(),
        }
    }

    fn make(folder: &Path, path: &str) -> String {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        path.display().to_string()
    }

    #[test]
    fn the_nearest_interpreter_is_taken() {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin").display().to_string();
        let active = home.path().join("active").display().to_string();
        let found = |python, variables: &[(&str, &str)]| {
            interpreter(&context(home.path(), python, variables)).map_err(|refusal| refusal.0)
        };
        assert!(found("", &[("PATH", &bin)]).unwrap_err().contains("python3"));
        make(home.path(), "bin/python");
        assert_eq!(found("", &[("PATH", &bin)]).unwrap(), "python");
        make(home.path(), "bin/python3");
        assert_eq!(found("", &[("PATH", &bin)]).unwrap(), "python3");
        let venv = make(home.path(), "active/bin/python");
        assert_eq!(found("", &[("PATH", &bin), ("VIRTUAL_ENV", &active)]).unwrap(), venv);
        make(home.path(), ".venv/bin/python");
        assert_eq!(
            found("", &[("PATH", &bin), ("VIRTUAL_ENV", &active)]).unwrap(),
            ".venv/bin/python"
        );
        assert_eq!(found("pypy3", &[]).unwrap(), "pypy3");
    }

    #[test]
    fn the_line_shown_is_the_words_that_run() {
        for (word, shown) in [
            ("tests.py", "tests.py"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
