//! The conductor's loop.
