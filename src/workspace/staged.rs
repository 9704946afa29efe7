//! A change made ready beside its targets, and the swap that lets all of it stand, or none.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Gid, Mode, Stat, Uid};

use super::folder::Folder;
use super::{Applied, ApplyError, Change, FileChange, Place, Version};

/// A change with every new content already on disk under a temporary name, fsynced, not yet renamed.
///
/// Dropped without [`Staged::commit`], it takes everything it wrote away again.
#[derive(Debug)]
pub struct Staged {
    change: Change,
    steps: Vec<Step>,
    /// Folders that had to be made, outermost first.
    folders: Vec<PathBuf>,
    committed: bool,
}

/// One file on its way.
#[derive(Debug)]
struct Step {
    path: PathBuf,
    /// As people see the path.
    shown: String,
    before: Option<Version>,
    after: Vec<u8>,
    mode: Option<u32>,
    folder: Folder,
    name: OsString,
    /// Where a moved file was.
    source: Option<(Folder, OsString)>,
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
    /// The file itself takes a free name elsewhere.
    Move,
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
        let (steps, folders) = (Vec::new(), Vec::new());
        let mut staged = Self { change: change.clone(), steps, folders, committed: false };
        for file in &change.files {
            staged.add(file)?;
        }
        Ok(staged)
    }

    /// Makes the steps of one file ready; what moves and changes is written there and deleted here.
    fn add(&mut self, file: &FileChange) -> Result<(), ApplyError> {
        let about = |failure: Failure| failure.about(&file.place.shown);
        self.make_folders(file.place.folder()).map_err(|error| about(error.into()))?;
        let moved = Step::moving(file).map_err(|error| about(error.into()))?;
        let is_moved = moved.is_some();
        let step = match moved {
            Some(step) => step,
            None => Step::new(file).map_err(|error| about(error.into()))?,
        };
        self.stage(step).map_err(about)?;
        let Some(origin) = file.from.as_ref().filter(|_| !is_moved) else { return Ok(()) };
        let about = |failure: Failure| failure.about(&origin.place.shown);
        let leaving = FileChange::to(origin.place.clone(), Some(origin.version.clone()), None);
        let step = Step::new(&leaving).map_err(|error| about(error.into()))?;
        self.stage(step).map_err(about)
    }

    fn stage(&mut self, mut step: Step) -> Result<(), Failure> {
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
        let is_used = |step: &&Step| step.state == State::Waiting || step.way == Way::Delete;
        let waiting = self.steps.iter().filter(is_used);
        waiting.map(|step| step.path.with_file_name(&step.temporary)).collect()
    }

    /// Compares and swaps: all files, or none.
    pub fn commit(mut self) -> Result<Applied, ApplyError> {
        for step in &self.steps {
            step.check().map_err(|failure| failure.about(&step.shown))?;
        }
        for at in 0..self.steps.len() {
            if let Err(failure) = self.steps[at].swap() {
                return Err(self.put_back(at, failure));
            }
        }
        for at in 0..self.steps.len() {
            if let Err(error) = self.steps[at].sync() {
                return Err(self.put_back(at, error.into()));
            }
        }
        self.committed = true;
        Ok(Applied { files: self.change.diffs() })
    }

    /// Undoes what stands already, so that the failure changed nothing; says so where even that fails.
    fn put_back(&mut self, failed: usize, failure: Failure) -> ApplyError {
        let mut stuck = Vec::new();
        for step in self.steps.iter_mut().rev() {
            if step.put_back().is_err() {
                stuck.push(step.abandon());
            }
        }
        let error = failure.about(&self.steps[failed].shown);
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
        let way = match (&file.before, &file.after) {
            (_, None) => Way::Delete,
            (None, _) => Way::Create,
            _ => Way::Replace,
        };
        let (folder, name) = opened(&file.place)?;
        Ok(Self {
            path: file.place.absolute.clone(),
            shown: file.place.shown.clone(),
            before: file.before.clone(),
            after: file.after.clone().unwrap_or_default(),
            mode: file.mode,
            folder,
            name,
            source: None,
            temporary: temporary_name(),
            way,
            state: State::Bare,
        })
    }

    /// Makes the step of a file that only moves to a free name: it stays the same file, with all its names.
    fn moving(file: &FileChange) -> io::Result<Option<Self>> {
        let Some(origin) = &file.from else { return Ok(None) };
        let version = &origin.version;
        let is_same = file.after.as_ref() == Some(&version.bytes)
            && file.mode.is_none_or(|mode| mode == version.mode);
        if file.before.is_some() || !is_same {
            return Ok(None);
        }
        let source = Some(opened(&origin.place)?);
        let before = Some(version.clone());
        Ok(Some(Self { source, before, way: Way::Move, ..Self::new(file)? }))
    }

    fn stage(&mut self) -> Result<(), Failure> {
        match self.way {
            Way::Create => self.stage_new()?,
            Way::Replace => self.stage_replacement()?,
            Way::InPlace | Way::Delete | Way::Move => {}
        }
        Ok(())
    }

    fn stage_new(&mut self) -> io::Result<()> {
        let file = self.write_new(Mode::from_raw_mode(0o666))?;
        let Some(mode) = self.mode else { return Ok(()) };
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        file.sync_all()
    }

    fn stage_replacement(&mut self) -> Result<(), Failure> {
        let stat = self.folder.stat(&self.name).map_err(drifted_when_gone)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Failure::Drifted);
        }
        self.folder.may_write(&self.name)?;
        let keeps_mode = self.mode.is_none_or(|mode| mode == stat.st_mode & 0o7777);
        if stat.st_nlink > 1 && keeps_mode {
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
        let mode = Mode::from_raw_mode(self.mode.unwrap_or(stat.st_mode));
        rustix::fs::fchmod(&file, mode).map_err(io::Error::from)?;
        Ok(file.sync_all()?)
    }

    fn write_new(&mut self, mode: Mode) -> io::Result<File> {
        // Before the write: one that fails half way leaves a file to remove, too.
        self.state = State::Waiting;
        self.folder.create(&self.temporary, &self.after, mode)
    }

    fn before(&self) -> &[u8] {
        self.before.as_ref().map_or(&[], |version| &version.bytes)
    }

    fn sync(&self) -> io::Result<()> {
        if let Some((folder, _)) = &self.source {
            folder.sync()?;
        }
        self.folder.sync()
    }

    /// Compares what stands there with what the change was computed from.
    fn check(&self) -> Result<(), Failure> {
        let is_free = || self.folder.stat(&self.name).is_err_and(is_gone);
        let holds = match (&self.source, &self.before) {
            (Some((folder, name)), _) => self.is_as_before(folder, name)? && is_free(),
            (None, Some(_)) => self.is_as_before(&self.folder, &self.name)?,
            (None, None) => is_free(),
        };
        if holds { Ok(()) } else { Err(Failure::Drifted) }
    }

    fn is_as_before(&self, folder: &Folder, name: &OsStr) -> Result<bool, Failure> {
        let limit = self.before().len() as u64;
        let (bytes, _) = folder.read(name, limit).map_err(drifted_when_gone)?;
        Ok(bytes == self.before())
    }

    /// Looks at what was taken away from its name: nothing that anybody wrote in between is lost.
    fn must_be_as_before(&self, folder: &Folder, name: &OsStr) -> Result<(), Failure> {
        if self.is_as_before(folder, name)? { Ok(()) } else { Err(Failure::Drifted) }
    }

    fn swap(&mut self) -> Result<(), Failure> {
        match self.way {
            Way::Create => self.take_free_name(),
            Way::Replace => self.exchange(),
            Way::InPlace => self.overwrite(),
            Way::Delete => self.set_aside(),
            Way::Move => self.take_along(),
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

    /// Trades names with the old file and only then looks at what was traded away.
    fn exchange(&mut self) -> Result<(), Failure> {
        if !self.folder.exchange(&self.temporary, &self.name).map_err(drifted_when_gone)? {
            self.check()?;
            self.folder.rename_over(&self.temporary, &self.name)?;
            self.state = State::Written;
            return Ok(());
        }
        self.state = State::Exchanged;
        self.must_be_as_before(&self.folder, &self.temporary)
    }

    fn overwrite(&mut self) -> Result<(), Failure> {
        self.check()?;
        self.state = State::Written;
        Ok(self.folder.overwrite(&self.name, &self.after)?)
    }

    fn set_aside(&mut self) -> Result<(), Failure> {
        self.folder.rename_to_free(&self.name, &self.temporary).map_err(drifted_when_gone)?;
        self.state = State::Exchanged;
        self.must_be_as_before(&self.folder, &self.temporary)
    }

    fn take_along(&mut self) -> Result<(), Failure> {
        let Some((folder, name)) = &self.source else { return Err(Failure::Drifted) };
        match folder.move_to_free(name, &self.folder, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Failure::Drifted);
            }
            result => result.map_err(drifted_when_gone)?,
        }
        self.state = State::Written;
        self.must_be_as_before(&self.folder, &self.name)
    }

    fn put_back(&mut self) -> io::Result<()> {
        match (self.state, self.way) {
            (State::Bare | State::Waiting, _) => return Ok(()),
            (_, Way::Move) => {
                if let Some((folder, name)) = &self.source {
                    self.folder.move_to_free(&self.name, folder, name)?;
                }
                self.state = State::Bare;
            }
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
        self.sync()
    }

    /// Leaves the temporary file, which may hold the only copy of what stood there, and names it.
    fn abandon(&mut self) -> String {
        let path = &self.shown;
        let kept = match self.state {
            State::Exchanged => {
                format!("{path} (its content is kept in {})", self.temporary.display())
            }
            _ => path.clone(),
        };
        self.state = State::Bare;
        kept
    }
}

impl Failure {
    fn about(self, path: &str) -> ApplyError {
        let path = path.to_owned();
        match self {
            Self::Drifted => ApplyError::Drifted { path },
            Self::Io(source) => ApplyError::Io { path, source },
        }
    }
}

/// Opens the folder of a place and returns it with the place's own name.
fn opened(place: &Place) -> io::Result<(Folder, OsString)> {
    let name = place.absolute.file_name().ok_or(io::Error::from(io::ErrorKind::IsADirectory))?;
    Ok((Folder::open(place.folder())?, name.to_owned()))
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
