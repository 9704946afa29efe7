//! Flags → config → front end. The terminal is given back whatever happens (`tui::terminal`).

mod opening;

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use trefoil::cli::Cli;
use trefoil::launcher;

use opening::{Opening, Problem};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(command) = launcher::command(&arguments) {
        return launcher::run(command);
    }
    match run(Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            let text = format!("trefoil: {:#}", problem.error);
            writeln!(std::io::stderr(), "{}", trefoil::visible::text(&text)).ok();
            ExitCode::from(problem.code)
        }
    }
}

fn run(cli: Cli) -> Result<u8, Problem> {
    if cli.resume.as_deref() == Some("") {
        return opening::list_sessions(&cli);
    }
    let prompt = if cli.print { Some(prompt_of(&cli)?) } else { cli.prompt.clone() };
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !cli.print && !has_terminal {
        return Err(Problem::usage(
            "The screen needs a terminal. Use -p to run without one, for example: trefoil -p \"explain main.rs\".",
        ));
    }
    let opening = Opening::from(&cli)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("The runtime could not start.")?;
    let code = runtime.block_on(async {
        match (cli.print, prompt) {
            (true, Some(prompt)) => opening.print(prompt, &cli).await,
            (_, prompt) => opening.show(prompt).await,
        }
    })?;
    // A blocking look at a slow disk must not hold the exit.
    runtime.shutdown_background();
    Ok(code)
}

/// Returns the prompt of a run without a screen: the argument, else standard input.
fn prompt_of(cli: &Cli) -> Result<String, Problem> {
    let prompt = match &cli.prompt {
        Some(prompt) => prompt.clone(),
        None => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .context("Standard input could not be read.")?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    if prompt.trim().is_empty() {
        return Err(Problem::usage(
            "There is no prompt. Give one as an argument or on standard input.",
        ));
    }
    Ok(prompt)
}
