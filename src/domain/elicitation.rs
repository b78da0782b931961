//! Questions of a server to the user in the middle of a request (PROTOCOL §17), and their answers.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::CallId;
use super::name::ServerName;

/// Identity of an [`Elicitation`] within one run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElicitationId(pub u64);

impl fmt::Display for ElicitationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A server asks the user something. All text in it is the server's: raw.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// Identity.
    pub id: ElicitationId,
    /// Who asks. Always shown (I6).
    pub server: ServerName,
    /// Host and port of the server.
    pub host: String,
    /// The call in whose course it asks, where that is known.
    pub call: Option<CallId>,
    /// What it wants to know or wants done.
    pub message: String,
    /// A form to fill in, or a page to open.
    pub kind: ElicitationKind,
}

/// What an [`Elicitation`] consists of.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationKind {
    /// A flat form.
    Form {
        /// The schema as it came, for checking the answer.
        schema: Arc<Value>,
        /// Its fields in order.
        fields: Vec<FormField>,
        /// Why the schema cannot be shown as a form: it can only be declined then (I2).
        fault: Option<String>,
    },
    /// A page to open in a browser: never fetched, never opened unasked (I7).
    Url {
        /// The whole URL, http or https.
        url: String,
        /// Its host, in ASCII (punycode stays visible).
        host: String,
    },
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Name of the property.
    pub name: String,
    /// Label: `title`, else the name.
    pub label: String,
    /// Description; may be empty.
    pub description: String,
    /// What can be entered.
    pub kind: FieldKind,
    /// Whether it must be filled in.
    pub required: bool,
    /// What it holds at first (I3).
    pub default: Option<Value>,
}

/// What can be entered in a [`FormField`].
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Text; lengths in characters.
    Text {
        /// Shortest.
        min: Option<u64>,
        /// Longest.
        max: Option<u64>,
        /// `email`, `uri`, `date`, `date-time`.
        format: Option<String>,
        /// A regular expression, honoured if it compiles.
        pattern: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        integer: bool,
        /// Smallest.
        min: Option<f64>,
        /// Largest.
        max: Option<f64>,
    },
    /// Yes or no.
    Bool,
    /// One of these: value and label.
    Choice(Vec<(String, String)>),
    /// Several of these.
    Many {
        /// Value and label.
        options: Vec<(String, String)>,
        /// Fewest.
        min: Option<u64>,
        /// Most.
        max: Option<u64>,
    },
}

/// The user's answer (I5).
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationReply {
    /// Agreed; the values of a form, nothing for a URL.
    Accept(Option<Arc<Map<String, Value>>>),
    /// An explicit no.
    Decline,
    /// Dismissed.
    Cancel,
}

/// Which questions of servers can be answered in this run. Servers are told of nothing else (P2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answering {
    /// None: nobody is there.
    #[default]
    Nobody,
    /// Forms, from what was given beforehand.
    Forms,
    /// Forms and pages to open: a person is there.
    Everything,
}
