//! Where things are: the platform's directories for `mini-me`, or all of them under
//! `MINI_ME_HOME`.

use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy;

/// The name of our directories.
const NAME: &str = "mini-me";

/// The directories of this user. Nothing is created by looking them up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Holds `config.yaml`.
    pub config: PathBuf,
    /// Holds `rules.yaml`, `pins.json`, `eras.json`, `audit.jsonl`, `log/`.
    pub state: PathBuf,
    /// Holds `sessions/`.
    pub data: PathBuf,
}

impl Paths {
    /// Finds the directories. `None` where there is no home: then nothing is read or written.
    pub fn discover(env: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        if let Some(home) = env("MINI_ME_HOME").filter(|home| !home.is_empty()) {
            // Relative would mean another place in every working directory.
            let home = std::path::absolute(PathBuf::from(home)).ok()?;
            return Some(Self { config: home.clone(), state: home.clone(), data: home });
        }
        if cfg!(unix) && env("HOME").is_none_or(|home| home.is_empty()) {
            return None;
        }
        let base = etcetera::choose_base_strategy().ok()?;
        let data = base.data_dir().join(NAME);
        let state = base.state_dir().map_or_else(|| data.clone(), |dir| dir.join(NAME));
        Some(Self { config: base.config_dir().join(NAME), state, data })
    }

    /// The config file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.yaml")
    }

    /// The rules that *always* wrote.
    pub fn rules_file(&self) -> PathBuf {
        self.state.join("rules.yaml")
    }

    /// The remembered fingerprints.
    pub fn pins_file(&self) -> PathBuf {
        self.state.join("pins.json")
    }

    /// Which era each endpoint spoke when it was last reached.
    pub fn eras_file(&self) -> PathBuf {
        self.state.join("eras.json")
    }

    /// The decision log.
    pub fn audit_file(&self) -> PathBuf {
        self.state.join("audit.jsonl")
    }

    /// The program's log files.
    pub fn log_dir(&self) -> PathBuf {
        self.state.join("log")
    }

    /// Archives of exchanges.
    pub fn wire_dir(&self) -> PathBuf {
        self.data.join("wire")
    }

    /// The conversations.
    pub fn sessions_dir(&self) -> PathBuf {
        self.data.join("sessions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mini_me_home_moves_everything() {
        let home = tempfile::tempdir().unwrap();
        let env = |name: &str| (name == "MINI_ME_HOME").then(|| home.path().into());
        let paths = Paths::discover(&env).unwrap();
        assert_eq!(paths.config_file(), home.path().join("config.yaml"));
        assert_eq!(paths.rules_file(), home.path().join("rules.yaml"));
        assert_eq!(paths.sessions_dir(), home.path().join("sessions"));
    }

    #[cfg(unix)]
    #[test]
    fn without_a_home_there_are_no_paths() {
        assert_eq!(Paths::discover(&|_| None), None);
        assert_eq!(Paths::discover(&|_| Some("".into())), None);
    }

    #[test]
    fn the_directories_are_named_after_us() {
        let Some(paths) = Paths::discover(&|name| std::env::var_os(name)) else { return };
        for dir in [&paths.config, &paths.state, &paths.data] {
            assert!(std::env::var_os("MINI_ME_HOME").is_some() || dir.ends_with(NAME), "{dir:?}");
        }
    }
}
