//! The whole state of the screen, and what events do to it.
