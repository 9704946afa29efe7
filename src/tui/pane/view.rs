//! Where the reader is. The view hangs on one line of one cell, so nothing that is out of sight is ever
//! measured: scrolling walks from there, and what arrives below cannot move it.

/// A row: a cell, and a line of it (its gap counts).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub cell: usize,
    pub line: usize,
}

/// What is at the top of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// The end is in sight, and stays so.
    #[default]
    Following,
    /// This row stays at the top, whatever arrives.
    At(Place),
}

/// A wish to scroll, carried out when heights can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Lines(i32),
    Pages(i32),
    Start,
    End,
    /// Brings a row into sight.
    Reveal(Place),
}

/// Cells as rows. Asking for a height lays that cell out.
pub trait Rows {
    /// Returns how many cells there are.
    fn count(&self) -> usize;

    /// Returns how many rows a cell takes.
    fn height(&mut self, cell: usize) -> usize;

    /// Returns the top row when the last row of all stands at the bottom of `rows`.
    fn last_top(&mut self, rows: usize) -> Place {
        self.up(Place { cell: self.count(), line: 0 }, rows)
    }

    /// Returns the row `rows` above, or the first.
    fn up(&mut self, from: Place, rows: usize) -> Place {
        let Place { mut cell, mut line } = from;
        let mut left = rows;
        while left > line {
            if cell == 0 {
                return Place::default();
            }
            left -= line;
            cell -= 1;
            line = self.height(cell);
        }
        Place { cell, line: line - left }
    }

    /// Returns the row `rows` below; past the end it is the place behind the last cell.
    fn down(&mut self, from: Place, rows: usize) -> Place {
        let Place { mut cell, mut line } = from;
        line += rows;
        while cell < self.count() {
            let height = self.height(cell);
            if line < height {
                return Place { cell, line };
            }
            line -= height;
            cell += 1;
        }
        Place { cell, line: 0 }
    }

    /// Returns the view after a move on a screen of `screen` rows.
    fn moved(&mut self, view: View, how: Move, screen: usize) -> View {
        let last = self.last_top(screen);
        let top = match view {
            View::Following => last,
            View::At(top) => top,
        };
        let page = screen.saturating_sub(2).max(1);
        match how {
            Move::Start => at(Place::default(), last),
            Move::End => View::Following,
            Move::Lines(lines) => by(self, top, lines, last),
            Move::Pages(pages) => {
                let lines = i32::try_from(page).unwrap_or(i32::MAX).saturating_mul(pages);
                by(self, top, lines, last)
            }
            Move::Reveal(place) => reveal(self, view, top, place, screen),
        }
    }

    /// Returns the rows on a screen, and the view that shows them: where there is too little below,
    /// the end is followed.
    fn in_sight(&mut self, view: View, screen: usize) -> (View, Vec<Place>) {
        let last = self.last_top(screen);
        let (view, top) = match view {
            View::At(top) if top <= last => (view, top),
            _ => (View::Following, last),
        };
        let mut places = Vec::with_capacity(screen);
        for cell in top.cell..self.count() {
            let from = if cell == top.cell { top.line } else { 0 };
            let lines = from..self.height(cell);
            places.extend(lines.map(|line| Place { cell, line }).take(screen - places.len()));
            if places.len() == screen {
                break;
            }
        }
        (view, places)
    }
}

fn by<R: Rows + ?Sized>(rows: &mut R, top: Place, lines: i32, last: Place) -> View {
    let distance = lines.unsigned_abs() as usize;
    if lines > 0 {
        return at(rows.down(top, distance), last);
    }
    let above = rows.up(top.min(last), distance);
    if above == last { View::Following } else { View::At(above) }
}

fn at(top: Place, last: Place) -> View {
    if top >= last { View::Following } else { View::At(top) }
}

/// Brings a row into sight with a quarter of a screen around it, unless it is in sight.
fn reveal<R: Rows + ?Sized>(
    rows: &mut R,
    view: View,
    top: Place,
    place: Place,
    screen: usize,
) -> View {
    let bottom = rows.down(top, screen);
    if place >= top && place < bottom {
        return view;
    }
    let margin = screen / 4;
    let above = if place < top { margin } else { screen.saturating_sub(margin + 1) };
    let last = rows.last_top(screen);
    at(rows.up(place, above), last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEIGHTS: [usize; 4] = [3, 1, 5, 2];

    /// Cells of known heights; counts how often one is asked for.
    struct Known<'a> {
        heights: &'a [usize],
        asked: usize,
    }

    impl<'a> Known<'a> {
        fn new(heights: &'a [usize]) -> Self {
            Self { heights, asked: 0 }
        }
    }

    impl Rows for Known<'_> {
        fn count(&self) -> usize {
            self.heights.len()
        }

        fn height(&mut self, cell: usize) -> usize {
            self.asked += 1;
            self.heights[cell]
        }
    }

    fn moved(view: View, how: Move) -> View {
        Known::new(&HEIGHTS).moved(view, how, 4)
    }

    fn at(cell: usize, line: usize) -> View {
        View::At(Place { cell, line })
    }

    #[test]
    fn scrolling_walks_over_cells_and_ends_in_following() {
        // The last four rows begin at cell 2, line 3.
        for (from, how, to) in [
            (View::Following, Move::Lines(-1), at(2, 2)),
            (View::Following, Move::Lines(-4), at(1, 0)),
            (View::Following, Move::Lines(-99), at(0, 0)),
            (View::Following, Move::Lines(3), View::Following),
            (at(2, 2), Move::Lines(1), View::Following),
            (at(0, 2), Move::Lines(2), at(2, 0)),
            (at(0, 0), Move::Pages(1), at(0, 2)),
            (at(0, 0), Move::Pages(9), View::Following),
            (View::Following, Move::Pages(-1), at(2, 1)),
            (View::Following, Move::Start, at(0, 0)),
            (at(0, 0), Move::End, View::Following),
            (at(0, 0), Move::Reveal(Place { cell: 1, line: 0 }), at(0, 0)),
            (at(0, 0), Move::Reveal(Place { cell: 2, line: 2 }), at(2, 0)),
            (at(0, 0), Move::Reveal(Place { cell: 3, line: 1 }), View::Following),
            (View::Following, Move::Reveal(Place { cell: 3, line: 0 }), View::Following),
        ] {
            assert_eq!(moved(from, how), to, "{from:?} {how:?}");
        }
    }

    #[test]
    fn an_empty_transcript_only_follows() {
        for how in [Move::Lines(-1), Move::Lines(1), Move::Pages(1), Move::Start, Move::End] {
            assert_eq!(Known::new(&[]).moved(View::Following, how, 4), View::Following, "{how:?}");
        }
    }

    #[test]
    fn a_key_measures_only_what_is_near() {
        let heights = [1; 5_000];
        let mut rows = Known::new(&heights);
        rows.moved(View::Following, Move::Pages(-1), 40);
        assert!(rows.asked < 200, "{} cells were measured", rows.asked);
    }
}
