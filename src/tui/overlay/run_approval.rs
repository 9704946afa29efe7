//! A call that waits for a word: a command before it starts, or a look that a rule wants asked.
//! The whole text is shown: wrapped, never cut, and scrolled when it is longer than the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::answer::{Answer, hints};
use super::{Overlay, Reaction, framed};
use crate::agent::Approval;
use crate::session::Proposal;
use crate::tui::theme::Theme;
use crate::tui::widget::{Highlighter, wrap};
use crate::visible;

/// A command (or a look), and the answer to it.
#[derive(Debug)]
pub struct RunApproval {
    title: &'static str,
    /// What would run, exactly; safe to show.
    text: String,
    /// Where, how long, and why it is asked.
    about: String,
    answer: Answer,
    lines: Vec<Line<'static>>,
    scroll: usize,
    /// Rows of text in sight.
    rows: usize,
}

impl RunApproval {
    /// Asks about an approval.
    pub fn of(approval: Approval) -> Self {
        let answer = Answer::to(&approval);
        let reason = visible::line(&approval.reason).into_owned();
        let first = approval.calls.first();
        let tool = first.map_or("", |waiting| &waiting.tool);
        let (title, text, about) = match first.map(|waiting| &waiting.proposal) {
            Some(Proposal::Run { line, cwd, timeout_s }) => {
                (" Run a command? ", visible::text(line).into_owned(), place(cwd, *timeout_s))
            }
            proposal => {
                let subjects = proposal.map(Proposal::subjects).unwrap_or_default().join("\n");
                (
                    " Let it look? ",
                    visible::text(&subjects).into_owned(),
                    visible::line(tool).into_owned(),
                )
            }
        };
        let about = format!("{about} · {reason}");
        Self { title, text, about, answer, lines: Vec::new(), scroll: 0, rows: 0 }
    }
}

fn place(cwd: &str, timeout_s: u64) -> String {
    let folder = match cwd {
        "" | "." => "in the workspace".into(),
        cwd => format!("in {}", visible::line(cwd)),
    };
    format!("{folder} · {timeout_s} s at most")
}

impl RunApproval {
    /// Returns the frame: at the bottom, above the composer, as high as it needs to be.
    fn frame(&self, area: Rect, foot: usize) -> Rect {
        let wanted = self.lines.len() + foot + 2;
        let height = u16::try_from(wanted).unwrap_or(u16::MAX).min(area.height);
        Rect { y: area.bottom() - height, height, ..area }
    }

    /// Returns what stands under the text, and the caret's column in its last line.
    fn foot(&self, width: u16, theme: &Theme) -> (Vec<Line<'static>>, Option<u16>) {
        let about = wrap(&self.about, width).into_iter();
        let mut foot: Vec<_> = about.map(|line| Line::styled(line, theme.dim)).collect();
        foot.push(Line::default());
        let (question, caret) = self.answer.question(width, theme);
        if self.answer.asks() {
            foot.push(self.answer.hints(&[], theme));
            foot.extend(question);
        } else {
            foot.extend(self.keys(width, theme));
        }
        (foot, caret)
    }

    /// Returns the keys; a rule too long for their line stands in full on lines of its own.
    fn keys(&self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        let stop = hints(&[("Esc", "no, and stop")], theme);
        let mut line = hints(&[("y", "once")], theme);
        let no = hints(&[("n", "no, and say why…")], theme);
        let Some(rule) = &self.answer.rule else {
            line.spans.extend(no.spans);
            return vec![line, stop];
        };
        let always = format!(" always \"{rule}\" ");
        let rest = usize::from(width).saturating_sub(line.width() + no.width() + 2);
        if Span::raw(&always).width() <= rest {
            line.spans.extend([Span::styled(" a", theme.key), Span::styled(always, theme.dim)]);
            line.spans.extend(no.spans);
            return vec![line, stop];
        }
        line.spans.extend(no.spans);
        let mut always = wrap(&format!(" a{always}"), width).into_iter().map(Line::from);
        let first = always.next().map(|line| line.style(theme.key));
        [line].into_iter().chain(first).chain(always).chain([stop]).collect()
    }

