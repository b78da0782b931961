//! Command line: clap types only; completions and the man page come from them.
