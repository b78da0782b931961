//! The only words between a face (screen, plain lines, subcommand) and the runtime.
//!
//! A face sends [`Op`]s and receives [`Notice`]s over two bounded channels ([`OPS`], [`NOTICES`]).
//! Stale identities are ignored on both sides, never errors; of two answers the first one wins.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::exchange::{ExchangeId, Exchanges};
use crate::domain::model::{ModelInfo, OfferedModel};
use crate::domain::{
    Answer, Approval, Call, CallId, CallState, Catalog, Changed, ContextParts, Elicitation,
    ElicitationId, ElicitationReply, Found, Inquiry, InquiryFault, InquiryId, Outcome, Question,
    QuestionId, ServerName, SessionSummary, ToolId, TurnEnd, TurnId, Usage, Warning,
};

/// Room for operations: a person cannot be faster than the conductor for long.
pub const OPS: usize = 16;
/// Room for notices: one frame drains at most this many, so a slow screen holds the model back.
pub const NOTICES: usize = 256;

/// What a face asks of the runtime.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A user's message: starts a turn. During a turn it is queued.
    Submit {
        /// The message.
        text: String,
    },
    /// Takes back a message that is queued; answered by [`Notice::TakenBack`], unless it was sent in
    /// the meantime.
    TakeBack {
        /// Its place in the queue, from 0.
        at: usize,
        /// The message, as the face knows it.
        text: String,
    },
    /// The answer to an approval.
    Answer {
        /// Which call was asked about.
        call: CallId,
        /// The answer.
        answer: Answer,
    },
    /// The answer to a question: whether the turn goes on.
    Decide {
        /// Which question.
        question: QuestionId,
        /// Whether to go on.
        go_on: bool,
    },
    /// The answer to a server's question.
    Reply {
        /// Which question.
        elicitation: ElicitationId,
        /// The answer.
        reply: ElicitationReply,
    },
    /// Cancels the turn: model stream and calls stop, pending approvals are denied.
    Interrupt,
    /// Connects a server again now, or all failed ones.
    Reconnect {
        /// Which; `None` for every server that is not usable.
        server: Option<ServerName>,
    },
    /// Switches a server or a tool on or off for this run.
    SetEnabled {
        /// What to switch.
        target: Target,
        /// On or off.
        on: bool,
    },
    /// Calls one tool directly. It passes the same permissions as a call of the model, except that
    /// `consent` (the command line is the consent) answers an *ask*.
    CallDirect {
        /// Which tool.
        tool: ToolId,
        /// With what.
        arguments: Arc<serde_json::Map<String, serde_json::Value>>,
        /// Whether asking is answered already.
        consent: bool,
    },
    /// The same with consent, and without checking the arguments by the tool's schema: whoever
    /// tests a server wants to see what *it* does with them.
    CallUnchecked {
        /// Which tool.
        tool: ToolId,
        /// With what.
        arguments: Arc<serde_json::Map<String, serde_json::Value>>,
    },
    /// Accepts the changed definition of a tool: it is what later ones are compared with. It allows
    /// no call. The definition is the one that was shown, and no other that came since.
    AcceptPin {
        /// Which tool.
        tool: ToolId,
        /// Fingerprint of the definition that was shown.
        pin: String,
    },
    /// Asks a server something that changes nothing there; answered by [`Notice::Inquired`].
    Inquire {
        /// The face's own number for it.
        inquiry: InquiryId,
        /// Which server.
        server: ServerName,
        /// What is asked.
        what: Inquiry,
    },
    /// Asks the model's endpoint which models it offers; answered by [`Notice::ModelsListed`].
    ListModels,
    /// Lets another model of the same endpoint answer: from now on, or from the next turn on if one
    /// runs. Answered by [`Notice::ModelChanged`] or [`Notice::ModelWaits`].
    SwitchModel {
        /// Its name as the endpoint knows it.
        name: String,
    },
    /// Asks for [`Notice::Wire`] now and whenever exchanges come or change, until it is switched
    /// off.
    WatchWire {
        /// On or off.
        on: bool,
    },
    /// Writes exchanges to a file; answered by [`Notice::WireExported`].
    ExportWire {
        /// Which; `None` for all that are kept.
        only: Option<Vec<ExchangeId>>,
    },
    /// Starts a new conversation; the old one stays on disk.
    NewSession,
    /// Asks for the conversations on disk; answered by [`Notice::Sessions`].
    ListSessions,
    /// Leaves this conversation and goes on with an earlier one.
    Resume {
        /// Its id, or the beginning of it.
        id: String,
    },
    /// Goes on in a copy of this conversation that ends before a message of the user; the message
    /// comes back as a draft.
    Fork {
        /// Which message of the user, from 1.
        before: usize,
    },
    /// Ends everything in order.
    Quit,
}

/// What can be switched on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A server with all its tools.
    Server(ServerName),
    /// One tool.
    Tool(ToolId),
}

