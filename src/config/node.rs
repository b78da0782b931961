//! YAML text as a tree whose every scalar and key knows its line and column.
//!
//! The YAML crate keeps no positions, but every error it makes carries one. So the visitor notes a
//! scalar's value and then fails on purpose: the failure consumes exactly that scalar, its text
//! says where it stood, and the walk goes on. One pass gives all positions, in block and in flow
//! style. Duplicate keys are kept: refusing them is up to whoever knows what they mean.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

/// Most nodes of one file, aliases expanded: stops files that grow when they are read.
const MAX_NODES: usize = 100_000;

/// A place in the text: line and column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The beginning of the file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it stands. A map or list stands where its first key or item does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

/// What stands there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// A value with a tag of its own (`!secret x`), which nothing here understands.
    Tagged,
}

/// One `key: value`, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_at: Position,
    pub(super) value: Node,
}

/// Why a text is no YAML that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) at: Position,
    pub(super) problem: String,
}

/// Reads one document. An empty one is [`Value::Null`].
pub(super) fn parse(text: &str) -> Result<Node, ParseError> {
    let budget = Cell::new(MAX_NODES);
    let seed = NodeSeed { budget: &budget, around: Position::START };
    seed.deserialize(serde_yaml::Deserializer::from_str(text))
        .map_err(|error| ParseError::from_yaml(&error, text))
}

impl ParseError {
    fn from_yaml(error: &serde_yaml::Error, text: &str) -> Self {
        let message = error.to_string();
        if message.contains("more than one document") {
            return Self {
                at: second_document(text),
                problem: "a second document begins here, but a config file is one document".into(),
            };
        }
        let at = error.location().map_or(Position::START, |location| Position {
            line: location.line(),
            column: location.column(),
        });
        // A type error quotes the value, which may be a secret: nothing from the quote on is kept.
        let problem = match message.split_once(['"', '`']) {
            Some((before, _)) => before.trim_end_matches([' ', ',', ':']).to_owned(),
            None => message,
        };
        Self { at: at.on_a_line_with_text(&problem, text), problem }
    }
}

impl Position {
    /// Itself; or, where its line is empty (something was never closed), the place that the
    /// problem names as the beginning, else the last line with text before it.
    fn on_a_line_with_text(self, problem: &str, text: &str) -> Self {
        let has_text = |line: usize| {
            let line = line.checked_sub(1).and_then(|index| text.lines().nth(index));
            line.is_some_and(|line| !line.trim().is_empty())
        };
        if has_text(self.line) {
            return self;
        }
        if let Some(begun) = position_in(problem).filter(|begun| has_text(begun.line)) {
            return begun;
        }
        let before = (1..self.line).rev().find(|line| has_text(*line));
        before.map_or(self, |line| Self { line, column: 1 })
    }
}

/// Where the second document of a text begins, as good as lines can tell.
fn second_document(text: &str) -> Position {
    let mut seen_content = false;
    for (index, line) in text.lines().enumerate() {
        if seen_content && (line.starts_with("---") || line.starts_with("...")) {
            return Position { line: index + 1, column: 1 };
        }
        let blank = line.trim().is_empty() || line.starts_with(['#', '%']);
        seen_content |= !blank;
    }
    Position::START
}

#[derive(Clone, Copy)]
struct NodeSeed<'a> {
    budget: &'a Cell<usize>,
    /// Where the surroundings stand: for values that have no position of their own.
    around: Position,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let Some(left) = self.budget.get().checked_sub(1) else {
            return Err(D::Error::custom(format!(
                "the file holds more than {MAX_NODES} values, aliases expanded"
            )));
        };
        self.budget.set(left);
        let scalar = RefCell::new(None);
        match deserializer.deserialize_any(NodeVisitor { seed: self, scalar: &scalar }) {
            Ok(node) => Ok(node),
            Err(error) => match scalar.take() {
                Some(value) => {
                    let at = position_in(&error.to_string()).unwrap_or(Position::START);
                    Ok(Node { at, value })
                }
                None => Err(error),
            },
        }
    }
}

/// The position at the end of an error's text; the YAML crate leaves it out at the very start.
fn position_in(message: &str) -> Option<Position> {
    let (_, place) = message.rsplit_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    Some(Position { line: line.parse().ok()?, column: column.parse().ok()? })
}

struct NodeVisitor<'a> {
    seed: NodeSeed<'a>,
    scalar: &'a RefCell<Option<Value>>,
}

impl NodeVisitor<'_> {
    /// Notes the scalar and fails, for the sake of the position.
    fn note<E: serde::de::Error>(&self, value: Value) -> Result<Node, E> {
        self.scalar.replace(Some(value));
        Err(E::custom(""))
    }
}

