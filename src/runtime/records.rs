//! What is written down of a run: the conversation and the decisions about calls.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use time::UtcDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Setup;
use super::journal::{Journal, Place};
use super::past::Resume;
use super::tasks::Tasks;
use super::work::Inside;
use crate::agent::{AuditRecord, SessionEvent};
use crate::audit::{AuditLine, Written};
use crate::bridge::Notice;
use crate::domain::{Message, SessionId, Warning};
use crate::paths::Paths;
use crate::redact::Secrets;
use crate::session::store;
use crate::session::{Header, Line, scrub};

/// The open files.
pub(super) struct Records {
    paths: Option<Paths>,
    tasks: Tasks,
    inside: mpsc::Sender<Inside>,
    model: Option<String>,
    servers: Vec<String>,
    secrets: Vec<SecretString>,
    conversation: bool,
    id: Option<SessionId>,
    turns: usize,
    /// The next line is the first of this run in a session of an earlier one.
    resumed: bool,
    session: Option<Journal>,
    /// Ends when what was handed over for the conversation before is written.
    before: Option<CancellationToken>,
    audit: Option<Journal>,
    written: Written,
}

impl Records {
    pub(super) fn new(
        setup: &Setup,
        tasks: &Tasks,
        inside: mpsc::Sender<Inside>,
        secrets: Secrets,
    ) -> Self {
        let audit = setup.paths.as_ref().map(|paths| {
            Journal::open(tasks, Place::Shared(paths.audit_file().into()), inside.clone())
        });
        let servers = setup.config.mcp.servers.iter();
        Self {
            paths: setup.paths.clone(),
            tasks: tasks.clone(),
            inside,
            model: setup.config.model.as_ref().map(|model| model.name.clone()),
            servers: servers.map(|server| server.name.to_string()).collect(),
            secrets: setup.config.secrets(),
            conversation: setup.conversation,
            id: None,
            turns: 0,
            resumed: false,
            session: None,
            before: None,
            audit,
            written: Written { arguments: setup.config.audit.arguments, secrets },
        }
    }

    /// Where conversations are kept, if they are.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        self.paths.as_ref().filter(|_| self.conversation).map(Paths::sessions_dir)
    }

    /// The conversation that is open.
    pub(super) fn id(&self) -> Option<&SessionId> {
        self.id.as_ref()
    }

    /// Begins a new conversation. The file appears with its first line.
    pub(super) fn begin(&mut self) -> Notice {
        let id = SessionId::new(UtcDateTime::now(), fastrand::u32(..));
        let path = self.directory().map(|directory| store::file(&directory, &id));
        let place = path.clone().and_then(|path| self.new_file(path, &id));
        self.started(id, path, place, 0)
    }

    /// Goes on with an earlier conversation. Messages that come without a file are written again,
    /// into a new one.
    pub(super) fn go_on(&mut self, earlier: &Resume) -> Notice {
        let Some((id, file)) = &earlier.session else {
            let started = self.begin();
            for message in &earlier.past.messages {
                self.save(SessionEvent::Message { message: message.clone() });
            }
            return started;
        };
        let path = Some(file.path().to_owned());
        let started =
            self.started(id.clone(), path, Some(Place::Open(Arc::clone(file))), earlier.turns);
        self.resumed = earlier.draft.is_none();
        started
    }

    fn started(
        &mut self,
        id: SessionId,
        path: Option<PathBuf>,
        place: Option<Place>,
        turns: usize,
    ) -> Notice {
        self.before = self.session.take().map(|journal| journal.ended().clone());
        self.session = place.map(|place| Journal::open(&self.tasks, place, self.inside.clone()));
        (self.turns, self.resumed) = (turns, false);
        let started = Notice::SessionStarted { id: id.to_string(), path };
        self.id = Some(id);
        started
    }

    fn new_file(&self, path: PathBuf, id: &SessionId) -> Option<Place> {
        let header = Header::new(id.clone(), now(), self.model.clone());
        let header = Header { servers: self.servers.clone(), ..header };
        let header = serde_json::to_string(&header).ok()?;
        Some(Place::New { path, header })
    }

    /// Ends when all that was handed over for conversations up to now is on the disk.
    pub(super) fn written(&mut self) -> Option<CancellationToken> {
        match &mut self.session {
            Some(journal) => Some(journal.written()),
            None => self.before.clone(),
        }
    }

    /// Ends when the file of the conversation before is let go of.
    pub(super) fn let_go(&self) -> Option<CancellationToken> {
        self.before.clone()
    }

    /// Appends to the session file.
    pub(super) fn save(&mut self, event: SessionEvent) {
        if self.session.is_none() {
            return;
        }
        if std::mem::take(&mut self.resumed) {
            self.write(SessionEvent::Resumed);
        }
        let is_user = matches!(event, SessionEvent::Message { message: Message::User { .. } });
        self.turns += usize::from(is_user);
        self.write(event);
    }

    fn write(&mut self, event: SessionEvent) {
        let Some(journal) = &mut self.session else { return };
        let line = Line { at: now(), event, turns: self.turns };
        let secrets: Vec<&str> = self.secrets.iter().map(SecretString::expose_secret).collect();
        let trouble = scrub::line(&line, &secrets).and_then(|line| journal.add(line));
        self.report(trouble);
    }

    /// Writes a line to the audit log.
    pub(super) fn audit(&mut self, record: &AuditRecord) {
        let Some(journal) = &mut self.audit else { return };
        let id = self.id.as_ref().map(ToString::to_string).unwrap_or_default();
        let line = AuditLine::new(record, now(), &id, &self.written);
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

/// The time as files hold it.
pub(super) fn now() -> String {
    UtcDateTime::now().format(&Rfc3339).unwrap_or_default()
}
