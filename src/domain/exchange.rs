//! Exchanges: one HTTP request and its response or stream each, as kept for the wire view.
//!
//! What is kept holds no secret: header values that come from the environment were never taken in,
//! only the name of their variable; everything else was searched for them. Text is raw otherwise.

use std::time::{Duration, SystemTime};

use super::call::CallId;
use super::name::ServerName;

/// Identity of an exchange within one run of the program; rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// Who is on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// An MCP server.
    Server(ServerName),
    /// The endpoint of this model.
    Model(String),
}

impl Side {
    /// The name of the server or of the model.
    pub fn name(&self) -> &str {
        match self {
            Self::Server(name) => name.as_str(),
            Self::Model(name) => name,
        }
    }
}

/// What an exchange is for, as far as the sender knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The JSON-RPC method; empty where there is none.
    pub method: String,
    /// What the method is about: a tool, a prompt, a resource.
    pub subject: Option<String>,
    /// The call it belongs to.
    pub call: Option<CallId>,
}

impl About {
    /// A message of this method, about nothing in particular.
    pub fn method(method: &str) -> Self {
        Self { method: method.to_owned(), ..Self::default() }
    }
}

/// A header as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value, or what stands for it.
    pub value: HeaderValue,
}

/// The value of a header, or of a parameter in a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// It is no secret.
    Plain(String),
    /// It is a secret, and was not kept.
    Secret {
        /// What stands before the secret and is none, such as `Bearer `.
        before: String,
        /// The variable of the environment that holds it, or a name for one that could.
        variable: String,
    },
}

impl HeaderValue {
    /// The value as people read it: `Bearer $TOKEN`.
    pub fn shown(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Secret { before, variable } => format!("{before}${variable}"),
        }
    }
}

/// A body, or as much of it as was kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// Its beginning, known secrets replaced.
    pub bytes: Vec<u8>,
    /// Bytes of the whole body that went over the wire so far.
    pub total: u64,
    /// Bytes of it that were let go of.
    pub cut: u64,
    /// Secrets that were replaced.
    pub redacted: u32,
    /// Up to which place of `bytes` the body had come after how much time since the request began.
    pub arrivals: Vec<(usize, Duration)>,
}

impl Kept {
    /// When the byte at this place came.
    pub fn arrived(&self, place: usize) -> Duration {
        let piece = self.arrivals.partition_point(|(end, _)| *end <= place);
        let found = self.arrivals.get(piece).or_else(|| self.arrivals.last());
        found.map(|(_, at)| *at).unwrap_or_default()
    }
}

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status.
    pub status: u16,
    /// The version, such as `HTTP/1.1`.
    pub version: &'static str,
    /// Its headers in order.
    pub headers: Vec<Header>,
    /// Since the request began.
    pub after: Duration,
}

impl Head {
    /// The plain value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        plain(&self.headers, name)
    }

    /// The media type in lower case, without parameters.
    pub fn media(&self) -> String {
        media(self.header("content-type"))
    }
}

/// How an exchange ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It has not: it waits, or its stream is open.
    Open,
    /// The response was read to its end.
    Complete,
    /// This side closed it: the answer was there, it took too long, or nobody wanted it any more.
    Left,
    /// It failed; why.
    Failed(String),
}

/// One request and its response or stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Identity.
    pub id: ExchangeId,
    /// When the request began.
    pub at: SystemTime,
    /// Who is on the other side.
    pub side: Side,
    /// What it is for.
    pub about: About,
    /// The HTTP method.
    pub verb: &'static str,
    /// The URL without user info, query and fragment.
    pub url: String,
    /// The parameters of its query. None of their values is kept.
    pub query: Vec<(String, HeaderValue)>,
    /// Headers of the request in order.
    pub headers: Vec<Header>,
    /// Body of the request.
    pub sent: Kept,
    /// Head of the response, once it is there.
    pub head: Option<Head>,
    /// Body of the response.
    pub received: Kept,
    /// Since the request began: until the end, or until the last thing that happened.
    pub took: Duration,
    /// How it ended.
    pub ending: Ending,
}

impl Exchange {
    /// Whether something went wrong: it failed, or the status says so.
    pub fn is_failure(&self) -> bool {
        matches!(self.ending, Ending::Failed(_))
            || self.head.as_ref().is_some_and(|head| head.status >= 400)
    }

    /// Whether the response is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.head.as_ref().is_some_and(|head| head.media() == "text/event-stream")
    }

    /// The media type of the request, in lower case, without parameters.
    pub fn media(&self) -> String {
        media(plain(&self.headers, "content-type"))
    }
}

/// All exchanges that are kept at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exchanges {
    /// Oldest first.
    pub kept: Vec<std::sync::Arc<Exchange>>,
    /// How many earlier ones were let go of.
    pub dropped: u64,
}

fn plain<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    match &header.value {
        HeaderValue::Plain(text) => Some(text),
        HeaderValue::Secret { .. } => None,
    }
}

fn media(value: Option<&str>) -> String {
    let media = value.unwrap_or_default().split(';').next().unwrap_or_default();
    media.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_arrived_with_the_piece_it_came_in() {
        let ms = Duration::from_millis;
        let body = Kept { arrivals: vec![(3, ms(1)), (7, ms(5))], ..Kept::default() };
        let times = [0, 2, 3, 6, 7].map(|place| body.arrived(place));
        assert_eq!(times, [ms(1), ms(1), ms(5), ms(5), ms(5)]);
        assert_eq!(Kept::default().arrived(0), Duration::ZERO);
    }

    #[test]
    fn a_secret_is_shown_by_its_variable() {
        let value = HeaderValue::Secret { before: "Bearer ".into(), variable: "TOKEN".into() };
        assert_eq!(value.shown(), "Bearer $TOKEN");
    }
}
