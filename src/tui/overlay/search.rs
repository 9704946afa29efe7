//! search

/// To come.
#[derive(Debug)]
pub struct Search;
