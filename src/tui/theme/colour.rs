//! Colours as written, and the nearest that the terminal has.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// None: `NO_COLOR` is set, or the terminal is dumb.
    None,
    Ansi16,
    Ansi256,
    #[default]
    True,
}

impl Depth {
    /// Detects it from `NO_COLOR`, `COLORTERM` and `TERM`.
    pub fn detect<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        let colour_term = variable("COLORTERM").unwrap_or_default();
        if variable("NO_COLOR").is_some() || term == "dumb" {
            return Self::None;
        }
        if colour_term.contains("truecolor")
            || colour_term.contains("24bit")
            || term.contains("direct")
        {
            return Self::True;
        }
        if term.contains("256color") { Self::Ansi256 } else { Self::Ansi16 }
    }

    /// Returns the nearest colour of this depth; `None` where there are no colours.
    pub fn nearest(self, colour: Color) -> Option<Color> {
        let Color::Rgb(r, g, b) = colour else {
            return (self != Self::None).then_some(colour);
        };
        match self {
            Self::None => None,
            Self::True => Some(colour),
            Self::Ansi256 => Some(Color::Indexed(indexed(r, g, b))),
            Self::Ansi16 => Some(basic(r, g, b)),
        }
    }
}

/// Reads `#rrggbb` or the name of a basic colour.
pub fn parse(text: &str) -> Option<Color> {
    text.parse().ok()
}

/// The nearest of the 6×6×6 cube and the grey ramp of the 256 colours.
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| {
        let near = |at: &usize| LEVELS[*at].abs_diff(value);
        (0..LEVELS.len()).min_by_key(near).unwrap_or(0)
    };
    let (lr, lg, lb) = (level(r), level(g), level(b));
    let cube = (LEVELS[lr], LEVELS[lg], LEVELS[lb]);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let step = ((mean.saturating_sub(3)) / 10).min(23);
    let grey = u8::try_from(8 + step * 10).unwrap_or(u8::MAX);
    if distance((r, g, b), (grey, grey, grey)) < distance((r, g, b), cube) {
        return 232 + u8::try_from(step).unwrap_or(23);
    }
    u8::try_from(16 + 36 * lr + 6 * lg + lb).unwrap_or(15)
}

/// From this difference between its strongest and its weakest part on, a colour has a hue.
const HUE: u8 = 64;

/// The nearest of the 16 colours as most terminals show them.
fn basic(r: u8, g: u8, b: u8) -> Color {
    const BASIC: [(Color, (u8, u8, u8)); 16] = [
        (Color::Black, (0, 0, 0)),
        (Color::Red, (170, 0, 0)),
        (Color::Green, (0, 170, 0)),
        (Color::Yellow, (170, 120, 0)),
        (Color::Blue, (0, 0, 170)),
        (Color::Magenta, (170, 0, 170)),
        (Color::Cyan, (0, 170, 170)),
        (Color::Gray, (190, 190, 190)),
        (Color::DarkGray, (100, 100, 100)),
        (Color::LightRed, (255, 85, 85)),
        (Color::LightGreen, (85, 255, 85)),
        (Color::LightYellow, (255, 255, 85)),
        (Color::LightBlue, (85, 85, 255)),
        (Color::LightMagenta, (255, 85, 255)),
        (Color::LightCyan, (85, 255, 255)),
        (Color::White, (255, 255, 255)),
    ];
    let chroma = |(r, g, b): (u8, u8, u8)| r.max(g).max(b) - r.min(g).min(b);
    // What is told by its hue must not become one grey with what is not.
    let is_hue = chroma((r, g, b)) >= HUE;
    let nearest = BASIC
        .iter()
        .filter(|(_, known)| !is_hue || chroma(*known) > 0)
        .min_by_key(|(_, known)| distance((r, g, b), *known));
    nearest.map_or(Color::Reset, |(colour, _)| *colour)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    2 * square(a.0, b.0) + 4 * square(a.1, b.1) + 3 * square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_is_what_the_terminal_says() {
        for (variables, depth) in [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], Depth::True),
            (&[("TERM", "xterm-256color")], Depth::Ansi256),
            (&[("TERM", "xterm")], Depth::Ansi16),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::None),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], Depth::None),
            (&[], Depth::Ansi16),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
            };
            assert_eq!(Depth::detect(variable), depth, "{variables:?}");
        }
    }

    #[test]
    fn the_nearest_colour_is_near() {
        for (text, index) in [("#000000", 16), ("#ffffff", 231), ("#808080", 244), ("#5fd7a7", 79)]
        {
            let Some(Color::Rgb(r, g, b)) = parse(text) else { panic!("{text}") };
            assert_eq!(indexed(r, g, b), index, "{text}");
        }
        assert_eq!(basic(250, 80, 80), Color::LightRed);
        assert_eq!(basic(0x8a, 0x94, 0xa6), Color::Gray);
        assert_eq!(basic(0x3f, 0xa3, 0x7c), Color::Cyan);
    }
}
