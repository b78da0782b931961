//! The place where secrets are taken out of everything that servers say: what a server echoes of a
//! credential goes no further, neither to the screen nor to the model nor to a file. Pure.
//!
//! Names, addresses and schemas are looked at as well: one that holds a secret is of no use then,
//! which is better than to carry it on.

use crate::domain::{
    Completion, Content, DeniedBy, Elicitation, ElicitationKind, FieldKind, FormField, Found,
    InquiryFault, Listing, Outcome, Progress, Prompt, PromptArgument, PromptMessage, PromptText,
    Resource, ResourcePart, ResourceTemplate, ServerConnection, ServerState, ToolDefinition,
    ToolOutput, Warning,
};
use crate::mcp::ServerEventKind;
use crate::redact::Secrets;

use std::sync::Arc;

use serde_json::Value;

/// What can be freed of secrets. Costs one pass where there is nothing to take out.
pub trait Scrub {
    /// Takes them out in place.
    fn scrub(&mut self, secrets: &Secrets);
}

impl Scrub for String {
    fn scrub(&mut self, secrets: &Secrets) {
        secrets.scrub(self);
    }
}

impl Scrub for Value {
    fn scrub(&mut self, secrets: &Secrets) {
        secrets.scrub_value(self);
    }
}

impl Scrub for Arc<Value> {
    fn scrub(&mut self, secrets: &Secrets) {
        secrets.scrub_shared_value(self);
    }
}

impl<T: Scrub> Scrub for Option<T> {
    fn scrub(&mut self, secrets: &Secrets) {
        if let Some(inner) = self {
            inner.scrub(secrets);
        }
    }
}

impl<T: Scrub> Scrub for Vec<T> {
    fn scrub(&mut self, secrets: &Secrets) {
        for inner in self {
            inner.scrub(secrets);
        }
    }
}

impl<A: Scrub, B: Scrub> Scrub for (A, B) {
    fn scrub(&mut self, secrets: &Secrets) {
        self.0.scrub(secrets);
        self.1.scrub(secrets);
    }
}

impl<T: Scrub, E: Scrub> Scrub for Result<T, E> {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Ok(inner) => inner.scrub(secrets),
            Err(inner) => inner.scrub(secrets),
        }
    }
}

/// Scrubs every named field.
macro_rules! fields {
    ($($kind:ty { $($field:ident),+ })+) => { $(
        impl Scrub for $kind {
            fn scrub(&mut self, secrets: &Secrets) {
                $( self.$field.scrub(secrets); )+
            }
        }
    )+ };
}

fields! {
    ToolOutput { content, structured, remarks }
    Warning { message, advice }
    Progress { note }
    ServerConnection { protocol_version, capabilities, identity, instructions }
    FormField { name, label, description, kind, default }
    Resource { uri, name, title, description, mime }
    ResourceTemplate { uri_template, name, title, description, mime }
    ResourcePart { uri, mime, content }
    Prompt { name, title, description, arguments }
    PromptArgument { name, title, description }
    PromptText { description, messages }
    PromptMessage { role, content }
    Completion { values }
    InquiryFault { message }
}

impl<T: Scrub> Scrub for Listing<T> {
    fn scrub(&mut self, secrets: &Secrets) {
        self.items.scrub(secrets);
        self.remarks.scrub(secrets);
    }
}

impl Scrub for Content {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Text(text) => text.scrub(secrets),
            Self::Binary { mime, uri, data, .. } => {
                mime.scrub(secrets);
                uri.scrub(secrets);
                secrets.scrub_shared(data);
            }
            Self::Resource { uri, text } => {
                uri.scrub(secrets);
                text.scrub(secrets);
            }
            Self::Link { uri, name } => {
                uri.scrub(secrets);
                name.scrub(secrets);
            }
            Self::Unknown(value) => value.scrub(secrets),
        }
    }
}

