//! The client against servers of the modern era.
