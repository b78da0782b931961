//! One exchange as lines to read, and how many rows they take.
//!
//! Bodies are laid out once, when the exchange is opened; a line is cleaned, coloured and folded
//! only while it can be seen. No line is longer than [`LINE`] bytes, so that one row never costs more
//! than a few others; what is longer goes on in the next.

use std::fmt::Write as _;
use std::time::Duration;

use crate::domain::exchange::{Ending, Exchange, Header, Kept};
use crate::text::{self, human};
use crate::ui::code::indented;
use crate::ui::flow::{self, Piece};
use crate::wire;

/// Longest line in bytes.
const LINE: usize = 8_000;
/// Bytes of a body that is no text that are shown.
const HEX: usize = 64 * 1024;
/// Bytes in one row of those.
const HEX_ROW: usize = 16;
/// Stands before what goes on from the row above.
pub const MARK: &str = "↪ ";

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Begins a part: request, response, one event.
    Part,
    /// A name and what it says, divided by [`Sheet::DIVIDER`].
    Fact,
    /// As a fact, and what it says is bad.
    Bad,
    /// A header: name and value, divided.
    Header,
    /// A header whose value is a secret, so that its variable is shown.
    Secret,
    /// JSON.
    Json,
    /// The inside of a long string in JSON.
    Inside,
    /// Any other text.
    Text,
    /// Bytes.
    Hex,
    /// A word of the program about what is shown.
    Note,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    kind: Kind,
    start: usize,
    end: usize,
    /// It goes on from the line above.
    goes_on: bool,
}

/// The lines of one exchange.
#[derive(Debug, Default)]
pub struct Sheet {
    text: String,
    lines: Vec<Line>,
    width: usize,
    /// For each line, the rows up to its end.
    ends: Vec<usize>,
}

/// A line to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its raw text.
    pub text: &'a str,
    /// It goes on from the line above.
    pub goes_on: bool,
    /// Rows of it that are above the first row asked for.
    pub skip: usize,
}

impl Sheet {
    /// Divides a name from what follows it. No header and no name has it.
    pub const DIVIDER: char = '\u{1f}';

    /// Lays out an exchange.
    pub fn of(exchange: &Exchange) -> Self {
        let mut sheet = Self::default();
        sheet.summary(exchange);
        sheet.request(exchange);
        sheet.response(exchange);
        sheet
    }

    /// The width it is laid out for; 0 before it is.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Counts the rows for a width, where they are not counted yet.
    pub fn lay(&mut self, width: usize) {
        if self.width == width || width == 0 {
            return;
        }
        self.width = width;
        let mut rows = 0;
        self.ends = self
            .lines
            .iter()
            .map(|line| {
                rows +=
                    rows_of(self.text.get(line.start..line.end).unwrap_or_default(), *line, width);
                rows
            })
            .collect();
    }

    /// All rows.
    pub fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The rows at which parts begin.
    pub fn parts(&self) -> impl Iterator<Item = usize> {
        let befores = std::iter::once(0).chain(self.ends.iter().copied());
        let lines = self.lines.iter().zip(befores);
        lines.filter(|(line, _)| line.kind == Kind::Part).map(|(_, before)| before)
    }

