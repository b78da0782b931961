//! Character by character: what stays, what becomes visible.

use unicode_width::UnicodeWidthChar;

use super::escape;
use super::measure;

/// Tabs in blocks lead to the next multiple of this many columns.
const TAB: usize = 8;
/// Marks that one base may carry; real orthographies need fewer.
const MARKS: usize = 8;
/// A flag's tags: at most this many, its end included.
const TAGS: usize = 8;
/// Carries a mark that has no base.
const DOTTED_CIRCLE: char = '\u{25cc}';

/// How much is made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rigour {
    /// Joiners and variation selectors with a job stay.
    Running,
    /// Nothing that cannot be seen stays.
    Strict,
}

/// What a character is, as far as cleaning is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Moves the cursor or worse.
    Control,
    /// Cannot be seen, or changes the order in which others are seen.
    Invisible,
    /// Looks like a space, or like nothing certain (private use): strict places spell it out.
    Blank,
    /// Sits on the character before it.
    Mark,
    /// Everything else.
    Plain,
}

pub(super) fn line(raw: &str) -> String {
    let text = escape::strip(raw);
    let mut cleaner = Cleaner::new(Rigour::Running, text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.as_str().starts_with('\n') => {}
            '\n' | '\r' | '\t' => cleaner.plain(' '),
            c => cleaner.take(c, &mut rest),
        }
    }
    cleaner.out
}

pub(super) fn block(raw: &str) -> String {
    if raw.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return raw.to_owned();
    }
    let text = escape::strip(raw);
    let mut cleaner = Cleaner::new(Rigour::Running, text.len());
    for (number, row) in text.split('\n').enumerate() {
        if number > 0 {
            cleaner.line_break();
        }
        cleaner.row(last_state(row));
    }
    cleaner.out
}

pub(super) fn strict_line(raw: &str) -> String {
    let mut cleaner = Cleaner::new(Rigour::Strict, raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        cleaner.take(c, &mut rest);
    }
    cleaner.out
}

pub(super) fn strict_block(raw: &str) -> String {
    let mut cleaner = Cleaner::new(Rigour::Strict, raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' => cleaner.line_break(),
            c => cleaner.take(c, &mut rest),
        }
    }
    cleaner.out
}

/// What a line shows after its carriage returns: the last piece that says anything.
fn last_state(row: &str) -> &str {
    row.rsplit('\r').find(|piece| !piece.is_empty()).unwrap_or_default()
}

struct Cleaner {
    out: String,
    rigour: Rigour,
    /// The last character that was kept as it is, on this line.
    before: Option<char>,
    marks: usize,
}

impl Cleaner {
    fn new(rigour: Rigour, size: usize) -> Self {
        Self { out: String::with_capacity(size), rigour, before: None, marks: 0 }
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.before = None;
        self.marks = 0;
    }

    /// One line of a block. Widths are taken from the last stop on, so that a line of tabs alone
    /// costs no more than any other.
    fn row(&mut self, row: &str) {
        let mut from = self.out.len();
        let mut rest = row.chars();
        while let Some(c) = rest.next() {
            if c != '\t' {
                self.take(c, &mut rest);
                continue;
            }
            let column = measure::width(self.out.get(from..).unwrap_or_default());
            self.out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
            self.before = Some(' ');
            self.marks = 0;
            from = self.out.len();
        }
    }

    /// Cleans one character; takes more from `rest` only where a sequence is kept whole.
    fn take(&mut self, c: char, rest: &mut std::str::Chars<'_>) {
        match kind(c) {
            Kind::Plain => self.plain(c),
            Kind::Blank if self.rigour == Rigour::Running => self.plain(c),
            Kind::Blank => self.escaped(c),
            Kind::Control => self.control(c),
            Kind::Mark => self.mark(c),
            Kind::Invisible => self.invisible(c, rest),
        }
    }

    fn plain(&mut self, c: char) {
        self.out.push(c);
        self.before = Some(c);
        self.marks = 0;
    }

