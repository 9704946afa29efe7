//! The screen on a terminal of the test's own: what happens, what is pressed, and what is then to be seen.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use serde_json::Value;
use trefoil::agent::{AgentEvent, Approval, Live, Waiting};
use trefoil::config::Mode;
use trefoil::session::{
    CallId, Entry, Part, Proposal, Record, Reply, ToolCall, ToolResult, Usage, View, Why,
};
use trefoil::tui::app::{App, Seed};
use trefoil::tui::draw::draw;
use trefoil::tui::event::Event;
use trefoil::tui::theme::{Depth, Theme};
use unicode_width::UnicodeWidthStr;

/// 12:01:00 UTC on a day that never changes, in Unix milliseconds.
const NOON: i64 = 1_767_268_860_000;

/// A screen, its size and its clock.
pub struct Screen {
    app: App,
    size: (u16, u16),
    begun: Instant,
    now: Instant,
}

impl Screen {
    /// Opens a screen on the demo, in true colour.
    pub fn open(size: (u16, u16), theme: &str) -> Self {
        Self::with(size, Theme::built_in(theme, Depth::True).unwrap())
    }

    pub fn with(size: (u16, u16), theme: Theme) -> Self {
        let seed = Seed {
            workspace: "~/code/calc".into(),
            model: "scripted/demo".into(),
            is_scripted: true,
            mode: Mode::Ask,
            theme,
            past: Vec::new(),
            history: Vec::new(),
            prompt: None,
            suggestion: Some("fix the failing test".into()),
            notices: Vec::new(),
            zone: jiff::tz::TimeZone::UTC,
            window: |_| Some(1_000_000),
            cost: |_, usage| Some(usage.output as f64 / 100_000.0),
        };
        let now = Instant::now();
        let (app, _) = App::new(seed, now);
        let mut screen = Self { app, size, begun: now, now };
        let head = trefoil::workspace::git::Head { name: "main".into(), changed: 3 };
        screen.happens(Event::Head(Some(head)));
        screen
    }

    pub fn happens(&mut self, event: Event) {
        self.app.update(event, self.now);
        self.app.prepare(self.size.0, self.size.1, self.now);
    }

    pub fn passes(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.happens(Event::Elapsed);
    }

    /// Presses keys by name: `Ctrl+p`, `Tab`, `a`.
    pub fn press(&mut self, names: &[&str]) {
        for name in names {
            let (modifiers, key) = match name.rsplit_once('+') {
                Some(("Ctrl", key)) => (KeyModifiers::CONTROL, key),
                _ => (KeyModifiers::NONE, *name),
            };
            let code = match key {
                "Enter" => KeyCode::Enter,
                "Tab" => KeyCode::Tab,
                "Up" => KeyCode::Up,
                "Down" => KeyCode::Down,
                "End" => KeyCode::End,
                "Esc" => KeyCode::Esc,
                "PgUp" => KeyCode::PageUp,
                key => KeyCode::Char(key.chars().next().unwrap()),
            };
            self.happens(Event::Key(KeyEvent::new(code, modifiers)));
        }
    }

    pub fn types(&mut self, text: &str) {
        for c in text.chars() {
            self.happens(Event::Key(KeyEvent::from(KeyCode::Char(c))));
        }
    }

    pub fn live(&mut self, live: Live) {
        self.happens(Event::Agent(AgentEvent::Live(live)));
    }

    /// Records a fact at the hour that the clock shows.
    pub fn recorded(&mut self, record: Record) {
        let passed = self.now.duration_since(self.begun).as_millis();
        let at = NOON + i64::try_from(passed).unwrap();
        self.happens(Event::Agent(AgentEvent::Recorded(Entry { at, record })));
    }

    /// A message is sent, and the model is asked.
    pub fn prompted(&mut self, text: &str) {
        self.types(text);
        self.press(&["Enter"]);
        self.recorded(Record::Prompted { text: text.into() });
        self.live(Live::Asking { request: 1 });
        self.passes(1_200);
    }

    pub fn replied(&mut self, parts: Vec<Part>) {
        let reply = Reply { parts, ..Reply::default() };
        let usage = Usage { input: 12_300, cached: 8_000, output: 450, thinking: 120 };
        self.recorded(Record::Replied { reply, usage, millis: 900, first_token_millis: None });
    }

