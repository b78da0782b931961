//! What the script reads out of a request: the question, what was looked up since, and what tools
//! are on offer.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// A conversation as far as the script needs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conversation {
    /// The user's messages, oldest first. Never empty.
    pub(super) asked: Vec<String>,
    /// Calls since the last of them, in order.
    pub(super) done: Vec<Done>,
    /// Names of the tools on offer.
    pub(super) offered: Vec<String>,
    /// What was searched for among the tools since the last of the user's messages.
    pub(super) searched: Vec<String>,
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Done {
    /// Name under which it was called.
    pub(super) name: String,
    /// Its arguments.
    pub(super) arguments: Value,
    /// What came back.
    pub(super) found: Found,
}

/// What came back from a call, as far as it can be told from its text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// An object.
    Data(Map<String, Value>),
    /// The beginning of something longer.
    Cut(Cut),
    /// It was not run, because somebody or something did not allow it.
    Denied(String),
    /// It failed.
    Failed(String),
}

/// A result of which only a part was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// Everything seen of it so far.
    pub(super) text: String,
    /// How to ask for the rest: the result's id.
    pub(super) id: String,
    /// Where the rest begins.
    pub(super) next: u64,
}

impl Conversation {
    /// Reads a request; `None` if there is nothing in it to answer.
    pub(super) fn read(request: &Value) -> Option<Self> {
        let messages = request.get("messages")?.as_array()?;
        let mut asked = Vec::new();
        let mut done: Vec<Done> = Vec::new();
        let mut searched = Vec::new();
        let mut open: HashMap<String, (String, Value)> = HashMap::new();
        for message in messages {
            match message.get("role").and_then(Value::as_str) {
                Some("user") => {
                    asked.push(text_of(message));
                    done.clear();
                    searched.clear();
                }
                Some("assistant") => open.extend(calls_of(message)),
                Some("tool") => {
                    let id =
                        message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
                    if let Some((name, arguments)) = open.remove(id) {
                        if is(&name, SEARCH_TOOLS) {
                            searched.extend(arguments.get("query").map(plain));
                            continue;
                        }
                        add(&mut done, name, arguments, &text_of(message));
                    }
                }
                _ => {}
            }
        }
        if asked.is_empty() {
            return None;
        }
        Some(Self { asked, done, offered: offered(request), searched })
    }

    /// The user's latest message.
    pub(super) fn question(&self) -> &str {
        self.asked.last().map_or("", String::as_str)
    }

    /// The offered name of a tool of the tracker.
    pub(super) fn offered(&self, tool: &str) -> Option<&str> {
        self.offered.iter().map(String::as_str).find(|name| is(name, tool))
    }

    /// Whether a tool of the tracker is on offer, or may be found.
    pub(super) fn within_reach(&self, tool: &str) -> bool {
        self.offered(tool).is_some() || self.search_for(tool).is_some()
    }

    /// How to look for a tool that is not on offer: the name of the tool that finds others, and the
    /// words. `None` where there is no such tool, or it was asked already.
    pub(super) fn search_for(&self, tool: &str) -> Option<(&str, String)> {
        let query = tool.replace('_', " ");
        let name = self.offered(SEARCH_TOOLS)?;
        (!self.searched.contains(&query)).then_some((name, query))
    }

    /// All finished calls of one tool of the tracker.
    pub(super) fn calls<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Done> {
        self.done.iter().filter(move |done| is(&done.name, tool))
    }

    /// The finished call of a tool with this value for this argument.
    pub(super) fn call_with(&self, tool: &str, name: &str, value: &str) -> Option<&Done> {
        self.done.iter().find(|done| {
            is(&done.name, tool) && done.arguments.get(name).and_then(Value::as_str) == Some(value)
        })
    }
}

/// Whether an offered name means this tool: clients put their name for the server in front.
fn is(name: &str, tool: &str) -> bool {
    name.strip_suffix(tool)
        .is_some_and(|front| front.is_empty() || front.ends_with(['_', '-', '.', '/']))
}

fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn calls_of(message: &Value) -> Vec<(String, (String, Value))> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls
        .into_iter()
        .flatten()
        .filter_map(|call| {
            let id = call.get("id")?.as_str()?.to_owned();
            let name = call.pointer("/function/name")?.as_str()?.to_owned();
            let raw = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or("{}");
            Some((id, (name, serde_json::from_str(raw).unwrap_or_default())))
        })
        .collect()
}

