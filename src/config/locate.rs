//! Where a key or value of a config text stands.

use super::node::{self, Node, Position, Value};

/// Where a path leads: the key, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located {
    /// The key, or the item of a list.
    pub key: Position,
    /// The value; of a map or list its first key or item.
    pub value: Position,
}

/// Finds a path such as `mcp.servers[0].url`, in block and in flow style. Of a key given twice it
/// finds the first. `None` if there is no such path, or the text is no YAML.
pub fn locate(text: &str, path: &str) -> Option<Located> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = node::parse(text).ok()?;
    let start = Located { key: root.at, value: root.at };
    walk(&root, path, start)
}

fn walk(node: &Node, path: &str, found: Located) -> Option<Located> {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        return Some(found);
    }
    match &node.value {
        // A key may hold dots itself, so every key that the path begins with is tried.
        Value::Map(entries) => entries.iter().find_map(|entry| {
            let rest = path.strip_prefix(entry.key.as_str())?;
            let ends = rest.is_empty() || rest.starts_with(['.', '[']);
            let next = Located { key: entry.key_at, value: entry.value.at };
            if ends { walk(&entry.value, rest, next) } else { None }
        }),
        Value::List(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            walk(item, rest, Located { key: item.at, value: item.at })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\u{feff}model: { name: x }\r\nservers:\r\n  - name: a\r\n    rules:\r\n      \
                        - { tool: t, when: { /a.b: [1, 2] } }\r\n";

    fn at(path: &str) -> Option<(usize, usize)> {
        locate(TEXT, path).map(|found| (found.value.line, found.value.column))
    }

    #[test]
    fn paths_lead_to_the_line_and_column_of_their_value() {
        assert_eq!(at("model.name"), Some((1, 16)));
        assert_eq!(at("servers[0].name"), Some((3, 11)));
        assert_eq!(at("servers[0].rules[0].tool"), Some((5, 17)));
        assert_eq!(at("servers[0].rules[0].when./a.b[1]"), Some((5, 38)));
        assert_eq!(locate(TEXT, "servers[0].rules").map(|found| found.key.line), Some(4));
    }

    #[test]
    fn paths_that_lead_nowhere_are_none() {
        for path in
            ["nothing", "servers[1]", "servers[0].nam", "model[0]", "servers[x]", "model.name.x"]
        {
            assert_eq!(at(path), None, "{path}");
        }
        assert_eq!(locate("a: [", "a"), None);
    }
}
