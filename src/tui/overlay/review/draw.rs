//! Draws the review: the frame, the files, the diff, and the question behind a key.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::Review;
use crate::tui::overlay::answer::hints;
use crate::tui::theme::Theme;
use crate::tui::widget::clip;
use crate::workspace::{FileDiff, FileKind};

/// From this width on, the files stand in a column of their own.
const WIDE: u16 = 100;
const FILES_WIDTH: u16 = 28;
/// The column that marks where the reader is.
pub const MARK: u16 = 1;
/// Rows kept for the conversation above.
const ABOVE: u16 = 2;

/// Where everything stands.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub outer: Rect,
    pub files: Rect,
    /// The line between files and diff.
    pub rule: Rect,
    pub diff: Rect,
    pub question: Rect,
}

impl Review {
    /// Returns where everything stands in the area between title and status line.
    pub fn places(&self, area: Rect) -> Places {
        let above = if area.height > 14 { ABOVE } else { 0 };
        let outer = Rect { y: area.y + above, height: area.height - above, ..area };
        let inside = Block::bordered().inner(outer);
        let asked = self.question_rows(question_width(inside)).min(inside.height);
        let body = Rect { height: inside.height - asked, ..inside };
        let question = Rect {
            x: inside.x + 1.min(inside.width),
            y: body.bottom(),
            width: question_width(inside),
            height: asked,
        };
        // One file needs no column of its own: the diff's sides need the room.
        let has_column = area.width >= WIDE && self.files.len() > 1;
        let (files, rule, diff) = if has_column { columns(body) } else { self.stacked(body) };
        Places { outer, files, rule, diff, question }
    }

    fn question_rows(&self, width: u16) -> u16 {
        let rows = self
            .answer
            .as_ref()
            .map_or(0, |answer| answer.question(width, &Theme::default()).0.len());
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Files above the diff: a third of the room at most.
    fn stacked(&self, body: Rect) -> (Rect, Rect, Rect) {
        let count = u16::try_from(self.files.len()).unwrap_or(u16::MAX);
        let rows = count.min((body.height / 3).max(1)).min(body.height);
        let files = Rect { height: rows, ..body };
        let rule_rows = u16::from(body.height > rows);
        let rule = Rect { y: files.bottom(), height: rule_rows, ..body };
        let left = body.height - rows - rule_rows;
        (files, rule, Rect { y: rule.bottom(), height: left, ..body })
    }

    /// Draws everything in its place.
    pub fn draw_in(&self, frame: &mut Frame, places: Places, theme: &Theme) {
        frame.render_widget(Clear, places.outer);
        frame.render_widget(self.block(places.outer.width, theme), places.outer);
        frame.render_widget(Paragraph::new(self.file_lines(places.files, theme)), places.files);
        draw_rule(frame, places, theme);
        self.draw_diff(frame, places.diff, theme);
        if let Some(answer) = &self.answer {
            let (question, _) = answer.question(places.question.width, theme);
            frame.render_widget(Paragraph::new(question), places.question);
        }
    }

    fn block(&self, width: u16, theme: &Theme) -> Block<'static> {
        let (added, removed) = self
            .files
            .iter()
            .fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
        // The column of files has no room for it.
        let hunk = self.files.get(self.file).filter(|_| width >= WIDE && self.files.len() > 1);
        let hunk = hunk.map_or_else(String::new, |file| format!(" {} ", self.hunk_of(file)));
        let counts = Line::from(vec![
            Span::styled(hunk, theme.dim),
            Span::styled(format!(" +{added}"), theme.ok),
            Span::styled(format!(" −{removed} "), theme.error),
        ]);
        let room = usize::from(width).saturating_sub(counts.width() + 3);
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.border_focused)
            .title(fit(self.title(theme), room))
            .title(counts.right_aligned())
            .title_bottom(self.keys(width, theme))
    }

    fn title(&self, theme: &Theme) -> Line<'static> {
        let files = match self.files.len() {
            1 => String::new(),
            count => format!("· {} of {count} files ", (self.file + 1).min(count)),
        };
        let mut title = Line::from(vec![
            Span::styled(" Review ", theme.title),
            Span::styled(format!(" {} ", self.tool), theme.text),
            Span::styled(files, theme.text),
        ]);
        if !self.reason.is_empty() {
            title.push_span(Span::styled(format!("· {} ", self.reason), theme.dim));
        }
        title
    }

    fn keys(&self, width: u16, theme: &Theme) -> Line<'static> {
        if let Some(advice) = self.advice {
            return Line::styled(advice, theme.warn);
        }
        let mut keys = Vec::new();
        if let Some(answer) = &self.answer {
            keys.extend([("y", "accept"), ("n", "reject…"), ("Esc", "stop")]);
            keys.extend(answer.rule.is_some().then_some(("a", "always…")));
        } else {
            keys.push(("Enter", "done"));
        }
        keys.extend([("v", if self.split { "unified" } else { "split" }), ("[ ]", "hunks")]);
        if self.files.len() > 1 {
            keys.push(("{ }", "files"));
        }
        if width >= WIDE {
            keys.push(("← →", "sideways"));
        }
        let keys = self
            .answer
            .as_ref()
            .map_or_else(|| hints(&keys, theme), |answer| answer.hints(&keys, theme));
        fit_pairs(keys, usize::from(width).saturating_sub(2))
    }

    /// Returns the files around the current one that fit.
    fn file_lines(&self, area: Rect, theme: &Theme) -> Vec<Line<'static>> {
        let rows = usize::from(area.height);
        let first = (self.file + 1).saturating_sub(rows);
        let files = self.files.iter().enumerate().skip(first).take(rows);
        files.map(|(index, file)| self.file_line(index, file, area.width, theme)).collect()
    }

    fn file_line(&self, index: usize, file: &FileDiff, width: u16, theme: &Theme) -> Line<'static> {
        let is_current = index == self.file;
        let (sign, style) = if is_current { (" ▾ ", theme.accent) } else { ("   ", theme.text) };
        let end = if is_current { self.hunk_of(file) } else { hunks(file.hunks.len()) };
        let mark = if is_current { "◆" } else { "◇" };
        let kind = match file.kind {
            FileKind::Created => " new",
            FileKind::Deleted => " deleted",
            FileKind::Replaced => " replaced",
            FileKind::Modified => "",
        };
        let counts = [
            Span::styled(format!("  +{}", file.added), theme.ok),
            Span::styled(format!(" −{}", file.removed), theme.error),
        ];
        let fixed = [Span::raw(sign), Span::raw(kind)];
        let taken: usize = counts.iter().chain(&fixed).map(Span::width).sum();
        let room = u16::try_from(usize::from(width).saturating_sub(taken)).unwrap_or(u16::MAX);
        let longest = self.files.iter().map(|file| Span::raw(&file.path).width()).max();
        let column = longest.unwrap_or(0).min(room.into());
        let path = clip(&file.path, room);
        let blank = column.saturating_sub(Span::raw(&path).width());
        let path = path + &" ".repeat(blank);
        let mut line = Line::from(vec![Span::styled(sign, style), Span::styled(path, style)]);
        line.push_span(Span::styled(kind, theme.dim));
        line.spans.extend(counts);
        let end = format!("   {mark} {end}");
        if line.width() + Span::raw(&end).width() <= width.into() {
            line.push_span(Span::styled(end, theme.dim));
        }
        line
    }

    fn hunk_of(&self, file: &FileDiff) -> String {
        match file.hunks.len() {
            0 => hunks(0),
            count => format!("hunk {} of {count}", self.hunk().min(count)),
        }
    }

    fn draw_diff(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        if self.sheet.lines.is_empty() {
            let line = Line::styled(" There are no lines to show.", theme.dim);
            return frame.render_widget(Paragraph::new(line), area);
        }
        let lines = (self.top..).zip(&self.sheet.lines);
        for ((index, line), row) in lines.zip(area.rows()) {
            let (mark, text) = split_mark(row);
            frame.render_widget(line, text);
            if index == self.line {
                frame.render_widget(Span::styled("▌", theme.accent), mark);
            }
        }
    }
}

