//! The diff under review, in the conversation's place: files, hunks, and the person's word on all of it.
//! Without a call that waits it only shows (`/diff`).

mod draw;
#[cfg(test)]
mod tests;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::answer::Answer;
use super::{Overlay, Reaction};
use crate::agent::Approval;
use crate::session::Proposal;
use crate::tui::foreign;
use crate::tui::theme::Theme;
use crate::tui::widget::{DiffRows, Highlighter, Layout, Window};
use crate::visible;
use crate::workspace::FileDiff;

/// Columns that one key goes sideways, and how far it goes in all.
const SIDEWAYS: usize = 8;
const FARTHEST: usize = 10_000;

/// A change, where the reader is in it, and the answer if one is wanted.
#[derive(Debug)]
pub struct Review {
    /// The tool that would change; safe to show.
    tool: String,
    /// Why it is asked; safe to show.
    reason: String,
    files: Vec<FileDiff>,
    answer: Option<Answer>,
    file: usize,
    split: bool,
    /// The line the reader is at, and the first in sight.
    line: usize,
    top: usize,
    /// The first column of the lines in sight.
    offset: usize,
    /// Rows of the diff in sight.
    rows: usize,
    sheet: Sheet,
    /// What a key that did nothing should have been.
    advice: Option<&'static str>,
}

/// The diff of one file, and the part of it that is in sight as lines.
#[derive(Debug, Default)]
struct Sheet {
    /// The file and whether the sides stand beside each other.
    made_for: Option<(usize, bool)>,
    diff: Option<DiffRows>,
    /// Where each hunk begins.
    hunks: Vec<usize>,
    /// The first line in sight, how many are, and what part of them.
    in_sight: Option<(usize, usize, Window)>,
    lines: Vec<Line<'static>>,
}

impl Sheet {
    fn of(file: Option<&FileDiff>, made_for: (usize, bool)) -> Self {
        let layout = if made_for.1 { Layout::Split } else { Layout::Unified };
        let diff = file.map(|file| DiffRows::new(file, layout));
        let hunks = diff.as_ref().map(DiffRows::hunks).unwrap_or_default();
        Self { made_for: Some(made_for), diff, hunks, ..Self::default() }
    }

    fn count(&self) -> usize {
        self.diff.as_ref().map_or(0, DiffRows::count)
    }

    /// Makes the lines in sight, unless they stand already.
    fn show(&mut self, top: usize, rows: usize, window: Window, theme: &Theme, code: &Highlighter) {
        let in_sight = Some((top, rows, window));
        if self.in_sight == in_sight {
            return;
        }
        self.in_sight = in_sight;
        let diff = self.diff.as_ref();
        self.lines =
            diff.map(|diff| diff.rows(top..top + rows, window, theme, code)).unwrap_or_default();
    }
}

impl Review {
    /// Asks about a change.
    pub fn of(approval: Approval) -> Self {
        let files = match &approval.proposal {
            Proposal::Change { files } => foreign::diffs(files),
            Proposal::Look { .. } | Proposal::Run { .. } => Vec::new(),
        };
        let answer = Some(Answer::to(&approval));
        let tool = visible::line(&approval.tool).into_owned();
        let reason = visible::line(&approval.reason).into_owned();
        Self { tool, reason, answer, ..Self::read_only(files) }
    }

    /// Shows a change that stands already; its strings are made safe here.
    pub fn read_only(files: Vec<FileDiff>) -> Self {
        Self {
            tool: "diff".into(),
            reason: String::new(),
            files: foreign::diffs(&files),
            answer: None,
            file: 0,
            split: false,
            line: 0,
            top: 0,
            offset: 0,
            rows: 0,
            sheet: Sheet::default(),
            advice: None,
        }
    }

