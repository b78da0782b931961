//! The subcommands, run as a user runs them.
