//! One frame from the state that `App::prepare` left. Reads only.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph, Wrap};

use super::app::{App, Focus};
use super::command::Command;
use super::pane::greeting;

const CONVERSATION: &str = "Conversation";
const TOOLS: &str = "Tools";

/// Draws the whole screen and puts the real cursor at the caret.
pub fn draw(frame: &mut Frame, app: &App) {
    frame.render_widget(Block::new().style(app.theme.text), frame.area());
    let regions = &app.regions;
    app.title.draw(frame, regions.title, &app.theme);
    app.phases.draw(frame, regions.phases, &app.theme, app.now, app.status.cost);
    panes(frame, app);
    notes(frame, app);
    composer(frame, app);
    app.status.draw(frame, regions.status, &app.theme, hints(app));
    overlays(frame, app);
}

fn panes(frame: &mut Frame, app: &App) {
    let regions = &app.regions;
    if app.is_idle() {
        let (suggestion, last) = (app.suggestion.as_deref(), app.last.as_deref());
        return greeting::draw(frame, regions.conversation, &app.theme, suggestion, last);
    }
    if !app.shows_tools_alone() {
        conversation(frame, app, regions.conversation);
    }
    let alone = app.shows_tools_alone().then_some(regions.conversation);
    let area = alone.unwrap_or(regions.tools);
    if !area.is_empty() {
        tools(frame, app, area);
    }
}

fn conversation(frame: &mut Frame, app: &App, area: Rect) {
    let focused = app.focus == Focus::Conversation;
    let inside = pane(frame, app, area, CONVERSATION, focused);
    app.conversation.draw(frame.buffer_mut(), inside, &app.theme, focused);
}

fn tools(frame: &mut Frame, app: &App, area: Rect) {
    let focused = app.focus == Focus::Tools;
    let inside = pane(frame, app, area, TOOLS, focused);
    app.tools.draw(frame.buffer_mut(), inside, &app.theme, focused);
}

fn pane(frame: &mut Frame, app: &App, area: Rect, name: &'static str, focused: bool) -> Rect {
    let inside = app.regions.inside(area);
    if !app.regions.title.is_empty() {
        let border = if focused { app.theme.border_focused } else { app.theme.border };
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(border)
            .title(title(app, name));
        frame.render_widget(block, area);
    }
    inside
}

/// A pane's name; where the panes share one place, both names, the one that is seen brighter.
fn title(app: &App, name: &'static str) -> Line<'static> {
    if !app.regions.has_tabs() {
        return Line::styled(format!(" {name} "), app.theme.title);
    }
    let tab = |tab: &'static str| {
        let style = if tab == name { app.theme.title } else { app.theme.dim };
        Span::styled(format!(" {tab} "), style)
    };
    Line::from(vec![tab(CONVERSATION), Span::styled("│", app.theme.border), tab(TOOLS)])
}

/// The search line, notices, and messages that wait: what stands right above the composer.
fn notes(frame: &mut Frame, app: &App) {
    let mut area = app.regions.notes;
    if let (Some(search), false) = (&app.search, area.is_empty()) {
        let line = Rect { height: 1, ..area };
        let caret = search.draw(frame, line, &app.theme, app.conversation.matches());
        frame.set_cursor_position(caret);
        area.y += 1;
        area.height -= 1;
    }
    let notices = app.notices.iter().map(|text| Line::styled(format!(" {text}"), app.theme.warn));
    let queued = app.queued.iter().map(|text| {
        let first = text.lines().next().unwrap_or_default();
        Line::from(vec![
            Span::styled(" queued ", app.theme.key),
            Span::styled(crate::visible::line(first).into_owned(), app.theme.dim),
        ])
    });
    let lines: Vec<Line> = notices.chain(queued).collect();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

fn composer(frame: &mut Frame, app: &App) {
    let area = app.regions.composer;
    let focused = app.focus == Focus::Composer && !app.answers();
    let caret = app.composer.draw(frame, area, &app.theme, focused);
    if app.search.is_none() && !area.is_empty() {
        frame.set_cursor_position(caret);
    }
    if let Some(completion) = &app.completion {
        completion.draw(frame, area, &app.theme);
    }
}

fn overlays(frame: &mut Frame, app: &App) {
    let body = app.regions.body();
    if let Some(approval) = app.approvals.overlay() {
        approval.draw(frame, body, &app.theme);
        if let Some(caret) = approval.cursor(body).filter(|_| app.answers()) {
            frame.set_cursor_position(caret);
        }
    }
    say_how_to_answer(frame, app, body);
    for overlay in &app.overlays {
        overlay.draw(frame, body, &app.theme);
        if let Some(caret) = overlay.cursor(body) {
            frame.set_cursor_position(caret);
        }
    }
}

/// While a draft stands or the approval is aside, its keys are not taken: Tab goes there first.
fn say_how_to_answer(frame: &mut Frame, app: &App, body: Rect) {
    let is_aside = app.approvals.overlay().is_none();
    let waits = app.approvals.is_open() && (is_aside || !app.composer.is_empty());
    if !waits || app.answers() || body.is_empty() {
        return;
    }
    let text = if is_aside { " An approval waits · Tab to answer " } else { " Tab to answer " };
    let line = Line::styled(text, app.theme.selection);
    let width = u16::try_from(line.width()).unwrap_or(0).min(body.width);
    let x = body.x + (body.width - width) / 2;
    frame.render_widget(line, Rect { x, y: body.bottom() - 1, width, height: 1 });
}

/// The keys that matter now.
fn hints(app: &App) -> &'static [(Command, &'static str)] {
    if app.phases.is_working() {
        return &[
            (Command::Back, "stop"),
            (Command::NextPane, "panes"),
            (Command::Expand, "expand"),
            (Command::Palette, "palette"),
            (Command::Help, "help"),
        ];
    }
    if app.is_idle() {
        return &[
            (Command::NextMode, "mode"),
            (Command::Palette, "palette"),
            (Command::Help, "help"),
        ];
    }
    &[
        (Command::NextPane, "panes"),
        (Command::NextMode, "mode"),
        (Command::Palette, "palette"),
        (Command::Help, "help"),
    ]
}
