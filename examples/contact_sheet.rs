//! Puts every snapshot of the screen on one page for the eye: `cargo run --example contact_sheet`
//! writes `contact-sheet.html` into the target folder and prints where it is.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const HEAD: &str = "<!doctype html><meta charset=utf-8><title>Trefoil: contact sheet</title><style>
body { background: #6b7280; font: 14px system-ui; display: flex; flex-wrap: wrap; gap: 24px; margin: 24px }
figure { margin: 0 } figcaption { color: #fff; margin-bottom: 6px }
pre { margin: 0; padding: 8px; border-radius: 6px; font: 14px/1.2 'DejaVu Sans Mono', monospace }
pre span { display: inline-block; height: 1.2em; vertical-align: top; white-space: pre }
.dark { background: #101312; color: #d6dbd7 } .light { background: #fdfdfb; color: #20241f }
.cursor { outline: 1px solid #e33 }
</style>
";

/// One snapshot: its rows, where the cursor stands, and the styled runs of each row.
struct Picture<'a> {
    rows: Vec<&'a str>,
    cursor: Option<(usize, usize)>,
    runs: HashMap<usize, Vec<Run<'a>>>,
}

/// Cells of a row, and their look: colours and attributes by name.
struct Run<'a> {
    from: usize,
    to: usize,
    look: &'a str,
}

fn main() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/snapshots");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .with_context(|| format!("{} cannot be read.", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "snap"))
        .collect();
    files.sort();
    let mut page = HEAD.to_owned();
    for file in &files {
        let text = std::fs::read_to_string(file)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let picture = Picture::read(&text)
            .with_context(|| format!("{} is no picture of a screen.", file.display()))?;
        picture.write(&name, &mut page)?;
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let sheet = Path::new(&target).join("contact-sheet.html");
    std::fs::create_dir_all(&target)?;
    std::fs::write(&sheet, page)?;
    println!("{} pictures are in {}.", files.len(), sheet.display());
    Ok(())
}

impl<'a> Picture<'a> {
    /// Reads what `tests/suite/support/screen.rs` wrote, behind the header that insta puts before it.
    fn read(text: &'a str) -> Option<Self> {
        let body = text.splitn(3, "---\n").nth(2)?;
        let mut lines = body.lines();
        let mut rows = Vec::new();
        let cursor = loop {
            let line = lines.next()?;
            match line.strip_prefix("cursor ") {
                Some(cursor) => break cursor.split_once(','),
                None => rows.push(line.strip_prefix('|')?.strip_suffix('|')?),
            }
        };
        let cursor = cursor.and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        Some(Self { rows, cursor, runs: lines.map_while(runs).collect() })
    }

    fn write(&self, name: &str, page: &mut String) -> std::fmt::Result {
        let ground = if name.contains("light") { "light" } else { "dark" };
        writeln!(page, "<figure><figcaption>{name}</figcaption><pre class={ground}>")?;
        for (y, row) in self.rows.iter().enumerate() {
            let runs = self.runs.get(&y).map_or(&[][..], Vec::as_slice);
            let mut x = 0;
            for symbol in row.graphemes(true) {
                let run = runs.iter().find(|run| (run.from..run.to).contains(&x));
                let is_cursor = self.cursor == Some((x, y));
                write_cell(page, symbol, run.map_or("", |run| run.look), is_cursor)?;
                x += symbol.width().max(1);
            }
            page.push('\n');
        }
        page.push_str("</pre></figure>\n");
        Ok(())
    }
}

/// Reads `3: 0..9 #98a89c, 9..12 #0b0f0d on #7fb069 bold`.
fn runs(line: &str) -> Option<(usize, Vec<Run<'_>>)> {
    let (y, runs) = line.split_once(':')?;
    let runs = runs.split(',').filter_map(|run| {
        let (cells, look) = run.trim().split_once(' ')?;
        let (from, to) = cells.split_once("..")?;
        Some(Run { from: from.parse().ok()?, to: to.parse().ok()?, look })
    });
    Some((y.parse().ok()?, runs.collect()))
}

fn write_cell(page: &mut String, symbol: &str, look: &str, is_cursor: bool) -> std::fmt::Result {
    let class = if is_cursor { " class=cursor" } else { "" };
    let symbol = symbol.replace('&', "&amp;").replace('<', "&lt;");
    let width = symbol.width().max(1);
    write!(page, "<span{class} style=\"width:{width}ch;{}\">{symbol}</span>", css(look))
}

/// Translates a look into CSS.
fn css(look: &str) -> String {
    let mut css = String::new();
    let (mut front, mut ground) = ("inherit".to_owned(), "transparent".to_owned());
    let mut words = look.split(' ').filter(|word| !word.is_empty());
    let mut is_reversed = false;
    while let Some(word) = words.next() {
        match word {
            "on" => ground = colour(words.next().unwrap_or_default()),
            "bold" => css.push_str("font-weight:bold;"),
            "dim" => css.push_str("opacity:.6;"),
            "italic" => css.push_str("font-style:italic;"),
            "underlined" => css.push_str("text-decoration:underline;"),
            "reversed" => is_reversed = true,
            name => front = colour(name),
        }
    }
    if is_reversed {
        (front, ground) = ("#101312".to_owned(), "#d6dbd7".to_owned());
    }
    css + &format!("color:{front};background:{ground}")
}

/// A colour as CSS writes it: `#rrggbb` stays, the sixteen have names of their own there.
fn colour(name: &str) -> String {
    match name {
        "lightred" => "salmon".into(),
        "lightyellow" => "khaki".into(),
        "lightmagenta" => "violet".into(),
        "lightblue" => "#5c5cff".into(),
        "lightgreen" => "#55ff55".into(),
        "lightcyan" => "#55ffff".into(),
        "darkgray" => "#666666".into(),
        name => name.to_owned(),
    }
}
