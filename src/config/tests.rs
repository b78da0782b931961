//! What the config promises, sentence by sentence.

mod cases;
mod guards;
mod model_and_ui;
mod secrets;

use std::ffi::OsString;
use std::path::Path;

use super::{ConfigError, Loaded, decode};
use crate::domain::{Source, Warning};

/// Decodes with these variables set.
fn with_env(text: &str, env: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let lookup = |name: &str| {
        env.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    };
    decode(text, Path::new("/home/u/.config/mini-me/config.yaml"), &lookup)
}

/// Decodes with an empty environment; the text has to be YAML.
fn loaded(text: &str) -> Loaded {
    match with_env(text, &[]) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{error}"),
    }
}

/// All warnings as one text, as the faces show them.
fn told(warnings: &[Warning]) -> String {
    let line = |warning: &Warning| {
        let place = match &warning.source {
            Source::Config { file, line: Some(line), .. } => format!("{}:{line}: ", file.display()),
            _ => String::new(),
        };
        format!("{place}{} {}", warning.message, warning.advice)
    };
    warnings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The names of servers that can be used, and of those that are refused.
fn names(loaded: &Loaded) -> (Vec<&str>, Vec<&str>) {
    let used = loaded.config.mcp.servers.iter().map(|server| server.name.as_str()).collect();
    let refused = loaded.refused.iter().map(|server| server.name.as_str()).collect();
    (used, refused)
}
