//! The client against a server that is slow, lying, huge or half-closed.
