//! What a person changed in the arguments that were proposed.

use serde_json::{Map, Value};

/// Changes that are listed; the rest is counted.
pub const LISTED: usize = 100;

/// One place where two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where: a JSON pointer, empty for the whole.
    pub place: String,
    /// What was proposed, as JSON; `None` where it was added.
    pub before: Option<String>,
    /// What it is now, as JSON; `None` where it was taken out.
    pub after: Option<String>,
}

/// Where the arguments differ, in their order, and how many changes more there are than those
/// listed. The order of members counts: it is sent.
pub fn changes(before: &Map<String, Value>, after: &Map<String, Value>) -> (Vec<Change>, usize) {
    let mut found = Found::default();
    found.maps("", before, after);
    (found.listed, found.more)
}

#[derive(Default)]
struct Found {
    listed: Vec<Change>,
    more: usize,
}

impl Found {
    fn add(&mut self, place: &str, before: Option<&Value>, after: Option<&Value>) {
        if self.listed.len() >= LISTED {
            self.more += 1;
            return;
        }
        let (before, after) = (before.map(spelled), after.map(spelled));
        self.listed.push(Change { place: place.to_owned(), before, after });
    }

    // Nesting is bounded by the reader of JSON.
    fn values(&mut self, place: &str, before: &Value, after: &Value) {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => self.maps(place, before, after),
            (Value::Array(before), Value::Array(after)) => self.arrays(place, before, after),
            // Compared as they are written: 1 is not 1.0.
            _ if spelled(before) == spelled(after) => {}
            _ => self.add(place, Some(before), Some(after)),
        }
    }

    fn maps(&mut self, place: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let at = |name: &str| format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        let changed = (self.listed.len(), self.more);
        for (name, value) in before {
            match after.get(name) {
                Some(now) => self.values(&at(name), value, now),
                None => self.add(&at(name), Some(value), None),
            }
        }
        for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.add(&at(name), None, Some(value));
        }
        if changed == (self.listed.len(), self.more) && !before.keys().eq(after.keys()) {
            let names = |map: &Map<String, Value>| map.keys().cloned().collect::<Value>();
            self.add(place, Some(&names(before)), Some(&names(after)));
        }
    }

    fn arrays(&mut self, place: &str, before: &[Value], after: &[Value]) {
        for (at, (before, after)) in before.iter().zip(after).enumerate() {
            self.values(&format!("{place}/{at}"), before, after);
        }
        let common = before.len().min(after.len());
        for (at, value) in before.iter().enumerate().skip(common) {
            self.add(&format!("{place}/{at}"), Some(value), None);
        }
        for (at, value) in after.iter().enumerate().skip(common) {
            self.add(&format!("{place}/{at}"), None, Some(value));
        }
    }
}

/// A value as it is sent.
fn spelled(value: &Value) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(before: &Value, after: &Value) -> Vec<String> {
        let (changes, _) = changes(before.as_object().unwrap(), after.as_object().unwrap());
        let word = |json: Option<String>| json.unwrap_or_else(|| "·".to_owned());
        let line = |change: Change| {
            format!("{} {} → {}", change.place, word(change.before), word(change.after))
        };
        changes.into_iter().map(line).collect()
    }

    #[test]
    fn only_what_differs_is_told_with_its_place() {
        let before = json!({"title": "a", "labels": ["x", "y"], "n": 1, "deep": {"a/b": true}});
        let after = json!({"title": "a", "labels": ["x", "z", "w"], "n": 1.0, "deep": {"a/b": null}, "new": 2});
        let expected = [
            r#"/labels/1 "y" → "z""#,
            r#"/labels/2 · → "w""#,
            "/n 1 → 1.0",
            "/deep/a~1b true → null",
            "/new · → 2",
        ];
        assert_eq!(told(&before, &after), expected);
        assert_eq!(told(&before, &before), [""; 0]);
    }

    #[test]
    fn another_order_is_a_change() {
        let told = told(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1}));
        assert_eq!(told, [r#" ["a","b"] → ["b","a"]"#]);
    }

    #[test]
    fn a_flood_of_changes_is_counted() {
        let (before, after) = (json!({"x": vec![0; 500]}), json!({"x": vec![1; 500]}));
        let (listed, more) = changes(before.as_object().unwrap(), after.as_object().unwrap());
        assert_eq!((listed.len(), more), (LISTED, 400));
    }
}
