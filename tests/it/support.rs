//! Helpers for the tests.

pub(crate) mod model;
