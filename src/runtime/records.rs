//! What is written down of a run: the conversation and the decisions about calls.

use std::path::PathBuf;

use time::UtcDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::mpsc;

use super::Setup;
use super::journal::Journal;
use super::tasks::Tasks;
use super::work::Inside;
use crate::agent::{AuditRecord, SessionEvent};
use crate::audit::AuditLine;
use crate::bridge::Notice;
use crate::domain::{Message, Warning};
use crate::paths::Paths;
use crate::session::{Header, Line, SessionId, store};

/// The open files.
pub(super) struct Records {
    paths: Option<Paths>,
    tasks: Tasks,
    inside: mpsc::Sender<Inside>,
    model: Option<String>,
    conversation: bool,
    /// The session to go on with; taken by the first conversation.
    resumed: Option<SessionId>,
    id: String,
    session: Option<Journal>,
    /// Where the session's file is, or will be with its first line.
    place: Option<(PathBuf, SessionId)>,
    /// Something of this conversation is in its file.
    written: bool,
    audit: Option<Journal>,
}

impl Records {
    pub(super) fn new(setup: &Setup, tasks: &Tasks, inside: mpsc::Sender<Inside>) -> Self {
        let audit = setup
            .paths
            .as_ref()
            .map(|paths| Journal::open(tasks, paths.audit_file(), None, inside.clone()));
        Self {
            paths: setup.paths.clone(),
            tasks: tasks.clone(),
            inside,
            model: setup.config.model.as_ref().map(|model| model.name.clone()),
            conversation: setup.conversation,
            resumed: setup.session.clone(),
            id: String::new(),
            session: None,
            place: None,
            written: false,
            audit,
        }
    }

    /// Begins a conversation, or goes on with the one that is resumed; messages that are taken over
    /// into a new one are written again. The file appears with its first line.
    pub(super) fn begin(&mut self, taken_over: &[Message]) -> Notice {
        let resumed = self.resumed.take();
        let new = resumed.is_none();
        let id = resumed.unwrap_or_else(|| SessionId::new(UtcDateTime::now(), fastrand::u32(..)));
        self.id = id.to_string();
        let paths = self.paths.as_ref().filter(|_| self.conversation);
        let path = paths.map(|paths| store::file(&paths.sessions_dir(), &id));
        self.session = path.clone().map(|path| self.open(path, &id));
        self.place = path.clone().map(|path| (path, id));
        self.written = !new;
        if new {
            for message in taken_over {
                self.save(SessionEvent::Message { message: message.clone() });
            }
        }
        Notice::SessionStarted { id: self.id.clone(), path }
    }

    fn open(&self, path: PathBuf, id: &SessionId) -> Journal {
        let header = Header::new(id.clone(), now(), self.model.clone());
        let header = serde_json::to_string(&header).ok();
        Journal::open(&self.tasks, path, header, self.inside.clone())
    }

    /// Another model answers from here on. A conversation without a word begins with it.
    pub(super) fn model_changed(&mut self, name: &str) {
        self.model = Some(name.to_owned());
        if self.written {
            self.save(SessionEvent::ModelChanged { model: name.to_owned() });
        } else if let Some((path, id)) = self.place.clone() {
            self.session = Some(self.open(path, &id));
        }
    }

    /// Appends to the session file.
    pub(super) fn save(&mut self, event: SessionEvent) {
        let Some(journal) = &mut self.session else { return };
        self.written = true;
        let line = Line { at: now(), event };
        let trouble = serde_json::to_string(&line).ok().and_then(|line| journal.add(line));
        self.report(trouble);
    }

    /// Writes a line to the audit log.
    pub(super) fn audit(&mut self, record: &AuditRecord) {
        let Some(journal) = &mut self.audit else { return };
        let line = AuditLine::new(record, now(), &self.id);
        let trouble = serde_json::to_string(&line).ok().and_then(|line| journal.add(line));
        self.report(trouble);
    }

    fn report(&self, trouble: Option<Warning>) {
        if let Some(warning) = trouble {
            // A full channel already carries warnings enough.
            drop(self.inside.try_send(Inside::Warned(warning)));
        }
    }
}

fn now() -> String {
    UtcDateTime::now().format(&Rfc3339).unwrap_or_default()
}
