//! Taking changes back, and taking that back: by turn, or by hunk against the session's beginning.
//!
//! Each is a change like any other: shown before, compared and swapped, recorded. What somebody changed
//! since is joined with it, or left alone with the reason.

use super::Agent;
use super::protocol::{Approval, ChangeSet, Changes, Live, Verdict, Waiting};
use crate::session::{CallId, Image, LogError, Proposal, Record, Restore, Touch, Turn};
use crate::workspace::{Change, FileChange, FileSelection, Place, Selection, Version, merge};

/// Characters of a prompt that name its turn.
const TITLE: usize = 60;

/// What would be restored, and what cannot be, as sentences.
#[derive(Default)]
struct Plan {
    change: Vec<FileChange>,
    notes: Vec<String>,
}

/// A version of a file that is not the one on disk.
type Kept = Result<Option<Version>, String>;

impl Agent {
    /// Takes the last turn's changes back, when the person lets that stand.
    pub(super) async fn undo(&mut self) -> Result<(), LogError> {
        let Some(turn) = self.journal.checkpoints.last_done().cloned() else {
            return self.warn("There is nothing to take back.".into()).await;
        };
        let backwards = |touch: &Touch| (touch.after.clone(), touch.before.clone());
        let plan = self.plan(&turn, backwards);
        let what = format!("takes back turn {}", named(&turn));
        self.restore("undo", what, plan, Restore::Undo { turn: turn.number }).await
    }

    /// Brings back what was taken back last.
    pub(super) async fn redo(&mut self) -> Result<(), LogError> {
        let Some(turn) = self.journal.checkpoints.last_undone().cloned() else {
            return self.warn("There is nothing to bring back.".into()).await;
        };
        let forwards = |touch: &Touch| (touch.before.clone(), touch.after.clone());
        let plan = self.plan(&turn, forwards);
        let what = format!("brings back turn {}", named(&turn));
        self.restore("redo", what, plan, Restore::Redo { turn: turn.number }).await
    }

    /// Says how each file of a turn gets from what it is now to what it was at the other end.
    fn plan(&self, turn: &Turn, ends: impl Fn(&Touch) -> (Option<Image>, Option<Image>)) -> Plan {
        let mut plan = Plan::default();
        for touch in &turn.touches {
            let (base, wanted) = ends(touch);
            let file = self.kept(&base).and_then(|base| Ok((base, self.kept(&wanted)?)));
            match file.and_then(|(base, wanted)| self.toward(&touch.path, base, wanted)) {
                Ok(Some((file, note))) => {
                    plan.change.push(file);
                    plan.notes.extend(note);
                }
                Ok(None) => {}
                Err(reason) => plan.notes.push(format!("{} stays as it is: {reason}", touch.path)),
            }
        }
        plan
    }

    /// Returns the change that brings a file from `base` to `wanted`, joined with what others did to it since.
    fn toward(
        &self,
        path: &str,
        base: Option<Version>,
        wanted: Option<Version>,
    ) -> Result<Option<(FileChange, Option<String>)>, String> {
        let (place, now) = self.now(path)?;
        let bytes =
            |version: &Option<Version>| version.as_ref().map(|version| version.bytes.clone());
        let drifted = bytes(&now) != bytes(&base);
        let (base, ours, theirs) = (bytes(&base), bytes(&now), bytes(&wanted));
        let after = merge(base.as_deref(), ours.as_deref(), theirs.as_deref())
            .map_err(|_| "it was changed since, in the same lines.".to_owned())?;
        let keeps_plain =
            now.is_none() && wanted.as_ref().is_some_and(|wanted| wanted.mode == 0o644);
        let mode = wanted.filter(|_| after.is_some() && !keeps_plain).map(|wanted| wanted.mode);
        let file = FileChange { mode, ..FileChange::to(place, now, after) };
        let note = drifted.then(|| format!("{path} was changed since; that stays"));
        Ok((!file.is_nothing()).then_some((file, note)))
    }

    fn now(&self, path: &str) -> Result<(Place, Option<Version>), String> {
        let place =
            self.context.root.resolve_for_writing(path).map_err(|error| error.to_string())?;
        let version = place
            .version(self.context.limits.file_bytes)
            .map_err(|_| "no file that can be read stands there.".to_owned())?;
        Ok((place, version))
    }

    fn kept(&self, image: &Option<Image>) -> Kept {
        let Some(image) = image else { return Ok(None) };
        let bytes = self.journal.kept_image(image).map_err(|error| format!("{error}."))?;
        Ok(Some(Version::new(bytes, image.mode)))
    }

    /// Shows what would be restored, and does what the person lets stand.
    async fn restore(
        &mut self,
        tool: &str,
        what: String,
        plan: Plan,
        restore: Restore,
    ) -> Result<(), LogError> {
        let change = Change { files: plan.change };
        if change.files.is_empty() {
            let notes = plan.notes.join("; ");
            return self
                .warn(format!("Nothing can be done: {}", or(notes, "the files stand so already.")))
                .await;
        }
        let call = CallId(format!("{tool}-{}", jiff::Timestamp::now().as_millisecond()));
        let waiting = Waiting {
            call: call.clone(),
            tool: tool.to_owned(),
            proposal: Proposal::Change { files: change.diffs() },
        };
        let reason = [vec![what], plan.notes].concat().join("; ");
        let approval = Approval { call: call.clone(), calls: vec![waiting], reason, rule: None };
        let Ok(verdict) = self.ask_now(approval).await else { return Ok(()) };
        match verdict {
            Verdict::Accept | Verdict::Always => self.put(call, change, restore).await,
            Verdict::Reject { .. } | Verdict::Stop => {
                self.warn("Nothing was changed.".into()).await
            }
            Verdict::Select { selections, .. } => {
                let selection = selections.into_iter().next().unwrap_or_default();
                match change.select(&selection) {
                    // A turn of which only a part was taken back still stands.
                    Ok(part) if !part.files.is_empty() => {
                        self.put(call, part, Restore::PutBack).await
                    }
                    Ok(_) => self.warn("Nothing was changed.".into()).await,
                    Err(error) => self.warn(error.to_string()).await,
                }
            }
        }
    }

