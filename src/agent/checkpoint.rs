//! What files were before a call acts on them, kept so that it can be taken back.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Agent;
use crate::session::{BlobError, Blobs, CallId, Image, Level, LogError, Record, Touch};
use crate::workspace::{Bounds, Change, Difference, FileChange, Looked, Side};

/// The permission bits of a new file, which the person's own mask may narrow.
const PLAIN: u32 = 0o644;
/// Files that a look around a command takes in, and how much it may cost.
const FILES: usize = 20_000;
const BYTES: u64 = 32_000_000;
const TIME: Duration = Duration::from_millis(1_500);

impl Agent {
    /// Keeps what stands and what would stand in every file, and says what would happen to each.
    pub(super) async fn keep_images(&mut self, change: &Change) -> Result<Vec<Touch>, LogError> {
        let mut touches = Vec::new();
        let mut unkept = Vec::new();
        for (path, before, after) in change.files.iter().flat_map(sides) {
            let mut image = |side: Option<(&[u8], u32)>| {
                let (bytes, mode) = side?;
                if let Err(reason) = self.journal.keep_image(bytes) {
                    unkept.push(format!("{path} cannot be taken back later: {reason}."));
                }
                Some(Image { hash: blake3::hash(bytes).to_hex().to_string(), mode })
            };
            let (before, after) = (image(before), image(after));
            touches.push(Touch { path: path.to_owned(), before, after });
        }
        self.warn_once(unkept).await?;
        Ok(touches)
    }

    /// Says each of these once in a session.
    pub(super) async fn warn_once(&mut self, sentences: Vec<String>) -> Result<(), LogError> {
        for sentence in sentences {
            if self.warned.insert(sentence.clone()) {
                let level = Level::Warning;
                self.journal.record(Record::Noticed { level, text: sentence }).await?;
            }
        }
        Ok(())
    }

    /// Looks at the workspace before a command runs, so that what it changes can be told.
    pub(super) async fn look_before(&mut self) -> Result<(), LogError> {
        let looked = self.look_around().await;
        if !looked.is_whole {
            let text = "This workspace is larger than what is kept for /undo: not everything that \
                        commands change can be taken back.";
            self.warn_once(vec![text.to_owned()]).await?;
        }
        Ok(())
    }

    /// Records what a command changed.
    pub(super) async fn note_touched(&mut self, call: &CallId) -> Result<(), LogError> {
        let looked = self.look_around().await;
        let mut unkept = Vec::new();
        let mut touches = Vec::new();
        for difference in looked.differences {
            let path = difference.place.shown.clone();
            match touch(difference) {
                Some(touch) => touches.push(touch),
                None => unkept.push(format!(
                    "{path} was changed by a command and is too large to be kept: it cannot be taken back."
                )),
            }
        }
        self.warn_once(unkept).await?;
        if touches.is_empty() {
            return Ok(());
        }
        self.journal.record(Record::Touched { call: call.clone(), touches }).await
    }

    async fn look_around(&mut self) -> Looked {
        let mut snapshot = std::mem::take(&mut self.snapshot);
        let (root, blobs) = (self.context.root.clone(), self.journal.blobs());
        let keys = self.journal.keys().clone();
        let file_bytes = self.context.limits.checkpoint_file_bytes;
        let bounds = Bounds { files: FILES, file_bytes, bytes: BYTES, time: TIME };
        let looking = tokio::task::spawn_blocking(move || {
            let mut keep = |bytes: &[u8]| put_soon(&blobs, &keys, bytes);
            let looked = snapshot.look(&root, bounds, &mut keep);
            for side in looked.differences.iter().flat_map(|each| [&each.before, &each.after]) {
                let bytes = side.as_ref().and_then(|side| side.bytes.as_deref());
                bytes.into_iter().for_each(&mut keep);
            }
            (snapshot, looked)
        });
        match looking.await {
            Ok((snapshot, looked)) => {
                self.snapshot = snapshot;
                looked
            }
            Err(_) => Looked::default(),
        }
    }

