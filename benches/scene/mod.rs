//! What the benches share: a screen without a world, and a reply to stream.

// Each bench is a crate of its own, and none uses all of it.
#![allow(dead_code)]

use std::time::Instant;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use trefoil::agent::{AgentEvent, Live};
use trefoil::config::Mode;
use trefoil::tui::app::{App, Seed};
use trefoil::tui::draw::draw;
use trefoil::tui::event::Event;
use trefoil::tui::theme::{Depth, Theme};

pub const WIDTH: u16 = 120;
pub const HEIGHT: u16 = 40;

/// A few of everything that models write.
const SECTION: &str = "\n## What it does\n\nA paragraph that explains **what** happens, with `code`, \
    some *emphasis* and [a page](https://example.org), long enough to be wrapped at any width.\n\n\
    - one item of a few words\n- another, **longer** one, which needs more than a single line of the pane\n- a third\n\n\
    ```rust\nfn scale(values: &[u32], factor: u32) -> u32 {\n    // The sum of all, scaled.\n    \
    values.iter().map(|value| value * factor).sum()\n}\n```\n\n| name | value |\n|---|--:|\n| a | 1 |\n";

/// Makes an empty screen.
pub fn app() -> App {
    let seed = Seed {
        workspace: "~/code/calc".into(),
        model: "scripted/bench".into(),
        is_scripted: true,
        mode: Mode::Ask,
        theme: Theme::built_in("dark", Depth::True).expect("the theme is built in"),
        past: Vec::new(),
        history: Vec::new(),
        prompt: None,
        suggestion: None,
        notices: Vec::new(),
        zone: jiff::tz::TimeZone::UTC,
        window: |_| Some(1_000_000),
        cost: |_, _| None,
    };
    App::new(seed, Instant::now()).0
}

/// Returns about so many bytes of markdown, in the pieces that a model sends.
pub fn deltas(bytes: usize) -> Vec<AgentEvent> {
    let text = SECTION.repeat(bytes / SECTION.len() + 1);
    let piece = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).expect("the section is ASCII");
        AgentEvent::Live(Live::TextDelta { text })
    };
    text.as_bytes()[..bytes].chunks(40).map(piece).collect()
}

/// Lets the agent tell something, and gets the screen ready for a frame.
pub fn tell(app: &mut App, event: AgentEvent) {
    let now = Instant::now();
    app.update(Event::Agent(event), now);
    app.prepare(WIDTH, HEIGHT, now);
}

/// A terminal in memory.
pub fn terminal() -> Terminal<TestBackend> {
    Terminal::new(TestBackend::new(WIDTH, HEIGHT)).expect("memory takes every frame")
}

/// Draws one frame.
pub fn show(terminal: &mut Terminal<TestBackend>, app: &App) {
    terminal.draw(|frame| draw(frame, app)).expect("memory takes every frame");
}
