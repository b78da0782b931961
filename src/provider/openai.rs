//! Chat completions: conversation in, JSON out; stream in, events out. Pure.
