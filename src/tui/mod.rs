//! The front end with a screen: the only event loop.
//!
//! Wait for something, take all that is ready, update, draw once. Nothing moves: nothing runs.

pub mod app;
pub mod command;
pub mod draw;
pub mod effect;
pub mod event;
mod foreign;
mod keyboard;
pub mod keymap;
pub mod layout;
pub mod overlay;
pub mod pane;
mod terminal;
pub mod theme;
pub mod widget;
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use self::app::{App, Seed};
use self::terminal::Terminal;
use self::world::{Flow, World};
use crate::agent::AgentHandle;
use crate::config::{Environment, Keys, Paths};
use crate::workspace::Root;

/// The shortest time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(16);

/// What the screen is given: its plain beginning, and the world around it.
pub struct Start {
    pub root: Arc<Root>,
    /// `None`: nothing is read or kept.
    pub paths: Option<Paths>,
    pub environment: Environment,
    /// What must not stand in the history.
    pub keys: Keys,
    pub seed: Seed,
}

/// Shows the screen until the person leaves, the terminal goes or a signal comes.
pub async fn run(handle: AgentHandle, start: Start) -> anyhow::Result<()> {
    let Start { root, paths, environment, keys, mut seed } = start;
    let mut world = World::new(handle, root, paths, environment, keys)?;
    seed.history = world.history();
    let mut terminal = Terminal::take()
        .context("The terminal could not be taken. Use -p to run without a screen.")?;
    let (mut app, effects) = App::new(seed, Instant::now());
    show(&mut terminal, &mut app)?;
    let code = app.highlighter.clone();
    tokio::task::spawn_blocking(move || code.warm_up());
    world.panic_on_demand();
    world.carry_out(effects, &mut terminal)?;
    let left = live(&mut world, &mut terminal, &mut app).await;
    drop(terminal);
    world.close().await;
    left
}

async fn live(world: &mut World, terminal: &mut Terminal, app: &mut App) -> anyhow::Result<()> {
    let mut drawn = Instant::now();
    let mut due = None;
    loop {
        let wake = [app.wake_at(), due].into_iter().flatten().min();
        let batch = world.next(wake).await?;
        for event in batch.events {
            let effects = app.update(event, Instant::now());
            if world.carry_out(effects, terminal)? == Flow::Quit {
                return Ok(());
            }
        }
        let next = drawn + FRAME;
        if batch.has_keys || Instant::now() >= next {
            show(terminal, app)?;
            drawn = Instant::now();
            due = None;
        } else {
            due = Some(next);
        }
    }
}

fn show(terminal: &mut Terminal, app: &mut App) -> anyhow::Result<()> {
    let (width, height) = terminal.size().context("The terminal is gone.")?;
    app.prepare(width, height, Instant::now());
    terminal.draw(|frame| draw::draw(frame, app)).context("The terminal cannot be written to.")
}
