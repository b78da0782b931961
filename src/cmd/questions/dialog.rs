//! One question on a plain terminal: lines in, text and at last an answer out. Pure.
//!
//! An empty line never accepts anything: it keeps what a field holds, or asks again. The end of the
//! input dismisses the question. What was entered is shown before it is sent (I6).

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::domain::{
    Elicitation, ElicitationId, ElicitationKind, ElicitationReply, FieldKind, FormField,
};
use crate::schema::form::asked;
use crate::text;

/// Lines of a schema that is no form.
const RAW_LINES: usize = 40;

/// A question that is being answered.
#[derive(Debug)]
pub(crate) struct Dialog {
    elicitation: Arc<Elicitation>,
    values: Map<String, Value>,
    step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Whether to answer at all.
    Begin,
    /// The field with this number is asked for.
    Field(usize),
    /// Whether to send what was entered.
    Review,
}

impl Dialog {
    /// Begins; `values` are held by the fields already.
    pub(crate) fn new(elicitation: &Arc<Elicitation>, values: Map<String, Value>) -> Self {
        Self { elicitation: Arc::clone(elicitation), values, step: Step::Begin }
    }

    /// Which question it is.
    pub(crate) fn id(&self) -> ElicitationId {
        self.elicitation.id
    }

    fn fields(&self) -> &[FormField] {
        match &self.elicitation.kind {
            ElicitationKind::Form { fields, .. } => fields,
            ElicitationKind::Url { .. } => &[],
        }
    }

    /// Who asks, and what (I6, I7).
    pub(crate) fn opening(&self) -> String {
        let asking = &self.elicitation;
        let (server, host) = (text::strict_line(asking.server.as_str()), &asking.host);
        let mut shown = format!("\n{server} ({}) asks:\n", text::strict_line(host));
        for line in text::block(&asking.message).as_str().lines() {
            let _infallible = writeln!(shown, "  {line}");
        }
        match &asking.kind {
            ElicitationKind::Url { url, host } => {
                let (url, host) = (text::strict_line(url), text::strict_line(host));
                let odd = if host.as_str().split('.').any(|part| part.starts_with("xn--")) {
                    " This host is written in other letters than it may look like."
                } else {
                    ""
                };
                let _infallible = write!(
                    shown,
                    "It wants you to open a page at {host}:\n  {url}\nThis program does not open it: do so yourself, if you trust it.{odd}"
                );
            }
            ElicitationKind::Form { fault: Some(fault), schema, .. } => {
                let _infallible = writeln!(
                    shown,
                    "It cannot be shown as a form: {}. What it wants:",
                    text::line(fault)
                );
                let raw = serde_json::to_string_pretty(&**schema).unwrap_or_default();
                let raw = text::strict_block(&raw).into_string();
                shown.push_str(&raw.lines().take(RAW_LINES).collect::<Vec<_>>().join("\n"));
            }
            ElicitationKind::Form { .. } => {
                shown.push_str("A server must not ask for passwords or keys in this way.");
            }
        }
        shown
    }

    /// What is asked now.
    pub(crate) fn prompt(&self) -> String {
        match self.step {
            Step::Begin => match &self.elicitation.kind {
                ElicitationKind::Form { fault: Some(_), .. } => {
                    "[d]ecline or [c]ancel? ".to_owned()
                }
                ElicitationKind::Form { fields, .. } if !fields.is_empty() => {
                    "[a]nswer, [d]ecline or [c]ancel? ".to_owned()
                }
                _ => "[a]ccept, [d]ecline or [c]ancel? ".to_owned(),
            },
            Step::Field(nth) => self.fields().get(nth).map(|f| self.ask(f)).unwrap_or_default(),
            Step::Review => "[s]end, [e]dit, [d]ecline or [c]ancel? ".to_owned(),
        }
    }

    fn ask(&self, field: &FormField) -> String {
        let mut shown = text::strict_line(&field.label).into_string();
        let need = if field.required { "required" } else { "optional" };
        let _infallible = write!(shown, " ({}, {need})", words(&field.kind));
        if !field.description.is_empty() {
            let _infallible = write!(shown, ": {}", text::line(&field.description));
        }
        shown.push('\n');
        for (nth, (_, label)) in choices(&field.kind).iter().enumerate() {
            let _infallible = writeln!(shown, "  {} {}", nth + 1, text::strict_line(label));
        }
        let held = self.held(field).map(|value| format!(" [{}]", plain(field, value)));
        let _infallible = write!(shown, "{}> ", held.unwrap_or_default().trim_start());
        shown
    }

    fn held<'a>(&'a self, field: &'a FormField) -> Option<&'a Value> {
        self.values.get(&field.name).or(field.default.as_ref())
    }

    fn entered(&self) -> String {
        let mut shown = String::new();
        for field in self.fields() {
            let value = self.held(field).map(|value| plain(field, value));
            let value = value.unwrap_or_else(|| "(left out)".to_owned());
            let _infallible = writeln!(shown, "  {}: {value}", text::strict_line(&field.label));
        }
        shown.trim_end().to_owned()
    }