    fn scroll_by(&mut self, lines: isize) {
        let last = self.lines.len().saturating_sub(self.rows);
        self.scroll = self.scroll.saturating_add_signed(lines).min(last);
    }

    /// Returns which lines are in sight, where not all of them are.
    fn position(&self, theme: &Theme) -> Option<Line<'static>> {
        if self.lines.len() <= self.rows {
            return None;
        }
        let (from, to) = (self.scroll + 1, self.scroll + self.rows);
        let text = format!(" lines {from}–{to} of {} · ↑↓ scroll ", self.lines.len());
        Some(Line::styled(text, theme.warn).right_aligned())
    }
}

impl Overlay for RunApproval {
    fn key(&mut self, key: KeyEvent) -> Reaction {
        let reaction = self.answer.key(key);
        if reaction != Reaction::Ignored {
            return reaction;
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Reaction::Ignored;
        }
        let page = self.rows.max(1).cast_signed();
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll_by(1),
            KeyCode::PageUp => self.scroll_by(-page),
            KeyCode::PageDown => self.scroll_by(page),
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }

    fn paste(&mut self, text: &str) {
        self.answer.paste(text);
    }

    fn layout(&mut self, area: Rect, theme: &Theme, _highlighter: &mut Highlighter) {
        let width = text_width(area);
        let lines = wrap(&self.text, width).into_iter();
        self.lines = lines.map(|line| Line::styled(line, theme.text)).collect();
        let (foot, _) = self.foot(width, theme);
        let room = usize::from(area.height.saturating_sub(2));
        self.rows = room.saturating_sub(foot.len()).clamp(1, self.lines.len().max(1));
        self.scroll_by(0);
    }

    fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let (foot, _) = self.foot(text_width(area), theme);
        let outer = self.frame(area, foot.len());
        let inner = indented(framed(frame, outer, self.title, theme));
        if let Some(position) = self.position(theme) {
            frame.render_widget(position, Rect { height: outer.height.min(1), ..inner_row(outer) });
        }
        let text = self.lines.iter().skip(self.scroll).take(self.rows).cloned();
        let all: Vec<_> = text.chain(foot).collect();
        frame.render_widget(Paragraph::new(all), inner);
    }

    fn cursor(&self, area: Rect) -> Option<Position> {
        let (foot, caret) = self.foot(text_width(area), &Theme::default());
        let outer = self.frame(area, foot.len());
        let row = u16::try_from(self.rows + foot.len()).unwrap_or(u16::MAX);
        let y = outer.y.saturating_add(row).min(outer.bottom().saturating_sub(2));
        Some(Position { x: outer.x + 3 + caret?, y })
    }
}

fn text_width(area: Rect) -> u16 {
    area.width.saturating_sub(6).max(1)
}

fn indented(inner: Rect) -> Rect {
    Rect { x: inner.x + 2.min(inner.width), width: inner.width.saturating_sub(4), ..inner }
}

