//! The title bar: where we are, which model answers, what stands without being asked.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::config::Mode;
use crate::session::Record;
use crate::tui::theme::Theme;
use crate::visible;
use crate::workspace::git::Head;

/// What the title bar shows.
#[derive(Debug)]
pub struct Title {
    /// The workspace, the home folder as `~`.
    workspace: String,
    head: Option<Head>,
    pub model: String,
    is_scripted: bool,
    pub mode: Mode,
}

impl Title {
    /// Makes a title that knows no repository yet.
    pub fn new(workspace: &str, model: &str, is_scripted: bool, mode: Mode) -> Self {
        let workspace = visible::line(workspace).into_owned();
        Self { workspace, head: None, model: model.to_owned(), is_scripted, mode }
    }

    /// Takes the repository's head.
    pub fn set_head(&mut self, head: Option<Head>) {
        self.head = head.map(|head| Head { name: visible::line(&head.name).into_owned(), ..head });
    }

    /// Takes a fact in.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::ModeChanged { mode } => self.mode = *mode,
            Record::ModelChanged { model } => {
                self.model = visible::line(model).into_owned();
                self.is_scripted = model.starts_with("scripted/");
            }
            _ => {}
        }
    }

    /// Draws the bar; where it is narrow, the left part gives way.
    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let right = self.right(theme);
        let width = u16::try_from(right.width()).unwrap_or(u16::MAX).min(area.width);
        let left = Rect { width: area.width - width, ..area };
        frame.render_widget(self.left(theme), left);
        frame.render_widget(right, Rect { x: left.right(), width, ..area });
    }

    fn left(&self, theme: &Theme) -> Line<'_> {
        let mut spans = vec![
            Span::styled(" ♣ trefoil", theme.brand),
            Span::raw("  "),
            Span::styled(self.workspace.as_str(), theme.title),
        ];
        if let Some(head) = &self.head {
            spans.push(Span::styled(format!("  {}", head.name), theme.accent));
            if head.changed > 0 {
                spans.push(Span::styled(format!(" ±{}", head.changed), theme.dim));
            }
        }
        Line::from(spans)
    }

    fn right(&self, theme: &Theme) -> Line<'_> {
        let mode = match self.mode {
            Mode::Plan => theme.mode_plan,
            Mode::Ask => theme.mode_ask,
            Mode::AcceptEdits => theme.mode_accept,
        };
        // The provider's name goes without saying.
        let model = self.model.split_once('/').map_or(self.model.as_str(), |(_, model)| model);
        let shown = if self.is_scripted { "scripted" } else { model };
        Line::from(vec![
            Span::raw("  "),
            Span::styled(shown, theme.text),
            Span::raw("   "),
            Span::styled(self.mode.name(), mode),
            Span::raw(" "),
        ])
    }
}
