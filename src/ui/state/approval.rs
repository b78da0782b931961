//! Decisions that wait for the user: approvals of calls, questions of servers and about going on.
//!
//! The oldest one is shown. It takes no answer until [`ARM_AFTER`] have passed without a key press,
//! counted from the first frame that shows it: [`Arming`] is a pure function of those times.

pub mod diff;
pub mod sheet;

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::text::Line;
use serde_json::{Map, Value};
use tui_textarea::TextArea;

use super::form::Form;
use crate::domain::{
    Approval, CallId, Elicitation, ElicitationId, ElicitationKind, Question, QuestionId,
};
use sheet::Sheet;

/// Quiet that must pass before a key can decide.
pub const ARM_AFTER: Duration = Duration::from_millis(600);
/// Largest arguments that can be edited in the box, in bytes.
pub const EDIT_LIMIT: usize = 64 * 1024;

/// Whether keys decide already.
///
/// The quiet has to be seen: [`Arming::tick`] is called when it is over and no key waits to be read.
/// A key that was pressed early and is read late, on a machine that is busy, finds nothing armed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arming {
    shown: Option<Instant>,
    last_key: Option<Instant>,
    /// The quiet was seen to be over.
    quiet: bool,
    /// A key came after the quiet: from then on keys belong to the box.
    latched: bool,
}

impl Arming {
    /// A frame shows the box.
    pub fn shown(&mut self, now: Instant) {
        self.shown.get_or_insert(now);
    }

    /// A frame has no room for the box: what cannot be seen is not decided.
    pub fn hidden(&mut self) {
        self.shown = None;
        self.quiet = false;
        self.latched = false;
    }

    /// Time has passed, and no key waits to be read.
    pub fn tick(&mut self, now: Instant) {
        self.quiet |= self.arms_at().is_some_and(|at| at <= now);
    }

    /// Something came from the terminal that may be a key, and may not have been read yet.
    pub fn touched(&mut self, at: Instant) {
        if !self.armed() {
            self.last_key = Some(self.last_key.map_or(at, |last| last.max(at)));
        }
    }

    /// A key was pressed. Returns whether it belongs to the box.
    pub fn key(&mut self, now: Instant) -> bool {
        self.latched = self.armed();
        if !self.latched {
            self.last_key = Some(self.last_key.map_or(now, |last| last.max(now)));
        }
        self.latched
    }

    /// Text was pasted. Returns whether it belongs to the box; it stays armed then.
    pub fn paste(&mut self) -> bool {
        self.latched = self.armed();
        self.latched
    }

    /// Whether keys belong to the box since the latest one.
    pub fn latched(&self) -> bool {
        self.latched
    }

    /// Something other than a key shows that the user is busy elsewhere: a paste, a key that leads
    /// back to the box. Quiet counts from now.
    pub fn disturb(&mut self, now: Instant) {
        self.latched = false;
        self.quiet = false;
        self.last_key = Some(self.last_key.map_or(now, |last| last.max(now)));
    }

    /// Whether a key would decide now.
    pub fn armed(&self) -> bool {
        self.latched || self.quiet
    }

    /// When it arms if nothing is pressed; `None` before it is shown.
    pub fn arms_at(&self) -> Option<Instant> {
        let shown = self.shown?;
        let since = self.last_key.map_or(shown, |key| key.max(shown));
        since.checked_add(ARM_AFTER)
    }
}

/// One thing that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    /// Whether a call may run.
    Approval(Arc<Approval>),
    /// Whether the turn goes on.
    Question(Question),
    /// What a server wants to know or to have opened.
    Elicitation(Arc<Elicitation>),
}

/// Identity of a [`Pending`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PendingId {
    /// A call.
    Call(CallId),
    /// A question.
    Question(QuestionId),
    /// A server's question.
    Elicitation(ElicitationId),
}

impl Choice {
    /// The choice so many places to the right, staying inside.
    #[must_use]
    pub fn moved(self, by: isize) -> Self {
        const ORDER: [Choice; 4] = [Choice::Deny, Choice::Note, Choice::Edit, Choice::Later];
        let at = ORDER.iter().position(|choice| *choice == self).unwrap_or_default();
        ORDER.get(at.saturating_add_signed(by)).copied().unwrap_or(self)
    }
}

impl Pending {
    /// Its identity.
    pub fn id(&self) -> PendingId {
        match self {
            Self::Approval(approval) => PendingId::Call(approval.call.id),
            Self::Question(question) => PendingId::Question(question.id),
            Self::Elicitation(elicitation) => PendingId::Elicitation(elicitation.id),
        }
    }
}

