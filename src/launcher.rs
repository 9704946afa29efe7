//! The hidden entry through which every command starts: it leaves the terminal's session, closes what it
//! inherited, and becomes the command. `main` branches here before any runtime or thread exists.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The first argument that means: become the command that follows.
pub const WORD: &str = "__launch";

/// What a shell answers for a program that cannot be started, or is not there.
const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Returns the command to become, if this program was started as the launcher.
pub fn command(arguments: &[OsString]) -> Option<&[OsString]> {
    match arguments {
        [_, word, command @ ..] if word == WORD => Some(command),
        _ => None,
    }
}

/// Becomes the command; returns only if that fails.
pub fn run(command: &[OsString]) -> ExitCode {
    let [program, arguments @ ..] = command else { return ExitCode::from(NOT_FOUND) };
    // It fails only for the leader of a group, which is then a session of its own already.
    rustix::process::setsid().ok();
    close_inherited();
    let error = Command::new(program).args(arguments).exec();
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => NOT_FOUND,
        _ => CANNOT_START,
    };
    let name = OsStr::to_string_lossy(program);
    writeln!(std::io::stderr(), "{name} could not be started: {error}").ok();
    ExitCode::from(code)
}

/// Closes every descriptor but the three standard ones; ours close by themselves, foreign ones do not.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let open: Vec<i32> = entries.flatten().filter_map(number).filter(|fd| *fd > 2).collect();
    for fd in open {
        // The listing's own descriptor is in the list and already closed.
        nix::unistd::close(fd).ok();
    }
}
