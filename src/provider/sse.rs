//! Server-sent events out of bytes.
