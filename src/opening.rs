//! From flags and configuration to a running agent, once for both front ends.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use trefoil::agent::{Agent, AgentHandle, Connect, Rules, Setup};
use trefoil::cli::{Cli, OutputFormat};
use trefoil::config::{Environment, Flags, Loaded, Paths, Sources};
use trefoil::provider::scripted::{Pace, Script};
use trefoil::provider::{Connection, catalog};
use trefoil::session::{Conversation, Entry, Log, LogError, Record, Store, ToolResult, View};
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
    script: Option<Script>,
    notices: Vec<String>,
    /// Dropping it writes what is left of the log file.
    trace: Option<trace::Guard>,
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
        let paths = Paths::from(&environment);
        let root = root_of(cli)?;
        let mut loaded = load(cli, &environment, paths.as_ref(), &root)?;
        let rules = Rules::parse(&loaded.config.permissions).map_err(Problem::config)?;
        let script = if cli.demo { Some(demo::script()?) } else { None };
        if script.is_some() {
            demo::MODEL.clone_into(&mut loaded.config.model);
        }
        let trace =
            paths.as_ref().and_then(|paths| trace::start(paths, &environment, loaded.keys.clone()));
        let mut notices = std::mem::take(&mut loaded.notices);
        let session = session_of(cli, paths.as_ref(), &root, &mut loaded, &mut notices)?;
        Ok(Self { environment, paths, root, loaded, rules, session, script, notices, trace })
    }

    /// Plays one prompt without a screen.
    pub async fn print(mut self, prompt: String, cli: &Cli) -> Result<u8, Problem> {
        let style = print::Style {
            format: cli.output_format,
            verbose: cli.verbose,
            is_terminal: std::io::stdout().is_terminal(),
        };
        self.announce(cli);
        let session = self.session_id();
        let _trace = self.trace.take();
        let handle = self.agent(Pace::Instant, false);
        Ok(print::run(handle, session, prompt, style).await?)
    }

    /// Opens the screen.
    pub async fn show(mut self, prompt: Option<String>) -> Result<u8, Problem> {
        let session = self.session_id();
        let folder = self.root.path().to_owned();
        let is_demo = self.script.is_some();
        let start = tui::Start {
            root: Arc::new(self.root.clone()),
            environment: self.environment.clone(),
            paths: self.paths.clone(),
            seed: self.seed(prompt)?,
        };
        let _trace = self.trace.take();
        let handle = self.agent(Pace::Realistic, true);
        tui::run(handle, start).await?;
        if is_demo {
            println!("The demo's folder stays: {}", folder.display());
        }
        if !session.is_empty() {
            println!("Go on with: trefoil -r {session}");
        }
        Ok(0)
    }

    /// Says on stderr what the screen would show.
    fn announce(&self, cli: &Cli) {
        for notice in &self.notices {
            eprintln!("{}", trefoil::visible::line(notice));
        }
        if self.script.is_some() && cli.output_format == OutputFormat::Text {
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
            is_scripted: self.script.is_some() || self.loaded.config.model.starts_with("scripted/"),
            mode: self.loaded.config.approval_mode,
            theme,
            zone: jiff::tz::TimeZone::system(),
            past: std::mem::take(&mut self.session.past),
            history: Vec::new(),
            prompt,
            suggestion: self.script.is_some().then(|| demo::SUGGESTION.to_owned()),
            notices: std::mem::take(&mut self.notices),
            window: |model| catalog::lookup(model).map(|known| known.window),
            cost: catalog::cost,
        })
    }

    fn agent(self, pace: Pace, is_attended: bool) -> AgentHandle {
        let Self { environment, root, loaded, mut rules, session, script, .. } = self;
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
                limits: loaded.config.limits.clone(),
                python: loaded.config.python.clone(),
                environment: Arc::new(shell::environment(own)),
                seen: tool::Seen::default(),
            },
            launcher: Launcher { program: launcher() },
            keys: loaded.keys.clone(),
            connect: connect(loaded, script, pace),
            log: session.log,
            conversation: session.conversation,
            is_attended,
        })
    }
}

/// Shows this workspace's sessions, for `-r` without an id.
pub fn list_sessions(cli: &Cli) -> Result<u8, Problem> {
    let environment = Environment::from_process();
    let root = root_of(cli)?;
    let Some(paths) = Paths::from(&environment) else { return Err(Problem::usage(NO_HOME)) };
    let all = Store::new(paths.sessions).list();
    let here: Vec<_> = all.into_iter().filter(|one| one.workspace == root.path()).collect();
    if here.is_empty() {
        println!("There is no session of {} yet.", root.path().display());
    }
    for session in here {
        println!("{}  {}", session.id, trefoil::visible::line(&session.title));
    }
    Ok(0)
}

const NO_HOME: &str = "HOME is not set, so nothing is saved. Set HOME or TREFOIL_HOME.";

