//! A change made ready beside its targets, and the swap that lets all of it stand, or none.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Gid, Mode, Stat, Uid};

use super::folder::Folder;
use super::{Applied, ApplyError, Change, FileChange};

/// A change with every new content already on disk under a temporary name, fsynced, not yet renamed.
///
/// Dropped without [`Staged::commit`], it takes everything it wrote away again.
#[derive(Debug)]
pub struct Staged {
    steps: Vec<Step>,
    /// Folders that had to be made, outermost first.
    folders: Vec<PathBuf>,
    committed: bool,
}

/// One file on its way.
#[derive(Debug)]
struct Step {
    file: FileChange,
    folder: Folder,
    name: OsString,
    /// Where the new content waits; after an exchange, where the old content waits to be dropped.
    temporary: OsString,
    way: Way,
    state: State,
}

/// How a file gets its new content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nothing stood there: the new file takes the free name.
    Create,
    /// The new file and the old one trade names.
    Replace,
    /// The same file gets new bytes: it has other names (hard links), or an owner we cannot give away.
    InPlace,
    Delete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of ours is on disk.
    Bare,
    /// The temporary file holds the new content.
    Waiting,
    /// The new content stands, and the temporary file holds the old one.
    Exchanged,
    /// The new content stands, and the old one is in memory only.
    Written,
}

/// Why a step failed: somebody else's write, or the disk.
enum Failure {
    Drifted,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Staged {
    pub(super) fn of(change: &Change) -> Result<Self, ApplyError> {
        let mut staged = Self { steps: Vec::new(), folders: Vec::new(), committed: false };
        for file in &change.files {
            staged.add(file).map_err(|failure| failure.about(file))?;
        }
        Ok(staged)
    }

    fn add(&mut self, file: &FileChange) -> Result<(), Failure> {
        self.make_folders(file.place.folder())?;
        let mut step = Step::new(file)?;
        let result = step.stage();
        self.steps.push(step);
        result
    }

    fn make_folders(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<_> = folder.ancestors().take_while(|path| !path.exists()).collect();
        for path in missing.into_iter().rev() {
            std::fs::create_dir(path)?;
            self.folders.push(path.to_owned());
        }
        Ok(())
    }

    /// Returns the temporary files, for the record that is written before [`Staged::commit`].
    pub fn temporaries(&self) -> Vec<PathBuf> {
        let waiting = self.steps.iter().filter(|step| step.state == State::Waiting);
        waiting.map(|step| step.file.place.folder().join(&step.temporary)).collect()
    }

    /// Compares and swaps: all files, or none.
    pub fn commit(mut self) -> Result<Applied, ApplyError> {
        for step in &self.steps {
            step.check().map_err(|failure| failure.about(&step.file))?;
        }
        for at in 0..self.steps.len() {
            if let Err(failure) = self.steps[at].swap() {
                return Err(self.put_back(at, failure));
            }
        }
        for at in 0..self.steps.len() {
            if let Err(error) = self.steps[at].folder.sync() {
                return Err(self.put_back(at, error.into()));
            }
        }
        self.committed = true;
        Ok(Applied { files: self.steps.iter().map(|step| step.file.diff()).collect() })
    }

    /// Undoes what stands already, so that the failure changed nothing; says so where even that fails.
    fn put_back(&mut self, failed: usize, failure: Failure) -> ApplyError {
        let mut stuck = Vec::new();
        for step in self.steps.iter_mut().rev() {
            if step.put_back().is_err() {
                stuck.push(step.file.place.shown.clone());
            }
        }
        let error = failure.about(&self.steps[failed].file);
        if stuck.is_empty() {
            return error;
        }
        ApplyError::Torn { cause: error.to_string(), paths: stuck.join(", ") }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for step in &self.steps {
            if matches!(step.state, State::Waiting | State::Exchanged) {
                let _ = step.folder.remove(&step.temporary);
            }
        }
        if self.committed {
            return;
        }
        for folder in self.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

impl Step {
    fn new(file: &FileChange) -> io::Result<Self> {
        let name = file.place.absolute.file_name();
        let name = name.ok_or(io::Error::from(io::ErrorKind::IsADirectory))?.to_owned();
        let folder = Folder::open(file.place.folder())?;
        let way = match (&file.before, &file.after) {
            (_, None) => Way::Delete,
            (None, _) => Way::Create,
            _ => Way::Replace,
        };
        let temporary = temporary_name();
        Ok(Self { file: file.clone(), folder, name, temporary, way, state: State::Bare })
    }

    fn stage(&mut self) -> Result<(), Failure> {
        match self.way {
            Way::Create => self.write_new(Mode::from_raw_mode(0o666)).map(drop)?,
            Way::Replace => self.stage_replacement()?,
            Way::InPlace | Way::Delete => {}
        }
        Ok(())
    }

    fn stage_replacement(&mut self) -> Result<(), Failure> {
        let stat = self.folder.stat(&self.name).map_err(drifted_when_gone)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Failure::Drifted);
        }
        self.folder.may_write(&self.name)?;
        if stat.st_nlink > 1 {
            self.way = Way::InPlace;
            return Ok(());
        }
        let file = self.write_new(Mode::RUSR | Mode::WUSR)?;
        if give_to_owner_of(&stat, &file).is_err() {
            self.folder.remove(&self.temporary)?;
            (self.way, self.state) = (Way::InPlace, State::Bare);
            return Ok(());
        }
        // After the owner, since changing that clears set-user-id bits.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode)).map_err(io::Error::from)?;
        Ok(file.sync_all()?)
    }

    fn write_new(&mut self, mode: Mode) -> io::Result<File> {
        // Before the write: one that fails half way leaves a file to remove, too.
        self.state = State::Waiting;
        self.folder.create(&self.temporary, self.after(), mode)
    }

    fn after(&self) -> &[u8] {
        self.file.after.as_deref().unwrap_or_default()
    }

    fn before(&self) -> &[u8] {
        self.file.before.as_ref().map_or(&[], |version| &version.bytes)
    }

    /// Compares what stands there with what the change was computed from.
    fn check(&self) -> Result<(), Failure> {
        match &self.file.before {
            Some(_) if self.is_as_before(&self.name)? => Ok(()),
            None if self.folder.stat(&self.name).is_err_and(is_gone) => Ok(()),
            _ => Err(Failure::Drifted),
        }
    }

    fn is_as_before(&self, name: &OsStr) -> Result<bool, Failure> {
        let limit = self.before().len() as u64;
        let (bytes, _) = self.folder.read(name, limit).map_err(drifted_when_gone)?;
        Ok(bytes == self.before())
    }

    fn swap(&mut self) -> Result<(), Failure> {
        match self.way {
            Way::Create => self.take_free_name(),
            Way::Replace => self.exchange(),
            Way::InPlace => self.overwrite(),
            Way::Delete => self.set_aside(),
        }
    }

    fn take_free_name(&mut self) -> Result<(), Failure> {
        match self.folder.rename_to_free(&self.temporary, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::Drifted),
            result => {
                result?;
                self.state = State::Written;
                Ok(())
            }
        }
    }

