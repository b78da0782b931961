//! Arguments of a tool call, read strictly: what is not understood is said, never ignored.

use serde_json::{Map, Value};

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    tool: &'a str,
    given: &'a Map<String, Value>,
}

/// A slice of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

impl<'a> Arguments<'a> {
    /// Refuses names that the tool does not know.
    pub(crate) fn new(
        tool: &'a str,
        given: &'a Map<String, Value>,
        known: &[String],
    ) -> Result<Self, String> {
        let Some(stranger) = given.keys().find(|name| !known.contains(name)) else {
            return Ok(Self { tool, given });
        };
        Err(if stranger.to_lowercase().contains("project") {
            format!(
                "{tool} takes no `{stranger}`: this key is bound to one project. Leave it out; \
                 get_current_project says which project it is."
            )
        } else if known.is_empty() {
            format!("{tool} takes no arguments, so not `{stranger}`. Leave it out.")
        } else {
            format!("{tool} takes no `{stranger}`. It takes: {}.", known.join(", "))
        })
    }

    /// A text that must be there. Numbers are taken as text, because `42` is a fair way to name a
    /// task.
    pub(crate) fn required(&self, name: &str) -> Result<String, String> {
        self.optional(name)?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| format!("{} needs `{name}`. Give it and call again.", self.tool))
    }

    /// A text that may be missing.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<String>, String> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(format!("`{name}` of {} must be a string.", self.tool)),
        }
    }

    /// One of `allowed`, if it is there at all.
    pub(crate) fn one_of(&self, name: &str, allowed: &[&str]) -> Result<Option<String>, String> {
        let Some(word) = self.optional(name)? else { return Ok(None) };
        if allowed.contains(&word.as_str()) {
            return Ok(Some(word));
        }
        Err(format!("`{name}` must be one of {}, not `{word}`.", allowed.join(", ")))
    }

    /// A whole number within bounds, or `default`.
    pub(crate) fn number(
        &self,
        name: &str,
        default: usize,
        bounds: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, String> {
        let value = match self.given.get(name) {
            None | Some(Value::Null) => return Ok(default),
            Some(value) => value,
        };
        value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| bounds.contains(number))
            .ok_or_else(|| {
                let (least, most) = (bounds.start(), bounds.end());
                format!("`{name}` must be a whole number from {least} to {most}, not {value}.")
            })
    }

    /// `offset` and `limit`.
    pub(crate) fn page(&self) -> Result<Page, String> {
        Ok(Page {
            offset: self.number("offset", 0, 0..=1_000_000)?,
            limit: self.number(
                "limit",
                super::super::tools::PAGE,
                1..=super::super::tools::MAX_PAGE,
            )?,
        })
    }
}
