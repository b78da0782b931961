//! Server-sent events, decoded by the WHATWG rules (PROTOCOL §3). Bytes in, events out.

pub mod decoder;

pub use decoder::{Decoder, SseError, SseEvent};
