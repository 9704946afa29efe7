//! Foreign text made safe to show: every byte that comes from a model, a file, a process or a server
//! passes here once, where it enters the screen's state or goes to a terminal.

use std::borrow::Cow;

/// Makes control, escape, bidirectional and zero-width characters visible; keeps newlines and tabs.
pub fn text(_foreign: &str) -> Cow<'_, str> {
    todo!()
}

/// Like [`text`], on one line: newlines and tabs become visible too.
pub fn line(_foreign: &str) -> Cow<'_, str> {
    todo!()
}