/// What the runtime tells a face.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A turn begins with this message.
    TurnStarted {
        /// Which turn.
        turn: TurnId,
        /// The user's message.
        text: String,
    },
    /// A message was queued until the turn ends, or the queue changed.
    Queued {
        /// The messages waiting, oldest first.
        texts: Vec<String>,
    },
    /// Messages that waited are the user's again: taken back, or not sent because the turn before
    /// them was cancelled or failed.
    TakenBack {
        /// The messages, oldest first.
        texts: Vec<String>,
    },
    /// Text of the model's answer.
    Text {
        /// Which turn.
        turn: TurnId,
        /// The next piece.
        chunk: String,
    },
    /// Reasoning of the model.
    Reasoning {
        /// Which turn.
        turn: TurnId,
        /// The next piece.
        chunk: String,
    },
    /// The model request is retried.
    Retrying {
        /// Which turn.
        turn: TurnId,
        /// The attempt that comes next, from 2.
        attempt: u32,
        /// How long it waits.
        after: Duration,
        /// Why.
        reason: String,
    },
    /// A call appeared or changed.
    CallChanged {
        /// The call.
        call: Arc<Call>,
        /// Where it stands.
        state: CallState,
    },
    /// A call of the model that never became one: unknown tool or unreadable arguments.
    CallRefused {
        /// Which turn.
        turn: TurnId,
        /// The name the model used.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
        /// How it ended.
        outcome: Arc<Outcome>,
        /// What the model is told.
        for_model: Arc<str>,
    },
    /// The user is asked about a call. Oldest first; several may be open.
    Asked {
        /// The question.
        approval: Arc<Approval>,
    },
    /// An approval is no longer open.
    AskClosed {
        /// Which call.
        call: CallId,
        /// Why: `answered`, `cancelled`, …
        why: String,
    },
    /// The user is asked whether to go on.
    Questioned {
        /// The question.
        question: Question,
    },
    /// A question is no longer open.
    QuestionClosed {
        /// Which.
        question: QuestionId,
    },
    /// A server asks the user something. Oldest first; several may be open.
    Elicited {
        /// The question.
        elicitation: Arc<Elicitation>,
    },
    /// A server's question is no longer open.
    ElicitationClosed {
        /// Which.
        elicitation: ElicitationId,
        /// Why: `answered`, `withdrawn`, `cancelled`, …
        why: String,
    },
    /// Servers or tools changed.
    CatalogChanged {
        /// The new snapshot.
        catalog: Arc<Catalog>,
    },
    /// The answer to [`Op::Inquire`].
    Inquired {
        /// Which.
        inquiry: InquiryId,
        /// What was found, or why nothing.
        answer: Arc<Result<Found, InquiryFault>>,
    },
    /// The answer to [`Op::ListModels`].
    ModelsListed {
        /// The models, or why there is no list and what to do.
        models: Arc<Result<Vec<OfferedModel>, String>>,
    },
    /// Another model answers from now on, or more is known of the one that does.
    ModelChanged {
        /// The model.
        model: ModelInfo,
        /// Whether it is another one than before.
        switched: bool,
    },
    /// The running turn goes on with its model; this one answers from the next on.
    ModelWaits {
        /// Its name.
        name: String,
    },
    /// The exchanges with servers and the model as they stand: see [`Op::WatchWire`].
    Wire {
        /// All that are kept.
        exchanges: Arc<Exchanges>,
    },
    /// The answer to [`Op::ExportWire`].
    WireExported {
        /// How many exchanges are in which file, or why none is.
        written: Result<(usize, std::path::PathBuf), String>,
    },
    /// What a server offers besides its tools has changed: what was found there by [`Op::Inquire`]
    /// may no longer hold.
    OffersChanged {
        /// Which server.
        server: ServerName,
        /// What has changed.
        what: Changed,
    },
    /// The size of the next request changed.
    ContextChanged {
        /// Tokens by part.
        parts: ContextParts,
    },
    /// Something happened that the user should know.
    Warned {
        /// What.
        warning: Warning,
    },
    /// A turn ended.
    TurnEnded {
        /// Which turn.
        turn: TurnId,
        /// Why.
        reason: TurnEnd,
        /// Tokens of the whole turn.
        usage: Usage,
        /// From the user's message to the end.
        took: Duration,
    },
    /// A new conversation was started.
    SessionStarted {
        /// Its id.
        id: String,
        /// Where its transcript is; absent when it cannot be written.
        path: Option<std::path::PathBuf>,
    },
    /// The conversation that was just started goes on with an earlier one.
    Resumed {
        /// What was said in it, as it was told then.
        history: Arc<[Self]>,
        /// What the user should know about going on. May quote outside text.
        remarks: Vec<String>,
        /// A message to be changed and sent anew.
        draft: Option<String>,
    },
    /// The conversations on disk, the latest first; or why there are none.
    Sessions {
        /// The list.
        found: Arc<Result<Vec<SessionSummary>, String>>,
    },
    /// What was asked for cannot be done; nothing has changed. May quote outside text.
    Refused {
        /// Why, in a sentence.
        reason: String,
    },
}
