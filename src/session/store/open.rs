//! Going on with a session, and forking one.
//!
//! A session is written to by one instance at a time: whoever comes second goes on in a copy, and
//! is told so.

use std::path::Path;
use std::sync::Arc;

use time::UtcDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Claim, SessionError, SessionFile, file, missing, read};
use crate::domain::{ToolId, Warning};
use crate::session::{Header, Parent, SessionId, Transcript, VERSION};
use crate::store::StoreError;
use crate::text;

/// Tools that are named.
const NAMED: usize = 5;

/// A session that is gone on with.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Its id; of a copy, that of the copy.
    pub id: SessionId,
    /// What was said in it.
    pub transcript: Transcript,
    /// Its file, ours to write to; `None` where it cannot be written.
    pub file: Option<Arc<SessionFile>>,
    /// What is to be said in the conversation. May quote outside text.
    pub remarks: Vec<String>,
    /// What is wrong with the file.
    pub warnings: Vec<Warning>,
    /// The message before which a copy was left, to be sent anew.
    pub draft: Option<String>,
}

/// Opens a session to go on with. Where another instance has it, a copy is made.
pub fn open(directory: &Path, id: &SessionId) -> Result<Opened, SessionError> {
    let path = file(directory, id);
    if !path.exists() {
        return Err(missing(directory, id.as_str()));
    }
    // Claimed before it is read: what is read is what is gone on with.
    let claimed = SessionFile::claim(&path);
    let transcript = read(directory, id)?;
    let warnings = transcript.warnings();
    let mut remarks = Vec::new();
    let mine = match claimed {
        Ok(Claim::Mine(file)) if transcript.header.version <= VERSION => Some(Arc::new(file)),
        Ok(Claim::Mine(_)) => {
            remarks
                .push(format!("The session {id} is of a later version: this goes on in a copy."));
            None
        }
        Ok(Claim::Taken) => {
            remarks.push(format!(
                "The session {id} is open in another window: this goes on in a copy, and leaves that one alone."
            ));
            None
        }
        Err(fault) => {
            remarks.push(unwritable(&fault));
            None
        }
    };
    remarks.extend(asked_again(&transcript));
    let opened = match mine {
        Some(file) => Opened {
            id: id.clone(),
            transcript,
            file: Some(file),
            remarks: Vec::new(),
            warnings: Vec::new(),
            draft: None,
        },
        None => copy(directory, transcript, None),
    };
    Ok(Opened { remarks: remarks.into_iter().chain(opened.remarks).collect(), warnings, ..opened })
}

fn unwritable(fault: &StoreError) -> String {
    format!("{fault}: this goes on in a copy.")
}

/// Makes a new session of what another one holds, up to the user's message of this number (from
/// 1), which becomes the draft; `None` takes all. The other one stays as it is.
pub fn fork(
    directory: &Path,
    id: &SessionId,
    before: Option<usize>,
) -> Result<Opened, SessionError> {
    let transcript = read(directory, id)?;
    let turns = transcript.turns();
    if let Some(wanted) = before
        && !(1..=turns).contains(&wanted)
    {
        return Err(SessionError::NoSuchMessage { id: id.clone(), turns, wanted });
    }
    let warnings = transcript.warnings();
    let opened = copy(directory, transcript, before);
    Ok(Opened { warnings, ..opened })
}

/// A copy in a new file. Where that cannot be written the conversation goes on without.
fn copy(directory: &Path, mut transcript: Transcript, before: Option<usize>) -> Opened {
    let draft = before.and_then(|before| cut(&mut transcript, before));
    let now = UtcDateTime::now();
    let id = SessionId::new(now, fastrand::u32(..));
    let created = now.format(&Rfc3339).unwrap_or_default();
    let parent = Parent { id: transcript.header.id.clone(), before };
    transcript.header = Header {
        parent: Some(parent),
        servers: std::mem::take(&mut transcript.header.servers),
        ..Header::new(id.clone(), created, transcript.header.model.take())
    };
    let (file, remarks) = match written(&file(directory, &id), &transcript) {
        Ok(file) => (Some(Arc::new(file)), Vec::new()),
        Err(fault) => (None, vec![format!("The copy cannot be kept: {fault}.")]),
    };
    Opened { id, transcript, file, remarks, warnings: Vec::new(), draft }
}

/// Takes away the user's message of this number and all that follows. Returns what it said.
fn cut(transcript: &mut Transcript, before: usize) -> Option<String> {
    let draft = transcript.user_messages().nth(before.checked_sub(1)?)?.to_owned();
    let keep = transcript.lines.iter().take_while(|line| line.turns < before).count();
    transcript.lines.truncate(keep);
    Some(draft)
}

fn written(path: &Path, transcript: &Transcript) -> Result<SessionFile, StoreError> {
    let odd = |error: serde_json::Error| StoreError {
        action: "write",
        path: path.to_owned(),
        source: error.into(),
    };
    let header = serde_json::to_string(&transcript.header).map_err(odd)?;
    let mut lines = String::new();
    for line in &transcript.lines {
        lines.push_str(&serde_json::to_string(line).map_err(odd)?);
        lines.push('\n');
    }
    let file = SessionFile::create(path, &header)?;
    if let Err(fault) = file.append(&lines) {
        // A copy without its content is no copy.
        drop(std::fs::remove_file(path));
        return Err(fault);
    }
    Ok(file)
}

/// What was allowed for the session ended with its run.
fn asked_again(transcript: &Transcript) -> Option<String> {
    let tools = crate::session::mend::granted(&transcript.lines);
    let names: Vec<String> = tools.iter().take(NAMED).map(named).collect();
    let more = match tools.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.join(", ");
    match tools.len() {
        0 => None,
        1 => Some(format!("1 tool allowed for the session last time is asked again: {names}.")),
        count => Some(format!(
            "{count} tools allowed for the session last time are asked again: {names}{more}."
        )),
    }
}

fn named(tool: &ToolId) -> String {
    text::strict_line(&tool.to_string()).into_string()
}

#[cfg(test)]
mod tests;