impl Scrub for Outcome {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Ok(output) | Self::ToolError(output) => output.scrub(secrets),
            Self::InvalidArguments { message: text }
            | Self::NotSent { reason: text }
            | Self::Unknown { reason: text }
            | Self::Denied(
                DeniedBy::User { note: text }
                | DeniedBy::Rule { rule: text }
                | DeniedBy::Headless { rule: text, .. },
            ) => text.scrub(secrets),
            Self::Cancelled { .. } => {}
        }
    }
}

impl Scrub for ServerState {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Connecting | Self::Ready => {}
            Self::Degraded { reason }
            | Self::NeedsAuth { reason }
            | Self::Failed { reason, .. }
            | Self::Disabled { reason } => reason.scrub(secrets),
        }
    }
}

impl Scrub for ToolDefinition {
    fn scrub(&mut self, secrets: &Secrets) {
        if secrets.are_in(self.name.as_str()) {
            self.name = secrets.text(self.name.as_str()).as_ref().into();
        }
        self.title.scrub(secrets);
        self.description.scrub(secrets);
        self.input_schema.scrub(secrets);
        self.output_schema.scrub(secrets);
        self.raw.scrub(secrets);
    }
}

impl Scrub for Elicitation {
    fn scrub(&mut self, secrets: &Secrets) {
        self.message.scrub(secrets);
        match &mut self.kind {
            ElicitationKind::Form { schema, fields, fault } => {
                schema.scrub(secrets);
                fields.scrub(secrets);
                fault.scrub(secrets);
            }
            ElicitationKind::Url { url, host } => {
                url.scrub(secrets);
                host.scrub(secrets);
            }
        }
    }
}

impl Scrub for FieldKind {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Choice(options) | Self::Many { options, .. } => options.scrub(secrets),
            Self::Text { format, pattern, .. } => {
                format.scrub(secrets);
                pattern.scrub(secrets);
            }
            Self::Number { .. } | Self::Bool => {}
        }
    }
}

impl Scrub for Found {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Resources(list) => list.scrub(secrets),
            Self::Templates(list) => list.scrub(secrets),
            Self::Read(parts) => parts.scrub(secrets),
            Self::Prompts(list) => list.scrub(secrets),
            Self::Prompt(prompt) => prompt.scrub(secrets),
            Self::Completion(completion) => completion.scrub(secrets),
        }
    }
}

impl Scrub for ServerEventKind {
    fn scrub(&mut self, secrets: &Secrets) {
        if secrets.is_empty() {
            return;
        }
        match self {
            Self::State(state) => state.scrub(secrets),
            Self::Connected(connection) => connection.scrub(secrets),
            Self::Tools { tools, dropped } => {
                tools.scrub(secrets);
                dropped.scrub(secrets);
            }
            Self::Warned(warning) => warning.scrub(secrets),
            Self::Progress { progress, .. } => progress.scrub(secrets),
            Self::Elicit(asked) => {
                let mut clean = Elicitation::clone(asked);
                clean.scrub(secrets);
                *asked = Arc::new(clean);
            }
            Self::ElicitClosed { why: text, .. } | Self::Log { text, .. } => text.scrub(secrets),
            Self::Stage { .. } | Self::Latency(_) | Self::Changed(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_echoes_goes_no_further() {
        let secrets = Secrets::new([("TOKEN", "tok-EXAMPLE-1")]);
        let mut outcome = Outcome::Ok(ToolOutput {
            content: vec![
                Content::Text("you sent Bearer tok-EXAMPLE-1".into()),
                Content::Resource { uri: "x://tok-EXAMPLE-1".into(), text: "tok-EXAMPLE-1".into() },
                Content::Unknown(json!({ "a": "tok-EXAMPLE-1" })),
            ],
            structured: Some(json!({ "headers": ["tok-EXAMPLE-1"] })),
            remarks: Vec::new(),
        });
        outcome.scrub(&secrets);
        let shown = format!("{outcome:?}");
        assert!(!shown.contains("EXAMPLE"), "{shown}");
        assert_eq!(shown.matches("[redacted: TOKEN]").count(), 5);
    }
}