fn offered(request: &Value) -> Vec<String> {
    let tools = request.get("tools").and_then(Value::as_array);
    tools
        .into_iter()
        .flatten()
        .filter_map(|tool| tool.pointer("/function/name")?.as_str().map(str::to_owned))
        .collect()
}

/// Adds a result. A slice of an earlier result completes that one instead of standing alone.
fn add(done: &mut Vec<Done>, name: String, arguments: Value, text: &str) {
    if !is(&name, READ_ON) {
        done.push(Done { found: classify(text), name, arguments });
        return;
    }
    let id = arguments.get("id").map(plain).unwrap_or_default();
    let cut = done.iter_mut().rev().find_map(|earlier| match &earlier.found {
        Found::Cut(cut) if cut.id == id => Some((cut.text.clone(), earlier)),
        _ => None,
    });
    let Some((seen, earlier)) = cut else { return };
    earlier.found = continued(&seen, text, &id);
}

/// The client's own tool for reading on in a long result.
pub(super) const READ_ON: &str = "mini_me_read_result";
/// The client's own tool for finding others.
const SEARCH_TOOLS: &str = "mini_me_search_tools";

fn classify(text: &str) -> Found {
    // Before anything is parsed: a cut list still holds whole rows, and a row is not the answer.
    if let Some((id, next)) = rest_of(text) {
        return Found::Cut(Cut { text: beginning(text).to_owned(), id, next });
    }
    if let Some(members) = object_in(text) {
        return Found::Data(members);
    }
    let text = text.trim().to_owned();
    if was_denied(&text) { Found::Denied(text) } else { Found::Failed(text) }
}

/// Adds a slice: its first line says where it stands, the rest is the slice.
fn continued(seen: &str, slice: &str, id: &str) -> Found {
    let broken =
        || Found::Failed("the result was cut and could not be put together again".to_owned());
    let lines =
        slice.find('{').and_then(|at| slice.get(at..)).and_then(|from| from.split_once('\n'));
    let Some((place, piece)) = lines else { return broken() };
    let Some(place) = object_at_start(place) else { return broken() };
    let piece = unframed(piece);
    let more = place.get("hasMore").and_then(Value::as_bool).unwrap_or(false);
    let next = place.get("nextOffset").and_then(Value::as_u64).filter(|_| more);
    let whole = format!("{seen}{piece}");
    match (object_at_start(&whole), next) {
        (Some(members), _) => Found::Data(members),
        (None, Some(next)) => Found::Cut(Cut { text: whole, id: id.to_owned(), next }),
        (None, None) => broken(),
    }
}

/// What stands between the lines that mark a server's words: the first names a mark, and the last
/// ends with it.
fn unframed(text: &str) -> &str {
    let body = text.split_once('\n').and_then(|(first, rest)| {
        let (_, mark) = first.strip_prefix('[')?.rsplit_once("the mark ")?;
        let mark = mark.split_once(|c: char| !c.is_ascii_alphanumeric())?.0;
        let (body, end) = rest.rsplit_once('\n')?;
        end.contains(mark).then_some(body)
    });
    body.unwrap_or(text)
}

/// The first whole JSON object in a text that may have words around it.
fn object_in(text: &str) -> Option<Map<String, Value>> {
    text.match_indices('{').take(4).find_map(|(at, _)| object_at_start(text.get(at..)?))
}

fn object_at_start(text: &str) -> Option<Map<String, Value>> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(members))) if !members.is_empty() => Some(members),
        _ => None,
    }
}

/// What a cut result shows of the answer: from its first brace to the line that marks the gap.
fn beginning(text: &str) -> &str {
    let shown = text.split_once("\n[… ").map_or(text, |(shown, _)| shown);
    shown.find('{').and_then(|at| shown.get(at..)).unwrap_or(shown)
}

/// The id and offset in the line that says how to read on.
fn rest_of(text: &str) -> Option<(String, u64)> {
    let advice = text.rfind(READ_ON).and_then(|at| text.get(at..))?;
    let id = word_after(advice, "id")?;
    let next = word_after(advice, "offset")?.parse().ok()?;
    Some((id, next))
}

/// The word that follows a name, whatever stands between them.
fn word_after(text: &str, name: &str) -> Option<String> {
    let mut words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty());
    words.find(|word| *word == name)?;
    words.next().map(str::to_owned)
}

fn was_denied(text: &str) -> bool {
    let text = text.to_lowercase();
    ["not allow", "denied", "nobody is there to allow", "refused"]
        .iter()
        .any(|word| text.contains(word))
}

/// A value as a person would write it: strings without quotes.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
