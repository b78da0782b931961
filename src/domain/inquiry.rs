//! Questions to a server that change nothing there: its resources, its prompts, completions. They
//! may be asked again without harm, and any face may ask them.

use std::collections::BTreeMap;
use std::fmt;

use super::prompt::{Prompt, PromptText};
use super::resource::{Resource, ResourcePart, ResourceTemplate};

/// Identity of an inquiry, given by the face that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InquiryId(pub u64);

impl fmt::Display for InquiryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Inquiry {
    /// All resources.
    Resources,
    /// All templates of resources.
    Templates,
    /// What a resource holds.
    Read {
        /// Its URI.
        uri: String,
    },
    /// All prompts.
    Prompts,
    /// A prompt for certain arguments.
    Prompt {
        /// Its name.
        name: String,
        /// By name; text only.
        arguments: BTreeMap<String, String>,
    },
    /// How a half-written value may go on.
    Complete {
        /// Whose value.
        of: CompletionOf,
        /// Name of the argument or variable.
        argument: String,
        /// What is written so far.
        value: String,
        /// The other values as far as they are known.
        others: BTreeMap<String, String>,
    },
}

/// Whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CompletionOf {
    /// A prompt's, by its name.
    Prompt(String),
    /// A template's, by the template.
    Template(String),
}

/// What a server answered to an [`Inquiry`] of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Its resources.
    Resources(Listing<Resource>),
    /// Its templates of resources.
    Templates(Listing<ResourceTemplate>),
    /// The parts of a resource; none is not the same as not found (O3).
    Read(Vec<ResourcePart>),
    /// Its prompts.
    Prompts(Listing<Prompt>),
    /// A prompt.
    Prompt(PromptText),
    /// Ways to go on.
    Completion(Completion),
}

/// What a server says has changed: answers to questions about it may differ now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// Its prompts.
    Prompts,
    /// Its resources and templates.
    Resources,
    /// What a resource holds.
    Resource {
        /// Its URI; may be that of a part of what was read.
        uri: String,
    },
}

/// All pages of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing<T> {
    /// In the server's order.
    pub items: Vec<T>,
    /// What is missing or was passed over, in words; empty where all is well.
    pub remarks: Vec<String>,
}

/// Ways to go on with a value (K1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// Whole values, the best first.
    pub values: Vec<String>,
    /// How many there are altogether, if known.
    pub total: Option<u64>,
    /// Whether there are more.
    pub more: bool,
}

/// Why there is no answer to an [`Inquiry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InquiryFault {
    /// Sorted by what can be done about it.
    pub kind: InquiryFaultKind,
    /// What happened, to what, and what to do. May quote the server: raw.
    pub message: String,
}

/// What can be done about an [`InquiryFault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InquiryFaultKind {
    /// The server has nothing of the kind.
    Unsupported,
    /// There is no such thing, or it is asked for in a wrong way.
    NotFound,
    /// The server answered with an error, or with what means nothing.
    Refused,
    /// The server cannot be reached or used.
    Unavailable,
    /// It was cancelled.
    Cancelled,
}

impl fmt::Display for InquiryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InquiryFault {}
