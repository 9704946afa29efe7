//! Whether an intent may act: a pure function of mode, rules and proposal.
//!
//! Deny wins, then ask, then allow; what no rule covers is the mode's to say.

use globset::{GlobBuilder, GlobMatcher};

use crate::config::{Mode, Permissions};
use crate::session::{Proposal, Why};

/// Characters that can hide a second command, a redirection or a substitution. Until lines are
/// parsed, no rule lets a line stand that holds one.
const SHELL_SYNTAX: &[char] = &[';', '&', '|', '<', '>', '$', '(', ')', '`', '\n', '\r'];

/// `tool(glob)`: `*` matches anything, `/` and spaces included.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    subject: GlobMatcher,
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "The rule '{rule}' cannot be read: {reason}. Write it as tool(pattern), for example run_command(cargo test*)."
)]
pub struct RuleError {
    rule: String,
    reason: String,
}

impl Rule {
    /// Reads `tool(glob)`.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let error = |reason: String| RuleError { rule: text.to_owned(), reason };
        let (tool, rest) =
            text.split_once('(').ok_or_else(|| error("there is no '('".to_owned()))?;
        let glob =
            rest.strip_suffix(')').ok_or_else(|| error("it does not end in ')'".to_owned()))?;
        if crate::tool::find(tool).is_none() {
            return Err(error(format!("there is no tool '{tool}'")));
        }
        let subject = GlobBuilder::new(glob)
            .literal_separator(false)
            .build()
            .map_err(|bad| error(bad.kind().to_string()))?
            .compile_matcher();
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), subject })
    }

    fn covers(&self, tool: &str, subject: &str) -> bool {
        self.tool == tool && self.subject.is_match(subject)
    }
}

/// All rules in force: from config and flags, and those granted in this session.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
}

impl Rules {
    /// Reads the rules of a configuration.
    pub fn parse(permissions: &Permissions) -> Result<Self, RuleError> {
        let read = |rules: &[String]| -> Result<Vec<Rule>, RuleError> {
            rules.iter().map(|rule| Rule::parse(rule)).collect()
        };
        Ok(Self {
            allow: read(&permissions.allow)?,
            ask: read(&permissions.ask)?,
            deny: read(&permissions.deny)?,
        })
    }

    /// Lets a rule stand from now on.
    pub fn grant(&mut self, rule: &str) -> Result<(), RuleError> {
        self.allow.push(Rule::parse(rule)?);
        Ok(())
    }
}

/// What becomes of an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    Allow(Why),
    /// A person decides, told why they are asked.
    Ask {
        reason: String,
    },
    /// It does not happen; the text is for the model.
    Deny {
        why: Why,
        text: String,
    },
}

/// Decides whether a tool's intent may act.
pub fn decide(mode: Mode, rules: &Rules, tool: &str, proposal: &Proposal) -> Ruling {
    if let Some(rule) = forbidding(&rules.deny, tool, proposal) {
        return Ruling::Deny {
            why: Why::Rule { rule: rule.text.clone() },
            text: format!(
                "Denied by the rule {}. Do it another way, or ask the person.",
                rule.text
            ),
        };
    }
    let reads = matches!(proposal, Proposal::Look { .. });
    if mode == Mode::Plan && !reads {
        return Ruling::Deny { why: Why::Mode { mode }, text: PLAN_MODE.to_owned() };
    }
    if let Some(rule) = forbidding(&rules.ask, tool, proposal) {
        return Ruling::Ask { reason: format!("the rule {} asks", rule.text) };
    }
    if reads {
        return Ruling::Allow(Why::Reads);
    }
    if let Some(rule) = admitting(&rules.allow, tool, proposal) {
        return Ruling::Allow(Why::Rule { rule: rule.text.clone() });
    }
    if mode == Mode::AcceptEdits && matches!(proposal, Proposal::Change { .. }) {
        return Ruling::Allow(Why::Mode { mode });
    }
    Ruling::Ask { reason: "no rule matches".to_owned() }
}

const PLAN_MODE: &str = "Plan mode: nothing is changed and nothing is run. \
    Read what you need, then answer with what you would do.";

/// Returns the narrowest rule that admits exactly this call again; `None` where no rule may.
pub fn exact_rule(tool: &str, proposal: &Proposal) -> Option<String> {
    let subjects = proposal.subjects();
    let [subject] = subjects.as_slice() else { return None };
    if is_compound(proposal) || subject.is_empty() || subject.contains(char::is_control) {
        return None;
    }
    Some(format!("{tool}({})", globset::escape(subject)))
}

/// Finds a rule that covers every subject; a line with shell syntax is covered by none.
fn admitting<'a>(rules: &'a [Rule], tool: &str, proposal: &Proposal) -> Option<&'a Rule> {
    if is_compound(proposal) {
        return None;
    }
    let subjects = proposal.subjects();
    rules.iter().find(|rule| {
        !subjects.is_empty() && subjects.iter().all(|subject| rule.covers(tool, subject))
    })
}

/// Finds a rule that covers any subject, or any command within a compound line.
fn forbidding<'a>(rules: &'a [Rule], tool: &str, proposal: &Proposal) -> Option<&'a Rule> {
    let subjects = proposal.subjects();
    let mut parts: Vec<&str> = subjects.iter().map(String::as_str).collect();
    if let Proposal::Run { line, .. } = proposal {
        parts.extend(line.split(SHELL_SYNTAX).map(str::trim).filter(|part| !part.is_empty()));
    }
    rules.iter().find(|rule| parts.iter().any(|part| rule.covers(tool, part)))
}

