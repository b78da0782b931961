//! Markdown → rows of a given width.
//!
//! Takes raw text of a model or a server: it is cleaned here, before parsing (an escape sequence
//! would otherwise be torn apart by Markdown's own rules) and again after it (entities such as
//! `&#27;` make characters of their own). Any prefix of any text at any width gives rows that fit;
//! nothing panics; the cost is linear in the text.

mod table;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};

use super::code;
use super::flow::{self, Piece, Row};
use super::theme::Theme;
use crate::text;
use table::Table;

/// Columns of a URL shown after a link's text, at most.
const URL_COLUMNS: usize = 160;

/// Lays out a whole text. `base` is the style of ordinary text.
pub fn rows(source: &str, width: usize, theme: &Theme, base: Style) -> Vec<Row> {
    let clean = text::block(&tabs_to_spaces(source)).into_string();
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::new(width.max(1), theme, base);
    let mut parser = Parser::new_ext(&clean, options);
    for event in parser.by_ref() {
        writer.take(event);
    }
    writer.definitions(&clean, &parser);
    writer.finish()
}

/// Leading tabs become four spaces: that is what nesting in Markdown counts.
fn tabs_to_spaces(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut leading = true;
    for c in source.chars() {
        match c {
            '\t' if leading => out.push_str("    "),
            _ => {
                leading = c == '\n' || (leading && c == ' ');
                out.push(c);
            }
        }
    }
    out
}

/// What stands at the left of every row inside a list item or a quote.
struct Prefix {
    /// On the first row, until it is used.
    first: Option<Piece>,
    /// On all others.
    rest: Piece,
    width: usize,
}

struct Link {
    url: String,
    label: String,
    image: bool,
}

struct Writer<'t> {
    theme: &'t Theme,
    width: usize,
    rows: Vec<Row>,
    prefixes: Vec<Prefix>,
    /// Columns of all prefixes.
    indent: usize,
    /// Whether each open prefix was pushed: those that left too little room are not.
    pushed: Vec<bool>,
    inline: Vec<Piece>,
    styles: Vec<Style>,
    links: Vec<Link>,
    /// Number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// How many rows there were when each open quote began.
    quotes: Vec<usize>,
    /// Whether a blank row belongs before the next block.
    blank: bool,
    table: Option<Table>,
    code: Option<(String, String)>,
}

