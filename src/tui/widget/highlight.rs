//! Code in colours: syntect's grammars say what a word is, the theme says how such words look.

use std::sync::{Arc, OnceLock};

use ratatui::style::Style;
use ratatui::text::Span;
use syntect::highlighting::{
    Color, HighlightIterator, HighlightState, Highlighter as Scopes, ScopeSelectors, StyleModifier,
    Theme as Words, ThemeItem, ThemeSettings,
};
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use crate::tui::theme::{Syntax, WORDS};

/// Longer lines are left plain: no grammar is worth a second of waiting.
const LONGEST_LINE: usize = 2_000;

/// Which scopes are which kind of word; later rows win over earlier ones of the same depth.
const SCOPES: &[(&str, &str)] = &[
    ("punctuation, keyword.operator", "punctuation"),
    ("string, constant.character.escape", "string"),
    ("comment, punctuation.definition.comment", "comment"),
    ("constant.numeric, constant.language, constant.character, support.constant", "number"),
    (
        "keyword - keyword.operator, storage, keyword.operator.word, keyword.operator.logical",
        "keyword",
    ),
    ("entity.name.function, support.function, variable.function", "function"),
    (
        "entity.name.type, entity.name.class, entity.name.struct, entity.name.enum, support.type, support.class",
        "type",
    ),
    (
        "entity.name.tag, entity.other.attribute-name, variable.annotation, meta.annotation.identifier",
        "attribute",
    ),
    ("string punctuation.definition.string", "string"),
];

/// Colours code. Grammars are loaded at first use; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Highlighter {
    loaded: Arc<OnceLock<Loaded>>,
}

#[derive(Debug)]
struct Loaded {
    syntaxes: SyntaxSet,
    /// Each kind of word has its place in [`WORDS`] as its red.
    words: Words,
}

/// How far a piece of code is understood; plain where its language is not known.
#[derive(Debug, Clone, Default)]
pub struct Colouring(Option<(ParseState, HighlightState)>);

impl Highlighter {
    /// Loads the grammars, unless they are: about 20 ms, best spent on another thread.
    pub fn warm_up(&self) {
        self.loaded();
    }

    /// Begins a piece of code in a language, given by its name or a file's ending.
    pub fn begin(&self, language: &str) -> Colouring {
        let language = language.split([',', ' ', '{']).next().unwrap_or_default();
        if language.is_empty() {
            return Colouring(None);
        }
        let loaded = self.loaded();
        let syntax = loaded.syntaxes.find_syntax_by_token(language);
        Colouring(syntax.map(|syntax| {
            let state = HighlightState::new(&Scopes::new(&loaded.words), ScopeStack::new());
            (ParseState::new(syntax), state)
        }))
    }

    /// Colours the next line of a piece of code, given without its ending.
    pub fn line(
        &self,
        colouring: &mut Colouring,
        line: &str,
        syntax: &Syntax,
    ) -> Vec<Span<'static>> {
        let plain = || vec![Span::raw(line.to_owned())];
        if line.len() > LONGEST_LINE {
            return plain();
        }
        let Some((parse, state)) = &mut colouring.0 else { return plain() };
        let loaded = self.loaded();
        let text = format!("{line}\n");
        let Ok(ops) = parse.parse_line(&text, &loaded.syntaxes) else { return plain() };
        let scopes = Scopes::new(&loaded.words);
        HighlightIterator::new(state, &ops, &text, &scopes)
            .map(|(style, piece)| (style.foreground.r, piece.trim_end_matches('\n')))
            .filter(|(_, piece)| !piece.is_empty())
            .map(|(word, piece)| Span::styled(piece.to_owned(), syntax.style(word.into())))
            .collect()
    }

    fn loaded(&self) -> &Loaded {
        self.loaded
            .get_or_init(|| Loaded { syntaxes: two_face::syntax::extra_newlines(), words: words() })
    }
}

/// Returns a syntect theme whose colours are places in [`WORDS`].
fn words() -> Words {
    let colour =
        |place: usize| Color { r: u8::try_from(place).unwrap_or(u8::MAX), g: 0, b: 0, a: 255 };
    let item = |(scopes, word): &(&str, &str)| {
        let place = WORDS.iter().position(|known| known == word)?;
        let scope: ScopeSelectors = scopes.parse().ok()?;
        let style =
            StyleModifier { foreground: Some(colour(place)), background: None, font_style: None };
        Some(ThemeItem { scope, style })
    };
    Words {
        settings: ThemeSettings {
            foreground: Some(colour(usize::MAX)),
            ..ThemeSettings::default()
        },
        scopes: SCOPES.iter().filter_map(item).collect(),
        ..Words::default()
    }
}

/// Lays a style under coloured spans: what they leave open, it decides.
pub(super) fn over(base: Style, spans: Vec<Span<'static>>) -> Vec<Span<'static>> {
    spans.into_iter().map(|span| Span::styled(span.content, base.patch(span.style))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::{Depth, Theme};

    #[test]
    fn words_have_the_themes_styles() {
        let theme = Theme::built_in("dark", Depth::True).unwrap();
        let highlighter = Highlighter::default();
        let mut colouring = highlighter.begin("python");
        let line = "def f(x): return 'a' + 12  # why";
        let spans = highlighter.line(&mut colouring, line, &theme.syntax);
        let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(text, line);
        let style_of =
            |word: &str| spans.iter().find(|span| span.content.contains(word)).unwrap().style;
        for (word, kind) in [
            ("return", "keyword"),
            ("f", "keyword"),
            ("12", "number"),
            ("why", "comment"),
            ("a", "keyword"),
        ] {
            let place = WORDS.iter().position(|known| *known == kind).unwrap();
            if word.len() > 1 {
                assert_eq!(style_of(word), theme.syntax.style(place), "{word}: {spans:?}");
            }
        }
    }

    #[test]
    fn a_language_nobody_knows_is_plain() {
        let highlighter = Highlighter::default();
        for language in ["", "nonsense"] {
            let mut colouring = highlighter.begin(language);
            let spans = highlighter.line(&mut colouring, "x = 1", &Syntax::default());
            assert_eq!(spans, [Span::raw("x = 1")]);
        }
    }
}
