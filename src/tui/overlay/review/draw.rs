//! Draws the review: the frame, the files, the diff with its marks, and the question behind a key.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::files::sign_style;
use super::marks::{Mark, Part};
use super::stage::Stage;
use super::{Purpose, Review, legend};
use crate::tui::overlay::answer::hints;
use crate::tui::theme::Theme;
use crate::tui::widget::Spot;

/// From this width on, the files stand in a column of their own.
const WIDE: u16 = 100;
const FILES_WIDTH: u16 = 28;
/// The columns that mark where the reader is, and what is decided.
pub const MARK: u16 = 2;
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
        let (files, rule, diff) =
            if self.has_column(area.width) { columns(body) } else { self.stacked(body) };
        Places { outer, files, rule, diff, question }
    }

    /// One file needs no column of its own: the diff's sides need the room.
    fn has_column(&self, width: u16) -> bool {
        width >= WIDE && self.files.len() > 1
    }

    fn question_rows(&self, width: u16) -> u16 {
        let rows = self.question(width, &Theme::default()).0.len();
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
        if matches!(self.stage, Stage::Legend) {
            return self.draw_legend(frame, places, theme);
        }
        frame.render_widget(Paragraph::new(self.file_lines(places.files, theme)), places.files);
        draw_rule(frame, places, theme);
        match &self.stage {
            Stage::Edit(edit) => edit.draw(frame, edit_area(places)),
            _ => self.draw_diff(frame, places.diff, theme),
        }
        let (question, _) = self.question(places.question.width, theme);
        frame.render_widget(Paragraph::new(question), places.question);
    }

    fn draw_legend(&self, frame: &mut Frame, places: Places, theme: &Theme) {
        let keys = match self.purpose {
            Purpose::Answer { .. } => legend::KEYS,
            Purpose::PutBack { .. } => legend::PUT_BACK,
            Purpose::Look => &legend::PUT_BACK[legend::PUT_BACK.len() - 4..],
        };
        legend::draw(frame, Block::bordered().inner(places.outer), keys, theme);
    }

    fn block(&self, width: u16, theme: &Theme) -> Block<'static> {
        let counts = self.counts(width, theme);
        let room = usize::from(width).saturating_sub(counts.width() + 3);
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.border_focused)
            .title(fit(self.title(theme), room))
            .title(counts.right_aligned())
            .title_bottom(self.keys(width, theme))
    }

    /// Returns the hunk the reader is in, where no list has room for it, what waits, and all lines.
    fn counts(&self, width: u16, theme: &Theme) -> Line<'static> {
        let hunk = self.files.get(self.view.file).filter(|_| self.has_column(width));
        let hunk = hunk.map_or_else(String::new, |file| format!(" {} ", self.hunk_of(file)));
        let waiting = match (&self.purpose, self.marks.count(Mark::Waiting)) {
            (Purpose::Answer { .. }, 1..) if self.marks.is_single() => String::new(),
            (Purpose::Answer { .. }, 0) => " all decided ".to_owned(),
            (Purpose::Answer { .. }, count) => format!(" {count} wait "),
            _ => String::new(),
        };
        let sum = |count: fn(&crate::workspace::FileDiff) -> usize| -> usize {
            self.files.iter().map(count).sum()
        };
        Line::from(vec![
            Span::styled(hunk, theme.dim),
            Span::styled(waiting, theme.warn),
            Span::styled(format!(" +{}", sum(|file| file.added)), theme.ok),
            Span::styled(format!(" −{} ", sum(|file| file.removed)), theme.error),
        ])
    }

    fn title(&self, theme: &Theme) -> Line<'static> {
        let files = match self.files.len() {
            1 => String::new(),
            count => format!("· {} of {count} files ", (self.view.file + 1).min(count)),
        };
        let mut title = Line::from(vec![
            Span::styled(" Review ", theme.title),
            Span::styled(format!(" {} ", self.heading), theme.text),
            Span::styled(files, theme.text),
        ]);
        if !self.reason.is_empty() {
            title.push_span(Span::styled(format!("· {} ", self.reason), theme.dim));
        }
        title
    }

    fn keys(&self, width: u16, theme: &Theme) -> Line<'static> {
        if let Some(advice) = &self.advice {
            return Line::styled(format!(" {advice} "), theme.warn);
        }
        let room = usize::from(width).saturating_sub(2);
        if !matches!(self.stage, Stage::Keys) {
            return fit_pairs(hints(self.stage_hints(), theme), room);
        }
        let all = hints(&[("?", "keys")], theme);
        let mut keys = fit_pairs(hints(&self.own_keys(), theme), room.saturating_sub(all.width()));
        keys.spans.extend(all.spans);
        keys
    }

    /// Returns the keys that matter most, the weightiest first.
    fn own_keys(&self) -> Vec<(&'static str, &'static str)> {
        let mut keys = match &self.purpose {
            Purpose::Look => vec![("Enter", "done")],
            Purpose::PutBack { .. } if self.marks.count(Mark::Rejected) > 0 => {
                vec![("n", "put back"), ("y", "leave"), ("Enter", "put back what is marked")]
            }
            Purpose::PutBack { .. } => vec![("n", "put back"), ("Esc", "close"), ("t", "by turn")],
            Purpose::Answer { .. } if self.marks.is_single() => {
                vec![
                    ("y", "accept"),
                    ("n", "reject…"),
                    ("Esc", "stop"),
                    ("e", "edit"),
                    ("c", "comment"),
                ]
            }
            Purpose::Answer { .. } => vec![
                ("y", "accept"),
                ("n", "reject…"),
                ("A", "all"),
                ("R", "none"),
                ("Enter", "done"),
                ("Esc", "stop"),
                ("e", "edit"),
                ("c", "comment"),
            ],
        };
        keys.extend((!self.rule().is_empty()).then_some(("a", "always…")));
        keys.extend([
            ("v", if self.view.is_split { "unified" } else { "split" }),
            ("[ ]", "hunks"),
        ]);
        keys.extend((self.files.len() > 1).then_some(("{ }", "files")));
        keys.push(("← →", "sideways"));
        keys
    }

    fn draw_diff(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        if self.view.sheet.lines.is_empty() {
            let line = Line::styled(" There are no lines to show.", theme.dim);
            return frame.render_widget(Paragraph::new(line), area);
        }
        let here = self.here().1;
        let lines = (self.view.top..).zip(&self.view.sheet.lines);
        for ((index, line), row) in lines.zip(area.rows()) {
            let [place, mark, text] = split_marks(row);
            frame.render_widget(line, text);
            let spot = self.view.sheet.spot(index);
            let (sign, style) = self.sign(index, theme);
            let is_rejected = sign == "✗";
            frame.render_widget(Span::styled(sign, style), mark);
            if is_rejected {
                frame.buffer_mut().set_style(text, faded(theme));
            }
            if index == self.view.line {
                frame.render_widget(Span::styled("▌", theme.accent), place);
            } else if self.part_of(spot).is_some_and(|(at, _)| at == here) {
                frame.render_widget(Span::styled("▏", theme.accent), place);
            }
        }
    }

    /// Returns the part that a row belongs to; none for rows that are about a part of a hunk only.
    fn part_of(&self, spot: Spot) -> Option<(usize, &Part)> {
        let marks = self.marks.files.get(self.view.file)?;
        let at = marks.part_at(spot.hunk, spot.line);
        marks.parts.get(at).map(|part| (at, part))
    }

    /// Returns what is decided on a row; lines that wait in a hunk that was split carry the number of their part.
    fn sign(&self, row: usize, theme: &Theme) -> (String, Style) {
        let none = (String::new(), theme.dim);
        let spot = self.view.sheet.spot(row);
        if self.view.sheet.is_unchanged(row) || matches!(self.purpose, Purpose::Look) {
            return none;
        }
        let Some((at, part)) = self.part_of(spot) else { return none };
        let siblings = self.marks.files[self.view.file].parts.iter().enumerate();
        let siblings: Vec<_> = siblings.filter(|(_, one)| one.hunk == part.hunk).collect();
        if spot.line.is_none() && siblings.len() > 1 {
            return none;
        }
        let sign = match part.mark {
            Mark::Accepted if matches!(self.purpose, Purpose::PutBack { .. }) => return none,
            Mark::Accepted => "✓".to_owned(),
            Mark::Rejected => "✗".to_owned(),
            Mark::Waiting if siblings.len() > 1 => {
                let number = siblings.iter().position(|(place, _)| *place == at).unwrap_or(0);
                ((number + 1) % 10).to_string()
            }
            Mark::Waiting => return none,
        };
        let style = sign_style(&sign, theme);
        (sign, style)
    }
}

/// Returns where a hunk's new side is edited: what the diff takes, one column in.
pub fn edit_area(places: Places) -> Rect {
    let left = 1.min(places.diff.width);
    Rect { x: places.diff.x + left, width: places.diff.width - left, ..places.diff }
}

/// What was rejected stands back.
fn faded(theme: &Theme) -> Style {
    Style { bg: Some(theme.text.bg.unwrap_or(Color::Reset)), ..theme.dim }
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

/// Splits a row into the columns that mark the reader's place and the decision, and the line itself.
fn split_marks(row: Rect) -> [Rect; 3] {
    let column = |at: u16| Rect {
        x: row.x + at.min(row.width),
        width: 1.min(row.width.saturating_sub(at)),
        ..row
    };
    let text =
        Rect { x: row.x + MARK.min(row.width), width: row.width.saturating_sub(MARK), ..row };
    [column(0), column(1), text]
}

fn question_width(inside: Rect) -> u16 {
    inside.width.saturating_sub(2)
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