impl<'t> Writer<'t> {
    fn new(width: usize, theme: &'t Theme, base: Style) -> Self {
        Self {
            theme,
            width,
            rows: Vec::new(),
            prefixes: Vec::new(),
            indent: 0,
            pushed: Vec::new(),
            inline: Vec::new(),
            styles: vec![base],
            links: Vec::new(),
            lists: Vec::new(),
            quotes: Vec::new(),
            blank: false,
            table: None,
            code: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(words)
            | Event::Html(words)
            | Event::InlineMath(words)
            | Event::DisplayMath(words) => self.text(&words),
            Event::Code(words) => self.inline_code(&words),
            Event::InlineHtml(words) => self.inline_html(&words),
            Event::SoftBreak => self.words(" "),
            Event::HardBreak => self.words("\n"),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.task(done),
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.open_block(),
            Tag::Heading { level, .. } => self.start_heading(level),
            Tag::BlockQuote(_) => self.start_quote(),
            Tag::CodeBlock(kind) => self.start_code(&kind),
            Tag::List(first) => self.start_list(first),
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            Tag::Emphasis => self.push_style(Modifier::ITALIC),
            Tag::Strong => self.push_style(Modifier::BOLD),
            Tag::Strikethrough => self.push_style(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } => self.start_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.start_link(&dest_url, true),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.close_block(),
            TagEnd::Heading(_) => {
                self.pop_style();
                self.close_block();
            }
            TagEnd::BlockQuote(_) => self.end_quote(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.blank |= self.lists.is_empty();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                self.table.iter_mut().for_each(Table::end_row);
            }
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop_style(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    // Text inside blocks.

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn pop_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn text(&mut self, raw: &str) {
        let clean = text::block(raw);
        if let Some((_, code)) = &mut self.code {
            code.push_str(clean.as_str());
        } else {
            self.words(clean.as_str());
        }
    }

    fn words(&mut self, clean: &str) {
        if let Some(link) = self.links.last_mut() {
            link.label.push_str(clean);
        }
        let style = self.style();
        flow::push(&mut self.inline, clean, style);
    }

    /// Without colours and without a style of its own, code keeps its backticks.
    fn inline_code(&mut self, raw: &str) {
        let clean = text::line(raw).into_string();
        if let Some(link) = self.links.last_mut() {
            link.label.push_str(&clean);
        }
        let style = self.style().patch(self.theme.code);
        if self.theme.code == Style::new() {
            flow::push(&mut self.inline, &format!("`{clean}`"), style);
        } else {
            flow::push(&mut self.inline, &clean, style);
        }
    }

    /// HTML is shown as text, except that `<br>` is the only line break a table cell can have.
    fn inline_html(&mut self, raw: &str) {
        let name: String = raw.chars().filter(|c| !c.is_whitespace()).collect();
        if name.eq_ignore_ascii_case("<br>") || name.eq_ignore_ascii_case("<br/>") {
            self.words("\n");
        } else {
            self.text(raw);
        }
    }

    /// The box takes the place of the bullet.
    fn task(&mut self, done: bool) {
        let (mark, style) =
            if done { ("[x] ", self.theme.good) } else { ("[ ] ", self.theme.caution) };
        let pushed = self.pushed.last() == Some(&true);
        match self.prefixes.last_mut().filter(|prefix| pushed && prefix.first.is_some()) {
            Some(prefix) if self.width > self.indent + 12 => {
                prefix.first = Some(Piece::new(mark, style));
                prefix.rest = Piece::new("    ", Style::new());
                self.indent = self.indent + 4 - prefix.width;
                prefix.width = 4;
            }
            _ => flow::push(&mut self.inline, mark, style),
        }
    }

    fn start_link(&mut self, url: &str, image: bool) {
        self.links.push(Link { url: url.to_owned(), label: String::new(), image });
        if image {
            let style = self.theme.muted;
            flow::push(&mut self.inline, "[image: ", style);
        }
        let opens = ["https://", "http://", "mailto:"].iter().any(|scheme| url.starts_with(scheme));
        let link = if opens { self.theme.link } else { Style::new() };
        self.styles.push(self.style().patch(link));
    }

    /// The address stands beside every label that is not the address itself: a label can say
    /// anything.
    fn end_link(&mut self) {
        self.pop_style();
        let Some(link) = self.links.pop() else { return };
        let muted = self.theme.muted;
        if link.image {
            flow::push(&mut self.inline, "]", muted);
        }
        let url = text::strict_line(&link.url);
        if !link.image && !same_address(&link.label, url.as_str()) {
            let shown = text::cut(url.as_str(), URL_COLUMNS);
            flow::push(&mut self.inline, &format!(" ({shown})"), muted);
        }
        let doubt = disguised(&link);
        if let Some(doubt) = doubt.filter(|_| !link.image) {
            flow::push(&mut self.inline, &format!(" [⚠ {doubt}]"), self.theme.danger);
        }
        if let Some(outer) = self.links.last_mut() {
            outer.label.push_str(&link.label);
        }
    }

    // Blocks.

    fn available(&self) -> usize {
        self.width.saturating_sub(self.indent).max(1)
    }

    fn open_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.blank) && !self.rows.is_empty() {
            self.emit(Vec::new());
        }
    }

    fn close_block(&mut self) {
        self.flush();
        self.blank = true;
    }

    /// Writes the text collected so far as rows.
    fn flush(&mut self) {
        let mut inline = std::mem::take(&mut self.inline);
        if let Some(last) = inline.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
        }
        inline.retain(|piece| !piece.text.is_empty());
        if inline.is_empty() {
            return;
        }
        for pieces in flow::wrap_pieces(&inline, self.available()) {
            self.emit(pieces);
        }
    }

    /// Writes one row behind the prefixes.
    fn emit(&mut self, pieces: Vec<Piece>) {
        let mut all = Vec::new();
        for prefix in &mut self.prefixes {
            let piece = prefix.first.take().unwrap_or_else(|| prefix.rest.clone());
            flow::push(&mut all, &piece.text, piece.style);
        }
        if pieces.is_empty() {
            trim_end(&mut all);
        }
        for piece in pieces {
            flow::push(&mut all, &piece.text, piece.style);
        }
        self.rows.push(flow::row(all));
    }

    fn push_prefix(&mut self, first: Option<Piece>, rest: Piece) {
        let width = text::width(&rest.text);
        let left = self.width.saturating_sub(self.indent + width);
        let fits = left >= (self.width / 2).clamp(1, 12);
        self.pushed.push(fits);
        if fits {
            self.indent += width;
            self.prefixes.push(Prefix { first, rest, width });
        }
    }

