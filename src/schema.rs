//! JSON Schemas of tools: checking arguments, copies for providers, the binary filter, forms.

pub mod adapt;
pub mod binary;
pub mod check;
pub mod form;
