//! STUB
use super::theme::Theme;
use ratatui::text::{Line, Span};
/// Colours code.
#[derive(Debug, Default)]
pub struct Highlighter;
#[derive(Debug, Default)]
pub struct Markdown {
    text: String,
    lines: Vec<Line<'static>>,
}
impl Markdown {
    pub fn push(&mut self, s: &str) {
        self.text.push_str(s)
    }
    pub fn lay_out(&mut self, width: u16, _t: &Theme, _h: &mut Highlighter) {
        self.lines = wrap(&self.text, width).into_iter().map(Line::from).collect()
    }
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }
}
pub fn clip(s: &str, width: u16) -> String {
    if Span::raw(s).width() <= width as usize {
        return s.into();
    }
    let mut out = String::new();
    for c in s.chars() {
        if Span::raw(&out).width() + 2 > width as usize {
            break;
        }
        out.push(c)
    }
    if width > 0 {
        out.push('…')
    }
    out
}
pub fn wrap(s: &str, width: u16) -> Vec<String> {
    let mut v = Vec::new();
    for l in s.split('\n') {
        let l = l.replace('\t', "    ");
        let mut o = String::new();
        for w in l.split_inclusive(' ') {
            if Span::raw(o.as_str()).width() + Span::raw(w.trim_end()).width() > width as usize
                && !o.is_empty()
            {
                v.push(o.trim_end().to_string());
                o.clear();
            }
            o.push_str(w)
        }
        v.push(o.trim_end().to_string())
    }
    v
}
pub fn diff_lines(
    f: &crate::workspace::FileDiff,
    _w: u16,
    _t: &Theme,
    _h: &mut Highlighter,
) -> Vec<Line<'static>> {
    f.hunks
        .iter()
        .flat_map(|h| &h.lines)
        .map(|l| Line::from(format!("{:?} {}", l.kind, l.text)))
        .collect()
}
pub fn diff_rows(
    f: &crate::workspace::FileDiff,
    split: bool,
    _w: u16,
    _t: &Theme,
    _h: &mut Highlighter,
) -> (Vec<Line<'static>>, Vec<usize>) {
    let mut v = Vec::new();
    let mut s = Vec::new();
    for h in &f.hunks {
        s.push(v.len());
        for l in &h.lines {
            let g = match l.kind {
                crate::workspace::LineKind::Added => '+',
                crate::workspace::LineKind::Removed => '−',
                _ => ' ',
            };
            v.push(Line::from(format!(
                "{}{g} {}",
                if split { "│" } else { "" },
                l.text.replace('\t', "    ")
            )))
        }
    }
    (v, s)
}
