//! completion

/// To come.
#[derive(Debug)]
pub struct Completion;