    /// Takes a line, or the end of the input: what is said to it, and the answer at the end.
    pub(crate) fn take(&mut self, line: Option<&str>) -> (String, Option<ElicitationReply>) {
        let Some(line) = line else { return (String::new(), Some(ElicitationReply::Cancel)) };
        match self.step {
            Step::Begin | Step::Review => (String::new(), self.decided(line)),
            Step::Field(nth) => (self.filled(nth, line), None),
        }
    }

    fn decided(&mut self, line: &str) -> Option<ElicitationReply> {
        let accept = match (&self.elicitation.kind, self.step) {
            (ElicitationKind::Form { fault: Some(_), .. }, _) => &[][..],
            (_, Step::Review) => &["s", "send"],
            _ => &["a", "accept", "answer"],
        };
        match line.trim().to_lowercase().as_str() {
            "d" | "decline" => Some(ElicitationReply::Decline),
            "c" | "cancel" => Some(ElicitationReply::Cancel),
            "e" | "edit" if self.step == Step::Review => {
                self.step = Step::Field(0);
                None
            }
            word if accept.contains(&word) => self.accepted(),
            _ => None,
        }
    }

    fn accepted(&mut self) -> Option<ElicitationReply> {
        if matches!(self.elicitation.kind, ElicitationKind::Url { .. }) {
            return Some(ElicitationReply::Accept(None));
        }
        if self.step == Step::Begin && !self.fields().is_empty() {
            self.step = Step::Field(0);
            return None;
        }
        let content = asked::answer(self.fields(), &self.values).ok()?;
        Some(ElicitationReply::Accept(Some(Arc::new(content))))
    }

    fn filled(&mut self, nth: usize, line: &str) -> String {
        let Some(field) = self.fields().get(nth) else { return String::new() };
        let typed = by_number(&field.kind, line);
        match asked::value(field, &typed) {
            Err(why) => return format!("That {}.", text::line(&why)),
            Ok(None) if field.required && self.held(field).is_none() => {
                return "That must be filled in.".to_owned();
            }
            Ok(None) => {}
            Ok(Some(value)) => {
                let name = field.name.clone();
                self.values.insert(name, value);
            }
        }
        let next = nth + 1;
        if next < self.fields().len() {
            self.step = Step::Field(next);
            return String::new();
        }
        self.step = Step::Review;
        self.entered()
    }
}

/// What can be entered, in a word.
fn words(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text { format: Some(format), .. } => text::cut(format, 20),
        FieldKind::Text { .. } => "text".to_owned(),
        FieldKind::Number { integer: true, .. } => "whole number".to_owned(),
        FieldKind::Number { .. } => "number".to_owned(),
        FieldKind::Bool => "yes or no".to_owned(),
        FieldKind::Choice(_) => "one number".to_owned(),
        FieldKind::Many { .. } => "numbers, with commas between".to_owned(),
    }
}

fn choices(kind: &FieldKind) -> &[(String, String)] {
    match kind {
        FieldKind::Choice(options) | FieldKind::Many { options, .. } => options,
        _ => &[],
    }
}

/// Numbers of choices as their values. What is no number of a choice stays as it is.
fn by_number(kind: &FieldKind, line: &str) -> String {
    let options = choices(kind);
    let numbered = |word: &str| {
        let nth = word.trim().parse::<usize>().ok()?.checked_sub(1)?;
        options.get(nth).map(|(value, _)| value.clone())
    };
    match kind {
        FieldKind::Choice(_) => numbered(line).unwrap_or_else(|| line.to_owned()),
        FieldKind::Many { .. } if !line.trim().is_empty() => {
            let words = line.split(',').map(str::trim).filter(|word| !word.is_empty());
            let values: Vec<String> =
                words.map(|word| numbered(word).unwrap_or_else(|| word.to_owned())).collect();
            serde_json::to_string(&values).unwrap_or_default()
        }
        _ => line.to_owned(),
    }
}