/// What the box is doing.
#[derive(Debug, Default)]
pub enum Mode {
    /// Waiting for a choice.
    #[default]
    Choose,
    /// Waiting for the second `a`.
    ConfirmAlways,
    /// Writing a note to the model.
    Note(Box<TextArea<'static>>),
    /// Changing the arguments; with what is wrong with them.
    Edit(Box<TextArea<'static>>, Option<String>),
    /// Filling in a server's form.
    Fill(Box<Form>),
}

impl Mode {
    /// What the box does when this comes up.
    fn for_pending(pending: Option<&Pending>) -> Self {
        match pending {
            Some(Pending::Elicitation(elicitation)) => match &elicitation.kind {
                ElicitationKind::Form { fields, fault: None, .. } => {
                    Self::Fill(Box::new(Form::of_server(fields)))
                }
                ElicitationKind::Form { .. } | ElicitationKind::Url { .. } => Self::Choose,
            },
            _ => Self::Choose,
        }
    }
}

/// Choices that can have the focus. None of them approves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Do not run it.
    #[default]
    Deny,
    /// Do not run it, with a note.
    Note,
    /// Change the arguments.
    Edit,
    /// Decide later.
    Later,
}

/// Rows laid out for one box and width.
#[derive(Debug, Default)]
pub struct Laid {
    /// For which box, how often asked, which catalog, width, and whether rows are scarce.
    pub key: Option<(PendingId, u64, u64, (u16, bool))>,
    /// For which box, and how often asked, the arguments are.
    pub call: Option<(PendingId, u64)>,
    /// The rows above the arguments; none for a server's question, whose rows change with every
    /// key.
    pub head: Vec<Line<'static>>,
    /// The arguments.
    pub arguments: Sheet,
    /// What in the call cannot be seen or looks like something else.
    pub suspicion: Option<String>,
    /// How many rows there are.
    pub count: usize,
}

/// All decisions that wait.
#[derive(Debug, Default)]
pub struct Decisions {
    queue: VecDeque<Pending>,
    /// How many of this batch were answered.
    answered: usize,
    /// Rises whenever another box, or the same with other contents, comes up.
    pub revision: u64,
    /// Whether keys decide.
    pub arming: Arming,
    /// What the box is doing.
    pub mode: Mode,
    /// Which choice has the focus.
    pub choice: Choice,
    /// The user wants to decide later: only a badge is shown.
    pub minimised: bool,
    /// The user went back to the draft while the box is open.
    pub in_draft: bool,
    /// First row shown.
    pub scroll: usize,
    /// Rows shown at once, from the last frame.
    pub page: usize,
    /// Rows that were never shown although one has to see them before one can agree; 0 from the
    /// moment they were.
    pub unseen: usize,
    /// Rows laid out.
    pub laid: Laid,
    /// What was proposed for the calls whose arguments the user changed.
    proposed: HashMap<CallId, Arc<Map<String, Value>>>,
    /// Arguments that came back from the user's editor and cannot be sent: where that goes on.
    pub unfit: Option<(CallId, String)>,
}

impl Decisions {
    /// The one that is asked now.
    pub fn current(&self) -> Option<&Pending> {
        self.queue.front()
    }

    /// The approval that is asked now.
    pub fn approval(&self) -> Option<&Arc<Approval>> {
        match self.current()? {
            Pending::Approval(approval) => Some(approval),
            Pending::Question(_) | Pending::Elicitation(_) => None,
        }
    }