    /// The lines from a row on.
    pub fn from_row(&self, row: usize) -> impl Iterator<Item = Shown<'_>> {
        let first = self.ends.partition_point(|end| *end <= row);
        let before = first.checked_sub(1).and_then(|at| self.ends.get(at)).copied();
        let skip = row - before.unwrap_or_default().min(row);
        self.lines.iter().skip(first).enumerate().map(move |(at, line)| Shown {
            kind: line.kind,
            text: self.text.get(line.start..line.end).unwrap_or_default(),
            goes_on: line.goes_on,
            skip: if at == 0 { skip } else { 0 },
        })
    }

    fn summary(&mut self, exchange: &Exchange) {
        let about = &exchange.about;
        if !about.method.is_empty() {
            let subject = about.subject.as_deref().unwrap_or_default();
            self.fact(Kind::Fact, "message", format!("{} {subject}", about.method).trim_end());
        }
        let call = about.call.map(|call| format!(" · call {call}")).unwrap_or_default();
        self.fact(Kind::Fact, "with", &format!("{}{call}", exchange.side.name()));
        self.fact(
            Kind::Fact,
            "sent",
            &wire::stamp(exchange.at).replace('T', " ").replace('Z', " UTC"),
        );
        if let Some(head) = &exchange.head {
            let status = format!("{} {} after {}", head.status, head.version, span(head.after));
            let kind = if head.status >= 400 { Kind::Bad } else { Kind::Fact };
            self.fact(kind, "answered", &status);
        }
        let took = span(exchange.took);
        let (kind, ended) = match &exchange.ending {
            Ending::Open if exchange.head.is_none() => (Kind::Fact, "not yet: waits".to_owned()),
            Ending::Open => (Kind::Fact, format!("not yet: open, last heard of after {took}")),
            Ending::Complete => (Kind::Fact, format!("complete after {took}")),
            Ending::Left => (Kind::Fact, format!("left by this side after {took}")),
            Ending::Failed(why) => (Kind::Bad, format!("failed after {took}: {why}")),
        };
        self.fact(kind, "ended", &ended);
        let (sent, received) = (exchange.sent.total, exchange.received.total);
        let bytes = format!("{} sent · {} received", flow::figure(sent), flow::figure(received));
        self.fact(Kind::Fact, "bytes", &bytes);
    }

    fn request(&mut self, exchange: &Exchange) {
        self.part(&format!("request  {} {}", exchange.verb, url(exchange)));
        self.headers(&exchange.headers);
        self.body(&exchange.sent, &exchange.media(), false);
    }

    fn response(&mut self, exchange: &Exchange) {
        let Some(head) = &exchange.head else {
            self.part("response");
            let why = match &exchange.ending {
                Ending::Open => "There is none yet.",
                _ => "There was none.",
            };
            return self.line(Kind::Note, why);
        };
        self.part(&format!("response  {} {}", head.status, head.version));
        self.headers(&head.headers);
        if exchange.is_stream() {
            self.events(&exchange.received, exchange.ending == Ending::Open);
        } else {
            self.body(&exchange.received, &head.media(), exchange.ending == Ending::Open);
        }
    }

    fn headers(&mut self, headers: &[Header]) {
        for header in headers {
            let kind = match header.value {
                crate::domain::exchange::HeaderValue::Plain(_) => Kind::Header,
                crate::domain::exchange::HeaderValue::Secret { .. } => Kind::Secret,
            };
            self.pair(kind, &header.name, &header.value.shown());
        }
    }

    fn events(&mut self, body: &Kept, open: bool) {
        let events = wire::events(body);
        if events.is_empty() {
            let none = if open { "No event has come yet." } else { "No event came." };
            self.line(Kind::Note, none);
        }
        for (at, event) in events.iter().enumerate() {
            let mut title = format!("event {}  +{}  {}", at + 1, span(event.at), event.event);
            if !event.id.is_empty() {
                title.extend(["  id ", &event.id]);
            }
            let size = human::bytes(event.data.len() as u64);
            // Writing into a string cannot fail.
            write!(title, "  {size}{}", if event.finished { "" } else { "  unfinished" })
                .unwrap_or_default();
            self.part(&title);
            self.any_text(&event.data, true);
        }
        self.cut(body);
    }

    fn body(&mut self, body: &Kept, media: &str, open: bool) {
        if body.total == 0 {
            if !open {
                self.line(Kind::Note, "No body.");
            }
            return;
        }
        self.lines.push(Line { kind: Kind::Text, start: 0, end: 0, goes_on: false });
        match readable(&body.bytes) {
            Some(text) => {
                self.any_text(text, media.ends_with("json") || text.starts_with(['{', '[']));
            }
            None => self.hex(&body.bytes, media),
        }
        self.cut(body);
    }

    fn cut(&mut self, body: &Kept) {
        if body.cut > 0 {
            let (kept, total) = (body.bytes.len() as u64, body.total);
            let note = format!(
                "The first {} of {} bytes were kept.",
                flow::figure(kept),
                flow::figure(total)
            );
            self.line(Kind::Note, &note);
        }
        if body.redacted > 0 {
            let note = format!("Secrets that were replaced: {}.", body.redacted);
            self.line(Kind::Note, &note);
        }
    }

    fn any_text(&mut self, text: &str, json: bool) {
        let pretty = if json { indented(text) } else { None };
        let kind = if json { Kind::Json } else { Kind::Text };
        let text = pretty.as_deref().unwrap_or(text);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.long(kind, line.strip_suffix('\r').unwrap_or(line));
        }
    }

    /// A line of any length: broken where JSON says that a line ends, and where it is too long.
    fn long(&mut self, kind: Kind, line: &str) {
        let mut rest = line;
        let mut goes_on = false;
        loop {
            let breaks = if kind == Kind::Json { line_break(rest) } else { None };
            let end = breaks.unwrap_or(rest.len());
            let end = if end > LINE { bounded(rest) } else { end };
            let (head, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let kind = if goes_on && kind == Kind::Json { Kind::Inside } else { kind };
            self.push(kind, head, goes_on);
            if tail.is_empty() {
                return;
            }
            (rest, goes_on) = (tail, true);
        }
    }

    fn hex(&mut self, bytes: &[u8], media: &str) {
        let media = if media.is_empty() { "of no named type" } else { media };
        let count = flow::figure(bytes.len() as u64);
        self.line(Kind::Note, &format!("{count} bytes that are no text ({media})"));
        let shown = bytes.get(..HEX).unwrap_or(bytes);
        for (at, row) in shown.chunks(HEX_ROW).enumerate() {
            let mut line = format!("{:08x} ", at * HEX_ROW);
            for byte in row {
                write!(line, " {byte:02x}").unwrap_or_default();
            }
            let seen =
                |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '.' };
            let gap = 3 * (HEX_ROW - row.len()) + 2;
            line.extend(std::iter::repeat_n(' ', gap).chain(row.iter().map(seen)));
            self.push(Kind::Hex, &line, false);
        }
        if bytes.len() > HEX {
            let more = flow::figure((bytes.len() - HEX) as u64);
            self.line(Kind::Note, &format!("{more} more bytes are not shown."));
        }
    }

    fn part(&mut self, title: &str) {
        self.push(Kind::Text, "", false);
        self.push(Kind::Part, title, false);
    }

    fn fact(&mut self, kind: Kind, name: &str, value: &str) {
        self.pair(kind, &format!("{name:<8}"), value);
    }

    fn pair(&mut self, kind: Kind, name: &str, value: &str) {
        let name: String = name.chars().filter(|c| *c != Self::DIVIDER).collect();
        self.push(kind, &format!("{name}{}{value}", Self::DIVIDER), false);
    }

    fn line(&mut self, kind: Kind, text: &str) {
        self.push(kind, text, false);
    }

    fn push(&mut self, kind: Kind, text: &str, goes_on: bool) {
        let text = text.get(..boundary(text, 2 * LINE)).unwrap_or_default();
        let start = self.text.len();
        self.text.push_str(text);
        self.lines.push(Line { kind, start, end: self.text.len(), goes_on });
    }
}