    fn pop_prefix(&mut self) {
        if self.pushed.pop() == Some(true)
            && let Some(prefix) = self.prefixes.pop()
        {
            self.indent = self.indent.saturating_sub(prefix.width);
        }
    }

    fn start_heading(&mut self, level: HeadingLevel) {
        self.open_block();
        let mut style = self.style().patch(self.theme.heading);
        if level == HeadingLevel::H1 {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        self.styles.push(style);
    }

    fn start_quote(&mut self) {
        self.open_block();
        self.push_prefix(None, Piece::new("▎ ", self.theme.accent));
        self.quotes.push(self.rows.len());
    }

    /// A quote of nothing still shows that it is one.
    fn end_quote(&mut self) {
        self.flush();
        if self.quotes.pop() == Some(self.rows.len()) {
            self.emit(Vec::new());
        }
        self.pop_prefix();
        self.blank = true;
    }

    fn start_list(&mut self, first: Option<u64>) {
        self.flush();
        if self.lists.is_empty() {
            self.open_block();
        }
        self.lists.push(first);
    }

    fn start_item(&mut self) {
        self.open_block();
        let depth = self.lists.len();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ if depth % 3 == 2 => "◦ ".to_owned(),
            _ if depth.is_multiple_of(3) => "▪ ".to_owned(),
            _ => "• ".to_owned(),
        };
        let rest = Piece::new(" ".repeat(text::width(&marker)), Style::new());
        self.push_prefix(Some(Piece::new(marker, self.theme.accent)), rest);
    }

    fn end_item(&mut self) {
        self.flush();
        let unused = self.pushed.last() == Some(&true)
            && self.prefixes.last().is_some_and(|prefix| prefix.first.is_some());
        if unused {
            self.emit(Vec::new());
        }
        self.pop_prefix();
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.open_block();
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.to_string(),
            CodeBlockKind::Indented => String::new(),
        };
        self.code = Some((language, String::new()));
    }

    fn end_code(&mut self) {
        let Some((language, source)) = self.code.take() else { return };
        for pieces in code::block(&language, &source, self.available(), self.theme) {
            self.emit(pieces);
        }
        self.blank = true;
    }

    fn end_cell(&mut self) {
        let cell = std::mem::take(&mut self.inline);
        if let Some(table) = &mut self.table {
            table.cell(cell);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.open_block();
        for pieces in table.rows(self.available(), self.theme) {
            self.emit(pieces);
        }
        self.blank = true;
    }

    /// Definitions of links are shown as they were written: what was said and shows nowhere would
    /// be hidden.
    fn definitions(&mut self, source: &str, parser: &Parser<'_>) {
        let mut spans: Vec<_> =
            parser.reference_definitions().iter().map(|(_, link)| link.span.clone()).collect();
        spans.sort_unstable_by_key(|span| span.start);
        self.blank |= !self.rows.is_empty();
        for span in spans {
            self.open_block();
            let written = source.get(span).unwrap_or_default().trim_end();
            flow::push(&mut self.inline, text::line(written).as_str(), self.theme.muted);
            self.flush();
        }
    }

    fn rule(&mut self) {
        self.open_block();
        let line = "─".repeat(self.available());
        self.emit(vec![Piece::new(line, self.theme.muted)]);
        self.blank = true;
    }

    fn finish(mut self) -> Vec<Row> {
        self.flush();
        self.rows
    }
}

fn trim_end(pieces: &mut Vec<Piece>) {
    while let Some(last) = pieces.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            return;
        }
        pieces.pop();
    }
}

/// What is odd about where a link leads: a host in other letters, or a label that names another one.
fn disguised(link: &Link) -> Option<String> {
    let host = |text: &str| {
        let url = url::Url::parse(text.trim()).ok()?;
        Some(url.host_str()?.to_owned())
    };
    let leads = host(&link.url)?;
    if let Some(doubt) = text::suspicious_host(&leads) {
        return Some(doubt);
    }
    let named = host(&link.label)?;
    (named != leads).then(|| format!("it leads to {}", text::strict_line(&leads)))
}

/// Whether a label already says where a link leads.
fn same_address(label: &str, url: &str) -> bool {
    fn bare(address: &str) -> &str {
        let address = address.trim();
        let address = address.strip_prefix("mailto:").unwrap_or(address);
        let address = address.strip_prefix("https://").unwrap_or(address);
        address.strip_suffix('/').unwrap_or(address)
    }
    bare(label) == bare(url)
}

#[cfg(test)]
mod tests;
