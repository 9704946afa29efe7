//! What is typed after `/`: a command of the table, perhaps with an argument.

use super::App;
use crate::agent::AgentRequest;
use crate::config::Mode;
use crate::tui::command::{COMMANDS, Command};
use crate::tui::effect::Effect;
use crate::tui::overlay::Completion;
use crate::tui::theme::Theme;

const HOW_TO_NAME: &str =
    "Name a model as PROVIDER/MODEL, for example /model gemini/gemini-3.8-flash.";

impl App {
    /// Runs the draft as a `/` command; `None` where it is no such thing, like a path.
    pub(super) fn slash(&mut self, text: &str) -> Option<Vec<Effect>> {
        let (name, argument) = split(text)?;
        let Some(row) = COMMANDS.iter().find(|row| row.slash == Some(name)) else {
            return Some(
                self.say(format!("There is no command /{name}. Type / to see all of them.")),
            );
        };
        self.composer.take();
        self.completion = None;
        self.notices.clear();
        Some(self.run_with(row.command, argument))
    }

    pub(super) fn complete_slash(&self, before: &str) -> Option<Completion> {
        let Some((name, typed)) = before[1..].split_once(' ') else {
            return Completion::of_commands(before);
        };
        let row = COMMANDS.iter().find(|row| row.slash == Some(name))?;
        Completion::of_values(typed, values(row.command))
    }

    /// Runs a command with what was typed behind its name.
    fn run_with(&mut self, command: Command, argument: &str) -> Vec<Effect> {
        match command {
            Command::Model if !argument.is_empty() => self.set_model(argument),
            Command::Mode if !argument.is_empty() => self.name_mode(argument),
            Command::Theme if !argument.is_empty() => self.name_theme(argument),
            Command::Search if !argument.is_empty() => self.search_for(argument),
            Command::Model => self.say(HOW_TO_NAME),
            command => self.run(command),
        }
    }

    fn set_model(&mut self, model: &str) -> Vec<Effect> {
        if !model.contains('/') {
            return self.say(HOW_TO_NAME);
        }
        vec![Effect::Send(AgentRequest::SetModel(model.to_owned()))]
    }

    fn name_mode(&mut self, name: &str) -> Vec<Effect> {
        match name.parse() {
            Ok(mode) => self.set_mode(mode),
            Err(sentence) => self.say(sentence),
        }
    }

    pub(super) fn set_mode(&mut self, mode: Mode) -> Vec<Effect> {
        self.title.mode = mode;
        vec![Effect::Send(AgentRequest::SetMode(mode))]
    }

    fn name_theme(&mut self, name: &str) -> Vec<Effect> {
        let Some(theme) = Theme::built_in(name, self.theme.depth) else {
            return self.say(format!(
                "There is no theme {name}. There are: {}.",
                Theme::names().collect::<Vec<_>>().join(", ")
            ));
        };
        self.theme = theme;
        self.conversation.restyle();
        self.tools.restyle();
        Vec::new()
    }

    /// Puts the beginning of a `/` command into the draft, where its argument is to be typed.
    pub(super) fn begin_slash(&mut self, command: Command) -> Vec<Effect> {
        self.composer.set(&format!("/{} ", command.row().slash.unwrap_or_default()));
        self.complete()
    }
}

/// Splits `/name argument`. A name is letters only: `/usr/bin` is text.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    is_name.then_some((name, argument.trim()))
}

fn values(command: Command) -> Vec<String> {
    match command {
        Command::Mode => {
            [Mode::Plan, Mode::Ask, Mode::AcceptEdits].map(|mode| mode.name().into()).into()
        }
        Command::Theme => Theme::names().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
