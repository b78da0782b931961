//! The vocabulary: plain values that every layer shares.
//!
//! Nothing here does I/O, knows the time or touches the screen. Text inside these values is
//! *raw*: it is what a server, a model or a file said, byte for byte. It becomes showable only
//! through [`crate::text`].

pub mod approval;
pub mod call;
pub mod catalog;
pub mod change;
pub mod elicitation;
pub mod exchange;
pub mod inquiry;
pub mod model;
pub mod name;
pub mod prompt;
pub mod resource;
pub mod server;
pub mod session;
pub mod tool;
pub mod turn;
pub mod warning;

pub use approval::{
    Answer, Approval, Carried, Grounds, GroundsKind, Interaction, Question, QuestionId,
    QuestionKind,
};
pub use call::{
    Call, CallId, CallState, Content, DeniedBy, Outcome, Progress, ToolOutput, TraceContext,
};
pub use catalog::{Catalog, FilteredTool, Server, ServerConnection};
pub use change::{Change, ChangeKind};
pub use elicitation::{
    Answering, Elicitation, ElicitationId, ElicitationKind, ElicitationReply, FieldKind, FormField,
};
pub use inquiry::{
    Changed, Completion, CompletionOf, Found, Inquiry, InquiryFault, InquiryFaultKind, InquiryId,
    Listing,
};
pub use name::{ModelName, ServerName, ToolId, ToolName};
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptText};
pub use resource::{Resource, ResourcePart, ResourceTemplate};
pub use server::{Era, ServerState, Stage};
pub use session::{SessionId, SessionSummary};
pub use tool::{Annotations, Mode, PinState, Tool, ToolDefinition};
pub use turn::{ContextParts, Message, RequestedCall, ToolSearch, TurnEnd, TurnId, Usage};
pub use warning::{Source, Warning};
