//! Language models: one interface, several protocols.
//!
//! Request in, stream of events out: [`ModelRequest`], [`ModelEvent`]. The mappings ([`openai`],
//! [`anthropic`]) are pure: conversation in, JSON out; bytes in, events out. [`http`] carries them.

pub mod anthropic;
pub mod http;
pub mod openai;

pub use crate::domain::model::{
    Finish, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind, ToolOffer,
};
