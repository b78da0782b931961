//! Snapshots of frames.
