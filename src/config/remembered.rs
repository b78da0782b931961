//! `rules.yaml`: the rules that *always* wrote, in the format of the config's rules with `server`
//! and `pin` besides.

use std::path::Path;

use super::context::{Context, Fields, Origins, Problem, fault};
use super::decode::rule;
use super::node::{self, Node, Position, Value};
use super::scalar;
use crate::domain::{Mode, ServerName, Warning};
use crate::permission::{Pattern, Rule, RuleOrigin};

/// No fingerprint; it is shown where such a rule is named.
const UNREADABLE: &str = "unreadable";
/// Every server, where it cannot be said which one a rule was for.
const EVERY: &str = "*";

/// The rules of a file's text, with a warning for each that cannot be understood. Such a rule
/// makes its server ask, whatever else is remembered for it, and forbids what it was meant to
/// forbid; where it cannot be said which server that is, all of them: a mistake never loosens. The
/// name of a server may be a pattern.
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

/// What is in force while the file cannot be read at all.
pub fn closed(file: &Path) -> Vec<(ServerName, Rule)> {
    vec![(EVERY.into(), asking(origin(file, None)))]
}

fn unusable(context: &mut Context<'_>, at: Position, what: &str) -> Vec<(ServerName, Rule)> {
    let what = format!("{what}; no remembered rule is in force, and every server asks");
    context.warn(&Problem::new(at, "rules", what, "Mend the line, or move the file away."));
    closed(context.file)
}

fn decode_list(context: &mut Context<'_>, items: &[Node]) -> Vec<(ServerName, Rule)> {
    let mut rules = Vec::new();
    let mut closing = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("rules[{index}]");
        let server = server_of(item);
        let decoded = fault(item, &path).map_or(Ok(()), Err).and_then(|()| {
            let rule = rule::decode(context, item, &path, None)?;
            let missing =
                || Problem::new(item.at, format!("{path}.server"), "`server` is missing", "");
            Ok((server.clone().ok_or_else(missing)?, rule))
        });
        match decoded {
            Ok(pair) => rules.push(pair),
            Err(mut problem) => {
                let whose = if server.is_some() { "its server asks" } else { "every server asks" };
                problem.what = format!("{}; {whose} for everything", problem.what);
                context.warn(&problem);
                let server = server.unwrap_or_else(|| EVERY.into());
                closing.extend(stricter(context.file, item).map(|rule| (server.clone(), rule)));
            }
        }
    }
    closing.extend(rules);
    closing
}

fn server_of(item: &Node) -> Option<ServerName> {
    let fields = Fields::of(item, "", "").ok()?;
    let server = scalar::text(fields.given("server")?, "server", "a server's name").ok()?;
    Some(ServerName::from(server))
}

/// What stands in for a rule that cannot be understood: what it was meant to forbid is forbidden,
/// and everything else asks.
fn stricter(file: &Path, item: &Node) -> impl Iterator<Item = Rule> {
    let fields = Fields::of(item, "", "").ok();
    let given = |key: &str| fields.as_ref().and_then(|fields| fields.given(key));
    let forbids = |node: &Node| scalar::mode_or_meant(node) == Mode::Deny;
    let entries = fields.as_ref().map(|fields| fields.entries).unwrap_or_default();
    // Under a key that is misspelt the word counts too.
    let forbidden = given("permissions")
        .map_or_else(|| entries.iter().any(|entry| forbids(&entry.value)), forbids);
    let origin = origin(file, Some(item.at.line));
    let denial = forbidden.then(|| {
        let tool = given("tool").and_then(|node| rule::pattern(node, "").ok());
        Rule {
            tool: tool.unwrap_or_else(|| Pattern(EVERY.to_owned())),
            ..everything(Mode::Deny, origin.clone())
        }
    });
    denial.into_iter().chain([asking(origin)])
}

/// Asks about everything that would run by itself, and opens nothing that is closed: a rule that is
/// bound to a definition that no tool has can only tighten.
fn asking(origin: RuleOrigin) -> Rule {
    Rule { pin: Some(UNREADABLE.to_owned()), ..everything(Mode::Ask, origin) }
}

fn everything(permissions: Mode, origin: RuleOrigin) -> Rule {
    Rule { origin, ..Rule::new(Pattern(EVERY.to_owned()), permissions) }
}

fn origin(file: &Path, line: Option<usize>) -> RuleOrigin {
    RuleOrigin { file: Some(file.to_path_buf()), line }
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
            destructive: Some(false),
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
    fn a_file_that_is_no_list_makes_every_server_ask() {
        for text in ["a: b", "- [", "text"] {
            let (rules, warnings) = decode(text, Path::new("rules.yaml"));
            let told: Vec<_> =
                rules.iter().map(|(server, rule)| (server.as_str(), rule.permissions)).collect();
            assert_eq!((told, warnings.len()), (vec![("*", Mode::Ask)], 1), "{text}");
        }
        assert_eq!(decode("", Path::new("rules.yaml")), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_broken_denial_still_denies_and_one_without_a_server_closes_all() {
        let modes = |text: &str| {
            let (rules, warnings) = decode(text, Path::new("rules.yaml"));
            assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
            let told = |(server, rule): &(ServerName, Rule)| {
                format!("{server} {} {}", rule.tool, rule.permissions.word())
            };
            rules.iter().map(told).collect::<Vec<_>>()
        };
        let text = "- { server: a, tool: x, permissions: deny, wehn: { /p: q } }";
        assert_eq!(modes(text), ["a x deny", "a * ask"]);
        assert_eq!(modes("- { servr: a, tool: x, permissions: auto }"), ["* * ask"]);
        assert_eq!(modes("- { server: a, tol: x, permissions: deny }"), ["a * deny", "a * ask"]);
        assert_eq!(modes("- { server: a, tool: x, permision: deny }"), ["a x deny", "a * ask"]);
        assert_eq!(modes("- { server: a, tool: x, permissions: dney }"), ["a x deny"]);
    }
}