    /// Spelled out, such as `\u{202e}`.
    fn escaped(&mut self, c: char) {
        match c {
            '\n' | '\r' | '\t' => self.out.extend(c.escape_default()),
            c => self.out.extend(c.escape_unicode()),
        }
        self.before = None;
        self.marks = 0;
    }

    fn control(&mut self, c: char) {
        match (self.rigour, picture(c)) {
            (Rigour::Running, Some(picture)) => self.plain(picture),
            _ => self.escaped(c),
        }
    }

    fn mark(&mut self, c: char) {
        if self.before.is_none() {
            self.plain(DOTTED_CIRCLE);
        }
        if self.marks < MARKS {
            self.out.push(c);
            self.before = Some(c);
            self.marks += 1;
        } else if self.rigour == Rigour::Strict {
            self.out.extend(c.escape_unicode());
        } else if self.before != Some(char::REPLACEMENT_CHARACTER) {
            self.out.push(char::REPLACEMENT_CHARACTER);
            self.before = Some(char::REPLACEMENT_CHARACTER);
        }
    }

    fn invisible(&mut self, c: char, rest: &mut std::str::Chars<'_>) {
        let running = self.rigour == Rigour::Running;
        if running && (joins(self.before, c, rest.clone().next()) || selects(self.before, c, rest))
        {
            self.out.push(c);
            self.before = Some(c);
        } else if let Some(tags) = flag(self.before, c, rest).filter(|_| running) {
            self.out.push(c);
            self.out.extend(rest.by_ref().take(tags));
            self.before = None;
        } else {
            self.escaped(c);
        }
    }
}

/// Sorts a character.
pub(super) fn kind(c: char) -> Kind {
    match c {
        ' '..='~' => Kind::Plain,
        c if c.is_control() => Kind::Control,
        c if is_invisible(c) => Kind::Invisible,
        c if c.is_whitespace() || is_blank(c) => Kind::Blank,
        c if c.width() == Some(0) => Kind::Mark,
        _ => Kind::Plain,
    }
}

/// Format characters, fillers, selectors, tags and non-characters.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Private use, and the Braille cell without dots.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// The picture of a control character of ASCII.
fn picture(c: char) -> Option<char> {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    }
}

/// Whether a joiner or non-joiner stands where it does something: between letters of a script that
/// shapes them, or between emoji.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (Some(before), '\u{200c}' | '\u{200d}', Some(after)) = (before, c, after) else {
        return false;
    };
    let carries = match kind(before) {
        Kind::Plain => before.is_alphabetic() || is_pictograph(before),
        Kind::Mark => true,
        Kind::Invisible => before == '\u{fe0f}',
        Kind::Control | Kind::Blank => false,
    };
    let follows = kind(after) == Kind::Plain && (after.is_alphabetic() || is_pictograph(after));
    carries && follows && !before.is_ascii() && !after.is_ascii()
}

/// Whether a variation selector stands on something that has variants. One a base, no more.
fn selects(before: Option<char>, c: char, rest: &std::str::Chars<'_>) -> bool {
    let Some(before) = before else { return false };
    let base = kind(before) == Kind::Plain && !before.is_ascii();
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            (base && is_pictograph(before))
                || (matches!(before, '0'..='9' | '#' | '*')
                    && rest.as_str().starts_with('\u{20e3}'))
        }
        '\u{fe00}'..='\u{fe0d}' | '\u{e0100}'..='\u{e01ef}' => base,
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// How many tags after `c` belong to the flag of a region that began before it.
fn flag(before: Option<char>, c: char, rest: &std::str::Chars<'_>) -> Option<usize> {
    let names = |c: char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    if before != Some('\u{1f3f4}') || !names(c) {
        return None;
    }
    let end = rest.clone().take(TAGS).position(|c| c == '\u{e007f}')?;
    rest.clone().take(end).all(names).then_some(end + 1)
}

/// Characters that have an emoji form, generously.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
