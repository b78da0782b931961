//! Private files: 0600 in 0700 directories, replaced atomically, locked between instances.
//!
//! Every failure is a [`StoreError`], which becomes a [`Warning`]: a full disk stops nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::remembered;
use crate::domain::{ServerName, Source, Warning};
use crate::mcp::memory::{Changes, Eras};
use crate::paths::Paths;
use crate::permission::Rule;
use crate::pin::{self, Pins};

/// Largest file that is read back, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Largest file of pins that is written, in bytes: well below what is read back.
const MAX_PINS: u64 = 12 * 1024 * 1024;
/// Damaged files that are kept; the last one is replaced.
const MOVED_ASIDE: u32 = 20;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct StoreError {
    /// What was tried: `read`, `write`, `lock`, …
    pub action: &'static str,
    /// On what.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl StoreError {
    fn on(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self { action, path, source }
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "Free some space: until then nothing new is remembered."
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "Check who owns the file and its directory, or set MINI_ME_HOME to a place of yours."
            }
            io::ErrorKind::InvalidData => "Mend the file, or move it away.",
            _ => "Check the path: until then nothing new is remembered.",
        }
    }
}

impl From<StoreError> for Warning {
    fn from(error: StoreError) -> Self {
        Self::new(Source::Program, format!("{error}."), error.advice())
    }
}

/// Creates a directory, and those above it, for this user alone. One that exists stays as it is.
pub fn private_dir(dir: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(StoreError::on("create", dir))
}

/// Options that create a file for this user alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes away what others may do with a file that is open.
fn close_to_others(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Opens a private file for appending, and creates it and its directory if need be. What one call
/// of `write` appends stays whole beside other instances.
pub fn open_append(path: &Path) -> Result<File, StoreError> {
    if let Some(dir) = path.parent() {
        private_dir(dir)?;
    }
    let file =
        private().append(true).create(true).open(path).map_err(StoreError::on("open", path))?;
    close_to_others(&file).map_err(StoreError::on("close to others", path))?;
    Ok(file)
}

/// Replaces a file as a whole: readers see the old or the new content, never a part, also when the
/// machine stops in between. A symbolic link keeps pointing where it does.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_missing| path.to_path_buf());
    let dir = path.parent().unwrap_or_else(|| Path::new("."));
    private_dir(dir)?;
    let temporary = temporary_beside(path);
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if let Err(source) = written {
        // It may not have come into being; there is nothing to do about one that stays.
        drop(fs::remove_file(&temporary));
        return Err(StoreError { action: "write", path: path.clone(), source });
    }
    // The rename itself is on disk once the directory is; not every file system can say so.
    if let Ok(dir) = File::open(dir) {
        drop(dir.sync_all());
    }
    Ok(())
}

/// Replaces a small file that can be lost with the machine's power: readers still see the old or
/// the new content, but nobody waits for the disk.
pub fn replace_quickly(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temporary = temporary_beside(path);
    let write = || private().write(true).create_new(true).open(&temporary)?.write_all(bytes);
    write().and_then(|()| fs::rename(&temporary, path)).map_err(|source| {
        // It may not have come into being.
        drop(fs::remove_file(&temporary));
        StoreError { action: "write", path: path.to_path_buf(), source }
    })
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A name that no other instance and no other call has.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{count}.tmp", std::process::id()))
}

/// Writes a file that is not there yet, for this user alone. `false` if there is one.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    if let Some(dir) = path.parent() {
        private_dir(dir)?;
    }
    match write_new(path, bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(StoreError { action: "write", path: path.to_path_buf(), source }),
    }
}

/// Held while a file is read, changed and written; other instances wait. Ends when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Waits until no other instance changes `path`.
pub fn lock(path: &Path) -> Result<Lock, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.lock"));
    let file = open_append(&beside)?;
    file.lock().map_err(StoreError::on("lock", &beside))?;
    Ok(Lock { _file: file })
}

/// The text of a file; empty if there is none.
fn read(path: &Path) -> Result<String, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(StoreError::on("read", path)(error)),
    };
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(StoreError::on("read", path))?;
    if text.len() as u64 > MAX_BYTES {
        let error = io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is larger than the limit of {MAX_BYTES} bytes"),
        );
        return Err(StoreError::on("read", path)(error));
    }
    Ok(text)
}

/// The rules that *always* wrote. What cannot be understood makes its server ask, with a warning.
pub fn read_rules(paths: &Paths) -> (Vec<(ServerName, Rule)>, Vec<Warning>) {
    let path = paths.rules_file();
    match read(&path) {
        Ok(text) => remembered::decode(&text, &path),
        // What it forbids is not known: nothing is to run without a question meanwhile.
        Err(error) => (remembered::closed(&path), vec![error.into()]),
    }
}

