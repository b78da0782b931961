//! The agent, by its events and effects alone.
