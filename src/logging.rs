//! `tracing` into a rolling file, redacted; never to the terminal.
