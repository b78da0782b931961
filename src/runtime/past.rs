//! An earlier conversation on its way into a run: what is read from the disk for it, away from the
//! loop, and what of it goes where.

use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::work::Inside;
use crate::agent::{Grants, Past};
use crate::bridge::Notice;
use crate::domain::{Message, SessionId, Warning};
use crate::session::replay;
use crate::session::store::{self, Opened, SessionError, SessionFile};

/// A conversation to go on with.
#[derive(Debug, Clone, Default)]
pub struct Resume {
    /// What the agent has to know.
    pub past: Past,
    /// The session it stands in, ours to write to; `None` begins a new one, into which its messages
    /// are written again.
    pub session: Option<(SessionId, Arc<SessionFile>)>,
    /// How many messages of the user it has.
    pub turns: usize,
    /// What was said in it, as notices.
    pub history: Vec<Notice>,
    /// What the user should know about going on.
    pub remarks: Vec<String>,
    /// What is wrong with its file.
    pub warnings: Vec<Warning>,
    /// A message to be changed and sent anew.
    pub draft: Option<String>,
}

impl From<Vec<Message>> for Resume {
    fn from(messages: Vec<Message>) -> Self {
        Self { past: messages.into(), ..Self::default() }
    }
}

impl From<Opened> for Resume {
    fn from(opened: Opened) -> Self {
        let Opened { id, transcript, file, remarks, warnings, draft } = opened;
        Self {
            past: transcript.past(),
            turns: transcript.turns(),
            history: replay::notices(&transcript),
            session: file.map(|file| (id, file)),
            remarks,
            warnings,
            draft,
        }
    }
}

/// What is wanted of the sessions on disk.
#[derive(Debug)]
pub(super) enum Wanted {
    /// All of them, as a list.
    List,
    /// Another conversation.
    Resume {
        /// Its id, or the beginning of it.
        id: String,
        /// The conversation that is open now.
        current: String,
    },
    /// A copy of the conversation that is open now.
    Fork {
        /// Its id.
        id: SessionId,
        /// The message of the user, from 1, before which the copy ends.
        before: usize,
    },
}

/// Looks on the disk, once what was handed to it before is written.
pub(super) async fn look(
    directory: std::path::PathBuf,
    wanted: Wanted,
    written: Option<CancellationToken>,
) -> Inside {
    if let Some(written) = written {
        written.cancelled().await;
    }
    let looking = tokio::task::spawn_blocking(move || found(&directory, wanted));
    looking.await.unwrap_or_else(|_| Inside::Refused("reading the sessions failed".to_owned()))
}

fn found(directory: &Path, wanted: Wanted) -> Inside {
    let (opened, grants) = match wanted {
        Wanted::List => {
            let found = store::list(directory).map_err(|fault| fault.to_string());
            return Inside::Sessions(found);
        }
        Wanted::Resume { id, current } => (another(directory, &id, &current), Grants::Ended),
        Wanted::Fork { id, before } => (store::fork(directory, &id, Some(before)), Grants::Kept),
    };
    match opened {
        Ok(opened) => Inside::Reopened(Box::new(opened.into()), grants),
        Err(fault) => Inside::Refused(fault.to_string()),
    }
}

fn another(directory: &Path, start: &str, current: &str) -> Result<Opened, SessionError> {
    let id = store::find(directory, start)?;
    if id.as_str() == current {
        return Err(SessionError::Here { id });
    }
    store::open(directory, &id)
}
