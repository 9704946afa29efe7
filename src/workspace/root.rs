//! The one way to a file: every path a model names is resolved here, link by link, inside the root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use super::folder::Folder;
use super::{Conflict, Version};

/// Links followed before a path counts as a loop, as in the Linux kernel.
const MOST_LINKS: usize = 40;

/// The folder that the person opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
}

/// A file or folder inside the root, all links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, canonical; the last part may not exist yet.
    pub absolute: PathBuf,
    /// As people and models see it: relative to the root, `/` between parts, `.` for the root.
    pub shown: String,
}

/// Why a path is not inside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Escape {
    #[error(
        "The path is empty; name a path inside the workspace, or '.' for the workspace itself."
    )]
    Empty,
    #[error("{path:?} holds a NUL byte; no file has such a name.")]
    Nul { path: String },
    #[error("'{path}' starts in a home folder; name a path relative to the workspace.")]
    Home { path: String },
    #[error("'{path}' is outside the workspace {root}; only paths inside it can be used.")]
    Outside { path: String, root: String },
    #[error(
        "'{path}' leads outside the workspace {root} through the symbolic link '{link}'; only paths inside it can be used."
    )]
    Link { path: String, link: String, root: String },
    #[error("'{path}' passes through too many symbolic links; they form a loop.")]
    Loop { path: String },
    #[error(
        "'{path}' belongs to git's own data (.git), which is never written here; use git itself."
    )]
    Git { path: String },
    #[error("'{path}' cannot be resolved: {reason}.")]
    Unreadable { path: String, reason: String },
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Missing,
    Folder,
    File(Version),
    /// A file of more bytes than were asked for.
    TooLarge {
        bytes: u64,
    },
    /// A device, a pipe or a socket, named.
    Special(&'static str),
}

/// Where a walk along a path ended, and what it met.
struct Walked {
    absolute: PathBuf,
    last_link: Option<PathBuf>,
    through_git: bool,
}

impl Root {
    /// Opens a folder as the root.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        if !path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no folder"));
        }
        Ok(Self { path })
    }

    /// Returns the canonical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolves a path a model named, for reading. The last part may be missing.
    pub fn resolve(&self, path: &str) -> Result<Place, Escape> {
        self.place(path, &self.walk(path)?)
    }

    /// Resolves a path for writing: like [`Root::resolve`], and refuses what lies in `.git`.
    pub fn resolve_for_writing(&self, path: &str) -> Result<Place, Escape> {
        let walked = self.walk(path)?;
        let place = self.place(path, &walked)?;
        if walked.through_git {
            return Err(Escape::Git { path: path.into() });
        }
        Ok(place)
    }

    /// Returns whether a path a model named is itself a symbolic link.
    pub fn is_link(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.path.join(path)).is_ok_and(|meta| meta.is_symlink())
    }

    /// Returns the place of an entry met while walking the root; it must not be a link.
    pub fn place_of(&self, absolute: &Path) -> Option<Place> {
        let inside = absolute.strip_prefix(&self.path).ok()?;
        Some(Place { absolute: absolute.to_owned(), shown: shown(inside) })
    }

    fn place(&self, path: &str, walked: &Walked) -> Result<Place, Escape> {
        self.place_of(&walked.absolute).ok_or_else(|| {
            let (path, root) = (path.into(), self.path.display().to_string());
            match &walked.last_link {
                Some(link) => Escape::Link { path, link: self.relative(link), root },
                None => Escape::Outside { path, root },
            }
        })
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).map_or_else(|_| path.display().to_string(), shown)
    }

    fn walk(&self, path: &str) -> Result<Walked, Escape> {
        check_spelling(path)?;
        let mut walked =
            Walked { absolute: self.path.clone(), last_link: None, through_git: false };
        let mut ahead = parts(Path::new(path));
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if !self.step(&mut walked, &part) {
                continue;
            }
            let target = match std::fs::read_link(&walked.absolute) {
                Ok(target) => target,
                Err(error) if is_no_link(&error) => continue,
                Err(error) => {
                    return Err(Escape::Unreadable {
                        path: path.into(),
                        reason: error.to_string(),
                    });
                }
            };
            links += 1;
            if links > MOST_LINKS {
                return Err(Escape::Loop { path: path.into() });
            }
            walked.last_link = Some(walked.absolute.clone());
            walked.absolute.pop();
            for part in parts(&target).into_iter().rev() {
                ahead.push_front(part);
            }
        }
        Ok(walked)
    }

    /// Takes one part of a path; returns whether what it names may be a link.
    fn step(&self, walked: &mut Walked, part: &OsStr) -> bool {
        match part.as_bytes() {
            b"/" => walked.absolute = PathBuf::from("/"),
            b".." => {
                walked.absolute.pop();
            }
            _ => {
                walked.absolute.push(part);
                let is_below =
                    walked.absolute != self.path && walked.absolute.starts_with(&self.path);
                walked.through_git |= is_below && is_git(part);
                return true;
            }
        }
        false
    }
}