    /// Takes a key that moves or changes the view.
    fn look(&mut self, key: KeyEvent) -> Reaction {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Reaction::Ignored;
        }
        let page = self.rows.saturating_sub(2).max(1).cast_signed();
        match key.code {
            KeyCode::Char('j') | KeyCode::Down => self.go_by(1),
            KeyCode::Char('k') | KeyCode::Up => self.go_by(-1),
            KeyCode::PageDown => self.go_by(page),
            KeyCode::PageUp => self.go_by(-page),
            KeyCode::Char('g') | KeyCode::Home => self.line = 0,
            KeyCode::Char('G') | KeyCode::End => self.line = usize::MAX,
            KeyCode::Char(']') => self.next_hunk(),
            KeyCode::Char('[') => self.previous_hunk(),
            KeyCode::Char('}') => self.go_to_file(self.file + 1),
            KeyCode::Char('{') => self.go_to_file(self.file.saturating_sub(1)),
            KeyCode::Char('l') | KeyCode::Right => {
                self.offset = (self.offset + SIDEWAYS).min(FARTHEST)
            }
            KeyCode::Char('h') | KeyCode::Left => {
                self.offset = self.offset.saturating_sub(SIDEWAYS);
            }
            KeyCode::Char('v') => self.split = !self.split,
            KeyCode::Enter => return self.enter(),
            KeyCode::Esc | KeyCode::Char('q') if self.answer.is_none() => return Reaction::Close,
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    /// Enter never accepts: it closes what only shows, and else says what to press.
    fn enter(&mut self) -> Reaction {
        if self.answer.is_none() {
            return Reaction::Close;
        }
        self.advice = Some(" Press y to accept or n to reject. ");
        Reaction::Taken
    }

    fn go_by(&mut self, lines: isize) {
        self.line = self.line.saturating_add_signed(lines);
    }

    fn go_to_file(&mut self, file: usize) {
        if file != self.file && file < self.files.len() {
            (self.file, self.line, self.top, self.offset) = (file, 0, 0, 0);
        }
    }

    /// Goes to the next hunk, in the next file when this one has no more.
    fn next_hunk(&mut self) {
        match self.sheet.hunks.iter().find(|&&start| start > self.line) {
            Some(&start) => self.go_to_hunk(start),
            None => self.go_to_file(self.file + 1),
        }
    }

    /// Goes to the hunk before, in the file before when this one has no more.
    fn previous_hunk(&mut self) {
        match self.sheet.hunks.iter().rev().find(|&&start| start < self.line) {
            Some(&start) => self.go_to_hunk(start),
            None if self.file > 0 => {
                self.go_to_file(self.file - 1);
                self.line = usize::MAX;
            }
            None => {}
        }
    }

    /// Puts the beginning of a hunk at the top, so that as much of it as fits is in sight.
    fn go_to_hunk(&mut self, start: usize) {
        (self.line, self.top) = (start, start.saturating_sub(1));
    }

    /// Returns the number of the hunk that the reader is in, from 1.
    fn hunk(&self) -> usize {
        self.sheet.hunks.partition_point(|&start| start <= self.line).max(1)
    }

    /// Keeps the line inside the diff and in sight.
    fn settle(&mut self) {
        let count = self.sheet.count();
        self.line = self.line.min(count.saturating_sub(1));
        let highest = (self.line + 1).saturating_sub(self.rows);
        self.top = self.top.clamp(highest, self.line.max(highest));
        self.top = self.top.min(count.saturating_sub(self.rows));
    }
}

impl Overlay for Review {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        self.advice = None;
        let answered = self.answer.as_mut().map_or(Reaction::Ignored, |answer| answer.key(key));
        if answered == Reaction::Ignored { self.look(key) } else { answered }
    }

    fn paste(&mut self, text: &str) {
        if let Some(answer) = &mut self.answer {
            answer.paste(text);
        }
    }

    fn layout(&mut self, area: Rect, theme: &Theme, highlighter: &mut Highlighter) {
        let places = self.places(area);
        self.rows = places.diff.height.into();
        let made_for = (self.file, self.split);
        if self.sheet.made_for != Some(made_for) {
            self.sheet = Sheet::of(self.files.get(self.file), made_for);
        }
        self.settle();
        let columns = places.diff.width.saturating_sub(draw::MARK).max(1);
        let window = Window { columns, offset: self.offset };
        self.sheet.show(self.top, self.rows, window, theme, highlighter);
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        self.draw_in(frame, self.places(area), theme);
    }

    fn cursor(&self, area: Rect) -> Option<Position> {
        let question = self.places(area).question;
        let (_, caret) = self.answer.as_ref()?.question(question.width, &Theme::default());
        Some(Position { x: question.x + caret?, y: question.bottom().saturating_sub(1) })
    }
}
