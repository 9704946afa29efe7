//! From flags and configuration to a running agent, once for both front ends.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use trefoil::agent::{Agent, AgentHandle, Connect, Rules, Setup};
use trefoil::cli::{Cli, OutputFormat};
use trefoil::config::{self, Environment, Flags, Loaded, Paths};
use trefoil::provider::scripted::Pace;
use trefoil::provider::{Connection, catalog};
use trefoil::session::{Conversation, Entry, Log, LogError, Record, Store, ToolResult, View};
use trefoil::workspace::{Launcher, Root, shell};
use trefoil::{demo, print, tool, trace, tui};

/// An error and the exit code it leads to.
pub struct Problem {
    pub error: anyhow::Error,
    pub code: u8,
}

impl Problem {
    /// Makes a problem of how the program was called.
    pub fn usage(text: &str) -> Self {
        Self { error: anyhow::Error::msg(text.to_owned()), code: 2 }
    }

    fn config(error: impl Into<anyhow::Error>) -> Self {
        Self { error: error.into(), code: 6 }
    }
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Self { error, code: 1 }
    }
}

/// Everything that is known before the agent starts.
pub struct Opening {
    environment: Environment,
    paths: Paths,
    root: Root,
    loaded: Loaded,
    rules: Rules,
    session: Session,
    is_demo: bool,
    log_file: Option<PathBuf>,
    notices: Vec<String>,
    // Dropping it writes what is left of the log file.
    _trace: Option<trace::Guard>,
}

/// A session, new or opened again.
struct Session {
    log: Log,
    past: Vec<Entry>,
    conversation: Conversation,
}

impl Opening {
    /// Reads everything that the front ends need; the demo's folder is made here.
    pub fn from(cli: &Cli) -> Result<Self, Problem> {
        let environment = Environment::from_process();
        let (paths, mut notices) = Paths::from(&environment);
        let root = root_of(cli)?;
        let mut loaded = load(cli, &environment, &paths, &root)?;
        let rules = Rules::parse(&loaded.config.permissions).map_err(Problem::config)?;
        notices.append(&mut loaded.notices);
        if cli.demo {
            demo::MODEL.clone_into(&mut loaded.config.model);
        }
        let trace = trace::start(&paths, &environment, loaded.keys.clone());
        let session = open_session(cli, &paths, &root, &mut loaded, &mut notices)?;
        Ok(Self {
            log_file: trace.as_ref().map(|guard| guard.path().to_owned()),
            _trace: trace,
            environment,
            paths,
            root,
            loaded,
            rules,
            session,
            is_demo: cli.demo,
            notices,
        })
    }

    /// Plays one prompt without a screen.
    pub async fn print(self, prompt: String, cli: &Cli) -> anyhow::Result<u8> {
        let style = print::Style {
            format: cli.output_format,
            verbose: cli.verbose,
            is_terminal: std::io::stdout().is_terminal(),
        };
        for notice in &self.notices {
            eprintln!("{notice}");
        }
        if self.is_demo && cli.output_format == OutputFormat::Text {
            eprintln!("The demo's folder: {}", self.root.path().display());
        }
        if let (true, Some(path)) = (cli.verbose, &self.log_file) {
            eprintln!("log: {}", path.display());
        }
        let session = self.session_id();
        let (handle, _rest) = self.spawn(false)?;
        print::run(handle, session, prompt, style).await
    }

    /// Opens the screen.
    pub async fn show(self, prompt: Option<String>) -> anyhow::Result<u8> {
        let session = self.session_id();
        let folder = self.root.path().to_owned();
        let is_demo = self.is_demo;
        let (handle, rest) = self.spawn(true)?;
        tui::run(handle, rest.start(prompt)).await?;
        if is_demo {
            println!("The demo's folder stays: {}", folder.display());
        }
        if !session.is_empty() {
            println!("Go on with: trefoil -r {session}");
        }
        Ok(0)
    }

    fn session_id(&self) -> String {
        let name = self.session.log.folder().and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}
