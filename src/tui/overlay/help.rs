//! help

/// To come.
#[derive(Debug)]
pub struct Help;
