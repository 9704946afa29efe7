//! The front end with a screen: the only event loop.

mod app;
pub mod command;
pub mod effect;
pub mod event;
mod foreign;
pub mod keymap;
mod overlay;
mod pane;
pub mod theme;
pub mod widget;
