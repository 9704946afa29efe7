//! Where the reader is in the diffs: the file, the line, what is in sight, and how to get elsewhere.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::marks::FileMarks;
use super::sheet::Sheet;
use crate::tui::theme::Theme;
use crate::tui::widget::{Highlighter, Spot, Window};
use crate::workspace::FileDiff;

/// Columns that one key goes sideways, and how far it goes in all.
const SIDEWAYS: usize = 8;
const FARTHEST: usize = 10_000;

/// The reader's place.
#[derive(Debug, Default)]
pub struct View {
    pub file: usize,
    /// How many files there are.
    files: usize,
    pub is_split: bool,
    /// The line the reader is at, and the first in sight.
    pub line: usize,
    pub top: usize,
    /// The first column of the lines in sight.
    offset: usize,
    /// Rows of the diff in sight.
    pub rows: usize,
    pub sheet: Sheet,
    /// A part to go to once its file is laid out.
    target: Option<usize>,
}

impl View {
    /// Begins at the first file.
    pub fn of(files: usize) -> Self {
        Self { files, ..Self::default() }
    }

    /// Begins at the first of other files, seen in the same way.
    pub fn over(&self, files: usize) -> Self {
        Self { is_split: self.is_split, ..Self::of(files) }
    }

    /// Takes a key that moves or changes the view; returns whether it was one.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return false;
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
                self.offset = (self.offset + SIDEWAYS).min(FARTHEST);
            }
            KeyCode::Char('h') | KeyCode::Left => {
                self.offset = self.offset.saturating_sub(SIDEWAYS);
            }
            KeyCode::Char('v') => self.is_split = !self.is_split,
            _ => return false,
        }
        true
    }

    fn go_by(&mut self, lines: isize) {
        self.line = self.line.saturating_add_signed(lines);
    }

    fn go_to_file(&mut self, file: usize) {
        if file != self.file && file < self.files {
            (self.file, self.line, self.top, self.offset) = (file, 0, 0, 0);
        }
    }

    /// Goes to a part of a file, once that is laid out.
    pub fn go_to(&mut self, (file, part): (usize, usize)) {
        self.go_to_file(file);
        self.target = Some(part);
    }

    /// Goes to the next hunk, in the next file when this one has no more.
    fn next_hunk(&mut self) {
        match self.sheet.hunks.iter().find(|&&start| start > self.line) {
            Some(&start) => self.go_to_row(start),
            None => self.go_to_file(self.file + 1),
        }
    }

    /// Goes to the hunk before, in the file before when this one has no more.
    fn previous_hunk(&mut self) {
        match self.sheet.hunks.iter().rev().find(|&&start| start < self.line) {
            Some(&start) => self.go_to_row(start),
            None if self.file > 0 => {
                self.go_to_file(self.file - 1);
                self.line = usize::MAX;
            }
            None => {}
        }
    }

    /// Puts a row at the top, so that as much as fits of what follows is in sight.
    fn go_to_row(&mut self, row: usize) {
        (self.line, self.top) = (row, row.saturating_sub(1));
    }

    /// Returns what the reader is at.
    pub fn spot(&self) -> Spot {
        self.sheet.spot(self.line)
    }

    /// Returns the number of the hunk that the reader is in, from 1.
    pub fn hunk(&self) -> usize {
        self.sheet.hunks.partition_point(|&start| start <= self.line).max(1)
    }

    /// Lays the file out that is read and keeps the reader's line in sight.
    pub fn lay_out(&mut self, rows: usize, state: u64, files: &[FileDiff], marks: &[FileMarks]) {
        self.rows = rows;
        let Some(marks) = marks.get(self.file) else { return };
        self.sheet.lay_out((self.file, self.is_split, state), files.get(self.file), marks);
        if let Some(part) = self.target.take().and_then(|part| marks.parts.get(part)) {
            let row = self.sheet.row_of(part.hunk, part.lines.start);
            self.go_to_row(row);
        }
        self.settle();
    }

    fn settle(&mut self) {
        let count = self.sheet.count();
        self.line = self.line.min(count.saturating_sub(1));
        let highest = (self.line + 1).saturating_sub(self.rows);
        self.top = self.top.clamp(highest, self.line.max(highest));
        self.top = self.top.min(count.saturating_sub(self.rows));
    }

    /// Makes the lines in sight.
    pub fn show(&mut self, columns: u16, theme: &Theme, code: &Highlighter) {
        let window = Window { columns: columns.max(1), offset: self.offset };
        self.sheet.show(self.top, self.rows, window, theme, code);
    }
}