impl<'de> Visitor<'de> for NodeVisitor<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Node, E> {
        Ok(Node { at: self.seed.around, value: Value::Null })
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Node, E> {
        self.note(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Node, E> {
        self.note(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Node, E> {
        self.note(Value::Int(value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Node, E> {
        self.note(Value::Int(value.into()))
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Node, E> {
        self.note(Value::Int(value))
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Node, E> {
        self.note(Value::Int(i128::try_from(value).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        self.note(Value::Float(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Node, E> {
        self.note(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items: Vec<Node> = Vec::new();
        while let Some(item) = access.next_element_seed(self.seed)? {
            items.push(item);
        }
        let at = items.first().map_or(self.seed.around, |first| first.at);
        Ok(Node { at, value: Value::List(items) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key) = access.next_key_seed(self.seed)? {
            let value = access.next_value_seed(NodeSeed { around: key.at, ..self.seed })?;
            entries.push(Entry { key: key_text(&key.value), key_at: key.at, value });
        }
        let at = entries.first().map_or(self.seed.around, |first| first.key_at);
        Ok(Node { at, value: Value::Map(entries) })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Node, A::Error> {
        let (_, inner) = access.variant::<String>()?;
        let node = inner.newtype_variant_seed(self.seed)?;
        Ok(Node { at: node.at, value: Value::Tagged })
    }
}

fn key_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::List(_) | Value::Map(_) | Value::Tagged => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(node: &Node) -> &[Entry] {
        match &node.value {
            Value::Map(entries) => entries,
            other => panic!("no map: {other:?}"),
        }
    }

    #[test]
    fn every_key_and_scalar_knows_its_place_in_block_and_flow_style() {
        let root = parse("a: 1\nb:\n  - x: yes\n    y: \"z\"\n  - { k: [1, ~, two] }\n").unwrap();
        let top = entries(&root);
        assert_eq!(top[0].key_at, Position { line: 1, column: 1 });
        assert_eq!(top[0].value.at, Position { line: 1, column: 4 });
        let Value::List(items) = &top[1].value.value else { panic!("no list") };
        assert_eq!(entries(&items[0])[1].value.at, Position { line: 4, column: 8 });
        let flow = &entries(&items[1])[0];
        assert_eq!(flow.key_at, Position { line: 5, column: 7 });
        let Value::List(inner) = &flow.value.value else { panic!("no list") };
        assert_eq!(inner[1], Node { at: Position { line: 5, column: 14 }, value: Value::Null });
        assert_eq!(inner[2].at, Position { line: 5, column: 17 });
    }

    #[test]
    fn duplicate_keys_are_kept_in_order() {
        let root = parse("{a: 1, a: 2}").unwrap();
        assert_eq!(entries(&root).len(), 2);
        assert_eq!(entries(&root)[1].key_at, Position { line: 1, column: 8 });
    }

    #[test]
    fn empty_text_and_comments_alone_are_null() {
        for text in ["", "\n\n", "# only a comment\n", "---\n"] {
            assert_eq!(parse(text).unwrap().value, Value::Null, "{text:?}");
        }
    }

    #[test]
    fn two_documents_are_refused_at_the_second() {
        let error = parse("a: 1\n---\nb: 2\n").unwrap_err();
        assert_eq!(error.at, Position { line: 2, column: 1 });
    }

    #[test]
    fn what_was_never_closed_is_shown_where_it_begins() {
        let error = parse("a: 1\nx: 'open\n\n").unwrap_err();
        assert_eq!(error.at, Position { line: 2, column: 4 });
        assert_eq!(parse("a: 1\nb: {\n").unwrap_err().at.line, 2);
    }

    #[test]
    fn a_type_error_does_not_quote_the_value() {
        let error = parse("a: !!int tok-EXAMPLE-1\n").unwrap_err();
        assert!(!error.problem.contains("tok-EXAMPLE"), "{error:?}");
        assert_eq!(error.at.line, 1);
    }

    #[test]
    fn aliases_are_expanded_and_tags_are_noted() {
        let root = parse("a: &x { k: 1 }\nb: *x\nc: !foo bar\n").unwrap();
        assert_eq!(entries(&root)[1].value.value, entries(&root)[0].value.value);
        assert_eq!(entries(&root)[2].value.value, Value::Tagged);
    }

    #[test]
    fn a_file_that_grows_by_aliases_meets_the_limit() {
        let mut text = String::from("a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
        for (new, old) in ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"])
        {
            let stars = vec![format!("*{old}"); 10].join(", ");
            text = format!("{text}{new}: &{new} [{stars}]\n");
        }
        assert!(parse(&text).is_err());
    }

    #[test]
    fn a_file_that_contains_itself_or_is_too_deep_is_an_error() {
        assert!(parse("a: &a [*a]\n").is_err());
        assert!(parse(&"[".repeat(5000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(?s)[-a-z:{}\\[\\]&*!|>'\"#%@`,?\\n \\t\\r0-9.~<\\PC]{0,80}") {
            drop(parse(&text));
        }
    }
}
