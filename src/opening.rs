//! From flags and configuration to a running agent, once for both front ends.

mod session;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use session::{NO_HOME, Session};
use trefoil::agent::{Agent, AgentHandle, Connect, Rule, Rules, Setup};
use trefoil::cli::Cli;
use trefoil::config::{Environment, Flags, Loaded, Paths, Sources};
use trefoil::provider::scripted::Pace;
use trefoil::provider::{ErrorKind, ProviderError, catalog};
use trefoil::session::Store;
use trefoil::tui::app::Seed;
use trefoil::tui::theme::{Depth, Theme};
use trefoil::workspace::{Launcher, Root, shell};
use trefoil::{config, demo, print, tool, trace, tui};

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

    /// Makes a problem of a model that cannot be connected to.
    fn model(error: ProviderError) -> Self {
        let code = if error.kind == ErrorKind::Auth { 6 } else { 2 };
        Self { error: error.into(), code }
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
    /// `None`: the environment names no home, so nothing of ours is read or kept.
    paths: Option<Paths>,
    root: Root,
    loaded: Loaded,
    rules: Rules,
    session: Session,
    is_demo: bool,
    notices: Vec<String>,
    /// Dropping it writes what is left of the log file.
    trace: Option<trace::Guard>,
}

impl Opening {
    /// Reads everything that the front ends need; the demo's folder is made here.
    pub fn from(cli: &Cli) -> Result<Self, Problem> {
        let environment = Environment::from_process();
        let paths = Paths::from(&environment);
        let root = root_of(cli, paths.as_ref())?;
        let mut loaded = load(cli, &environment, paths.as_ref(), &root)?;
        for rule in &cli.allow {
            Rule::parse(rule).map_err(|error| Problem::usage(&error.to_string()))?;
        }
        let rules = Rules::parse(&loaded.config.permissions).map_err(Problem::config)?;
        if cli.demo {
            demo::MODEL.clone_into(&mut loaded.config.model);
        }
        let trace =
            paths.as_ref().and_then(|paths| trace::start(paths, &environment, loaded.keys.clone()));
        let mut notices = std::mem::take(&mut loaded.notices);
        let session = Session::of(cli, paths.as_ref(), &root, &mut loaded, &mut notices)?;
        let is_demo = cli.demo;
        Ok(Self { environment, paths, root, loaded, rules, session, is_demo, notices, trace })
    }

    /// Plays one prompt without a screen.
    pub async fn print(mut self, prompt: String, cli: &Cli) -> Result<u8, Problem> {
        let style = print::Style {
            format: cli.output_format,
            verbose: cli.verbose,
            is_terminal: std::io::stdout().is_terminal(),
            log: self.trace.as_ref().map(|trace| trace.path().to_owned()),
        };
        self.announce(cli);
        let session = self.session_id();
        let _trace = self.trace.take();
        let connect = self.connect(Pace::Instant);
        connect(&self.loaded.config.model).map_err(Problem::model)?;
        let handle = self.agent(connect, false);
        Ok(print::run(handle, session, prompt, style).await?)
    }

    /// Opens the screen.
    pub async fn show(mut self, prompt: Option<String>) -> Result<u8, Problem> {
        let folder = self.root.path().to_owned();
        let is_demo = self.is_demo;
        let connect = self.connect(Pace::Realistic);
        if let Err(error) = connect(&self.loaded.config.model) {
            self.notices.push(error.message);
        }
        let (session, paths) = (self.session_id(), self.paths.clone());
        let start = tui::Start {
            root: Arc::new(self.root.clone()),
            environment: self.environment.clone(),
            keys: self.loaded.keys.clone(),
            paths: self.paths.clone(),
            seed: self.seed(prompt)?,
        };
        let trace = self.trace.take();
        let handle = self.agent(connect, true);
        tui::run(handle, start).await.with_context(|| match &trace {
            Some(trace) => format!("The screen was left (the log is {})", trace.path().display()),
            None => "The screen was left".to_owned(),
        })?;
        if is_demo {
            println!("The demo's folder stays: {}", folder.display());
        }
        let latest = paths.and_then(|paths| Store::new(paths.sessions).latest(&folder));
        if latest.is_some_and(|latest| latest.id == session) {
            println!("Go on with: {} -r {session}", program());
        }
        Ok(0)
    }

    /// Says on stderr what the screen would show.
    fn announce(&self, cli: &Cli) {
        for notice in &self.notices {
            eprintln!("{}", trefoil::visible::line(notice));
        }
        if self.is_demo {
            eprintln!("The demo's folder: {}", self.root.path().display());
        }
        if let (true, Some(trace)) = (cli.verbose, &self.trace) {
            eprintln!("log: {}", trace.path().display());
        }
    }

