//! One field: what it asks for, what was entered, the value that is sent.

use std::fmt;

use serde_json::Value;
use tui_textarea::TextArea;

use super::check;
use crate::domain::{FieldKind, FormField};
use crate::schema::form::entry::{self, Parameter};
use crate::ui::state::input::editor;

/// What can be entered.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Text; lengths in characters.
    Text {
        /// Shortest.
        min: Option<u64>,
        /// Longest.
        max: Option<u64>,
        /// `email`, `uri`, `date`, `date-time`.
        format: Option<String>,
        /// A regular expression.
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
    /// One of these: value and label.
    One(Vec<(Value, String)>),
    /// Several of these.
    Many {
        /// Value and label.
        options: Vec<(Value, String)>,
        /// Fewest.
        min: Option<u64>,
        /// Most.
        max: Option<u64>,
    },
    /// A nested value, as JSON; its type in words.
    Json(String),
}

impl Kind {
    fn of(kind: &FieldKind) -> Self {
        let texts = |options: &[(String, String)]| {
            options.iter().map(|(value, label)| (value.as_str().into(), label.clone())).collect()
        };
        match kind {
            FieldKind::Text { min, max, format, pattern } => Self::Text {
                min: *min,
                max: *max,
                format: format.clone(),
                pattern: pattern.clone(),
            },
            FieldKind::Number { integer, min, max } => {
                Self::Number { integer: *integer, min: *min, max: *max }
            }
            FieldKind::Bool => {
                Self::One(vec![(true.into(), "yes".to_owned()), (false.into(), "no".to_owned())])
            }
            FieldKind::Choice(options) => Self::One(texts(options)),
            FieldKind::Many { options, min, max } => {
                Self::Many { options: texts(options), min: *min, max: *max }
            }
        }
    }

    /// What can be chosen from; empty where something is written.
    pub fn options(&self) -> &[(Value, String)] {
        match self {
            Self::One(options) | Self::Many { options, .. } => options,
            Self::Text { .. } | Self::Number { .. } | Self::Json(_) => &[],
        }
    }

    /// Whether a value can be shown as having been entered.
    fn can_hold(&self, value: &Value) -> bool {
        let offered = |value: &Value| self.options().iter().any(|(known, _)| known == value);
        match self {
            Self::Text { .. } => value.is_string(),
            Self::Number { .. } => value.is_number(),
            Self::One(_) => offered(value),
            Self::Many { .. } => value.as_array().is_some_and(|values| values.iter().all(offered)),
            Self::Json(_) => true,
        }
    }
}

/// What was entered.
pub enum Entry {
    /// Written.
    Written(Box<TextArea<'static>>),
    /// Chosen.
    Chosen {
        /// Which options.
        ticked: Vec<bool>,
        /// The option that a key would choose.
        at: usize,
    },
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(area) => f.debug_tuple("Written").field(&area.lines()).finish(),
            Self::Chosen { ticked, at } => {
                f.debug_struct("Chosen").field("ticked", ticked).field("at", at).finish()
            }
        }
    }
}

/// One field. Its texts are the server's: raw.
#[derive(Debug)]
pub struct Field {
    /// Name of the property.
    pub name: String,
    /// Label.
    pub label: String,
    /// Description; may be empty.
    pub description: String,
    /// What can be entered.
    pub kind: Kind,
    /// Whether it must be filled in.
    pub required: bool,
    /// Whether nothing entered can be said as `null`.
    pub nullable: bool,
    /// A default that the form cannot show, and so does not send.
    pub unusable: Option<Value>,
    /// What was entered.
    pub entry: Entry,
    /// Whether the user changed anything.
    pub touched: bool,
    default: Option<Value>,
    /// What a value is held to; none where anything fits that can be entered.
    asked: Option<FormField>,
}

impl Field {
    pub(super) fn of_server(field: &FormField) -> Self {
        let texts = [&field.name, &field.label, &field.description].map(String::clone);
        let new = Self::new(texts, Kind::of(&field.kind), field.required, field.default.clone());
        Self { asked: Some(field.clone()), ..new }
    }

    pub(super) fn of_tool(parameter: Parameter) -> Self {
        let Parameter { field, entry, nullable } = parameter;
        let asked = match &entry {
            entry::Entry::Field(kind) => Some(FormField {
                name: field.name.clone(),
                label: field.name.clone(),
                description: String::new(),
                kind: kind.clone(),
                required: field.required,
                default: None,
            }),
            entry::Entry::Values(_) | entry::Entry::Json => None,
        };
        let kind = match entry {
            entry::Entry::Field(kind) => Kind::of(&kind),
            entry::Entry::Values(values) => {
                Kind::One(values.into_iter().map(|value| (value.clone(), label(&value))).collect())
            }
            entry::Entry::Json => Kind::Json(field.kind),
        };
        let texts = [field.name.clone(), field.name, field.description];
        // `null` as the default of what may be left out says nothing.
        let default = field.default.filter(|value| !(value.is_null() && nullable));
        Self { nullable, asked, ..Self::new(texts, kind, field.required, default) }
    }