fn is_compound(proposal: &Proposal) -> bool {
    matches!(proposal, Proposal::Run { line, .. } if line.contains(SHELL_SYNTAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{FileDiff, FileKind};

    fn run(line: &str) -> Proposal {
        Proposal::Run { line: line.to_owned(), cwd: ".".to_owned(), timeout_s: 1 }
    }

    fn change(paths: &[&str]) -> Proposal {
        let file = |path: &&str| FileDiff::new(path, FileKind::Modified, vec![]);
        Proposal::Change { files: paths.iter().map(file).collect() }
    }

    fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
        let own = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        Rules::parse(&Permissions { allow: own(allow), ask: own(ask), deny: own(deny) }).unwrap()
    }

    fn is_allowed(ruling: &Ruling) -> bool {
        matches!(ruling, Ruling::Allow(_))
    }

    #[test]
    fn a_rule_never_lets_a_line_with_shell_syntax_stand() {
        let rules = rules(&["run_command(git log*)", "run_command(cd*)"], &[], &[]);
        assert!(is_allowed(&decide(Mode::Ask, &rules, "run_command", &run("git log -3"))));
        for line in [
            "git log && touch PWNED",
            "git log; touch PWNED",
            "git log\ntouch PWNED",
            "git log\rtouch PWNED",
            "git log | tee PWNED",
            "git log & touch PWNED",
            "git log $(touch PWNED)",
            "git log `touch PWNED`",
            "git log > PWNED",
            "git log < PWNED",
            "cd . && touch PWNED",
        ] {
            let ruling = decide(Mode::AcceptEdits, &rules, "run_command", &run(line));
            assert!(matches!(ruling, Ruling::Ask { .. }), "{line}: {ruling:?}");
            assert_eq!(exact_rule("run_command", &run(line)), None, "{line}");
        }
    }

    #[test]
    fn deny_wins_then_ask_then_allow() {
        let rules = rules(
            &["run_command(git *)"],
            &["run_command(git push*)"],
            &["run_command(git push --force*)"],
        );
        let decide = |line| decide(Mode::Ask, &rules, "run_command", &run(line));
        assert!(is_allowed(&decide("git status")));
        assert!(matches!(decide("git push origin"), Ruling::Ask { .. }));
        assert!(matches!(decide("git push --force origin"), Ruling::Deny { .. }));
        assert!(matches!(decide("git status && git push --force"), Ruling::Deny { .. }));
    }

    #[test]
    fn modes_say_what_no_rule_says() {
        let none = Rules::default();
        let look = Proposal::Look { subject: "a".to_owned() };
        for (mode, proposal, allowed) in [
            (Mode::Plan, &look, true),
            (Mode::Ask, &look, true),
            (Mode::Ask, &change(&["a"]), false),
            (Mode::AcceptEdits, &change(&["a"]), true),
            (Mode::AcceptEdits, &run("ls"), false),
        ] {
            let ruling = decide(mode, &none, "edit_file", proposal);
            assert_eq!(is_allowed(&ruling), allowed, "{mode:?} {proposal:?}");
        }
    }

    #[test]
    fn plan_mode_denies_even_what_a_rule_allows() {
        let rules = rules(&["run_command(*)", "edit_file(*)"], &[], &[]);
        for (tool, proposal) in [("run_command", run("ls")), ("edit_file", change(&["a"]))] {
            let ruling = decide(Mode::Plan, &rules, tool, &proposal);
            assert!(matches!(ruling, Ruling::Deny { .. }), "{ruling:?}");
        }
    }

    #[test]
    fn every_subject_must_be_covered() {
        let rules = rules(&["edit_file(src/*)"], &[], &[]);
        let decide = |paths: &[&str]| decide(Mode::Ask, &rules, "edit_file", &change(paths));
        assert!(is_allowed(&decide(&["src/a.rs", "src/b/c.rs"])));
        assert!(!is_allowed(&decide(&["src/a.rs", "Cargo.toml"])));
        assert!(!is_allowed(&decide(&[])));
    }

    #[test]
    fn always_covers_this_target_and_nothing_else() {
        let mut rules = Rules::default();
        let first = run("python3 -c 'print(1)' [a]*");
        assert_eq!(exact_rule("run_command", &first), None);
        let first = run("rm a*");
        let rule = exact_rule("run_command", &first).unwrap();
        rules.grant(&rule).unwrap();
        assert!(is_allowed(&decide(Mode::Ask, &rules, "run_command", &first)));
        assert!(!is_allowed(&decide(Mode::Ask, &rules, "run_command", &run("rm ab"))));
        assert!(!is_allowed(&decide(Mode::Ask, &rules, "run_python_file", &first)));
    }

    #[test]
    fn a_rule_that_cannot_be_read_says_why() {
        for (text, why) in [
            ("cargo test", "there is no '('"),
            ("run_command(ls", "it does not end in ')'"),
            ("bash(ls)", "there is no tool 'bash'"),
            ("run_command([z-a])", "invalid range"),
        ] {
            let error = Rule::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(text), "{error}");
        }
    }
}