    fn session_id(&self) -> String {
        let name = self.session.log.folder().and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn seed(&mut self, prompt: Option<String>) -> Result<Seed, Problem> {
        let depth = Depth::detect(|name| self.environment.get(name));
        let folder = self.paths.as_ref().map(|paths| paths.themes.as_path());
        let theme = Theme::load(&self.loaded.config.theme, folder, depth)
            .map_err(|error| Problem::config(anyhow!(error)))?;
        Ok(Seed {
            workspace: shown(self.root.path(), &self.environment),
            model: self.loaded.config.model.clone(),
            is_scripted: self.loaded.config.model.starts_with("scripted/"),
            mode: self.loaded.config.approval_mode,
            theme,
            zone: jiff::tz::TimeZone::system(),
            past: std::mem::take(&mut self.session.past),
            history: Vec::new(),
            prompt,
            suggestion: self.is_demo.then(|| demo::SUGGESTION.to_owned()),
            notices: std::mem::take(&mut self.notices),
            window: |model| catalog::lookup(model).map(|known| known.window),
            cost: catalog::cost,
        })
    }

    /// Returns how a model is connected to: the demo's script, or whatever a name stands for.
    fn connect(&self, pace: Pace) -> Connect {
        let (keys, endpoints) = (self.loaded.keys.clone(), self.loaded.endpoints.clone());
        let network = self.loaded.config.network.clone();
        Box::new(move |model| {
            if model == demo::MODEL {
                return demo::connect(pace, &network);
            }
            trefoil::provider::connect(model, &keys, &endpoints, &network, pace)
        })
    }

    fn agent(self, connect: Connect, is_attended: bool) -> AgentHandle {
        let Self { environment, root, loaded, mut rules, session, .. } = self;
        for rule in session.conversation.allowed() {
            // A rule of an older version that cannot be read any more is asked again.
            rules.grant(rule).ok();
        }
        let own = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Agent::spawn(Setup {
            model: loaded.config.model.clone(),
            mode: loaded.config.approval_mode,
            rules,
            max_turns: loaded.config.max_turns,
            context: tool::Context {
                root: Arc::new(root),
                limits: loaded.config.limits,
                python: loaded.config.python,
                environment: Arc::new(shell::environment(own)),
                launcher: Launcher { program: launcher() },
                seen: tool::Seen::default(),
                proposed: tool::Proposed::default(),
            },
            keys: loaded.keys,
            connect,
            log: session.log,
            conversation: session.conversation,
            checkpoints: session.checkpoints,
            is_attended,
        })
    }
}

/// Shows this workspace's sessions, for `-r` without an id.
pub fn list_sessions(cli: &Cli) -> Result<u8, Problem> {
    let environment = Environment::from_process();
    let root = root_of(&Cli { resume: None, ..cli.clone() }, None)?;
    let Some(paths) = Paths::from(&environment) else { return Err(Problem::usage(NO_HOME)) };
    let all = Store::new(paths.sessions).list();
    let here: Vec<_> = all.into_iter().filter(|one| one.workspace == root.path()).collect();
    if here.is_empty() {
        let folder = root.path().display().to_string();
        println!("There is no session of {} yet.", trefoil::visible::line(&folder));
    }
    for session in here {
        println!("{}  {}", session.id, trefoil::visible::line(&session.title));
    }
    Ok(0)
}

/// Returns where a session was; a log whose first line is damaged does not say, and then it is here.
fn workspace_of(id: &str, paths: &Paths) -> Result<PathBuf, Problem> {
    let session = Store::new(&paths.sessions).summary_of(id).map_err(anyhow::Error::from)?;
    let is_known = !session.workspace.as_os_str().is_empty();
    Ok(if is_known { session.workspace } else { PathBuf::from(".") })
}

/// Opens the workspace: the demo's new one, the one that was named, the resumed session's own, or this one.
fn root_of(cli: &Cli, paths: Option<&Paths>) -> Result<Root, Problem> {
    let folder = match (&cli.home, &cli.resume, paths) {
        _ if cli.demo => demo::lay_out(&std::env::temp_dir())?,
        (Some(home), ..) => home.clone(),
        (None, Some(id), Some(paths)) => workspace_of(id, paths)?,
        _ => PathBuf::from("."),
    };
    Root::open(&folder).map_err(|error| {
        let folder = folder.display();
        Problem::usage(&format!("The folder {folder} cannot be opened: {error}. Name one with -C."))
    })
}

fn load(
    cli: &Cli,
    environment: &Environment,
    paths: Option<&Paths>,
    root: &Root,
) -> Result<Loaded, Problem> {
    let sources = Sources {
        environment,
        named: cli.config.as_deref(),
        usual: paths.map(|paths| paths.config_file.as_path()),
        workspace: root.path(),
    };
    let flags = Flags {
        model: cli.model.clone(),
        approval_mode: cli.approval_mode,
        max_turns: cli.max_turns,
        allow: cli.allow.clone(),
    };
    config::load(&sources, flags).map_err(Problem::config)
}

/// Returns this program, which is its own launcher. On Linux the link survives a replaced binary.
fn launcher() -> PathBuf {
    let link = Path::new("/proc/self/exe");
    std::env::current_exe().unwrap_or_else(|_| link.to_owned())
}

/// Returns a path with the home folder as `~`.
fn shown(path: &Path, environment: &Environment) -> String {
    let home = environment.get("HOME").filter(|home| *home != "/");
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Returns how this program was called, so that what is told to be typed works as it stands.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "trefoil".to_owned())
}
