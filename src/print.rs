//! The front end without a screen.
