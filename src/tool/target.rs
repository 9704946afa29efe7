//! The file that a call would change: what stands there as text, and the change to what would stand.

use super::{Context, Intent, Refusal, nearby};
use crate::workspace::{Change, FileChange, Found, Place, Text, TextError, Version};

/// A file to be changed, or one that is not there yet.
pub struct Target {
    place: Place,
    before: Option<Version>,
    /// Empty for a file that is not there.
    pub text: Text,
}

impl Target {
    /// Reads the file that a model wants to change.
    pub fn at(path: &str, cx: &Context) -> Result<Self, Refusal> {
        let (place, before) = free_or_file(path, cx)?;
        let text = match &before {
            Some(version) => decode(&place, version)?,
            None => Text::default(),
        };
        Ok(Self { place, before, text })
    }

    /// Returns the path as the model should see it.
    pub fn shown(&self) -> &str {
        &self.place.shown
    }

    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Refuses a file that the model read and that somebody has changed since.
    pub fn must_be_as_seen(&self, cx: &Context) -> Result<(), Refusal> {
        let path = self.shown();
        match &self.before {
            Some(version) if cx.seen.has_changed(path, version.hash) => Err(Refusal(format!(
                "'{path}' has changed on disk since you read it. Read it again, then write what takes the change in."
            ))),
            _ => Ok(()),
        }
    }

    /// Makes the change to new content; it must change something.
    pub fn become_text(self, content: &str, cx: &Context) -> Result<Intent, Refusal> {
        let after = self
            .text
            .encode(content)
            .map_err(|error| Refusal(format!("'{}' was not written: {error}", self.place.shown)))?;
        if self.before.as_ref().is_some_and(|version| version.bytes == after) {
            return Err(Refusal(format!(
                "This would change nothing: '{}' already reads so.",
                self.place.shown
            )));
        }
        cx.seen.note(&self.place.shown, blake3::hash(&after));
        let Self { place, before, .. } = self;
        Ok(Intent::Change(Change { files: vec![FileChange::to(place, before, Some(after))] }))
    }
}

/// Resolves the path of a file that must be there, whatever its content; a link is not its target.
pub fn file(path: &str, cx: &Context) -> Result<(Place, Version), Refusal> {
    if cx.root.is_link(path) {
        return Err(Refusal(format!(
            "'{path}' is a symbolic link; only files themselves are moved and deleted."
        )));
    }
    match free_or_file(path, cx)? {
        (place, Some(version)) => Ok((place, version)),
        (place, None) => Err(Refusal(nearby::missing(&place, cx))),
    }
}

/// Resolves the path of a file to be written, and reads what stands there, if anything does.
pub fn free_or_file(path: &str, cx: &Context) -> Result<(Place, Option<Version>), Refusal> {
    let place = cx.root.resolve_for_writing(path)?;
    if path.ends_with('/') {
        return Err(Refusal(format!("'{path}' names a folder; name a file.")));
    }
    let before = match cx.proposed.at(&place.absolute) {
        Some(version) => version,
        None => standing(&place, cx)?,
    };
    Ok((place, before))
}

fn standing(place: &Place, cx: &Context) -> Result<Option<Version>, Refusal> {
    let (path, limit) = (&place.shown, cx.limits.file_bytes);
    let refuse = |reason: String| Err(Refusal(reason));
    match place.read(limit) {
        Ok(Found::File(version)) => match place.may_write() {
            Ok(()) => Ok(Some(version)),
            Err(error) => refuse(format!(
                "'{path}' may not be written ({error}; its mode is {:03o}). Ask the person, or change another file.",
                version.mode
            )),
        },
        Ok(Found::Missing) => Ok(None),
        Ok(Found::Folder) => refuse(format!("'{path}' is a folder; name a file.")),
        Ok(Found::Special(kind)) => {
            refuse(format!("'{path}' is {kind}; only files can be changed."))
        }
        Ok(Found::TooLarge { bytes }) => refuse(format!(
            "'{path}' has {bytes} bytes; files of more than {limit} bytes are not changed."
        )),
        Err(error) => refuse(format!("'{path}' cannot be read: {error}.")),
    }
}

fn decode(place: &Place, version: &Version) -> Result<Text, Refusal> {
    let path = &place.shown;
    Text::decode(&version.bytes).map_err(|error| match error {
        TextError::Binary => Refusal(format!(
            "'{path}' is a binary file of {} bytes; only text can be changed.",
            version.bytes.len()
        )),
        error => Refusal(format!(
            "'{path}' is {error}; it cannot be changed, or its bytes would be lost. Ask the person to repair it."
        )),
    })
}
