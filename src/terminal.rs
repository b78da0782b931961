//! The terminal: entering, leaving, all modes, a thread-aware panic hook, suspending.