    /// The server's question that is asked now.
    pub fn elicitation(&self) -> Option<&Arc<Elicitation>> {
        match self.current()? {
            Pending::Elicitation(elicitation) => Some(elicitation),
            Pending::Approval(_) | Pending::Question(_) => None,
        }
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether the box is to be drawn.
    pub fn visible(&self) -> bool {
        !self.queue.is_empty() && !self.minimised
    }

    /// Place in the batch and its size: `2 of 5`.
    pub fn place(&self) -> (usize, usize) {
        (self.answered + 1, self.answered + self.queue.len())
    }

    /// Adds one, or puts it in the place of the one with the same identity. A call whose arguments
    /// the user has just changed is asked about next.
    pub fn add(&mut self, pending: Pending) {
        let id = pending.id();
        let edited = matches!(&pending, Pending::Approval(approval) if self.proposed.contains_key(&approval.call.id));
        let mut at = self.queue.iter().position(|waiting| waiting.id() == id);
        let first = self.queue.is_empty();
        match at.and_then(|at| self.queue.get_mut(at)) {
            Some(place) => *place = pending,
            None if edited => {
                self.queue.push_front(pending);
                self.answered = self.answered.saturating_sub(1);
                at = Some(0);
            }
            None => self.queue.push_back(pending),
        }
        if first {
            self.minimised = false;
        }
        if first || at == Some(0) {
            self.begin();
        }
    }

    /// Takes one away, answered or withdrawn. Unknown identities are ignored.
    pub fn remove(&mut self, id: PendingId) {
        let Some(at) = self.queue.iter().position(|waiting| waiting.id() == id) else { return };
        self.queue.remove(at);
        self.answered += 1;
        if at == 0 {
            self.begin();
        }
        if self.queue.is_empty() {
            self.answered = 0;
            self.minimised = false;
        }
    }

    /// Takes a call away whose arguments the user changed, and remembers what was proposed.
    pub fn edited(&mut self, call: CallId, proposed: Arc<Map<String, Value>>) {
        self.remove(PendingId::Call(call));
        self.proposed.entry(call).or_insert(proposed);
    }

    /// What was proposed for a call whose arguments the user changed.
    pub fn proposed(&self, call: CallId) -> Option<&Arc<Map<String, Value>>> {
        self.proposed.get(&call)
    }

    /// A call is settled: nothing of it is asked again.
    pub fn settled(&mut self, call: CallId) {
        self.proposed.remove(&call);
    }

    /// Takes all approvals away and says which calls they were about.
    pub fn take_calls(&mut self) -> Vec<CallId> {
        let calls = self.queue.iter().filter_map(|pending| match pending.id() {
            PendingId::Call(call) => Some(call),
            PendingId::Question(_) | PendingId::Elicitation(_) => None,
        });
        let calls: Vec<_> = calls.collect();
        for call in &calls {
            self.remove(PendingId::Call(*call));
        }
        calls
    }

    /// The calls that belong to no turn.
    pub fn direct_calls(&self) -> Vec<CallId> {
        let direct = |pending: &Pending| match pending {
            Pending::Approval(approval) if approval.call.turn.is_none() => Some(approval.call.id),
            Pending::Approval(_) | Pending::Question(_) | Pending::Elicitation(_) => None,
        };
        self.queue.iter().filter_map(direct).collect()
    }

    /// All questions of servers that wait.
    pub fn elicitations(&self) -> Vec<ElicitationId> {
        let asked = |pending: &Pending| match pending.id() {
            PendingId::Elicitation(id) => Some(id),
            PendingId::Call(_) | PendingId::Question(_) => None,
        };
        self.queue.iter().filter_map(asked).collect()
    }

    /// Forgets everything: another conversation.
    pub fn clear(&mut self) {
        *self = Self { revision: self.revision + 1, ..Self::default() };
    }

    /// Shows the box again. It arms anew.
    pub fn restore(&mut self, now: Instant) {
        self.minimised = false;
        self.in_draft = false;
        self.arming = Arming::default();
        self.arming.disturb(now);
    }

    /// When the look of the box changes by itself.
    pub fn wake(&self) -> Option<Instant> {
        let waits = self.visible() && !self.in_draft && !self.arming.armed();
        waits.then(|| self.arming.arms_at()).flatten()
    }

    /// The next box starts from nothing: not armed, deny in focus, first row.
    fn begin(&mut self) {
        self.revision += 1;
        self.arming = Arming::default();
        self.mode = Mode::for_pending(self.queue.front());
        self.choice = Choice::default();
        self.in_draft = false;
        self.scroll = 0;
        self.unseen = usize::MAX;
    }
}

/// Arguments as text for an editor: every character that would not be seen is a JSON escape.
pub fn editable(arguments: &Map<String, Value>) -> String {
    escaped(&serde_json::to_string_pretty(arguments).unwrap_or_default())
}

/// JSON in which every character that would not be seen is an escape.
pub fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let mut buffer = [0_u8; 4];
        let raw = c.encode_utf8(&mut buffer);
        if c == '\n' || c.is_ascii_graphic() || crate::text::strict_line(raw).as_str() == raw {
            out.push(c);
        } else {
            let mut units = [0_u16; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                write!(out, "\\u{unit:04x}").unwrap_or_default();
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
