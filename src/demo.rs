//! The demo: a fresh copy of the calculator and a scripted model.
