use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use super::*;

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q"]);
    let root = Root::open(folder.path()).unwrap();
    (folder, root)
}

fn commit(folder: &Path, path: &str, content: &str) {
    fs::write(folder.join(path), content).unwrap();
    git(folder, &["add", "--", path]);
    git(folder, &["commit", "-qm", "c"]);
}

fn paths(root: &Root) -> Vec<String> {
    status(root).unwrap().entries.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn a_repository_without_a_commit_shows_staged_and_unstaged() {
    let (folder, root) = repository();
    fs::write(folder.path().join("a.txt"), "1\n").unwrap();
    git(folder.path(), &["add", "a.txt"]);
    fs::write(folder.path().join("a.txt"), "2\n").unwrap();
    fs::write(folder.path().join("b.txt"), "3\n").unwrap();
    let entry = |path: &str, staged, unstaged| Entry { path: path.into(), staged, unstaged };
    let expected = Status {
        branch: "main".into(),
        has_commits: false,
        entries: vec![
            entry("a.txt", Some("added"), Some("modified")),
            entry("b.txt", None, Some("untracked")),
        ],
    };
    assert_eq!(status(&root), Ok(expected));
    let patches = patches(&root, None, 9_999).unwrap();
    assert_eq!(patches.staged[0].text, "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+1\n");
    assert_eq!(patches.unstaged[0].text, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n");
    assert_eq!(patches.unstaged[1].text, "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+3\n");
    assert_eq!(head(&root), Some(Head { name: "main".into(), changed: 2 }));
}

#[test]
fn no_repository_and_a_bare_one_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    assert!(matches!(status(&root), Err(GitError::NoRepository(_))));
    assert_eq!(head(&root), None);
    git(folder.path(), &["init", "-q", "--bare"]);
    assert_eq!(status(&root), Err(GitError::Bare));
}

#[test]
fn odd_names_are_listed_once_and_their_diffs_found() {
    let (folder, root) = repository();
    let names: [&[u8]; 9] = [
        b"my notes.md",
        "\u{e4}.txt".as_bytes(),
        "\u{6d4b}.txt".as_bytes(),
        b"q\"uote",
        b"a -> b.txt",
        b"tab\there",
        b"new\nline",
        b"-rf",
        b"bad\xff",
    ];
    for name in names {
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "x\n").unwrap();
    }
    let listed = paths(&root);
    assert_eq!(listed.len(), names.len());
    for path in &listed {
        assert!(!path.chars().any(char::is_control), "{path:?}");
        let found = patches(&root, Some(path), 9_999).unwrap().unstaged;
        assert_eq!(found.len(), 1, "{path}");
        assert!(found[0].text.ends_with("+x\n"));
    }
    assert!(listed.contains(&"\u{e4}.txt".to_owned()) && listed.contains(&"bad\\xff".to_owned()));
}

#[test]
fn a_worktree_a_submodule_and_a_subfolder_report_themselves() {
    let home = tempfile::tempdir().unwrap();
    let (main, other) = (home.path().join("main"), home.path().join("other"));
    for folder in [&main, &other] {
        fs::create_dir_all(folder.join("sub")).unwrap();
        git(folder, &["init", "-q"]);
        commit(folder, "a.txt", "1\n");
    }
    git(&main, &["submodule", "--quiet", "add", other.to_str().unwrap(), "module"]);
    git(&main, &["commit", "-qm", "module"]);
    git(&main, &["worktree", "add", "-q", "-b", "side", "../tree"]);
    fs::write(home.path().join("tree/a.txt"), "2\n").unwrap();
    fs::write(main.join("module/a.txt"), "2\n").unwrap();
    fs::write(main.join("sub/new"), "").unwrap();
    let open = |path: &str| Root::open(&home.path().join(path)).unwrap();
    assert_eq!(paths(&open("main")), ["module", "sub/new"]);
    assert_eq!(paths(&open("main/sub")), ["new"]);
    assert_eq!(paths(&open("main/module")), ["a.txt"]);
    assert_eq!(paths(&open("tree")), ["a.txt"]);
    assert_eq!(head(&open("tree")).unwrap().name, "side");
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let (folder, root) = repository();
    commit(folder.path(), "a.txt", "1\n");
    let mark = |name: &str| format!("touch {}/{name}", folder.path().join(".git").display());
    for (key, name) in [
        ("core.fsmonitor", "PWN1"),
        ("diff.external", "PWN2"),
        ("filter.x.clean", "PWN3"),
        ("filter.x.smudge", "PWN4"),
        ("diff.y.textconv", "PWN5"),
        ("core.pager", "PWN6"),
    ] {
        git(folder.path(), &["config", key, &mark(name)]);
    }
    fs::write(folder.path().join(".gitattributes"), "*.txt filter=x diff=y\n").unwrap();
    fs::write(folder.path().join("a.txt"), "2\n").unwrap();
    let index = fs::read(folder.path().join(".git/index")).unwrap();
    assert_eq!(paths(&root), [".gitattributes", "a.txt"]);
    assert!(patches(&root, Some("a.txt"), 9_999).unwrap().unstaged[0].text.contains("-1\n+2\n"));
    head(&root).unwrap();
    let ran = fs::read_dir(folder.path().join(".git")).unwrap();
    let ran: Vec<_> =
        ran.map(|e| e.unwrap().file_name()).filter(|n| n.as_bytes().starts_with(b"PWN")).collect();
    assert_eq!(ran, Vec::<std::ffi::OsString>::new());
    assert_eq!(fs::read(folder.path().join(".git/index")).unwrap(), index);
}

#[test]
fn a_repository_of_somebody_else_is_named_as_the_cause() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (folder, root) = repository();
    for path in [folder.path().to_owned(), folder.path().join(".git")] {
        std::os::unix::fs::chown(path, Some(1234), Some(1234)).unwrap();
    }
    let error = status(&root).unwrap_err().to_string();
    assert!(error.contains("dubious ownership"), "{error}");
    assert_eq!(head(&root), None);
}
