//! `rules.yaml`: the rules that *always* wrote, in the format of the config's rules with `server`
//! and `pin` besides.

use std::path::Path;

use super::context::{Context, Fields, Origins, Problem, fault};
use super::decode::rule;
use super::node::{self, Node, Position, Value};
use super::{keys, scalar};
use crate::domain::{Mode, ServerName, Warning};
use crate::permission::{Pattern, Rule, RuleOrigin};

/// The rules of a file's text, with a warning for each that cannot be understood. Such a rule
/// makes its server ask, whatever else is remembered for it: a mistake never loosens.
pub fn decode(text: &str, file: &Path) -> (Vec<(ServerName, Rule)>, Vec<Warning>) {
    let mut context =
        Context { file, env: &|_| None, warnings: Vec::new(), origins: Origins::default() };
    let rules = match node::parse(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(Node { value: Value::Null, .. }) => Vec::new(),
        Ok(Node { value: Value::List(items), .. }) => decode_list(&mut context, &items),
        Ok(other) => unusable(&mut context, other.at, "a list of rules belongs here"),
        Err(error) => unusable(&mut context, error.at, &error.problem),
    };
    (rules, context.warnings)
}

fn unusable(context: &mut Context<'_>, at: Position, what: &str) -> Vec<(ServerName, Rule)> {
    let what = format!("{what}; no remembered rule is in force");
    context.warn(&Problem::new(at, "rules", what, "Mend the line, or move the file away."));
    Vec::new()
}

fn decode_list(context: &mut Context<'_>, items: &[Node]) -> Vec<(ServerName, Rule)> {
    let mut rules = Vec::new();
    let mut asking = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("rules[{index}]");
        let server = server_of(item);
        let decoded = fault(item, &path).map_or(Ok(()), Err).and_then(|()| {
            let rule = rule::decode(context, item, &path, &keys::REMEMBERED)?;
            let missing =
                || Problem::new(item.at, format!("{path}.server"), "`server` is missing", "");
            Ok((server.clone().ok_or_else(missing)?, rule))
        });
        match decoded {
            Ok(pair) => rules.push(pair),
            Err(mut problem) => {
                let server = server.map(|server| (server.clone(), ask(context.file, item.at)));
                let closes = if server.is_some() { "; its server asks for everything" } else { "" };
                problem.what = format!("{}{closes}", problem.what);
                context.warn(&problem);
                asking.extend(server);
            }
        }
    }
    asking.extend(rules);
    asking
}

fn server_of(item: &Node) -> Option<ServerName> {
    let fields = Fields::of(item, "", "").ok()?;
    let server = scalar::text(fields.given("server")?, "server", "a server's name").ok()?;
    Some(ServerName::from(server))
}

fn ask(file: &Path, at: Position) -> Rule {
    Rule {
        tool: Pattern("*".to_owned()),
        when: Vec::new(),
        read_only: None,
        from: Vec::new(),
        permissions: Mode::Ask,
        max_calls: None,
        pin: None,
        origin: RuleOrigin { file: Some(file.to_path_buf()), line: Some(at.line) },
    }
}

/// A rule as one item of the file, ending in a line break.
///
/// # Errors
/// The rule holds something that YAML cannot write.
pub fn encode(server: &ServerName, rule: &Rule) -> Result<String, serde_yaml::Error> {
    let mut map = serde_yaml::Mapping::new();
    map.insert("server".into(), server.as_str().into());
    map.extend(rule::write(rule));
    serde_yaml::to_string(&[map])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::Source;
    use crate::permission::{Matcher, Rate};

    fn full() -> Rule {
        Rule {
            tool: Pattern("delete: \"x\"\n*".to_owned()),
            when: vec![
                ("/owner".to_owned(), Matcher::Text(Pattern("my-*".to_owned()))),
                (
                    "/n".to_owned(),
                    Matcher::OneOf(vec![
                        Matcher::Value(1.into()),
                        Matcher::Value(serde_json::Value::Null),
                        Matcher::Text(Pattern("true".to_owned())),
                    ]),
                ),
            ],
            read_only: Some(true),
            from: vec![Pattern("a".to_owned()), Pattern("b*".to_owned())],
            permissions: Mode::Auto,
            max_calls: Some(Rate { calls: 5, per: Duration::from_secs(60) }),
            pin: Some("ab12".to_owned()),
            origin: RuleOrigin { file: Some("rules.yaml".into()), line: Some(1) },
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut rule = full();
        rule.tool = Pattern("delete: \"x\"*".to_owned());
        let text = encode(&"my server".into(), &rule).unwrap();
        let (rules, warnings) = decode(&text, Path::new("rules.yaml"));
        assert_eq!(warnings, []);
        assert_eq!(rules, [("my server".into(), rule)]);
    }

    #[test]
    fn a_broken_rule_makes_its_server_ask_before_everything_else() {
        let text = "- { server: a, tool: x, permissions: auto }\n\
                    - { server: a, tool: y, permissions: auto, wehn: { /p: q } }\n";
        let (rules, warnings) = decode(text, Path::new("rules.yaml"));
        assert_eq!(rules.len(), 2);
        assert_eq!(rules[0].1.permissions, Mode::Ask);
        assert_eq!(rules[0].1.tool, Pattern("*".to_owned()));
        assert!(warnings[0].message.contains("wehn"), "{warnings:?}");
        let Source::Config { line, field, .. } = &warnings[0].source else { panic!() };
        assert_eq!((*line, field.as_str()), (Some(2), "rules[1].wehn"));
    }

    #[test]
    fn a_file_that_is_no_list_gives_no_rules_and_a_warning() {
        for text in ["a: b", "- [", "text"] {
            let (rules, warnings) = decode(text, Path::new("rules.yaml"));
            assert_eq!((rules.len(), warnings.len()), (0, 1), "{text}");
        }
        assert_eq!(decode("", Path::new("rules.yaml")), (Vec::new(), Vec::new()));
    }
}
