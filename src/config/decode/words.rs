//! Values of the config as the words that the file uses.

use super::super::model::{
    AuditArguments, Notify, PinMode, Protocol, ProviderKind, ThemeName, ToolSearchMode,
};
use super::{audit, mcp, model, server, ui};

fn word<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

pub(in super::super) fn provider(value: ProviderKind) -> &'static str {
    word(&model::PROVIDERS, value)
}

pub(in super::super) fn pins(value: PinMode) -> &'static str {
    word(&mcp::PINS, value)
}

pub(in super::super) fn tool_search(value: ToolSearchMode) -> &'static str {
    word(&mcp::TOOL_SEARCH, value)
}

pub(in super::super) fn protocol(value: Protocol) -> &'static str {
    word(&server::PROTOCOLS, value)
}

pub(in super::super) fn theme(value: ThemeName) -> &'static str {
    word(&ui::THEMES, value)
}

pub(in super::super) fn notify(value: Notify) -> &'static str {
    word(&ui::NOTIFY, value)
}

pub(in super::super) fn audit(value: AuditArguments) -> &'static str {
    word(&audit::ARGUMENTS, value)
}
