//! Language models: one interface, several protocols.
//!
//! Request in, stream of events out: [`ModelRequest`], [`ModelEvent`]. The mappings ([`openai`],
//! [`anthropic`]) are pure: conversation in, JSON out; bytes in, events out. [`http`] carries them,
//! [`probe`] asks an endpoint about itself.

mod answer;
pub mod anthropic;
mod arguments;
mod fault;
mod history;
pub mod http;
pub mod openai;
pub mod probe;
mod rename;
mod retry;
pub mod stream;

pub use crate::domain::model::{
    Finish, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind, ToolOffer,
};
pub use stream::Decoder;