impl Place {
    /// Reads what stands here, without following a link and without waiting for a pipe.
    pub fn read(&self, limit: u64) -> io::Result<Found> {
        let Some(name) = self.absolute.file_name() else { return Ok(Found::Folder) };
        let folder = match Folder::open(self.folder()) {
            Err(error) if is_missing(&error) => return Ok(Found::Missing),
            folder => folder?,
        };
        match folder.stat(name) {
            Err(error) if is_missing(&error) => Ok(Found::Missing),
            Err(error) => Err(error),
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => read_file(&folder, name, limit),
                FileType::Directory => Ok(Found::Folder),
                kind => Ok(Found::Special(kind_name(kind))),
            },
        }
    }

    /// Returns the file that stands here, or `None` for nothing; anything else is in conflict with a file.
    pub fn version(&self, limit: u64) -> Result<Option<Version>, Conflict> {
        match self.read(limit) {
            Ok(Found::File(version)) => Ok(Some(version)),
            Ok(Found::Missing) => Ok(None),
            _ => Err(Conflict),
        }
    }

    /// Returns an error when this process may not write what stands here; nothing there is fine.
    pub fn may_write(&self) -> io::Result<()> {
        let Some(name) = self.absolute.file_name() else { return Ok(()) };
        match Folder::open(self.folder()).and_then(|folder| folder.may_write(name)) {
            Err(error) if is_missing(&error) => Ok(()),
            result => result,
        }
    }

    /// Returns the folder that holds this place.
    pub(super) fn folder(&self) -> &Path {
        self.absolute.parent().unwrap_or(Path::new("/"))
    }
}

fn read_file(folder: &Folder, name: &OsStr, limit: u64) -> io::Result<Found> {
    let (bytes, stat) = folder.read(name, limit)?;
    if bytes.len() as u64 > limit {
        return Ok(Found::TooLarge { bytes: stat.st_size.try_into().unwrap_or(u64::MAX) });
    }
    let links = stat.st_nlink;
    Ok(Found::File(Version { links, ..Version::new(bytes, stat.st_mode & 0o7777) }))
}

fn check_spelling(path: &str) -> Result<(), Escape> {
    if path.is_empty() {
        return Err(Escape::Empty);
    }
    if path.contains('\0') {
        return Err(Escape::Nul { path: path.into() });
    }
    if path == "~" || path.starts_with("~/") {
        return Err(Escape::Home { path: path.into() });
    }
    Ok(())
}

/// Splits a path into `/`, `..` and names; `.` says nothing.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

fn is_no_link(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), InvalidInput | NotADirectory | NotFound)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Tells `.git` in every spelling that some file system takes for it, as git's own checks do:
/// any case, HFS's ignored characters, NTFS's trailing dots and spaces and its short name.
fn is_git(name: &OsStr) -> bool {
    let name: String = name
        .to_string_lossy()
        .chars()
        .filter(|c| {
            !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        })
        .collect();
    let name = name.trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symbolic link",
        _ => "no regular file",
    }
}

fn shown(inside: &Path) -> String {
    if inside.as_os_str().is_empty() {
        return ".".into();
    }
    inside.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
