//! The decision log: one line per decision and per outcome.
