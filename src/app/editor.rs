//! The external editor: a private file, `$VISUAL` or `$EDITOR`, the text that comes back.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::child;

/// Lets the user edit; `None` when the editor said that it failed. The error says what to do.
pub(super) fn edit(text: &str, withheld: &[String]) -> Result<Option<String>, String> {
    let words = command()?;
    let file = file(text).map_err(|error| format!("cannot write a file to edit: {error}"))?;
    let edited = run(&words, &file, withheld);
    if let Err(error) = fs::remove_file(&file) {
        tracing::warn!(%error, "the edited file could not be removed");
    }
    edited
}

fn run(words: &[String], file: &Path, withheld: &[String]) -> Result<Option<String>, String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    let status = child::command(program, withheld)
        .args(arguments)
        .arg(file)
        .status()
        .map_err(|error| format!("cannot start {program}: {error}; set $VISUAL or $EDITOR"))?;
    if !status.success() {
        return Ok(None);
    }
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read it back: {error}"))?;
    Ok(Some(text))
}

/// The editor and its options, split at white space as everyone does.
fn command() -> Result<Vec<String>, String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let command = set("VISUAL").or_else(|| set("EDITOR"));
    let command = command.ok_or_else(|| "set $VISUAL or $EDITOR to use an editor".to_owned())?;
    Ok(command.split_whitespace().map(str::to_owned).collect())
}

/// A new file that only the user can read.
fn file(text: &str) -> std::io::Result<PathBuf> {
    let name = format!("mini-me-{}-{:08x}.md", std::process::id(), fastrand::u32(..));
    let path = std::env::temp_dir().join(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(text.as_bytes())?;
    Ok(path)
}