/// The body as text, if it is one; a character that is not complete yet at its end is left out.
fn readable(bytes: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) if fault.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..fault.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

/// Where the first `\n` inside a string of JSON ends, if the line goes on behind it. Looks no further
/// than a line may be long.
fn line_break(json: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().take(LINE) {
        if escaped && byte == b'n' {
            let rest = json.get(at + 1..)?;
            if !matches!(rest, "\"" | "\"," | "") {
                return Some(at + 1);
            }
        }
        escaped = byte == b'\\' && !escaped;
    }
    None
}

/// Where a line that is too long is broken: not inside a character, nor inside an escape.
fn bounded(line: &str) -> usize {
    let end = boundary(line, LINE);
    let slashes =
        line.bytes().take(end).fold(0, |run, byte| if byte == b'\\' { run + 1 } else { 0 });
    if slashes % 2 == 1 && slashes < end { end - 1 } else { end }
}

/// The last place up to `most` at which no character is torn.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// The URL with the variables of its query.
fn url(exchange: &Exchange) -> String {
    let mut url = exchange.url.clone();
    for (at, (name, value)) in exchange.query.iter().enumerate() {
        url.extend([if at == 0 { "?" } else { "&" }, name, "=", &value.shown()]);
    }
    url
}

fn rows_of(text: &str, line: Line, width: usize) -> usize {
    let mark = if line.goes_on { text::width(MARK) } else { 0 };
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == 0x1f) {
        // What divides a name from its value is drawn as two columns.
        let divided = usize::from(text.contains(Sheet::DIVIDER));
        let cells = text.len() + divided + mark;
        let further = if width >= 6 { width - 2 } else { width };
        return 1 + cells.saturating_sub(width).div_ceil(further);
    }
    let shown = text::strict_line(&text.replace(Sheet::DIVIDER, "  ")).into_string();
    let shown = if line.goes_on { format!("{MARK}{shown}") } else { shown };
    let style = ratatui::style::Style::new();
    flow::fold(&[Piece::new(shown, style)], width, &Piece::new(MARK, style)).len()
}

/// A span of time with as many digits as help.
fn span(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 10_000 {
        return format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100);
    }
    human::duration(time)
}
