//! The only place that spawns: names, tracks, cancels, reports faults.
