//! The wire view: a list of exchanges, or one of them in full. Only visible rows are made.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Widget as _};

use super::input::pad;
use super::{Look, edge, framed, wrapped};
use crate::domain::exchange::{Ending, Exchange, Side};
use crate::text::{self, human};
use crate::ui::code::Highlighter;
use crate::ui::flow::{self, Piece};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::wire::{Detail, Kind, MARK, Sheet, Shown, WireView};
use crate::wire;

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect, view: &mut WireView, look: Look<'_>) {
    let area = Rect { height: screen.height.saturating_sub(1), ..screen };
    Clear.render(area, frame.buffer_mut());
    match &mut view.detail {
        Some(detail) => self::detail(frame, area, detail, look),
        None => list(frame, area, view, look),
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, view: &mut WireView, look: Look<'_>) {
    let hint = |action, word| (look.keymap.hint(action), word);
    let keys = [
        hint(Action::WireOpen, "open"),
        hint(Action::WireBack, if view.filter.is_empty() { "close" } else { "clear" }),
        hint(Action::WireCurl, "as curl"),
        hint(Action::WireCall, "as call"),
        hint(Action::WireBody, "body"),
        hint(Action::WireExport, "export HAR"),
    ];
    let title = Line::styled(" wire ", look.theme.title);
    let block = framed(title, look.theme.focus).title_bottom(edge(&keys, area.width, look.theme));
    frame.render_widget(block.title(count(view, look).alignment(Alignment::Right)), area);
    let inner = padded(area);
    let filter = text::line(&view.filter).into_string();
    let typed = if filter.is_empty() {
        let what = ": server, method, tool, status, error, stream";
        let hint = format!("type to filter{}", if inner.width < 64 { "" } else { what });
        Span::styled(hint, look.theme.muted)
    } else {
        Span::raw(filter)
    };
    let cursor = Span::styled(" ", look.theme.selected);
    let prompt = if view.filter.is_empty() { vec![cursor, typed] } else { vec![typed, cursor] };
    let mut prompt = Line::from(prompt);
    prompt.spans.insert(0, Span::styled("› ", look.theme.accent));
    frame.render_widget(prompt, Rect { height: inner.height.min(1), ..inner });
    let rows = Rect {
        y: inner.y.saturating_add(2).min(inner.bottom()),
        height: inner.height.saturating_sub(2),
        ..inner
    };
    if view.area != rows {
        view.area = rows;
        view.reveal();
    }
    if view.is_empty() {
        return empty(frame, rows, view, look);
    }
    let columns = Columns::of(usize::from(rows.width));
    let head = Rect { y: rows.y.saturating_sub(1), height: 1, ..rows };
    frame.render_widget(Line::styled(columns.heading(), look.theme.muted), head);
    let selected = view.selected();
    let shown = (view.scroll..view.len()).take(usize::from(rows.height));
    let lines: Vec<Line<'_>> = shown
        .filter_map(|at| Some((at, view.row(at)?)))
        .map(|(at, exchange)| columns.row(exchange, at == selected, look))
        .collect();
    frame.render_widget(Paragraph::new(lines), rows);
}

/// Inside a frame, with a column at either side.
fn padded(area: Rect) -> Rect {
    let inner = layout::inside(area);
    Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner }
}

