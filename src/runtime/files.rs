//! The runtime's files in the user's state directory: pins and remembered rules.
//!
//! Everything here blocks on the disk.

use std::fs;
use std::io::ErrorKind;

use crate::config::remembered;
use crate::domain::{ServerName, Source, Warning};
use crate::paths::Paths;
use crate::permission::Rule;
use crate::pin::Pins;
use crate::session::store::append_lines;

fn troubled(what: &str, fault: impl std::fmt::Display) -> Warning {
    let advice = "Check the disk and the permissions of the program's state directory.";
    Warning::new(Source::Program, format!("{what}: {fault}."), advice)
}

/// The remembered pins; none, with a warning, if the file cannot be read.
pub(super) fn read_pins(paths: &Paths) -> (Pins, Vec<Warning>) {
    let read = match fs::read(paths.pins_file()) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Default::default(),
        Err(fault) => Err(fault.to_string()),
        Ok(text) => serde_json::from_slice(&text).map_err(|fault| fault.to_string()),
    };
    match read {
        Ok(pins) => (pins, Vec::new()),
        Err(fault) => (Pins::default(), vec![troubled("The pins cannot be read", fault)]),
    }
}

/// Adds changes to the file of pins.
pub(super) fn merge_pins(paths: &Paths, changes: &Pins) -> Result<(), Warning> {
    let (mut pins, mut damaged) = read_pins(paths);
    if let Some(warning) = damaged.pop() {
        return Err(warning);
    }
    for (endpoint, tools) in &changes.servers {
        pins.servers.entry(endpoint.clone()).or_default().extend(tools.clone());
    }
    let beside = paths.state.join(format!("pins.json.{:08x}", fastrand::u32(..)));
    let text = serde_json::to_string_pretty(&pins).unwrap_or_default();
    append_lines(&beside, None, &[text])
        .and_then(|()| fs::rename(&beside, paths.pins_file()))
        .map_err(|fault| troubled("The pins cannot be saved", fault))
}

/// The rules that *always* wrote.
pub(super) fn read_rules(paths: &Paths) -> (Vec<(ServerName, Rule)>, Vec<Warning>) {
    let file = paths.rules_file();
    match fs::read_to_string(&file) {
        Ok(text) => remembered::decode(&text, &file),
        Err(fault) if fault.kind() == ErrorKind::NotFound => Default::default(),
        Err(fault) => (Vec::new(), vec![troubled("The remembered rules cannot be read", fault)]),
    }
}

/// Adds a rule that the user wrote with *always*.
pub(super) fn append_rule(paths: &Paths, server: &ServerName, rule: &Rule) -> Result<(), Warning> {
    let entry = format!("- {}", rule.to_yaml_value(Some(server)));
    append_lines(&paths.rules_file(), None, &[entry]).map_err(|fault| {
        troubled("The rule cannot be written to rules.yaml and holds for this run only", fault)
    })
}
