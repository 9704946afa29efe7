//! One cell of the transcript: what it says, whether it is unfolded, and its lines once they were laid out.

use ratatui::text::Line;

use super::lines;
use crate::session::Level;
use crate::tui::pane::call::Call;
use crate::tui::theme::Theme;
use crate::tui::widget::{Highlighter, Markdown};

/// What a cell says. Every string is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Prompt(String),
    /// Markdown of the model.
    Reply(String),
    /// `tokens` is known once the reply is complete.
    Thinking {
        text: String,
        tokens: Option<u64>,
    },
    Call(Box<Call>),
    /// The model has begun to write a call of this tool.
    Calling(String),
    Note {
        level: Level,
        text: String,
    },
    /// The turn ended before it was done.
    Ended(String),
    Failed(String),
}

impl Entry {
    /// Returns whether there is nothing to see.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Reply(text) | Self::Thinking { text, .. } if text.trim().is_empty())
    }

    /// Returns whether it can be unfolded.
    pub fn is_foldable(&self) -> bool {
        match self {
            Self::Thinking { tokens, .. } => tokens.is_some(),
            Self::Call(call) => !call.files.is_empty() || !call.text.is_empty(),
            _ => false,
        }
    }

    /// Returns everything it says, folded or not, to be searched.
    pub fn said(&self) -> [&str; 3] {
        match self {
            Self::Call(call) => [&call.tool, &call.subject, &call.text],
            Self::Prompt(text)
            | Self::Reply(text)
            | Self::Thinking { text, .. }
            | Self::Calling(text)
            | Self::Note { text, .. }
            | Self::Ended(text)
            | Self::Failed(text) => [text, "", ""],
        }
    }

    /// Returns whether a blank line stands above, given whether a call is what stands above.
    fn is_apart(&self, below_call: bool) -> bool {
        match self {
            Self::Prompt(_) | Self::Failed(_) => true,
            Self::Reply(_) => below_call,
            _ => false,
        }
    }
}

/// An entry and how it stands on the screen.
#[derive(Debug)]
pub struct Cell {
    entry: Entry,
    expanded: bool,
    /// The width that the lines were made for; `None` when they are to be made anew.
    width: Option<u16>,
    /// Blank lines above.
    gap: usize,
    lines: Vec<Line<'static>>,
    /// Holds the lines of a reply instead, so that a token costs its own block only.
    markdown: Option<Box<Markdown>>,
}

impl Cell {
    /// Makes a cell that was not laid out yet.
    pub fn new(entry: Entry) -> Self {
        let markdown = match &entry {
            Entry::Reply(text) => {
                let mut markdown = Box::<Markdown>::default();
                markdown.push(text);
                Some(markdown)
            }
            _ => None,
        };
        Self { entry, expanded: false, width: None, gap: 0, lines: Vec::new(), markdown }
    }

    /// Returns what it says.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Takes more of the same kind, text behind text or thought behind thought; else returns false.
    pub fn continues_with(&mut self, more: &Entry) -> bool {
        match (&mut self.entry, more) {
            (Entry::Reply(text), Entry::Reply(more)) => {
                text.push_str(more);
                if let Some(markdown) = &mut self.markdown {
                    markdown.push(more);
                }
            }
            (Entry::Thinking { text, .. }, Entry::Thinking { text: more, .. }) => {
                text.push_str(more);
            }
            _ => return false,
        }
        self.width = None;
        true
    }

    /// Changes the call of this cell, if it is one.
    pub fn change_call(&mut self, how: impl FnOnce(&mut Call)) {
        let Entry::Call(call) = &mut self.entry else { return };
        how(call);
        self.width = None;
    }

    /// Unfolds or folds.
    pub fn toggle(&mut self) {
        self.expand(!self.expanded);
    }

    pub fn expand(&mut self, expanded: bool) {
        self.expanded = expanded && self.entry.is_foldable();
        self.width = None;
    }

    /// Makes the lines anew at the next layout, in other colours.
    pub fn restyle(&mut self) {
        self.width = None;
        if let Entry::Reply(text) = &self.entry {
            let mut markdown = Box::<Markdown>::default();
            markdown.push(text);
            self.markdown = Some(markdown);
        }
    }

    /// Makes the lines for a width, unless they stand already. `below_call` tells whether the cell
    /// above is a call; `None`: there is none above.
    pub fn lay_out(
        &mut self,
        width: u16,
        below_call: Option<bool>,
        theme: &Theme,
        highlighter: &mut Highlighter,
    ) {
        if self.width == Some(width) {
            return;
        }
        self.width = Some(width);
        self.gap = below_call.is_some_and(|call| self.entry.is_apart(call)).into();
        match &mut self.markdown {
            Some(markdown) => markdown.lay_out(width, theme, highlighter),
            None => {
                self.lines = lines::of(&self.entry, self.expanded, width, theme, highlighter);
            }
        }
    }

    /// Returns the blank lines above.
    pub fn gap(&self) -> usize {
        self.gap
    }

    /// Returns the lines as they were laid out last.
    pub fn lines(&self) -> &[Line<'static>] {
        self.markdown.as_ref().map_or(&self.lines, |markdown| markdown.lines())
    }

    /// Returns how many rows it takes, the gap included.
    pub fn height(&self) -> usize {
        self.gap + self.lines().len()
    }

    /// Returns whether the lines that stand were made for a width other than this.
    pub fn is_laid_out_otherwise(&self, width: u16) -> bool {
        self.width.is_some_and(|laid_out| laid_out != width)
    }

    /// Returns whether it is a call.
    pub fn is_call(&self) -> bool {
        matches!(self.entry, Entry::Call(_))
    }
}
