//! The environment that commands get: the person's own, without secrets, and set so that nothing waits for a person.

/// Parts of a name that tell a secret.
const SECRET: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH_SOCK"];
/// Beginnings of names that belong to a model's provider, to Trefoil itself, or to a git call in progress.
const PRIVATE: &[&str] = &[
    "GEMINI_",
    "GOOGLE_",
    "OPENAI_",
    "ANTHROPIC_",
    "OPENROUTER_",
    "DEEPSEEK_",
    "MISTRAL_",
    "GROQ_",
    "XAI_",
    "TREFOIL_",
    "GIT_",
];
/// The plain names of a model's key and place.
const PLAIN: &[&str] = &["API_BASE", "MODEL"];
/// What keeps programs from asking, paging, opening an editor, drawing, or running what is stale.
const QUIET: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    // Python takes a cached module for current when size and second of the source agree: an edit right
    // after a run would not be seen by the next one.
    ("PYTHONDONTWRITEBYTECODE", "1"),
];

/// Returns the environment for commands out of this process's own.
pub fn environment(vars: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let is_quiet = |name: &str| QUIET.iter().any(|(quiet, _)| *quiet == name);
    let quiet = QUIET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let kept = vars.into_iter().filter(|(name, _)| !is_private(name) && !is_quiet(name));
    kept.chain(quiet).collect()
}

fn is_private(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET.iter().any(|part| name.contains(part))
        || PRIVATE.iter().any(|start| name.starts_with(start))
        || PLAIN.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_behind_and_nothing_waits_for_a_person() {
        let own = [
            "OPENAI_API_KEY",
            "my_api_key",
            "GITHUB_TOKEN",
            "db_password",
            "AWS_SECRET_ACCESS_KEY",
            "GEMINI_MODEL",
            "API_KEY",
            "API_BASE",
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "SSH_AUTH_SOCK",
            "EDITOR",
            "PATH",
            "HOME",
            "LANG",
        ];
        let vars = own.map(|name| (name.to_owned(), "value".to_owned()));
        let kept = environment(vars);
        let names: Vec<_> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..3], ["PATH", "HOME", "LANG"]);
        assert_eq!(names.len(), 3 + QUIET.len());
        assert!(kept.contains(&("EDITOR".to_owned(), "true".to_owned())));
    }
}
