//! A folder held open: everything below goes through its descriptor, and no link is ever followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
}

impl Folder {
    /// Opens a canonical path part by part, so that a link put in its way meanwhile is an error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut folder = Self { fd: fs::open("/", FOLDER | searching(), Mode::empty())? };
        for part in path.components() {
            if let Component::Normal(name) = part {
                folder = folder.enter(name)?;
            }
        }
        Ok(folder)
    }

    fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self { fd: fs::openat(&self.fd, name, FOLDER | searching(), Mode::empty())? })
    }

    /// Returns what stands under a name; a link is itself, not its target.
    pub fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Returns whether this process may write to a file.
    pub fn may_write(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::accessat(&self.fd, name, fs::Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    /// Reads a regular file, at most `limit` bytes and one more.
    pub fn read(&self, name: &OsStr, limit: u64) -> io::Result<(Vec<u8>, Stat)> {
        let file = self.open_file(name, OFlags::RDONLY, Mode::empty())?;
        let stat = fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0).min(1 << 24));
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes, stat))
    }

    /// Creates a file that must not exist yet and writes it down to the disk.
    pub fn create(&self, name: &OsStr, bytes: &[u8], mode: Mode) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = self.open_file(name, flags, mode)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(file)
    }

    /// Overwrites a file where it stands, keeping its inode.
    pub fn overwrite(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.open_file(name, OFlags::WRONLY, Mode::empty())?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    }

    fn open_file(&self, name: &OsStr, flags: OFlags, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, name, flags, mode)?))
    }

    /// Gives a file a new name that nothing has yet.
    pub fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_to_free(from, self, to)
    }

    /// Moves a file into a folder, under a name that nothing has there yet.
    pub fn move_to_free(&self, from: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        match fs::renameat_with(&self.fd, from, &into.fd, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {
                fs::linkat(&self.fd, from, &into.fd, to, AtFlags::empty())?;
                self.remove(from)
            }
            result => Ok(result?),
        }
    }

    /// Lets two files trade names in one step; `false` where the file system cannot.
    pub fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        match fs::renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(error) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(()) => Ok(true),
        }
    }

    /// Renames over whatever stands under the new name.
    pub fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Makes renames in this folder last.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match fs::openat(&self.fd, ".", flags, Mode::empty()) {
            // A folder that may be written but not read cannot be synced; its renames stand all the same.
            Err(rustix::io::Errno::ACCESS) => return Ok(()),
            folder => folder?,
        };
        match fs::fsync(&folder) {
            Err(rustix::io::Errno::INVAL) => Ok(()),
            result => Ok(result?),
        }
    }
}

/// Passing through a folder needs no right to list it.
#[cfg(target_os = "linux")]
fn searching() -> OFlags {
    OFlags::PATH
}

#[cfg(not(target_os = "linux"))]
fn searching() -> OFlags {
    OFlags::RDONLY
}

fn is_unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}
