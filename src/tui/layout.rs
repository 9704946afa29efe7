//! Where everything stands: a pure function of the size and of what there is to show.

use ratatui::layout::{Margin, Rect};

/// Columns from which the tools stand beside the conversation instead of behind a tab.
const WIDE: u16 = 100;

/// Under this size only conversation and composer remain.
const SMALL: (u16, u16) = (60, 15);

/// What the layout depends on, beside the size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Rows of the composer's text.
    pub composer: u16,
    /// Rows of queued messages and notices above the composer.
    pub notes: u16,
    /// Whether there is anything to show in phases and tools yet.
    pub is_begun: bool,
}

/// The parts of the screen. A part without room has no width or height.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Regions {
    pub title: Rect,
    pub phases: Rect,
    pub conversation: Rect,
    pub tools: Rect,
    pub notes: Rect,
    pub composer: Rect,
    pub status: Rect,
}

impl Regions {
    /// Returns what an overlay may cover: everything between the phases and the composer.
    pub fn body(&self) -> Rect {
        // Without the tools' own place the conversation has the whole width.
        if self.tools.is_empty() { self.conversation } else { self.conversation.union(self.tools) }
    }

    /// Returns whether the panes share one place, and so are tabs.
    pub fn has_tabs(&self) -> bool {
        !self.phases.is_empty() && self.tools.is_empty()
    }

    /// Returns the room inside a pane's frame; a small screen has no frames.
    pub fn inside(&self, pane: Rect) -> Rect {
        if self.title.is_empty() { pane } else { pane.inner(Margin::new(2, 1)) }
    }

    /// Returns every part that has room.
    #[cfg(test)]
    fn parts(&self) -> impl Iterator<Item = Rect> {
        [
            self.title,
            self.phases,
            self.conversation,
            self.tools,
            self.notes,
            self.composer,
            self.status,
        ]
        .into_iter()
        .filter(|part| !part.is_empty())
    }
}

/// Lays out a screen of `width` × `height` cells.
pub fn layout(width: u16, height: u16, needs: Needs) -> Regions {
    let mut rest = Rect::new(0, 0, width, height);
    if width < SMALL.0 || height < SMALL.1 {
        let composer = cut_bottom(&mut rest, composer_height(height, needs));
        return Regions { composer, conversation: rest, ..Regions::default() };
    }
    let title = cut_top(&mut rest, 1);
    let phases = cut_top(&mut rest, u16::from(needs.is_begun));
    let status = cut_bottom(&mut rest, 1);
    let composer = cut_bottom(&mut rest, composer_height(height, needs));
    let third = rest.height / 3;
    let notes = cut_bottom(&mut rest, needs.notes.min(third));
    let beside = needs.is_begun && width >= WIDE;
    let tools = if beside { cut_right(&mut rest, width * 2 / 5) } else { Rect::default() };
    Regions { title, phases, conversation: rest, tools, notes, composer, status }
}

/// Text and border, at most a third of the screen; without a border where there is no room for one.
fn composer_height(height: u16, needs: Needs) -> u16 {
    let text = needs.composer.max(1);
    if height < 6 { text.min(height.div_ceil(3)) } else { (text + 2).min((height / 3).max(3)) }
}

fn cut_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let cut = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    cut
}

fn cut_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    rest.height -= height;
    Rect { y: rest.bottom(), height, ..*rest }
}

fn cut_right(rest: &mut Rect, width: u16) -> Rect {
    let width = width.min(rest.width);
    rest.width -= width;
    Rect { x: rest.right(), width, ..*rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_inside_and_apart_at_every_size() {
        let needs = [
            Needs::default(),
            Needs { composer: 40, notes: 9, is_begun: true },
            Needs { composer: 1, notes: 1, is_begun: true },
        ];
        for (width, height) in (1..=300).step_by(7).flat_map(|w| (1..=100).map(move |h| (w, h))) {
            for needs in needs {
                let screen = Rect::new(0, 0, width, height);
                let parts: Vec<Rect> = layout(width, height, needs).parts().collect();
                assert!(parts.iter().all(|part| screen.union(*part) == screen));
                let covered: u32 = parts.iter().map(|part| part.area()).sum();
                assert_eq!(covered, screen.area(), "{width}×{height} {needs:?}");
                for (index, part) in parts.iter().enumerate() {
                    assert!(parts[index + 1..].iter().all(|other| !part.intersects(*other)));
                }
            }
        }
    }

    #[test]
    fn a_small_screen_keeps_conversation_and_composer() {
        let regions = layout(59, 40, Needs { composer: 1, notes: 2, is_begun: true });
        assert_eq!(regions.parts().count(), 2);
        assert_eq!(regions.composer, Rect::new(0, 37, 59, 3));
    }

    #[test]
    fn tools_stand_beside_from_a_hundred_columns_on() {
        let begun = Needs { composer: 1, notes: 0, is_begun: true };
        assert_eq!(layout(120, 36, begun).tools, Rect::new(72, 2, 48, 30));
        assert!(layout(99, 36, begun).has_tabs() && !layout(120, 36, begun).has_tabs());
        assert!(!layout(80, 24, Needs::default()).has_tabs());
    }

    #[test]
    fn an_overlay_leaves_title_phases_and_composer_alone() {
        let needs = Needs { composer: 1, notes: 2, is_begun: true };
        for (width, height) in [(1, 1), (40, 10), (80, 24), (120, 36), (300, 100)] {
            let regions = layout(width, height, needs);
            let body = regions.body();
            assert!(
                ![regions.title, regions.phases, regions.composer]
                    .iter()
                    .any(|part| body.intersects(*part))
            );
            assert_eq!(body.intersection(regions.conversation), regions.conversation);
        }
    }

    #[test]
    fn a_long_draft_takes_a_third() {
        let needs = Needs { composer: 80, notes: 0, is_begun: true };
        assert_eq!(layout(80, 24, needs).composer.height, 8);
    }
}