    /// Trades names with the old file and only then looks at what was traded away: nothing that
    /// anybody wrote in between is lost.
    fn exchange(&mut self) -> Result<(), Failure> {
        if !self.folder.exchange(&self.temporary, &self.name).map_err(drifted_when_gone)? {
            self.check()?;
            self.folder.rename_over(&self.temporary, &self.name)?;
            self.state = State::Written;
            return Ok(());
        }
        self.state = State::Exchanged;
        if self.is_as_before(&self.temporary)? { Ok(()) } else { Err(Failure::Drifted) }
    }

    fn overwrite(&mut self) -> Result<(), Failure> {
        self.check()?;
        self.state = State::Written;
        Ok(self.folder.overwrite(&self.name, self.after())?)
    }

    fn set_aside(&mut self) -> Result<(), Failure> {
        self.folder.rename_to_free(&self.name, &self.temporary).map_err(drifted_when_gone)?;
        self.state = State::Exchanged;
        if self.is_as_before(&self.temporary)? { Ok(()) } else { Err(Failure::Drifted) }
    }

    fn put_back(&mut self) -> io::Result<()> {
        match (self.state, self.way) {
            (State::Bare | State::Waiting, _) => return Ok(()),
            (State::Exchanged, Way::Delete) => {
                self.folder.rename_to_free(&self.temporary, &self.name)?;
                self.state = State::Bare;
            }
            (State::Exchanged, _) => {
                self.folder.exchange(&self.temporary, &self.name)?;
                self.state = State::Waiting;
            }
            (State::Written, Way::Create) => {
                self.folder.remove(&self.name)?;
                self.state = State::Bare;
            }
            (State::Written, _) => {
                self.folder.overwrite(&self.name, self.before())?;
                self.state = State::Bare;
            }
        }
        self.folder.sync()
    }
}

impl Failure {
    fn about(self, file: &FileChange) -> ApplyError {
        let path = file.place.shown.clone();
        match self {
            Self::Drifted => ApplyError::Drifted { path },
            Self::Io(source) => ApplyError::Io { path, source },
        }
    }
}

fn drifted_when_gone(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::Drifted,
        _ => Failure::Io(error),
    }
}

fn is_gone(error: io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn give_to_owner_of(stat: &Stat, file: &File) -> io::Result<()> {
    let ours = rustix::fs::fstat(file)?;
    if (ours.st_uid, ours.st_gid) == (stat.st_uid, stat.st_gid) {
        return Ok(());
    }
    let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    Ok(rustix::fs::fchown(file, Some(owner), Some(group))?)
}

/// A name that tells a person where it comes from and that nothing else has.
fn temporary_name() -> OsString {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos());
    let unique = blake3::hash(format!("{} {count} {nanos}", std::process::id()).as_bytes());
    format!(".trefoil-{}.tmp", &unique.to_hex()[..12]).into()
}
