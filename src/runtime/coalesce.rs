//! Merges text and progress when the face is slow. Pure.