    pub fn proposed(&mut self, id: &str, tool: &str, proposal: Proposal) {
        self.recorded(Record::Proposed { call: CallId(id.into()), tool: tool.into(), proposal });
    }

    pub fn decided(&mut self, id: &str, allowed: bool, why: Why) {
        self.recorded(Record::Decided { call: CallId(id.into()), allowed, why });
    }

    pub fn finished(&mut self, id: &str, ok: bool, text: &str, view: View, millis: u64) {
        self.passes(millis);
        let (id, name, text) = (CallId(id.into()), String::new(), text.into());
        self.recorded(Record::Finished { result: ToolResult { id, name, ok, text }, view, millis });
    }

    /// A call that is asked, and long enough on the screen to be answered.
    pub fn asked(&mut self, tool: &str, proposal: Proposal, rule: Option<&str>) {
        self.proposed("asked", tool, proposal.clone());
        self.live(Live::Approval(Approval {
            call: CallId("asked".into()),
            calls: vec![Waiting { call: CallId("asked".into()), tool: tool.into(), proposal }],
            reason: "no rule matches".into(),
            rule: rule.map(str::to_owned),
        }));
        self.passes(400);
    }

    /// Draws the screen and writes down what is seen: its text, its cursor, its colours.
    pub fn picture(&mut self) -> String {
        let (width, height) = self.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        self.app.prepare(width, height, self.now);
        terminal.draw(|frame| draw(frame, &self.app)).unwrap();
        let backend = terminal.backend();
        let cursor = match backend.cursor_visible() {
            true => format!("{},{}", backend.cursor_position().x, backend.cursor_position().y),
            false => "hidden".into(),
        };
        let rows = |row: fn(&Buffer, u16) -> String| {
            (0..height).map(|y| row(backend.buffer(), y)).collect::<Vec<_>>().join("\n")
        };
        format!("{}\ncursor {cursor}\n{}", rows(text), rows(styles))
    }
}

/// A call as a model makes it.
pub fn call(id: &str, name: &str, args: Value) -> Part {
    let (id, name) = (CallId(id.into()), name.into());
    Part::Call(ToolCall { id, wire_id: None, name, args, fault: None, opaque: None })
}

pub fn said(text: &str) -> Part {
    Part::Text { text: text.into(), opaque: None }
}

pub fn thought(text: &str) -> Part {
    Part::Thinking { text: text.into(), opaque: None }
}

pub fn run(line: &str) -> Proposal {
    Proposal::Run { line: line.into(), cwd: ".".into(), timeout_s: 120 }
}

/// The text of a row between bars, so that no blank is lost.
fn text(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        text.push_str(symbol);
        x += u16::try_from(symbol.width().max(1)).unwrap();
    }
    format!("|{text}|")
}

/// The runs of one style in a row: `3: 0..9 #98a89c, 9..12 #0b0f0d on #7fb069 bold`.
fn styles(buffer: &Buffer, y: u16) -> String {
    let cells: Vec<String> = (0..buffer.area.width).map(|x| style(&buffer[(x, y)])).collect();
    let mut runs = Vec::new();
    let mut from = 0;
    for run in cells.chunk_by(|a, b| a == b) {
        let to = from + run.len();
        if !run[0].is_empty() {
            runs.push(format!("{from}..{to} {}", run[0]));
        }
        from = to;
    }
    format!("{y}: {}", runs.join(", ")).trim_end().to_owned()
}

/// A cell's look; empty where it is the terminal's own. The foreground of a blank is not seen.
fn style(cell: &Cell) -> String {
    let seen = |colour: Color| (colour != Color::Reset).then(|| colour.to_string().to_lowercase());
    let mut modifier = cell.modifier;
    let mut words = Vec::new();
    if cell.symbol() == " " {
        modifier &= Modifier::REVERSED | Modifier::UNDERLINED;
    } else {
        words.extend(seen(cell.fg));
    }
    words.extend(seen(cell.bg).map(|colour| format!("on {colour}")));
    words.extend(modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    words.join(" ")
}
