//! Servers that ask the user something in the middle of a call.

mod command;
mod legacy;
mod modern;

use std::sync::Arc;

use mini_me_tui::domain::ElicitationReply;
use serde_json::{Value, json};

/// Agrees to a form with these values.
fn accept(values: &Value) -> ElicitationReply {
    ElicitationReply::Accept(Some(Arc::new(values.as_object().unwrap().clone())))
}

/// The parameters of a question for a yes or no.
fn sure() -> Value {
    json!({"message": "Delete 3 files?", "requestedSchema": {"type": "object",
        "properties": {"confirmed": {"type": "boolean"}}, "required": ["confirmed"]}})
}
