//! A form to fill in: its fields, which one has the keys, what the whole says.
//!
//! The same form answers a server's question and holds the arguments of a tool that the user calls.
//! It is pure: what is shown is what is sent, a field that nobody touched is sent as its default,
//! an empty one that may be left out is left out.

mod check;
mod field;
mod secret;

use serde_json::{Map, Value};

use crate::domain::FormField;
use crate::schema::form::entry::Parameter;

pub use field::{Entry, Field, Kind};
pub use secret::{asks_for_secret, looks_secret};

/// A form.
#[derive(Debug, Default)]
pub struct Form {
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// Which field has the keys; the number of fields where none has.
    pub at: usize,
    /// Whether there is a place behind the last field where keys answer.
    pub answered: bool,
    /// The user wanted to send it: what is missing is said from now on.
    pub tried: bool,
    /// What is wrong with the whole.
    pub fault: Option<String>,
    /// First row shown.
    pub scroll: usize,
    /// Rows shown at once, from the last frame.
    pub page: usize,
    /// Rows there are, from the last frame.
    pub rows: usize,
    /// The next frame scrolls to the field that has the keys.
    pub follow: bool,
}

impl Form {
    /// A form of these fields, filled with their defaults.
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields, page: 1, ..Self::default() }
    }

    /// The form of a server's question.
    pub fn of_server(fields: &[FormField]) -> Self {
        let fields = fields.iter().map(Field::of_server).collect();
        Self { answered: true, ..Self::new(fields) }
    }

    /// The form of a tool's parameters.
    pub fn of_tool(parameters: Vec<Parameter>) -> Self {
        Self::new(parameters.into_iter().map(Field::of_tool).collect())
    }

    /// The field that has the keys.
    pub fn focused(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.at)
    }

    /// Whether no field has the keys: they answer.
    pub fn at_answers(&self) -> bool {
        self.at >= self.fields.len()
    }

    /// Gives the keys to a field, or to the answers where there are any.
    pub fn go_to(&mut self, at: usize) {
        let last =
            if self.answered { self.fields.len() } else { self.fields.len().saturating_sub(1) };
        self.at = at.min(last);
        self.follow = true;
    }

    /// Gives the keys to the place after or before, round and round.
    pub fn step(&mut self, forward: bool) {
        let places = (self.fields.len() + usize::from(self.answered)).max(1);
        let by = if forward { 1 } else { places - 1 };
        self.go_to((self.at + by) % places);
    }

    /// Scrolls by rows, staying inside.
    pub fn scroll_rows(&mut self, by: isize) {
        let last = self.rows.saturating_sub(self.page.max(1));
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
        self.follow = false;
    }

    /// What is wrong with a field, as far as it is to be said now.
    pub fn fault_of(&self, field: &Field) -> Option<String> {
        let fault = field.value().err()?;
        (self.tried || (field.touched && !field.is_empty())).then_some(fault)
    }

    /// The values as they are sent. Where something is wrong it is said from now on, and the first
    /// such field gets the keys.
    pub fn content(&mut self) -> Option<Map<String, Value>> {
        self.tried = true;
        self.fault = None;
        let wrong = self.fields.iter().position(|field| field.value().is_err());
        if let Some(at) = wrong {
            self.go_to(at);
            return None;
        }
        Some(self.sound())
    }

    /// The values of all fields with which nothing is wrong.
    pub fn sound(&self) -> Map<String, Value> {
        let values = self.fields.iter().filter_map(|field| {
            let value = field.value().ok().flatten()?;
            Some((field.name.clone(), value))
        });
        values.collect()
    }

    /// Fills the fields with these values. The error names what has no place in the form.
    pub fn fill(&mut self, values: &Map<String, Value>) -> Result<(), String> {
        let known = |name: &String| self.fields.iter().any(|field| field.name == *name);
        if let Some(name) = values.keys().find(|name| !known(name)) {
            return Err(format!("`{name}` has no field: send it as JSON, or take it out"));
        }
        for field in &self.fields {
            if let Some(value) = values.get(&field.name).filter(|value| !field.can_hold(value)) {
                return Err(format!("`{}`: the form cannot hold {value}", field.name));
            }
        }
        for field in &mut self.fields {
            field.set(values.get(&field.name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
