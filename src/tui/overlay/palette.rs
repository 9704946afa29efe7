//! palette

/// To come.
#[derive(Debug)]
pub struct Palette;
