//! The client against the official SDK's server.
