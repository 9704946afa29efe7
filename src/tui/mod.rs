//! The front end with a screen: the only event loop.

pub mod effect;
pub mod event;
pub mod theme;
