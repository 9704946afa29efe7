//! The conversation: a fold over agent events, laid out where it is in sight, and a view that stays put.
//!
//! `apply` takes facts in, `layout` makes the visible lines before each draw, `draw` only reads.

mod cell;
mod draw;
mod lines;
mod search;
mod sheet;
#[cfg(test)]
mod tests;
mod transcript;

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::search::{Query, Search};
use self::sheet::Sheet;
use self::transcript::Transcript;
use super::view::{Move, Place, Rows, View};
use crate::agent::AgentEvent;
use crate::tui::overlay::Reaction;
use crate::tui::theme::Theme;
use crate::tui::widget::Highlighter;

/// What was said and done, and where the reader is in it.
#[derive(Debug, Default)]
pub struct Conversation {
    transcript: Transcript,
    view: View,
    moves: Vec<Move>,
    /// The rows in sight, top to bottom.
    rows: Vec<Place>,
    /// Whether something arrived below while the reader was above.
    unseen: bool,
    selected: Option<usize>,
    search: Option<Search>,
    /// Whether the next layout brings the current match into sight.
    reveals: bool,
    /// Where the match that is meant now begins: its row, and the bytes of that line.
    found: Option<(Place, Range<usize>)>,
}

impl Conversation {
    /// Takes one event in.
    pub fn apply(&mut self, event: &AgentEvent) {
        let first = self.transcript.apply(event);
        if let Some(search) = &mut self.search {
            search.touch(first);
        }
        self.unseen |= first < self.transcript.len() && self.view != View::Following;
        if self.transcript.is_empty() {
            self.view = View::Following;
            self.selected = None;
        }
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.transcript.is_empty()
    }

    /// Makes every line anew at the next layout: the colours have changed.
    pub fn restyle(&mut self) {
        self.transcript.restyle();
    }

    /// Scrolls by lines, down is positive.
    pub fn scroll_by(&mut self, lines: i32) {
        self.moves.push(Move::Lines(lines));
    }

    /// Scrolls by pages, down is positive.
    pub fn page(&mut self, pages: i32) {
        self.moves.push(Move::Pages(pages));
    }

    /// Goes to the beginning.
    pub fn to_start(&mut self) {
        self.moves.push(Move::Start);
    }

    /// Goes to the end and follows it.
    pub fn to_end(&mut self) {
        self.moves.push(Move::End);
    }

    /// Looks for a text; an empty one ends the search.
    pub fn find(&mut self, text: &str) {
        let top = self.rows.first().map_or(0, |row| row.cell);
        self.search = Query::new(text).map(|query| Search::new(query, &self.transcript, top));
        self.found = None;
        self.reveal_match();
    }

    /// Goes to the next match, round the end.
    pub fn find_next(&mut self) {
        self.step(1);
    }

    /// Goes to the match before, round the beginning.
    pub fn find_prev(&mut self) {
        self.step(-1);
    }

    /// Returns the number of the current match, from 1, and how many there are.
    pub fn matches(&self) -> (usize, usize) {
        self.search.as_ref().map_or((0, 0), Search::position)
    }

    /// Unfolds or folds the selected cell, else the last that can be; its headline stays in sight.
    pub fn toggle(&mut self) {
        let foldable = |index: &usize| self.is_foldable(*index);
        let Some(index) = self.selected.or_else(|| (0..self.transcript.len()).rev().find(foldable))
        else {
            return;
        };
        if let Some(cell) = self.transcript.get_mut(index) {
            cell.toggle();
            self.moves.push(Move::Reveal(Place { cell: index, line: 0 }));
        }
    }

    /// Takes a key while the pane has the focus.
    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Char('j') | KeyCode::Down if plain => self.select(1),
            KeyCode::Char('k') | KeyCode::Up if plain => self.select(-1),
            KeyCode::Char('g') | KeyCode::Home if plain => self.to_start(),
            KeyCode::Char('G') | KeyCode::End if plain => self.to_end(),
            KeyCode::Char('n') if plain => self.find_next(),
            KeyCode::Char('N') if plain => self.find_prev(),
            KeyCode::Enter if plain => self.toggle(),
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    fn is_foldable(&self, index: usize) -> bool {
        self.transcript.get(index).is_some_and(|cell| cell.entry().is_foldable())
    }

    /// Goes to the next foldable cell in sight, or scrolls a line where there is none.
    fn select(&mut self, by: i32) {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return };
        let (first, last) = (first.cell, last.cell);
        let from = self.selected.filter(|index| (first..=last).contains(index));
        let next = if by > 0 {
            let from = from.map_or(first, |index| index + 1);
            (from..=last).find(|index| self.is_foldable(*index))
        } else {
            let end = from.unwrap_or(last + 1);
            (first..end).rev().find(|index| self.is_foldable(*index))
        };
        match next {
            Some(index) => self.selected = Some(index),
            None => self.scroll_by(by),
        }
    }

    fn step(&mut self, by: isize) {
        if let Some(search) = &mut self.search {
            search.step(by);
        }
        self.reveal_match();
    }

    /// Unfolds the cell of the current match; the next layout brings it into sight.
    fn reveal_match(&mut self) {
        let Some(found) = self.search.as_ref().and_then(Search::current) else { return };
        if let Some(cell) = self.transcript.get_mut(found.cell) {
            cell.expand(true);
        }
        self.reveals = true;
    }

    /// Gets the rows in sight ready to be drawn: nothing else is measured.
    pub fn layout(&mut self, width: u16, height: u16, theme: &Theme, code: &mut Highlighter) {
        let screen = usize::from(height);
        let width = width.saturating_sub(draw::gutter(width)).max(1);
        let mut sheet = Sheet { transcript: &mut self.transcript, width, theme, code };
        if let View::At(top) = &mut self.view {
            *top = sheet.rescaled(*top);
        }
        if let Some(search) = &mut self.search {
            search.refresh(sheet.transcript);
            self.found = search.current().and_then(|found| sheet.locate(&search.query, found));
        }
        for how in self.moves.drain(..) {
            self.view = sheet.moved(self.view, how, screen);
        }
        if let Some((place, _)) = self.found.as_ref().filter(|_| std::mem::take(&mut self.reveals))
        {
            self.view = sheet.moved(self.view, Move::Reveal(*place), screen);
        }
        (self.view, self.rows) = sheet.in_sight(self.view, screen);
        self.unseen &= self.view != View::Following;
    }
}