    async fn put(
        &mut self,
        call: CallId,
        change: Change,
        restore: Restore,
    ) -> Result<(), LogError> {
        let touches = self.keep_images(&change).await?;
        match self.write(&call, &change).await? {
            Ok(applied) => {
                let files = applied.files;
                self.journal.record(Record::Restored { call, restore, touches, files }).await?;
                self.journal.sync()
            }
            Err(error) => self.warn(error.to_string()).await,
        }
    }

    /// Tells everything that changed in this session: as a whole, and turn by turn.
    pub(super) async fn changes(&mut self) -> Result<(), LogError> {
        let mut notes = Vec::new();
        let beginnings: Vec<_> = self
            .journal
            .checkpoints
            .beginnings()
            .into_iter()
            .map(|(path, image)| (path.to_owned(), image.cloned()))
            .collect();
        let mut whole = Vec::new();
        for (path, beginning) in beginnings {
            match self.since(&path, &beginning) {
                Ok(file) => whole.extend(Some(file).filter(|file| !file.is_nothing())),
                Err(reason) => notes.push(format!("{path} cannot be compared: {reason}")),
            }
        }
        let mut sets = vec![(None, Change { files: whole })];
        let turns: Vec<_> = self.journal.checkpoints.standing().cloned().collect();
        sets.extend(turns.iter().rev().map(|turn| {
            let files = turn.touches.iter().filter_map(|touch| self.of_turn(touch)).collect();
            (Some((turn.number, short(&turn.title))), Change { files })
        }));
        let shown = |(turn, change): &(Option<(usize, String)>, Change)| ChangeSet {
            turn: turn.clone(),
            files: change.diffs(),
        };
        let changes = Changes { sets: sets.iter().map(shown).collect(), notes };
        self.shown = sets.into_iter().map(|(_, change)| change).collect();
        self.journal.live(Live::Changes(changes)).await;
        Ok(())
    }

    fn since(&self, path: &str, beginning: &Option<Image>) -> Result<FileChange, String> {
        let beginning = self.kept(beginning)?;
        let (place, now) = self.now(path)?;
        let (after, mode) = now.map_or((None, None), |now| (Some(now.bytes), Some(now.mode)));
        let mode = mode.filter(|_| beginning.is_some());
        Ok(FileChange { mode, ..FileChange::to(place, beginning, after) })
    }

    fn of_turn(&self, touch: &Touch) -> Option<FileChange> {
        let (place, _) = self.now(&touch.path).ok()?;
        let (before, after) = (self.kept(&touch.before).ok()?, self.kept(&touch.after).ok()?);
        Some(FileChange::to(place, before, after.map(|version| version.bytes)))
    }

    /// Puts what is not selected of a set that was shown back as it was.
    pub(super) async fn put_back(
        &mut self,
        set: usize,
        selection: Selection,
    ) -> Result<(), LogError> {
        let Some(shown) = self.shown.get(set).cloned() else { return Ok(()) };
        let mut plan = Plan::default();
        for (file, selected) in shown.files.iter().zip(&selection.files) {
            match self.without(file, selected) {
                Ok(change) => plan.change.extend(change),
                Err(reason) => {
                    plan.notes.push(format!("{} stays as it is: {reason}", file.place.shown))
                }
            }
        }
        let change = Change { files: plan.change };
        if !plan.notes.is_empty() {
            self.warn(plan.notes.join("; ")).await?;
        }
        if change.files.is_empty() {
            return Ok(());
        }
        let call = CallId(format!("put-back-{}", jiff::Timestamp::now().as_millisecond()));
        self.put(call, change, Restore::PutBack).await
    }

    fn without(
        &self,
        file: &FileChange,
        selected: &FileSelection,
    ) -> Result<Option<FileChange>, String> {
        let one = |selected: &FileSelection| Selection { files: vec![selected.clone()] };
        if one(selected).is_all() {
            return Ok(None);
        }
        let change = Change { files: vec![file.clone()] };
        let kept = change.select(&one(selected)).map_err(|error| error.to_string())?;
        let mode = file.base().map_or(0o644, |version| version.mode);
        let wanted = match kept.files.into_iter().next() {
            Some(kept) => kept.after.map(|bytes| Version::new(bytes, kept.mode.unwrap_or(mode))),
            None => file.before.clone(),
        };
        let base = file.after.clone().map(|bytes| Version::new(bytes, mode));
        let toward = self.toward(&file.place.shown, base, wanted)?;
        Ok(toward.map(|(change, _)| change))
    }
}

fn named(turn: &Turn) -> String {
    format!("{} “{}”", turn.number, short(&turn.title))
}

fn short(title: &str) -> String {
    let line = title.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(TITLE).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text }
}
