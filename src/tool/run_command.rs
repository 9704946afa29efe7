//! `run_command`: a command line, exactly as a person will read it.

use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Context, Intent, Refusal, Tool};
use crate::session::Spec;
use crate::workspace::Command;
use crate::workspace::shell::Report;

/// Longest time a model may ask for, in seconds.
const LONGEST: u64 = 600;

/// The tool `run_command`.
pub struct RunCommand;

impl Tool for RunCommand {
    fn spec(&self) -> Spec {
        Spec {
            name: "run_command".into(),
            description: include_str!("../../assets/prompts/tools/run_command.md").trim().into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string" },
                    "timeout_s": { "type": "integer", "minimum": 1, "maximum": LONGEST },
                    "cwd": { "type": "string", "description": "A folder in the workspace." },
                },
                "required": ["command"],
            }),
        }
    }

    fn intend(&self, args: Value, cx: &Context) -> Result<Intent, Refusal> {
        let args = Arguments::of(args, &["command", "timeout_s", "cwd"])?;
        let line = args.text("command")?;
        if line.trim().is_empty() {
            return Err(Refusal("The command is empty.".into()));
        }
        if line.contains('\0') {
            return Err(Refusal("The command holds a NUL byte; no shell takes that.".into()));
        }
        let timeout = args.optional_integer("timeout_s")?.unwrap_or(cx.limits.command_seconds);
        if !(1..=LONGEST).contains(&timeout) {
            return Err(Refusal(format!(
                "timeout_s is {timeout}; it must be from 1 to {LONGEST}."
            )));
        }
        let cwd = cx.root.resolve(args.optional_text("cwd")?.unwrap_or("."))?;
        if !cwd.absolute.is_dir() {
            return Err(Refusal(format!("cwd '{}' is no folder in the workspace.", cwd.shown)));
        }
        Ok(Intent::Run(Command {
            argv: vec![cx.shell().into(), "-c".into(), line.into()],
            line: line.to_owned(),
            cwd: cwd.absolute,
            cwd_shown: cwd.shown,
            timeout: Duration::from_secs(timeout),
            environment: cx.environment.to_vec(),
            report: Report::Combined,
            output_chars: cx.limits.output_chars,
        }))
    }
}
