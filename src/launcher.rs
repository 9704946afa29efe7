//! The hidden entry that restricts itself and then execs a command.