fn plain(field: &FormField, value: &Value) -> String {
    let label = |word: &str| {
        let options = choices(&field.kind).iter();
        let found = options.clone().find(|(value, _)| value == word);
        found.map_or(word, |(_, label)| label.as_str()).to_owned()
    };
    let shown = match value {
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Value::String(word) => label(word),
        Value::Array(items) => {
            let words = items.iter().filter_map(Value::as_str).map(label);
            words.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text::strict_line(&shown).into_string()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::CallId;

    fn elicitation(kind: ElicitationKind) -> Elicitation {
        Elicitation {
            id: ElicitationId(9),
            server: "demo".into(),
            host: "127.0.0.1:7".to_owned(),
            call: Some(CallId(1)),
            message: "Which\u{1b}[31m one?".to_owned(),
            kind,
        }
    }

    pub(in crate::cmd::questions) fn form(schema: &Value) -> Elicitation {
        let (fields, fault) = match asked::form(schema) {
            Ok(fields) => (fields, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let schema = Arc::new(schema.clone());
        elicitation(ElicitationKind::Form { schema, fields, fault })
    }

    pub(in crate::cmd::questions) fn page() -> Elicitation {
        elicitation(ElicitationKind::Url {
            url: "https://xn--bcher-kva.example/a".to_owned(),
            host: "xn--bcher-kva.example".to_owned(),
        })
    }

    fn dialog(elicitation: Elicitation) -> Dialog {
        Dialog::new(&Arc::new(elicitation), Map::new())
    }

    fn booking() -> Value {
        json!({"type": "object", "required": ["name", "seat"], "properties": {
            "name": {"type": "string", "title": "Your name"},
            "guests": {"type": "integer", "default": 2, "minimum": 1},
            "seat": {"oneOf": [{"const": "in", "title": "Inside"}, {"const": "out", "title": "Outside"}]},
            "extras": {"type": "array", "items": {"enum": ["cake", "wine"]}},
            "note": {"type": "string"}}})
    }

    /// Types lines; what was said to them, and the answer to the last.
    fn type_in(dialog: &mut Dialog, lines: &[&str]) -> (Vec<String>, Option<ElicitationReply>) {
        let mut all = Vec::new();
        for line in lines {
            let (said, reply) = dialog.take(Some(line));
            all.push(said);
            if reply.is_some() {
                return (all, reply);
            }
        }
        (all, None)
    }

    #[test]
    fn form_is_filled_in_field_by_field_reviewed_and_sent() {
        let mut dialog = dialog(form(&booking()));
        let (said, reply) =
            type_in(&mut dialog, &["", "a", "", "Ann", "many", "", "3", "2", "1,2", ""]);
        assert_eq!(reply, None);
        assert_eq!(said[2], "That must be filled in.");
        assert_eq!(said[4], "That must be a whole number.");
        assert!(said[6].contains("not among the choices"), "{}", said[6]);
        let expected = "  Your name: Ann\n  guests: 2\n  seat: Outside\n  extras: cake, wine\n  \
                        note: (left out)";
        assert_eq!(said[9], expected);
        assert_eq!(dialog.prompt(), "[s]end, [e]dit, [d]ecline or [c]ancel? ");
        // Neither an empty line nor the letter of the first prompt sends it.
        assert_eq!(type_in(&mut dialog, &["", "a"]).1, None);
        let Some(ElicitationReply::Accept(Some(content))) = dialog.take(Some("s")).1 else {
            panic!()
        };
        let expected =
            json!({"name": "Ann", "guests": 2, "seat": "out", "extras": ["cake", "wine"]});
        assert_eq!(Value::Object(Map::clone(&content)), expected);
    }

    #[test]
    fn choices_are_numbered_and_what_is_held_is_shown() {
        let mut dialog = dialog(form(&booking()));
        type_in(&mut dialog, &["a", "Ann"]);
        assert_eq!(dialog.prompt(), "guests (whole number, optional)\n[2]> ");
        type_in(&mut dialog, &[""]);
        assert_eq!(dialog.prompt(), "seat (one number, required)\n  1 Inside\n  2 Outside\n> ");
    }

    #[test]
    fn entered_values_can_be_edited_before_they_are_sent() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let mut dialog = dialog(form(&schema));
        let (_, reply) = type_in(&mut dialog, &["a", "1", "e", "2", "s"]);
        let Some(ElicitationReply::Accept(Some(content))) = reply else { panic!("{reply:?}") };
        assert_eq!(content["n"], 2);
    }

    #[test]
    fn no_is_no_and_the_end_of_the_input_dismisses() {
        for (line, expected) in [
            (Some("d"), ElicitationReply::Decline),
            (Some(" Decline "), ElicitationReply::Decline),
            (Some("c"), ElicitationReply::Cancel),
            (None, ElicitationReply::Cancel),
        ] {
            assert_eq!(dialog(form(&booking())).take(line).1, Some(expected));
        }
    }

    #[test]
    fn page_is_shown_whole_with_its_host_and_a_word_about_odd_letters() {
        let mut dialog = dialog(page());
        let opening = dialog.opening();
        assert!(opening.contains("https://xn--bcher-kva.example/a"), "{opening}");
        assert!(opening.contains("demo (127.0.0.1:7) asks") && opening.contains("other letters"));
        assert!(!opening.contains('\u{1b}'));
        assert_eq!(type_in(&mut dialog, &["", "y", "a"]).1, Some(ElicitationReply::Accept(None)));
    }

    #[test]
    fn what_is_no_form_can_only_be_refused() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "object"}}});
        let mut dialog = dialog(form(&schema));
        assert!(dialog.opening().contains("cannot be shown as a form"));
        assert_eq!(type_in(&mut dialog, &["a", "accept", "s"]).1, None);
        assert_eq!(type_in(&mut dialog, &["d"]).1, Some(ElicitationReply::Decline));
    }
}