    /// A field that holds its default.
    pub fn new(
        [name, label, description]: [String; 3],
        kind: Kind,
        required: bool,
        default: Option<Value>,
    ) -> Self {
        let (default, unusable) = match default {
            Some(value) if kind.can_hold(&value) => (Some(value), None),
            other => (None, other),
        };
        let entry = entered(&kind, default.as_ref());
        Self {
            name,
            label,
            description,
            kind,
            required,
            nullable: false,
            unusable,
            entry,
            touched: false,
            default,
            asked: None,
        }
    }

    /// Whether the field can show a value.
    pub(super) fn can_hold(&self, value: &Value) -> bool {
        self.kind.can_hold(value) || (value.is_null() && self.nullable)
    }

    /// Puts a value in, or takes it out.
    pub(super) fn set(&mut self, value: Option<&Value>) {
        self.entry = entered(&self.kind, value.filter(|value| self.kind.can_hold(value)));
        self.touched = true;
    }

    /// What was written; empty where something is chosen.
    pub fn written(&self) -> String {
        match &self.entry {
            Entry::Written(area) => area.lines().join("\n"),
            Entry::Chosen { .. } => String::new(),
        }
    }

    /// Whether nothing is entered.
    pub fn is_empty(&self) -> bool {
        match &self.entry {
            Entry::Written(area) => area.lines().iter().all(String::is_empty),
            Entry::Chosen { ticked, .. } => !ticked.contains(&true),
        }
    }

    /// The value that is sent: none where the field is left out. The error is a sentence.
    pub fn value(&self) -> Result<Option<Value>, String> {
        // I3: what nobody touched is sent as it came.
        if let Some(default) = self.default.as_ref().filter(|_| !self.touched) {
            return check::fitting(self.asked.as_ref(), default.clone()).map(Some);
        }
        if self.is_empty() {
            return self.nothing();
        }
        let value = match &self.kind {
            Kind::One(options) => match self.chosen(options).into_iter().next() {
                Some(value) => value,
                None => return Ok(None),
            },
            Kind::Many { options, .. } => Value::Array(self.chosen(options)),
            Kind::Text { .. } => self.written().into(),
            Kind::Number { .. } => check::number(&self.written())?,
            Kind::Json(_) => check::json(&self.written())?,
        };
        check::fitting(self.asked.as_ref(), value).map(Some)
    }

    /// What an empty field says.
    fn nothing(&self) -> Result<Option<Value>, String> {
        match (&self.kind, self.required, self.nullable) {
            // I4: an empty field that may be left out is left out.
            (_, false, _) => Ok(None),
            (_, true, true) => Ok(Some(Value::Null)),
            (Kind::One(_), true, false) => Err("Choose one.".to_owned()),
            (Kind::Many { min: None | Some(0), .. }, true, false) => {
                Ok(Some(Value::Array(Vec::new())))
            }
            (Kind::Many { min: Some(min), .. }, true, false) => {
                Err(format!("Choose at least {min}."))
            }
            _ => Err("This has to be filled in.".to_owned()),
        }
    }

    fn chosen(&self, options: &[(Value, String)]) -> Vec<Value> {
        let Entry::Chosen { ticked, .. } = &self.entry else { return Vec::new() };
        let pairs = options.iter().zip(ticked);
        pairs.filter(|(_, ticked)| **ticked).map(|((value, _), _)| value.clone()).collect()
    }

    /// Ticks the option at this place, or takes the tick away where that is possible.
    pub fn tick(&mut self, place: usize) {
        let may_be_none = !self.required || self.nullable;
        let Entry::Chosen { ticked, at } = &mut self.entry else { return };
        let Some(before) = ticked.get(place).copied() else { return };
        *at = place;
        let one = matches!(self.kind, Kind::One(_));
        if one {
            ticked.fill(false);
        }
        if let Some(tick) = ticked.get_mut(place) {
            *tick = !before || (one && !may_be_none);
        }
        self.touched = true;
    }
}

/// A value as something entered.
fn entered(kind: &Kind, value: Option<&Value>) -> Entry {
    let write = |text: &str| Entry::Written(Box::new(editor(text)));
    match kind {
        Kind::Text { .. } => write(value.and_then(Value::as_str).unwrap_or_default()),
        Kind::Number { .. } => write(&value.map(Value::to_string).unwrap_or_default()),
        Kind::Json(_) => write(&value.map(compact).unwrap_or_default()),
        Kind::One(options) | Kind::Many { options, .. } => {
            let holds = |option: &Value| match (kind, value) {
                (Kind::One(_), Some(value)) => value == option,
                (_, Some(Value::Array(values))) => values.contains(option),
                _ => false,
            };
            let ticked: Vec<bool> = options.iter().map(|(option, _)| holds(option)).collect();
            let at = ticked.iter().position(|ticked| *ticked).unwrap_or_default();
            Entry::Chosen { ticked, at }
        }
    }
}

/// JSON on one line; characters that cannot be seen are written as escapes.
fn compact(value: &Value) -> String {
    crate::ui::state::approval::escaped(&value.to_string())
}

fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
