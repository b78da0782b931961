//! Subcommands, one a file.