/// Adds a rule at the end of `rules.yaml`; what stands there, comments too, stays.
///
/// # Errors
/// The file cannot be written, or what stands in it is no list of rules.
pub fn append_rule(paths: &Paths, server: &ServerName, rule: &Rule) -> Result<(), StoreError> {
    let path = paths.rules_file();
    let _lock = lock(&path)?;
    let mut text = read(&path)?;
    if text.is_empty() {
        text.push_str(
            "# What \"always\" wrote. Yours to edit; `config.yaml` can deny what stands here.\n",
        );
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let invalid = |why: String| {
        StoreError::on("add a rule to", &path)(io::Error::new(io::ErrorKind::InvalidData, why))
    };
    text.push_str(&remembered::encode(server, rule).map_err(|error| invalid(error.to_string()))?);
    // A file that was no list before would not take the rule, however it is added.
    let (after, _) = remembered::decode(&text, &path);
    let added = |(of, last): &(ServerName, Rule)| {
        of == server && Rule { origin: rule.origin.clone(), ..last.clone() } == *rule
    };
    if !after.last().is_some_and(added) {
        return Err(invalid("what stands in it is no plain list of rules".to_owned()));
    }
    replace(&path, text.as_bytes())
}

/// The remembered fingerprints; none, with a warning, if the file cannot be read. One that cannot be
/// understood is moved aside first, so that nothing of it is trusted and nothing is lost.
pub fn read_pins(paths: &Paths) -> (Pins, Vec<Warning>) {
    let path = paths.pins_file();
    let error = match pins_of(&path) {
        Ok(pins) => return (pins, Vec::new()),
        Err(error) => error,
    };
    let mut warnings = Vec::new();
    if error.source.kind() == io::ErrorKind::InvalidData {
        match lock(&path).and_then(|_lock| move_aside(&path)) {
            Ok(aside) => {
                let message = format!(
                    "{error}; it was moved to {}, nothing of it is trusted, and every tool counts as new.",
                    aside.display()
                );
                let advice =
                    "Look at what it holds if you did not expect this; it is not read again.";
                return (Pins::default(), vec![Warning::new(Source::Program, message, advice)]);
            }
            Err(fault) => warnings.push(fault.into()),
        }
    }
    warnings.insert(0, error.into());
    (Pins::default(), warnings)
}

fn pins_of(path: &Path) -> Result<Pins, StoreError> {
    let text = read(path)?;
    if text.trim().is_empty() {
        return Ok(Pins::default());
    }
    let invalid =
        |why: String| StoreError::on("read", path)(io::Error::new(io::ErrorKind::InvalidData, why));
    let pins: Pins = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    if pins.version != pin::VERSION {
        return Err(invalid(format!("it is of version {}, not {}", pins.version, pin::VERSION)));
    }
    Ok(pins)
}

/// Moves a file that cannot be understood to a name beside it that is free.
fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let damaged = |number: u32| match number {
        1 => path.with_extension("json.damaged"),
        more => path.with_extension(format!("json.damaged-{more}")),
    };
    let aside = (1..MOVED_ASIDE).map(damaged).find(|aside| !aside.exists());
    let aside = aside.unwrap_or_else(|| damaged(MOVED_ASIDE));
    fs::rename(path, &aside).map_err(StoreError::on("move away", path))?;
    Ok(aside)
}

/// Adds `changes` to what is remembered by now, other instances included, and gives back all of it.
/// A damaged file is kept beside.
pub fn merge_pins(paths: &Paths, changes: &Pins) -> Result<Pins, StoreError> {
    let path = paths.pins_file();
    let _lock = lock(&path)?;
    let mut all = match pins_of(&path) {
        Ok(pins) => pins,
        Err(error) if error.source.kind() == io::ErrorKind::InvalidData => {
            move_aside(&path)?;
            Pins::default()
        }
        Err(error) => return Err(error),
    };
    all.merge(changes);
    let mut bytes = written(&path, &all)?;
    // What would not be read again must not be written: fingerprints are worth more than texts.
    for everything in [false, true] {
        if bytes.len() as u64 > MAX_PINS {
            all.forget_definitions(everything);
            bytes = written(&path, &all)?;
        }
    }
    if bytes.len() as u64 > MAX_PINS {
        let error = io::Error::other(format!("it would pass the limit of {MAX_PINS} bytes"));
        return Err(StoreError::on("write", &path)(error));
    }
    replace(&path, &bytes)?;
    Ok(all)
}

fn written(path: &Path, pins: &Pins) -> Result<Vec<u8>, StoreError> {
    let mut bytes =
        serde_json::to_vec(pins).map_err(|error| StoreError::on("write", path)(error.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The remembered eras. A file that cannot be read or understood is as good as none: everything in
/// it can be found out again.
pub fn read_eras(paths: &Paths) -> Eras {
    let text = read(&paths.eras_file()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Adds `changes` to what is remembered by now, other instances included.
pub fn merge_eras(paths: &Paths, changes: &Changes) -> Result<(), StoreError> {
    let path = paths.eras_file();
    let _lock = lock(&path)?;
    let mut all = read_eras(paths);
    all.apply(changes);
    let mut bytes = serde_json::to_vec_pretty(&all)
        .map_err(|error| StoreError::on("write", &path)(error.into()))?;
    bytes.push(b'\n');
    replace(&path, &bytes)
}

#[cfg(test)]
mod tests;
