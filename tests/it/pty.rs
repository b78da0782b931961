//! The built binary on a real pseudo-terminal.
