//! What the tests stand on.

pub mod desk;
pub mod pty;
pub mod screen;
pub mod server;