    /// Says of every change that a kill cut short which files it had written.
    pub(super) async fn settle_unfinished(&mut self) -> Result<(), LogError> {
        let unfinished: Vec<_> = self.journal.checkpoints.unfinished().map(own).collect();
        for (call, touches) in unfinished {
            self.settle(&call, touches, "Trefoil ended while it wrote").await?;
        }
        Ok(())
    }

    /// Looks which part of a change stands, and records that.
    pub(super) async fn settle(
        &mut self,
        call: &CallId,
        touches: Vec<Touch>,
        what: &str,
    ) -> Result<(), LogError> {
        let (written, not): (Vec<_>, Vec<_>) =
            touches.into_iter().partition(|touch| self.stands(touch));
        let names = |touches: &[Touch]| match touches {
            [] => "nothing".to_owned(),
            touches => {
                touches.iter().map(|touch| touch.path.as_str()).collect::<Vec<_>>().join(", ")
            }
        };
        let text = format!(
            "{what}. Written whole: {}. As before: {}. /undo takes back what was written.",
            names(&written),
            names(&not)
        );
        self.journal.record(Record::Touched { call: call.clone(), touches: written }).await?;
        self.answer_cut_short(call, &text).await?;
        self.warn(text).await
    }

    /// Tells the model what became of its call, if it still waits for that.
    async fn answer_cut_short(&mut self, call: &CallId, text: &str) -> Result<(), LogError> {
        let open = self.journal.conversation.unanswered();
        let Some(open) = open.into_iter().find(|open| open.id == *call).cloned() else {
            return Ok(());
        };
        let outcome = crate::tool::Outcome::told(false, text);
        self.finish(&open, outcome, std::time::Instant::now()).await
    }

    fn stands(&self, touch: &Touch) -> bool {
        let Ok(place) = self.context.root.resolve_for_writing(&touch.path) else { return false };
        let now = place.version(self.context.limits.file_bytes).ok().flatten();
        let hash = now.map(|version| version.hash.to_hex().to_string());
        hash.as_ref() == touch.after.as_ref().map(|image| &image.hash)
    }
}

fn own((call, touches): (&CallId, &[Touch])) -> (CallId, Vec<Touch>) {
    (call.clone(), touches.to_vec())
}

type Bytes<'a> = Option<(&'a [u8], u32)>;

/// Returns each path of a file change with what stands and what would stand there.
fn sides(file: &FileChange) -> Vec<(&str, Bytes<'_>, Bytes<'_>)> {
    let before = file.before.as_ref().map(|version| (version.bytes.as_slice(), version.mode));
    let mode = file.mode.or(file.base().map(|version| version.mode)).unwrap_or(PLAIN);
    let after = file.after.as_deref().map(|bytes| (bytes, mode));
    let mut sides = vec![(file.place.shown.as_str(), before, after)];
    if let Some(origin) = &file.from {
        let was = Some((origin.version.bytes.as_slice(), origin.version.mode));
        sides.push((&origin.place.shown, was, None));
    }
    sides
}

/// Returns what happened to a file; `None` where a side is not known.
fn touch(difference: Difference) -> Option<Touch> {
    let image = |side: Side| Some(Image { hash: side.hash?.to_hex().to_string(), mode: side.mode });
    let before = difference.before.map(image);
    let after = difference.after.map(image);
    let is_unknown = |side: &Option<Option<Image>>| matches!(side, Some(None));
    if is_unknown(&before) || is_unknown(&after) {
        return None;
    }
    Some(Touch { path: difference.place.shown, before: before.flatten(), after: after.flatten() })
}

/// What cannot be kept is told when it would be needed.
fn put_soon(blobs: &Mutex<Blobs>, keys: &crate::config::Keys, bytes: &[u8]) {
    if keys.are_in(bytes) {
        return;
    }
    let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = blobs.put_soon(bytes)
        && !matches!(error, BlobError::Full(_))
    {
        tracing::warn!(%error, "a file's content was not kept");
    }
}
