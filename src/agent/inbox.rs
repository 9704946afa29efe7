//! inbox
