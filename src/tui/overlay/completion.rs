//! The list above the composer while a `/` command or an `@` file is being typed.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear};

use crate::tui::command::{COMMANDS, Row};
use crate::tui::theme::Theme;

/// Most rows that are offered at once.
const ROWS: usize = 12;

/// What is being completed, and the offers.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    /// What was typed so far, its `/` or `@` included.
    typed: String,
    offers: Vec<Offer>,
    selected: usize,
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What would stand in the draft.
    pub text: String,
    pub help: String,
    /// Whether nothing more need be typed: Enter sends it at once.
    pub is_whole: bool,
}

impl Completion {
    /// Offers commands for a draft that begins with `/`.
    pub fn of_commands(before_caret: &str) -> Option<Self> {
        let typed = before_caret.strip_prefix('/').filter(|typed| !typed.contains(' '))?;
        let rows: Vec<&Row> = COMMANDS.iter().filter(|row| row.slash.is_some()).collect();
        let found = rank(typed, rows, |row| row.slash.unwrap_or_default());
        Self::new(before_caret, found.into_iter().map(command).collect())
    }

    /// Offers values of a command's argument.
    pub fn of_values(typed: &str, values: Vec<String>) -> Option<Self> {
        let found = rank(typed, values, String::as_str);
        let offer = |text| Offer { text, help: String::new(), is_whole: true };
        Self::new(typed, found.into_iter().map(offer).collect())
    }

    /// Offers files for an `@`.
    pub fn of_files(mention: &str, files: &[String]) -> Option<Self> {
        let typed = mention.strip_prefix('@')?;
        let found = rank(typed, files.iter().collect(), |file| file.as_str());
        Self::new(mention, found.into_iter().map(|path| file(path)).collect())
    }

    fn new(typed: &str, offers: Vec<Offer>) -> Option<Self> {
        let is_done = offers.len() == 1 && offers[0].text.trim_end() == typed;
        let offers: Vec<Offer> = offers.into_iter().take(ROWS).collect();
        (!offers.is_empty() && !is_done).then(|| Self {
            typed: typed.to_owned(),
            offers,
            selected: 0,
        })
    }

    /// Moves the selection, around the ends.
    pub fn select(&mut self, by: isize) {
        let count = self.offers.len().cast_signed();
        self.selected = (self.selected.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    /// Returns the selected offer and how many characters it replaces.
    pub fn accept(self) -> (Offer, usize) {
        let chars = self.typed.chars().count();
        let mut offers = self.offers;
        (offers.swap_remove(self.selected), chars)
    }

    /// Draws the list right above the composer.
    pub fn draw(&self, frame: &mut Frame, composer: Rect, theme: &Theme) {
        let rows = u16::try_from(self.offers.len()).unwrap_or(u16::MAX);
        let height = (rows + 2).min(composer.y);
        let width = composer.width.min(self.width()).max(composer.width.min(30));
        let area = Rect { y: composer.y - height, height, width, ..composer };
        let block = Block::bordered().border_type(BorderType::Rounded).border_style(theme.border);
        let inner = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(block, area);
        let column = self.offers.iter().map(|offer| offer.text.chars().count()).max().unwrap_or(0);
        for (index, (row, offer)) in inner.rows().zip(&self.offers).enumerate() {
            let style = if index == self.selected { theme.selection } else { theme.text };
            let name = Span::styled(format!(" {:<column$} ", offer.text), style);
            let help = Span::styled(format!(" {} ", offer.help), theme.dim);
            frame.render_widget(Line::from(vec![name, help]), row);
        }
    }

    fn width(&self) -> u16 {
        let widest = |of: fn(&Offer) -> &str| {
            self.offers.iter().map(|offer| Span::raw(of(offer)).width()).max().unwrap_or(0)
        };
        let width = widest(|offer| &offer.text) + widest(|offer| &offer.help) + 6;
        u16::try_from(width).unwrap_or(u16::MAX)
    }
}

fn command(row: &Row) -> Offer {
    let slash = row.slash.unwrap_or_default();
    let is_whole = row.argument.is_empty();
    let text = if is_whole { format!("/{slash}") } else { format!("/{slash} ") };
    Offer { text, help: format!("{} {}", row.argument, row.help).trim().to_owned(), is_whole }
}

fn file(path: &str) -> Offer {
    Offer { text: format!("@{path} "), help: String::new(), is_whole: false }
}

/// Returns the items that match, best first.
pub fn rank<T>(typed: &str, items: Vec<T>, text: impl Fn(&T) -> &str) -> Vec<T> {
    struct Named<T, F>(T, F);
    impl<T, F: Fn(&T) -> &str> AsRef<str> for Named<T, &F> {
        fn as_ref(&self) -> &str {
            (self.1)(&self.0)
        }
    }
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let named = items.into_iter().map(|item| Named(item, &text));
    pattern.match_list(named, &mut matcher).into_iter().map(|(named, _)| named.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_letters() {
        let files = ["README.md", "pkg/calculator.py", "pkg/render.py"].map(String::from);
        let completion = Completion::of_files("@calc", &files).unwrap();
        assert_eq!(completion.accept(), (file("pkg/calculator.py"), 5));
    }

    #[test]
    fn a_command_that_is_all_there_is_not_offered() {
        assert_eq!(Completion::of_commands("/quit"), None);
        assert_eq!(Completion::of_commands("hello"), None);
        assert!(Completion::of_commands("/q").is_some());
    }
}
