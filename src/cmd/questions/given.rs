//! Answers that were given beforehand, on the command line. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::domain::{Elicitation, ElicitationKind, FormField};
use crate::schema::form::asked;
use crate::text;

/// What was given beforehand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    answers: Vec<(String, String)>,
    defaults: bool,
    used: BTreeSet<String>,
}

/// What that says to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// The whole answer.
    Accept(Map<String, Value>),
    /// Not enough; what is missing or wrong, where something was said at all.
    Wanting(Option<String>),
}

impl Given {
    /// Reads `KEY=JSON` words; with `defaults`, forms whose defaults are enough are accepted.
    pub(super) fn new(words: &[String], defaults: bool) -> Result<Self, String> {
        let read = |word: &String| match word.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
            _ => Err(format!("--answer takes KEY=JSON, and “{word}” is none.")),
        };
        let answers = words.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { answers, defaults, used: BTreeSet::new() })
    }

    /// Whether nothing was given at all.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && !self.defaults
    }

    /// Keys that no form had.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        let keys = self.answers.iter().map(|(key, _)| key.as_str());
        keys.filter(|key| !self.used.contains(*key))
    }

    /// What fits the fields of this form.
    pub(super) fn fitting(&self, elicitation: &Elicitation) -> Map<String, Value> {
        let read = |field: &FormField| {
            let value = self.value(field)?.ok()?;
            Some((field.name.clone(), value))
        };
        fields(elicitation).iter().filter_map(read).collect()
    }

    /// The answer to a form; a page needs a person.
    pub(super) fn answer(&mut self, elicitation: &Elicitation) -> Said {
        if let ElicitationKind::Form { fault: Some(fault), .. } = &elicitation.kind {
            return Said::Wanting(Some(format!("it is no form that can be filled in: {fault}")));
        }
        if let ElicitationKind::Url { .. } = &elicitation.kind {
            return Said::Wanting(None);
        }
        let fields = fields(elicitation);
        let mut content = Map::new();
        for field in fields {
            let Some(read) = self.value(field) else { continue };
            self.used.insert(field.name.clone());
            match read {
                Ok(value) => {
                    content.insert(field.name.clone(), value);
                }
                Err(why) => return Said::Wanting(Some(named(&field.name, &why))),
            }
        }
        if content.is_empty() && !self.defaults {
            return Said::Wanting(match fields {
                [] => Some("it asks to be accepted: --accept-defaults does".to_owned()),
                fields if self.answers.is_empty() => Some(hint(fields)),
                fields => Some(format!("no --answer is for it; {}", hint(fields))),
            });
        }
        match asked::answer(fields, &content) {
            Ok(content) => Said::Accept(content),
            Err(faults) => {
                let faults: Vec<_> = faults.iter().map(|(name, why)| named(name, why)).collect();
                Said::Wanting(Some(faults.join("; ")))
            }
        }
    }

    /// What was given for a field: JSON where that fits, else the text as it is typed.
    fn value(&self, field: &FormField) -> Option<Result<Value, String>> {
        let (_, given) = self.answers.iter().rev().find(|(key, _)| *key == field.name)?;
        let json = serde_json::from_str::<Value>(given).ok();
        if let Some(value) = json.filter(|value| asked::fault(field, value).is_none()) {
            return Some(Ok(value));
        }
        Some(asked::value(field, given).and_then(|value| match value {
            Some(value) => Ok(value),
            None => Err("is empty".to_owned()),
        }))
    }
}

fn fields(elicitation: &Elicitation) -> &[FormField] {
    match &elicitation.kind {
        ElicitationKind::Form { fields, .. } => fields,
        ElicitationKind::Url { .. } => &[],
    }
}

fn named(name: &str, why: &str) -> String {
    format!("“{}” {}", text::strict_line(name), text::line(why))
}

/// How to answer.
fn hint(fields: &[FormField]) -> String {
    let wanted = fields.iter().filter(|field| field.required && field.default.is_none());
    let mut names: Vec<String> = wanted.map(|field| field.name.clone()).collect();
    if names.is_empty() {
        return "give --answer KEY=JSON or --accept-defaults".to_owned();
    }
    names.truncate(8);
    let words = names.iter().map(|name| format!("--answer {}=JSON", text::strict_line(name)));
    format!("give {}", words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::dialog::tests::{form, page};
    use super::*;

    fn given(words: &[&str], defaults: bool) -> Given {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Given::new(&words, defaults).unwrap()
    }

    fn booking() -> Elicitation {
        form(&json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "guests": {"type": "integer", "default": 2},
            "seat": {"type": "string", "enum": ["inside", "outside"]}}}))
    }

    fn accepted(given: &mut Given, elicitation: &Elicitation) -> Value {
        match given.answer(elicitation) {
            Said::Accept(content) => Value::Object(content),
            Said::Wanting(why) => panic!("{why:?}"),
        }
    }

    #[test]
    fn answers_are_json_or_plain_words_and_defaults_fill_the_rest() {
        let mut words = given(&["name=Ann", "seat=\"outside\""], false);
        let expected = json!({"name": "Ann", "guests": 2, "seat": "outside"});
        assert_eq!(accepted(&mut words, &booking()), expected);
        let mut words = given(&["name=123", "guests=4", "other=1"], false);
        assert_eq!(accepted(&mut words, &booking()), json!({"name": "123", "guests": 4}));
        assert_eq!(words.unused().collect::<Vec<_>>(), ["other"]);
        let sure =
            form(&json!({"type": "object", "properties": {"confirmed": {"type": "boolean"}}}));
        let mut words = given(&["confirmed=true"], false);
        assert_eq!(accepted(&mut words, &sure), json!({"confirmed": true}));
    }

    #[test]
    fn what_is_missing_or_wrong_is_said() {
        let why = |words: &[&str], defaults| match given(words, defaults).answer(&booking()) {
            Said::Wanting(why) => why.unwrap_or_default(),
            Said::Accept(content) => panic!("{content:?}"),
        };
        assert!(why(&[], false).contains("--answer name=JSON"));
        assert!(why(&[], true).contains("“name” must be filled in"));
        assert!(why(&["name=A", "guests=many"], false).contains("“guests” must be a whole number"));
        assert!(why(&["x=1"], false).contains("no --answer is for it"));
        assert!(Given::new(&["name".to_owned()], false).is_err());
    }

    #[test]
    fn defaults_alone_are_accepted_only_where_that_was_asked_for() {
        let schema = json!({"type": "object", "properties": {
            "age": {"type": "integer", "default": 30}, "note": {"type": "string"}}});
        assert!(matches!(given(&[], false).answer(&form(&schema)), Said::Wanting(_)));
        assert_eq!(accepted(&mut given(&[], true), &form(&schema)), json!({"age": 30}));
        let empty = form(&json!({"type": "object", "properties": {}}));
        assert!(matches!(given(&["a=1"], false).answer(&empty), Said::Wanting(_)));
        assert_eq!(accepted(&mut given(&[], true), &empty), json!({}));
    }

    #[test]
    fn page_is_never_agreed_to_beforehand() {
        assert_eq!(given(&["a=1"], true).answer(&page()), Said::Wanting(None));
    }
}