fn root_of(cli: &Cli) -> Result<Root, Problem> {
    let folder = if cli.demo {
        demo::lay_out(&std::env::temp_dir())?
    } else {
        cli.home.clone().unwrap_or_else(|| PathBuf::from("."))
    };
    let root = Root::open(&folder)
        .with_context(|| format!("The folder {} cannot be opened", folder.display()))?;
    Ok(root)
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

/// Opens the session that the flags ask for, or a new one; where none can be kept, one that is not.
fn session_of(
    cli: &Cli,
    paths: Option<&Paths>,
    root: &Root,
    loaded: &mut Loaded,
    notices: &mut Vec<String>,
) -> Result<Session, Problem> {
    let Some(paths) = paths else {
        notices.push(NO_HOME.to_owned());
        return Ok(Session::unsaved());
    };
    let store = Store::new(paths.sessions.clone());
    let wanted = match &cli.resume {
        Some(id) => Some(id.clone()),
        None if cli.continue_last => {
            let latest = store.latest(root.path()).map(|session| session.id);
            if latest.is_none() {
                notices.push(
                    "There is no session of this folder to go on with; a new one begins.".into(),
                );
            }
            latest
        }
        None => None,
    };
    match wanted {
        Some(id) => {
            let session = Session::reopen(&store, &id, notices)
                .map_err(|error| Problem::from(anyhow::Error::from(error)))?;
            session.settle(cli, root, loaded, notices).map_err(|error| anyhow!(error).into())
        }
        None => Ok(Session::begin(&store, root, loaded, notices)),
    }
}

impl Session {
    fn unsaved() -> Self {
        Self { log: Log::unsaved(), past: Vec::new(), conversation: Conversation::default() }
    }

    fn begin(store: &Store, root: &Root, loaded: &Loaded, notices: &mut Vec<String>) -> Self {
        let config = &loaded.config;
        match store.create(root.path(), &config.model, config.approval_mode) {
            Ok(log) => Self { log, ..Self::unsaved() },
            Err(error) => {
                notices.push(format!("This session is not saved: {error}"));
                Self::unsaved()
            }
        }
    }

    fn reopen(store: &Store, id: &str, notices: &mut Vec<String>) -> Result<Self, LogError> {
        let opened = store.open(id)?;
        if opened.damaged > 0 {
            notices.push(format!(
                "{} lines of the session's log could not be read and are left out; the log keeps them.",
                opened.damaged
            ));
        }
        let conversation = Conversation::replay(&opened.entries);
        Ok(Self { log: opened.log, past: opened.entries, conversation })
    }

    /// Writes down what a kill left open, and that the session goes on, with its model and mode unless told others.
    fn settle(
        mut self,
        cli: &Cli,
        root: &Root,
        loaded: &mut Loaded,
        notices: &mut Vec<String>,
    ) -> Result<Self, LogError> {
        remove_leftovers(&self.past, root);
        let open: Vec<_> = self.conversation.unanswered().into_iter().cloned().collect();
        for call in open {
            let text =
                "Trefoil was stopped while this call was open; it may have partly run.".to_owned();
            let result = ToolResult { id: call.id, name: call.name, ok: false, text };
            self.append(Record::Finished { result, view: View::Text, millis: 0 })?;
        }
        let config = &mut loaded.config;
        if cli.model.is_none() && !self.conversation.model().is_empty() {
            self.conversation.model().clone_into(&mut config.model);
        }
        if cli.approval_mode.is_none() {
            config.approval_mode = self.conversation.mode();
        }
        let (model, mode) = (config.model.clone(), config.approval_mode);
        self.append(Record::Resumed { model, mode })?;
        let was_elsewhere = self.past.iter().find_map(|entry| match &entry.record {
            Record::Started { workspace, .. } if workspace != root.path() => Some(workspace),
            _ => None,
        });
        if let Some(workspace) = was_elsewhere {
            notices.push(format!("This session began in {}.", workspace.display()));
        }
        Ok(self)
    }

    fn append(&mut self, record: Record) -> Result<(), LogError> {
        let entry = self.log.append(record)?;
        self.conversation.apply(&entry.record);
        self.past.push(entry);
        Ok(())
    }
}

/// Removes the temporary files of a change that a kill stopped before it was written.
fn remove_leftovers(past: &[Entry], root: &Root) {
    let staged = past.iter().filter_map(|entry| match &entry.record {
        Record::Acting { staged, .. } => Some(staged),
        _ => None,
    });
    for path in staged.flatten() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.starts_with(root.path()) && name.starts_with(".trefoil-") {
            std::fs::remove_file(path).ok();
        }
    }
}

fn connect(loaded: Loaded, script: Option<Script>, pace: Pace) -> Connect {
    let Loaded { config, keys, endpoints, .. } = loaded;
    Box::new(move |model| match &script {
        Some(script) if model == demo::MODEL => {
            let name = model.split_once('/').map_or(model, |(_, name)| name);
            Ok(Connection::to_script(name, script.clone(), pace, &config.network))
        }
        _ => trefoil::provider::connect(model, &keys, &endpoints, &config.network, pace),
    })
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
