//! Language models: one interface, several protocols.
//!
//! Request in, stream of events out: [`ModelRequest`], [`ModelEvent`]. The mappings ([`openai`],
//! [`anthropic`]) are pure: conversation in, JSON out; bytes in, events out. [`http`] carries them
//! and asks endpoints about themselves.

mod answer;
pub mod anthropic;
mod arguments;
mod fault;
mod history;
pub mod http;
pub mod openai;
mod place;
mod rename;
mod retry;
pub mod stream;
pub mod window;

pub use crate::domain::model::{
    Finish, ModelEvent, ModelInfo, ModelRequest, OfferedModel, ProviderError, ProviderErrorKind,
    ToolOffer,
};
pub use http::{LocalEndpoint, probe_local};
pub use rename::Renames;
pub use stream::Decoder;
