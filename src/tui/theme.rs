//! The looks of the screen by role: a palette, then roles, from a TOML file, in the colours the terminal has.

mod colour;

use std::collections::BTreeMap;
use std::path::Path;

pub use colour::Depth;
use ratatui::style::{Modifier, Style};
use serde::Deserialize;

const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
];

/// Makes [`Theme`] and what a file says of it out of one list of roles.
macro_rules! roles {
    ($($role:ident),* $(,)?) => {
        /// A style for each role.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Theme {
            pub name: String,
            /// The colours it was made for.
            pub depth: Depth,
            $(pub $role: Style,)*
            pub syntax: Syntax,
        }

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Roles {
            $($role: Look,)*
        }

        impl Theme {
            fn of(name: &str, file: &File, depth: Depth) -> Result<Self, String> {
                let style = |look: &Look| look.style(&file.palette, depth);
                Ok(Self {
                    name: name.to_owned(),
                    depth,
                    $($role: style(&file.roles.$role)?,)*
                    syntax: Syntax::of(&file.syntax, style)?,
                })
            }

            /// Returns every role with its name.
            #[cfg(test)]
            fn all(&self) -> Vec<(&'static str, Style)> {
                vec![$((stringify!($role), self.$role),)*]
            }
        }
    };
}

roles! {
    text, dim, accent, brand, border, border_focused, title, prompt, thinking, heading, code, quote, link,
    rule, ok, warn, error, running, added, added_word, removed, removed_word, hunk, gutter, selection,
    search_match, search_current, status, mode_plan, mode_ask, mode_accept, key, placeholder,
}

/// The kinds of words that code is coloured by.
pub const WORDS: [&str; 8] =
    ["comment", "string", "number", "keyword", "function", "type", "attribute", "punctuation"];

/// A style for each of [`WORDS`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Syntax([Style; WORDS.len()]);

impl Syntax {
    fn of(
        looks: &BTreeMap<String, Look>,
        style: impl Fn(&Look) -> Result<Style, String>,
    ) -> Result<Self, String> {
        if let Some(unknown) = looks.keys().find(|word| !WORDS.contains(&word.as_str())) {
            return Err(format!("[syntax] has no '{unknown}'; it has {}", WORDS.join(", ")));
        }
        let mut styles = [Style::new(); WORDS.len()];
        for (word, slot) in WORDS.iter().zip(&mut styles) {
            *slot = looks.get(*word).map(&style).transpose()?.unwrap_or_default();
        }
        Ok(Self(styles))
    }

    /// Returns the style of a kind of word by its place in [`WORDS`]; plain beyond them.
    pub fn style(&self, word: usize) -> Style {
        self.0.get(word).copied().unwrap_or_default()
    }
}

/// A theme's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    palette: BTreeMap<String, String>,
    roles: Roles,
    syntax: BTreeMap<String, Look>,
}

/// A role's look as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
}

impl Look {
    fn style(&self, palette: &BTreeMap<String, String>, depth: Depth) -> Result<Style, String> {
        if self.bg.is_some() && self.fg.is_none() {
            return Err(format!("{self:?} sets bg without fg"));
        }
        let colour = |name: &Option<String>| -> Result<_, String> {
            let Some(name) = name else { return Ok(None) };
            let value = palette.get(name).unwrap_or(name);
            let colour = colour::parse(value).ok_or_else(|| {
                format!("'{name}' is no colour: name one of the palette, or write #rrggbb")
            })?;
            Ok(depth.nearest(colour))
        };
        let mut style = Style { fg: colour(&self.fg)?, bg: colour(&self.bg)?, ..Style::new() };
        for (is_on, modifier) in [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            // Without colours, what stood on a background of its own is still to be told apart.
            (self.reverse || (self.bg.is_some() && depth == Depth::None), Modifier::REVERSED),
        ] {
            if is_on {
                style = style.add_modifier(modifier);
            }
        }
        Ok(style)
    }
}

impl Theme {
    /// Returns the names of the built-in themes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Returns a built-in theme.
    pub fn built_in(name: &str, depth: Depth) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Self::parse(name, text, depth).ok()
    }

    /// Returns a built-in theme, or the one of a file `NAME.toml` in `folder`. Errors are sentences with the line.
    pub fn load(name: &str, folder: Option<&Path>, depth: Depth) -> Result<Self, String> {
        if let Some(theme) = Self::built_in(name, depth) {
            return Ok(theme);
        }
        let known = Self::names().collect::<Vec<_>>().join(", ");
        let file = folder.map(|folder| folder.join(format!("{name}.toml")));
        let text = file.and_then(|file| std::fs::read_to_string(file).ok());
        let text = text.ok_or_else(|| {
            format!("There is no theme '{name}'. Built in are: {known}. Your own go into the themes folder.")
        })?;
        Self::parse(name, &text, depth)
    }

    fn parse(name: &str, text: &str, depth: Depth) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text[..at.min(text.len())].matches('\n').count() + 1;
            format!("The theme '{name}' cannot be read at line {line}: {}.", error.message())
        })?;
        Self::of(name, &file, depth).map_err(|error| format!("The theme '{name}': {error}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Color;

    const DEPTHS: [Depth; 4] = [Depth::None, Depth::Ansi16, Depth::Ansi256, Depth::True];

    fn every() -> impl Iterator<Item = Theme> {
        Theme::names().flat_map(|name| DEPTHS.map(|depth| Theme::built_in(name, depth).unwrap()))
    }

    #[test]
    fn what_sets_a_background_sets_a_foreground() {
        for theme in every() {
            for (role, style) in theme.all() {
                assert!(style.bg.is_none() || style.fg.is_some(), "{} {role}", theme.name);
            }
        }
    }

    #[test]
    fn light_is_never_white_on_the_terminals_own_background() {
        for depth in DEPTHS {
            for (role, style) in Theme::built_in("light", depth).unwrap().all() {
                let is_white = match style.fg {
                    Some(Color::White | Color::Gray | Color::Indexed(7 | 15 | 231 | 255)) => true,
                    Some(Color::Rgb(r, g, b)) => r.min(g).min(b) > 0xd0,
                    _ => false,
                };
                assert!(style.bg.is_some() || !is_white, "{depth:?} {role}: {style:?}");
            }
        }
    }

    #[test]
    fn without_colours_there_are_none_and_selected_things_still_show() {
        for name in Theme::names() {
            let theme = Theme::built_in(name, Depth::None).unwrap();
            for (role, style) in theme.all() {
                assert_eq!((style.fg, style.bg), (None, None), "{role}");
            }
            assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
            assert_ne!(theme.added, theme.added_word);
        }
    }

    #[test]
    fn errors_name_the_line_or_the_colour() {
        let dark = BUILT_IN[0].1;
        for (from, to, part) in [
            ("text = {}", "text = {}\nnonsense = {}", "nonsense"),
            ("dim = { fg = \"mist\" }", "dim = { fg = \"mud\" }", "'mud' is no colour"),
            ("accent = { fg = \"leaf\" }", "accent = { bg = \"leaf\" }", "bg without fg"),
            ("comment =", "coment =", "coment"),
            ("[palette]", "[palette", "line 4"),
        ] {
            let error = Theme::parse("mine", &dark.replace(from, to), Depth::True).unwrap_err();
            assert!(error.contains(part) && error.contains("'mine'"), "{error}");
        }
        assert!(Theme::load("none", None, Depth::True).unwrap_err().contains("dark, light"));
    }
}
