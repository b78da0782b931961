//! Exchanges as the wire view keeps them.
