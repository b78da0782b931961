//! Where a warning comes from, in front of its sentence.

use crate::domain::{Source, Warning};
use crate::text;

/// `config.yaml:14 mcp.servers[0].url: `, with its colon; empty for the program itself. A field
/// that the sentence names is not named twice. Cleaned.
pub(super) fn of(warning: &Warning) -> String {
    let raw = match &warning.source {
        Source::Config { file, line, field } => {
            let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let named = field.is_empty() || warning.message.contains(field);
            let field = if named { String::new() } else { format!(" {field}") };
            format!("{name}{line}{field}")
        }
        Source::Server(server) => server.to_string(),
        Source::Tool(tool) => tool.to_string(),
        Source::Model => "model".to_owned(),
        Source::Program => return String::new(),
    };
    format!("{}: ", text::strict_line(&raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_the_sentence_names_is_not_named_twice() {
        let source = |field: &str| Source::Config {
            file: "/home/ana/.config/mini-me/config.yaml".into(),
            line: Some(14),
            field: field.to_owned(),
        };
        for (field, message, origin) in [
            ("mcp.servers[0].url", "`mcp.servers[0].url`: not a URL.", "config.yaml:14: "),
            ("mcp.servers[0].url", "The address is no URL.", "config.yaml:14 mcp.servers[0].url: "),
            ("", "The file is empty.", "config.yaml:14: "),
        ] {
            assert_eq!(of(&Warning::new(source(field), message, "")), origin);
        }
    }

    #[test]
    fn names_of_servers_are_cleaned() {
        let warning = Warning::new(Source::Server("a\u{1b}[2Jb\n".into()), "x", "");
        assert_eq!(of(&warning), "a\\u{1b}[2Jb\\n: ");
    }
}