/// Leaves out the last spans until the rest fits: half a word helps nobody.
fn fit(mut line: Line<'static>, room: usize) -> Line<'static> {
    while line.width() > room && line.spans.len() > 1 {
        line.spans.pop();
    }
    line
}

/// Leaves out the last keys with their words until the rest fits.
fn fit_pairs(mut line: Line<'static>, room: usize) -> Line<'static> {
    while line.width() > room && line.spans.len() > 2 {
        line.spans.truncate(line.spans.len() - 2);
    }
    line
}

/// Splits a row into the column that marks where the reader is, and the line itself.
fn split_mark(row: Rect) -> (Rect, Rect) {
    let mark = Rect { width: row.width.min(MARK), ..row };
    (mark, Rect { x: mark.right(), width: row.width - mark.width, ..row })
}

fn question_width(inside: Rect) -> u16 {
    inside.width.saturating_sub(2)
}

fn hunks(count: usize) -> String {
    match count {
        0 => "no text".into(),
        1 => "1 hunk".into(),
        count => format!("{count} hunks"),
    }
}

/// Files in a column at the left.
fn columns(body: Rect) -> (Rect, Rect, Rect) {
    let width = FILES_WIDTH.min(body.width);
    let files = Rect { width, ..body };
    let rule_columns = u16::from(body.width > width);
    let rule = Rect { x: files.right(), width: rule_columns, ..body };
    let left = body.width - width - rule_columns;
    (files, rule, Rect { x: rule.right(), width: left, ..body })
}

/// Draws the line between files and diff, joined to the frame where it meets it.
fn draw_rule(frame: &mut Frame, places: Places, theme: &Theme) {
    let Places { outer, rule, .. } = places;
    if rule.is_empty() {
        return;
    }
    let style = theme.border_focused;
    if rule.height > 1 || rule.width == 1 {
        let across = Line::styled("│", style);
        rule.rows().for_each(|row| frame.render_widget(&across, row));
        return;
    }
    let row = Rect { x: outer.x, width: outer.width, ..rule };
    let line = format!("├{}┤", "─".repeat(usize::from(rule.width)));
    frame.render_widget(Line::styled(line, style), row);
}
