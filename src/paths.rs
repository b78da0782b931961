//! Where things are: the platform's directories for `mini-me`, or all of them under
//! `MINI_ME_HOME`.

use std::path::PathBuf;

/// The directories of this user. Nothing is created by looking them up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Holds `config.yaml`.
    pub config: PathBuf,
    /// Holds `rules.yaml`, `pins.json`, `audit.jsonl`, `log/`.
    pub state: PathBuf,
    /// Holds `sessions/`.
    pub data: PathBuf,
}
