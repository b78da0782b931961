//! One session file, open for appending by this instance alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::torn;
use crate::store::{self, StoreError};

/// A session file that no other instance writes to while this lives.
#[derive(Debug)]
pub struct SessionFile {
    file: File,
    path: PathBuf,
}

/// What came of asking for a file.
#[derive(Debug)]
pub enum Claim {
    /// It is ours to write to.
    Mine(SessionFile),
    /// Another instance writes to it.
    Taken,
}

impl SessionFile {
    /// Makes a new file with this first line. The directory is made if it is not there.
    pub fn create(path: &Path, header: &str) -> Result<Self, StoreError> {
        if let Some(directory) = path.parent() {
            store::private_dir(directory)?;
        }
        let file = options().create_new(true).open(path).map_err(|source| StoreError {
            action: "create",
            path: path.to_owned(),
            source,
        })?;
        let made = Self { file, path: path.to_owned() };
        made.lock();
        let written = made.append(&format!("{header}\n"));
        if written.is_err() {
            // Nothing stands in it: it must not be in the way of the next attempt.
            drop(std::fs::remove_file(path));
        }
        written.map(|()| made)
    }

    /// Opens a file that is there.
    pub fn claim(path: &Path) -> Result<Claim, StoreError> {
        let fault = |source| StoreError { action: "open", path: path.to_owned(), source };
        let file = match options().open(path) {
            // On Windows whoever writes shares reading only.
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(32) => {
                return Ok(Claim::Taken);
            }
            opened => opened.map_err(fault)?,
        };
        let claimed = Self { file, path: path.to_owned() };
        Ok(if claimed.lock() { Claim::Mine(claimed) } else { Claim::Taken })
    }

    /// Whether it is ours. Where the file system knows no locks it counts as ours.
    fn lock(&self) -> bool {
        if cfg!(windows) {
            // Opened for this instance alone; a lock would keep readers out.
            return true;
        }
        match self.file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, "a session file cannot be locked");
                true
            }
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole lines, ends included: all or nothing. What a torn last line left is closed
    /// before. When this returns they are on the disk, as far as the system can tell.
    pub fn append(&self, lines: &str) -> Result<(), StoreError> {
        self.try_append(lines).map_err(|source| StoreError {
            action: "write",
            path: self.path.clone(),
            source,
        })
    }

    fn try_append(&self, lines: &str) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        if is_gone(&metadata) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed"));
        }
        let before = metadata.len();
        let mut file = &self.file;
        let close = if before > 0 && torn(&self.path).unwrap_or(false) { "\n" } else { "" };
        let written = file.write_all(format!("{close}{lines}").as_bytes());
        if written.is_err() {
            // A part of a line helps nobody; where it stays, readers pass over it.
            drop(self.file.set_len(before));
            return written;
        }
        if let Err(error) = self.file.sync_data() {
            tracing::warn!(%error, "a session file may not be on the disk yet");
        }
        Ok(())
    }
}

fn options() -> OpenOptions {
    let mut options = store::private();
    options.read(true).append(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1);
    options
}

/// Whether the file has no name any more: what is written to it is lost.
fn is_gone(metadata: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::nlink(metadata) == 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}
