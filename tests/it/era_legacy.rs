//! The client against servers of the legacy era.
