//! Finds and reads the config file.
//!
//! The order is fixed: `--config`, `$MINI_ME_CONFIG`, the user's config directory. Never the
//! working directory: a cloned repository must not be able to choose where secrets are sent.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::context::{Env, Origins};
use super::decode::{MAX_BYTES, decode};
use super::error::ConfigError;
use super::model::{AuditConfig, Config, McpConfig, UiConfig};
use super::node::Position;
use super::{Loaded, Presence};
use crate::domain::{Source, Warning};
use crate::paths::Paths;

/// The variable that names a config file.
pub const VARIABLE: &str = "MINI_ME_CONFIG";

/// Where the config is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Whether the user named it: then it has to exist.
    pub named: bool,
    /// Who chose it, in words.
    pub chosen_by: &'static str,
}

/// The one place where the config is looked for; `None` where there is no home directory and
/// nothing was named.
pub fn place(flag: Option<&Path>, env: &Env<'_>, paths: Option<&Paths>) -> Option<Place> {
    if let Some(file) = flag {
        return Some(Place { file: file.to_path_buf(), named: true, chosen_by: "--config" });
    }
    if let Some(file) = env(VARIABLE).filter(|file| !file.is_empty()) {
        return Some(Place { file: file.into(), named: true, chosen_by: "$MINI_ME_CONFIG" });
    }
    let file = paths?.config_file();
    Some(Place { file, named: false, chosen_by: "the user's config directory" })
}

/// Finds, reads and decodes the config.
///
/// # Errors
/// A named file is missing, the file cannot be read, or it is no YAML: exit code 2.
pub fn load(
    flag: Option<&Path>,
    env: &Env<'_>,
    paths: Option<&Paths>,
) -> Result<Loaded, ConfigError> {
    let Some(place) = place(flag, env, paths) else { return Ok(nothing()) };
    let Some(bytes) = read(&place)? else { return Ok(nothing()) };
    let text = String::from_utf8(bytes).map_err(|error| not_text(&place.file, error.as_bytes()))?;
    let mut loaded = decode(&text, &place.file, env)?;
    if let Some(warning) = missing_ca_file(&loaded) {
        loaded.warnings.push(warning);
    }
    Ok(loaded)
}

/// What is in force without a file.
pub fn nothing() -> Loaded {
    Loaded {
        config: Config {
            file: None,
            model: None,
            mcp: McpConfig::default(),
            ui: UiConfig::default(),
            keys: std::collections::BTreeMap::new(),
            audit: AuditConfig::default(),
        },
        warnings: Vec::new(),
        refused: Vec::new(),
        origins: Origins::default(),
        presence: Presence::Missing,
    }
}

fn read(place: &Place) -> Result<Option<Vec<u8>>, ConfigError> {
    let unreadable = |source: std::io::Error| ConfigError::Unreadable {
        file: place.file.clone(),
        advice: format!(
            "It was chosen by {}; check the path and its permissions.",
            place.chosen_by
        ),
        source,
    };
    let file = match fs::File::open(&place.file) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !place.named => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { file: place.file.clone(), limit: MAX_BYTES });
    }
    Ok(Some(bytes))
}

fn not_text(file: &Path, bytes: &[u8]) -> ConfigError {
    let good = bytes.utf8_chunks().next().map(|chunk| chunk.valid()).unwrap_or_default();
    let line = good.matches('\n').count() + 1;
    let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let text = String::from_utf8_lossy(bytes);
    let problem = "this is not UTF-8 text: save the file as UTF-8".to_owned();
    ConfigError::syntax(file.to_path_buf(), &text, Position { line, column }, problem)
}

fn missing_ca_file(loaded: &Loaded) -> Option<Warning> {
    let ca_file = loaded.config.mcp.ca_file.as_ref()?;
    let error = fs::File::open(ca_file).err()?;
    let file = loaded.config.file.clone().unwrap_or_default();
    let line = loaded.origins.line("mcp", "caFile");
    let message = format!("`mcp.caFile`: cannot read {}: {error}.", ca_file.display());
    let source = Source::Config { file, line, field: "mcp.caFile".to_owned() };
    Some(Warning::new(source, message, "Name a PEM file that you can read, or take the key out."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(dir: &Path) -> Paths {
        Paths { config: dir.into(), state: dir.into(), data: dir.into() }
    }

    #[test]
    fn the_flag_comes_first_then_the_variable_then_the_users_directory() {
        let paths = paths(Path::new("/home/u/.config/mini-me"));
        let set = |name: &str| (name == VARIABLE).then(|| "/etc/x.yaml".into());
        let unset = |_: &str| None;
        let empty = |_: &str| Some("".into());
        let file =
            |flag: Option<&Path>, env: &Env<'_>| place(flag, env, Some(&paths)).unwrap().file;
        assert_eq!(file(Some(Path::new("f.yaml")), &set), Path::new("f.yaml"));
        assert_eq!(file(None, &set), Path::new("/etc/x.yaml"));
        assert_eq!(file(None, &unset), Path::new("/home/u/.config/mini-me/config.yaml"));
        assert_eq!(file(None, &empty), Path::new("/home/u/.config/mini-me/config.yaml"));
        assert_eq!(place(None, &unset, None), None);
    }

    #[test]
    fn no_file_is_no_error_unless_it_was_named() {
        let dir = tempfile::tempdir().unwrap();
        let unset = |_: &str| None;
        let loaded = load(None, &unset, Some(&paths(dir.path()))).unwrap();
        assert_eq!(loaded.presence, Presence::Missing);
        let named = dir.path().join("nothing.yaml");
        let error = load(Some(&named), &unset, None).unwrap_err().to_string();
        assert!(error.contains("nothing.yaml") && error.contains("--config"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_utf8_names_its_line_and_column() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.yaml"), b"model:\n  name: caf\xe9\n").unwrap();
        let error = load(None, &|_| None, Some(&paths(dir.path()))).unwrap_err();
        let ConfigError::Syntax { at, excerpt, .. } = error else { panic!("{error:?}") };
        assert_eq!(at, Position { line: 2, column: 12 });
        assert!(excerpt.contains("name: caf"), "{excerpt}");
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.yaml");
        fs::write(&file, "#".repeat(usize::try_from(MAX_BYTES).unwrap() + 1)).unwrap();
        let error = load(None, &|_| None, Some(&paths(dir.path()))).unwrap_err();
        assert!(matches!(error, ConfigError::TooLarge { .. }), "{error:?}");
    }

    #[test]
    fn a_ca_file_that_is_not_there_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.yaml"), "mcp:\n  caFile: ca.pem\n").unwrap();
        let loaded = load(None, &|_| None, Some(&paths(dir.path()))).unwrap();
        assert_eq!(loaded.config.mcp.ca_file, Some(dir.path().join("ca.pem")));
        assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    }
}
