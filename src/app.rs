//! The full-screen face: the `select!` loop and nothing clever.
