//! The command line, and which front end it picks.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::config::Mode;

/// A full-screen terminal pair programmer: nothing reaches your disk that you have not let stand.
#[derive(Debug, Clone, Parser)]
#[command(name = "trefoil", version, max_term_width = 100)]
pub struct Cli {
    /// What to do; sent at once
    pub prompt: Option<String>,

    /// No screen: PROMPT or standard input; the result on stdout, progress on stderr
    #[arg(short, long)]
    pub print: bool,

    /// What is printed with --print
    #[arg(long, value_enum, default_value = "text", requires = "print", value_name = "FORMAT")]
    pub output_format: OutputFormat,

    /// The model, for example gemini/gemini-3.8-flash
    #[arg(short, long, value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,

    /// The workspace
    #[arg(short = 'C', long, value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// What stands without being asked: plan, ask or accept-edits
    #[arg(long, value_name = "MODE")]
    pub approval_mode: Option<Mode>,

    /// Lets calls stand that match, for this run: 'run_command(cargo test*)'; may be repeated
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,

    /// Goes on with this workspace's last session
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,

    /// Goes on with a session; its id may be cut short. Without an id it lists them
    #[arg(short, long, value_name = "ID", num_args = 0..=1, require_equals = false, default_missing_value = "")]
    pub resume: Option<String>,

    /// Model requests in one turn before it ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,

    /// Tool calls, tokens and the log's path on stderr
    #[arg(long)]
    pub verbose: bool,

    /// A configuration file instead of the usual one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Offline: a copy of a small project with a bug, and a scripted model; needs no key
    #[arg(long, conflicts_with_all = ["home", "model", "continue_last", "resume"])]
    pub demo: bool,
}

/// How the result of a run without a screen is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The final reply alone.
    Text,
    /// One object when the run is over.
    Json,
    /// One event a line, as they happen.
    StreamJson,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_prompt_may_follow_a_resumed_id_or_two_dashes() {
        for (line, resume, prompt) in [
            (vec!["trefoil", "-r", "20260101", "go on"], Some("20260101"), Some("go on")),
            (vec!["trefoil", "-r=20260101"], Some("20260101"), None),
            (vec!["trefoil", "-r"], Some(""), None),
            (vec!["trefoil", "--", "-v is broken"], None, Some("-v is broken")),
        ] {
            let cli = Cli::try_parse_from(&line).unwrap();
            assert_eq!(
                (cli.resume.as_deref(), cli.prompt.as_deref()),
                (resume, prompt),
                "{line:?}"
            );
        }
    }
}
