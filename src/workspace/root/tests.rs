use super::*;
use std::os::unix::fs::symlink;

/// A folder `project` beside `project-secret/k.txt`, both inside a temporary one.
fn home() -> (tempfile::TempDir, Root) {
    let home = tempfile::tempdir().unwrap();
    for folder in ["project/sub", "project-secret"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    std::fs::write(home.path().join("project-secret/k.txt"), "secret").unwrap();
    std::fs::write(home.path().join("project/real.txt"), "real").unwrap();
    let root = Root::open(&home.path().join("project")).unwrap();
    (home, root)
}

fn link(root: &Root, name: &str, target: impl AsRef<Path>) {
    symlink(target, root.path().join(name)).unwrap();
}

#[test]
fn what_lies_inside_is_found_however_it_is_spelt() {
    let (_home, root) = home();
    link(&root, "link", "real.txt");
    link(&root, "absolute", root.path().join("real.txt"));
    link(&root, "folder", "sub");
    link(&root, "dangling", "sub/new.txt");
    let whole = root.path().join("real.txt").display().to_string();
    for (path, shown) in [
        (".", "."),
        ("./real.txt", "real.txt"),
        ("sub/../real.txt", "real.txt"),
        (whole.as_str(), "real.txt"),
        ("link", "real.txt"),
        ("absolute", "real.txt"),
        ("folder/x/y", "sub/x/y"),
        ("folder/../real.txt", "real.txt"),
        ("dangling", "sub/new.txt"),
        ("missing/new.txt", "missing/new.txt"),
        ("~name", "~name"),
    ] {
        let place = root.resolve_for_writing(path).unwrap();
        assert_eq!(place.shown, shown, "{path}");
        assert_eq!(
            place.absolute,
            root.path().join(shown.trim_start_matches('.')).components().as_path()
        );
    }
}

#[test]
fn what_lies_outside_is_refused_with_the_reason() {
    let (home, root) = home();
    let secret = home.path().join("project-secret");
    link(&root, "out", &secret);
    link(&root, "file", secret.join("k.txt"));
    link(&root, "dangling", "../nowhere.txt");
    link(&root, "sub/up", "../..");
    link(&root, "loop", "loop");
    link(&root, "ping", "pong");
    link(&root, "pong", "ping");
    let sibling = secret.join("k.txt").display().to_string();
    for (path, reason) in [
        ("../project-secret/k.txt", "outside the workspace"),
        (&sibling, "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("..", "outside the workspace"),
        ("missing/../../x", "outside the workspace"),
        ("out/k.txt", "symbolic link 'out'"),
        ("file", "symbolic link 'file'"),
        ("dangling", "symbolic link 'dangling'"),
        ("sub/up/project-secret/k.txt", "symbolic link 'sub/up'"),
        ("loop", "loop"),
        ("ping/x", "loop"),
        ("a\0b", "NUL"),
        ("~/x", "home"),
        ("~", "home"),
        ("", "empty"),
    ] {
        let error = root.resolve(path).unwrap_err().to_string();
        assert!(error.contains(reason), "{path}: {error}");
    }
}

#[test]
fn git_data_can_be_read_but_not_written() {
    let (_home, root) = home();
    std::fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
    std::fs::write(root.path().join("sub/.git"), "gitdir: elsewhere\n").unwrap();
    link(&root, "hooks", ".git/hooks");
    for path in [
        ".git",
        ".git/hooks/pre-commit",
        "./.git/config",
        ".GIT/config",
        "sub/../.git/config",
        "sub/.git",
        "sub/.git/hooks/x",
        "hooks/pre-commit",
        ".git./config",
        "git~1/config",
        ".g\u{200c}it/config",
    ] {
        assert!(root.resolve(path).is_ok(), "{path}");
        assert_eq!(root.resolve_for_writing(path), Err(Escape::Git { path: path.into() }));
    }
    for path in [".gitignore", ".github/workflows/x.yml", ".gitmodules", "a.git/x"] {
        assert!(root.resolve_for_writing(path).is_ok(), "{path}");
    }
}

#[test]
fn reading_tells_what_stands_there_and_never_waits() {
    let (_home, root) = home();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.path().join("pipe"), rustix::fs::Mode::RUSR)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    let found = |path: &str, limit| root.resolve(path).unwrap().read(limit).unwrap();
    assert_eq!(found("pipe", 9), Found::Special("a named pipe"));
    assert_eq!(found("socket", 9), Found::Special("a socket"));
    assert_eq!(found("sub", 9), Found::Folder);
    assert_eq!(found(".", 9), Found::Folder);
    assert_eq!(found("none", 9), Found::Missing);
    assert_eq!(found("real.txt/none", 9), Found::Missing);
    assert_eq!(found("real.txt", 3), Found::TooLarge { bytes: 4 });
    let Found::File(version) = found("real.txt", 4) else { panic!() };
    assert_eq!((version.bytes.as_slice(), version.hash), (&b"real"[..], blake3::hash(b"real")));
}

#[test]
fn a_link_put_in_the_way_after_resolving_is_not_followed() {
    let (home, root) = home();
    let place = root.resolve("sub/k.txt").unwrap();
    std::fs::remove_dir(root.path().join("sub")).unwrap();
    link(&root, "sub", home.path().join("project-secret"));
    assert!(!matches!(place.read(99), Ok(Found::File(_))));
}