fn inner_row(outer: Rect) -> Rect {
    Rect { x: outer.x + 1.min(outer.width), width: outer.width.saturating_sub(2), ..outer }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::agent::Waiting;
    use crate::session::CallId;

    fn ask(line: &str, rule: Option<&str>) -> RunApproval {
        RunApproval::of(Approval {
            call: CallId("1".into()),
            calls: vec![Waiting {
                call: CallId("1".into()),
                tool: "run_command".into(),
                proposal: Proposal::Run { line: line.into(), cwd: ".".into(), timeout_s: 120 },
            }],
            reason: "The mode ask asks before commands.".into(),
            rule: rule.map(Into::into),
        })
    }

    fn shown(overlay: &mut RunApproval, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let theme = Theme::default();
        overlay.layout(Rect::new(0, 0, width, height), &theme, &mut Highlighter::default());
        terminal.draw(|frame| overlay.draw(frame, frame.area(), &theme)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |row: Rect| row.positions().map(|at| buffer[at].symbol()).collect::<String>();
        let rows = buffer.area.rows().map(|area| row(area).trim_end().to_owned());
        rows.filter(|row| !row.is_empty()).collect()
    }

    #[test]
    fn a_command_is_shown_with_where_how_long_and_why() {
        let mut overlay = ask("python3 tests.py -v", Some("run_command(python3 tests.py*)"));
        assert_eq!(
            shown(&mut overlay, 80, 22),
            [
                "╭ Run a command? ──────────────────────────────────────────────────────────────╮",
                "│  python3 tests.py -v                                                         │",
                "│  in the workspace · 120 s at most · The mode ask asks before commands.       │",
                "│                                                                              │",
                "│   y once  a always \"run_command(python3 tests.py*)\"  n no, and say why…      │",
                "│   Esc no, and stop                                                           │",
                "╰──────────────────────────────────────────────────────────────────────────────╯",
            ]
        );
        assert_eq!(
            shown(&mut overlay, 60, 22)[5..7],
            [
                "│   y once  n no, and say why…                             │",
                "│   a always \"run_command(python3 tests.py*)\"              │",
            ]
        );
    }

    #[test]
    fn a_long_command_is_wrapped_and_scrolled_but_never_cut() {
        let words: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
        let mut overlay = ask(&words.join(" "), None);
        let mut seen = String::new();
        for _ in 0..40 {
            let rows = shown(&mut overlay, 40, 12);
            assert!(rows[0].contains("lines ") && rows[0].contains("scroll"), "{rows:?}");
            seen += &rows.join(" ");
            overlay.key(KeyCode::Down.into());
        }
        assert!(words.iter().all(|word| seen.contains(word)), "{seen}");
    }

    #[test]
    fn a_word_longer_than_the_screen_is_shown_to_its_end() {
        let word: String = ('a'..='z').cycle().take(200).chain(['!']).collect();
        let rows = shown(&mut ask(&word, None), 40, 22);
        let joined: String = rows.iter().map(|row| row.trim_matches(['│', ' '])).collect();
        assert!(joined.contains(&word), "{rows:?}");
    }

    #[test]
    fn what_nobody_sees_is_shown() {
        let rows =
            shown(&mut ask("echo a\rrm -rf x \u{202e}b\u{1b}[2K\n\tls\u{200b}", None), 80, 22);
        let screen = rows.join("\n");
        for visible in ["echo a^Mrm -rf x <U+202E>b^[[2K", "    ls<U+200B>"] {
            assert!(screen.contains(visible), "{screen}");
        }
    }

    #[test]
    fn the_caret_stands_in_the_comment() {
        let mut overlay = ask("ls", None);
        let area = Rect::new(0, 0, 80, 22);
        shown(&mut overlay, 80, 22);
        assert_eq!(overlay.cursor(area), None);
        overlay.key(KeyCode::Char('n').into());
        overlay.key(KeyCode::Char('x').into());
        let rows = shown(&mut overlay, 80, 22);
        assert_eq!(
            rows[5],
            "│  Why not? x                                                                  │"
        );
        assert_eq!(overlay.cursor(area), Some(Position { x: 13, y: 20 }));
    }

    #[test]
    fn any_size_can_be_drawn() {
        for width in [1, 2, 5, 20, 300] {
            for height in [1, 2, 3, 5, 13, 100] {
                let mut overlay = ask("ls -la && echo", Some("run_command(ls)"));
                shown(&mut overlay, width, height);
                overlay.key(KeyCode::Char('n').into());
                shown(&mut overlay, width, height);
                overlay.cursor(Rect::new(0, 0, width, height));
            }
        }
    }
}
