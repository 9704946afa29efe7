//! Paths that a model may have meant, for the error that says that its path is not there.

use std::path::Path;

use super::Context;
use crate::workspace::{Place, walk};

/// Files of the workspace that are compared.
const MOST_FILES: usize = 20_000;
/// Paths that are named.
const MOST_NAMED: usize = 5;

/// Says that nothing stands at a place, and names what is near.
pub fn missing(place: &Place, cx: &Context) -> String {
    let near = near(place, cx);
    let hint = match near.as_slice() {
        [] => "See what there is with list_files.".to_owned(),
        near => format!("Did you mean {}?", near.join(" or ")),
    };
    format!("There is no '{}'. {hint}", place.shown)
}

fn near(place: &Place, cx: &Context) -> Vec<String> {
    let files = walk::files(&cx.root, MOST_FILES);
    let wanted = name(&place.shown).to_lowercase();
    let same_name = files.iter().filter(|file| name(file).to_lowercase() == wanted);
    let mut near: Vec<_> = same_name.take(MOST_NAMED).map(|file| format!("'{file}'")).collect();
    if near.is_empty() {
        let folder = Path::new(&place.shown).parent();
        let siblings: Vec<_> = files
            .iter()
            .filter(|file| Path::new(file).parent() == folder)
            .map(String::as_str)
            .collect();
        let close = similar::get_close_matches(place.shown.as_str(), &siblings, 3, 0.6);
        near.extend(close.iter().map(|file| format!("'{file}'")));
    }
    near
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
