//! One test binary: what the rooms do together, and what the house as a whole holds to.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod architecture;
mod cli;
mod demo;
mod hostile;
mod processes;
mod providers;
mod pty;
mod screens;
mod support;
mod turns;