fn count(view: &WireView, look: Look<'_>) -> Line<'static> {
    let Some(exchanges) = &view.exchanges else { return Line::default() };
    let figure = |count: usize| flow::figure(count as u64);
    let all = exchanges.kept.len();
    let mut said = if view.filter.trim().is_empty() {
        format!(" {} ", figure(all))
    } else {
        format!(" {} of {} ", figure(view.len()), figure(all))
    };
    if exchanges.dropped > 0 {
        said.extend(["· ", &flow::figure(exchanges.dropped), " older let go "]);
    }
    Line::styled(said, look.theme.muted)
}

fn empty(frame: &mut Frame<'_>, area: Rect, view: &WireView, look: Look<'_>) {
    let words = match &view.exchanges {
        None => return,
        Some(all) if all.kept.is_empty() => {
            "Nothing has been sent yet.\n\nEvery HTTP request to a server or to the model will stand here with its response, as soon as it is made: headers, bodies, and the events of streams as they come. Secrets are never kept: you will see the name of their variable."
        }
        Some(_) => "No exchange matches.",
    };
    let columns = usize::from(area.width).min(72);
    frame.render_widget(Paragraph::new(wrapped(words, columns, look.theme.muted)), area);
}

/// Widths of the columns; 0 for one that there is no room for.
#[derive(Debug, Clone, Copy)]
struct Columns {
    time: usize,
    server: usize,
    method: usize,
    status: usize,
    took: usize,
    sent: usize,
    received: usize,
}

impl Columns {
    fn of(width: usize) -> Self {
        let mut columns = Self {
            time: if width >= 96 { 12 } else { 8 },
            server: match width {
                0..60 => 0,
                60..96 => 12,
                _ => 18,
            },
            method: 0,
            status: if width >= 60 { 8 } else { 6 },
            took: match width {
                0..44 => 0,
                44..60 => 7,
                _ => 8,
            },
            sent: if width >= 96 { 8 } else { 0 },
            received: if width >= 60 { 8 } else { 0 },
        };
        let others = columns.all().iter().filter(|width| **width > 0).map(|width| width + 1).sum();
        columns.method = width.saturating_sub(others);
        columns
    }

    fn all(&self) -> [usize; 7] {
        let Self { time, server, method, status, took, sent, received } = *self;
        [time, server, method, status, took, sent, received]
    }

    fn heading(&self) -> String {
        let names = ["TIME UTC", "SERVER", "METHOD", "STATUS", "TOOK", "SENT", "RECEIVED"];
        let mut cells = names.into_iter().zip(self.all()).enumerate();
        let cell = |(at, (name, width)): (usize, (&str, usize))| match at {
            4.. => format!("{name:>width$}"),
            _ => pad(name, width),
        };
        let shown: Vec<String> =
            cells.by_ref().filter(|(_, (_, width))| *width > 0).map(cell).collect();
        shown.join(" ")
    }

    fn row(&self, exchange: &Exchange, selected: bool, look: Look<'_>) -> Line<'static> {
        let theme = look.theme;
        let stamp = wire::stamp(exchange.at);
        let time: String = stamp.chars().skip(11).take(self.time).collect();
        let name = text::strict_line(exchange.side.name()).into_string();
        let (status, style) = status(exchange, look);
        let side = match exchange.side {
            Side::Server(_) => theme.server,
            Side::Model(_) => theme.accent,
        };
        let method = match &exchange.about.subject {
            // What tells it apart comes before what kind it is.
            Some(subject) if self.server == 0 => {
                format!("{name} {}", text::strict_line(subject))
            }
            _ if self.server == 0 => format!("{name} {}", method(exchange)),
            _ => method(exchange),
        };
        let right = |text: String, width: usize| format!("{text:>width$}");
        let cells = [
            (pad(&time, self.time), theme.muted, self.time),
            (pad(&name, self.server), side, self.server),
            (pad(&method, self.method), theme.text, self.method),
            (pad(&status, self.status), style, self.status),
            (right(text::cut(&took(exchange), self.took), self.took), theme.muted, self.took),
            (right(bytes(exchange.sent.total), self.sent), theme.muted, self.sent),
            (right(bytes(exchange.received.total), self.received), theme.muted, self.received),
        ];
        let mut spans = Vec::new();
        for (text, style, _) in cells.into_iter().filter(|(_, _, width)| *width > 0) {
            if !spans.is_empty() {
                spans.push(Span::raw(" "));
            }
            spans.push(Span::styled(text, style));
        }
        let line = Line::from(spans);
        if selected { line.patch_style(theme.selected) } else { line }
    }
}

/// What an exchange is about: the message, or the request where there is none.
fn method(exchange: &Exchange) -> String {
    let about = &exchange.about;
    let said = match (about.method.as_str(), &about.subject, exchange.verb) {
        ("", _, "GET") => "standing stream".to_owned(),
        ("", _, "DELETE") => "end of the session".to_owned(),
        ("", _, verb) => {
            let path = exchange.url.splitn(4, '/').nth(3).unwrap_or_default();
            format!("{verb} /{path}")
        }
        (method, None, _) => method.to_owned(),
        (method, Some(subject), _) => format!("{method} {subject}"),
    };
    text::strict_line(&said).into_string()
}

fn status(exchange: &Exchange, look: Look<'_>) -> (String, Style) {
    let theme = look.theme;
    let code = exchange.head.as_ref().map(|head| head.status);
    let style = match (code, &exchange.ending) {
        _ if exchange.is_failure() => theme.danger,
        (Some(300..400), _) => theme.caution,
        (_, Ending::Open) => theme.accent,
        (None, _) => theme.caution,
        _ => theme.good,
    };
    let word = match (code, &exchange.ending) {
        (None, Ending::Open) => "waits".to_owned(),
        (None, Ending::Failed(_)) => "failed".to_owned(),
        (None, _) => "left".to_owned(),
        (Some(code), Ending::Open) => format!("{code} …"),
        (Some(code), Ending::Failed(_)) => format!("{code} ×"),
        (Some(code), _) => code.to_string(),
    };
    (word, style)
}

/// How long it took so far. Of one that waits nothing has been heard of yet.
fn took(exchange: &Exchange) -> String {
    let time = exchange.took;
    match time.as_micros() {
        _ if exchange.head.is_none() && exchange.ending == Ending::Open => "-".to_owned(),
        micros @ 0..10_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        _ => human::duration(time).replace(" min", "m").replace(" h", "h"),
    }
}

fn bytes(count: u64) -> String {
    if count == 0 { "-".to_owned() } else { human::bytes(count) }
}

fn detail(frame: &mut Frame<'_>, area: Rect, detail: &mut Detail, look: Look<'_>) {
    let inner = padded(area);
    let width = usize::from(inner.width);
    detail.sheet.lay(width);
    detail.height = usize::from(inner.height);
    detail.go(0);
    let name = text::strict_line(detail.exchange.side.name());
    let title = format!(" wire · {name} {} ", method(&detail.exchange));
    let title = Line::styled(
        text::cut(&title, usize::from(area.width.saturating_sub(4))),
        look.theme.title,
    );
    let hint = |action, word| (look.keymap.hint(action), word);
    let turn = format!(
        "{} {}",
        look.keymap.hint(Action::WirePrevious),
        look.keymap.hint(Action::WireNext)
    );
    let keys = [
        hint(Action::WireBack, "back"),
        hint(Action::WirePart, "next part"),
        (turn, "other exchange"),
        hint(Action::WireCurl, "as curl"),
        hint(Action::WireCall, "as call"),
        hint(Action::WireBody, "body"),
        hint(Action::WireExport, "export HAR"),
    ];
    let rows = detail.sheet.rows();
    let place = if rows > detail.height {
        let last = (detail.scroll + detail.height).min(rows);
        format!(
            " {}–{} of {} ",
            flow::figure(detail.scroll as u64 + 1),
            flow::figure(last as u64),
            flow::figure(rows as u64)
        )
    } else {
        String::new()
    };
    let taken = u16::try_from(text::width(&place)).unwrap_or(area.width);
    let block = framed(title, look.theme.focus)
        .title_bottom(edge(&keys, area.width.saturating_sub(taken), look.theme))
        .title_bottom(Line::styled(place, look.theme.muted).alignment(Alignment::Right));
    frame.render_widget(block, area);
    let mark = Piece::new(MARK, look.theme.muted);
    let lines: Vec<Line<'_>> = detail
        .sheet
        .from_row(detail.scroll)
        .take(detail.height)
        .flat_map(|line| {
            let pieces = coloured(line, look);
            flow::fold(&pieces, width, &mark).into_iter().skip(line.skip).map(flow::row)
        })
        .take(detail.height)
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// A line, cleaned and in colours.
fn coloured(line: Shown<'_>, look: Look<'_>) -> Vec<Piece> {
    let theme = look.theme;
    let clean = |raw: &str| text::strict_line(raw).into_string();
    let mut pieces = Vec::new();
    if line.goes_on {
        flow::push(&mut pieces, MARK, theme.muted);
    }
    let (plain, value) = match line.kind {
        Kind::Json => {
            pieces.extend(Highlighter::new("json").line(&clean(line.text), theme));
            return pieces;
        }
        Kind::Part => (theme.heading, theme.heading),
        Kind::Inside => (theme.string, theme.string),
        Kind::Note => (theme.caution, theme.caution),
        Kind::Hex | Kind::Text => (theme.text, theme.text),
        Kind::Fact => (theme.muted, theme.text),
        Kind::Bad => (theme.muted, theme.danger),
        Kind::Header => (theme.accent, theme.text),
        Kind::Secret => (theme.accent, theme.caution),
    };
    match line.text.split_once(Sheet::DIVIDER) {
        None => flow::push(&mut pieces, &clean(line.text), plain),
        Some((name, said)) => {
            flow::push(&mut pieces, &clean(name), plain);
            flow::push(&mut pieces, "  ", theme.text);
            flow::push(&mut pieces, &clean(said), value);
        }
    }
    pieces
}
