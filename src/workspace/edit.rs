//! Finding old text in a file.
