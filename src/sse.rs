//! Server-sent events, decoded by the WHATWG rules (PROTOCOL §3). Bytes in, events out.

mod data;
pub mod decoder;
mod scan;

pub use decoder::{Decoder, EVENT_LIMIT, SseError, SseEvent};
