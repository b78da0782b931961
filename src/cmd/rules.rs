//! Rules of the command line: `server/tool`, `*` allowed.

use super::Stop;
use crate::domain::{Catalog, Mode, Server, ServerName, Source, Warning};
use crate::permission::{Pattern, Rule};
use crate::text;

/// `--deny` and `--allow` as rules. Denials come first, so that they beat what is allowed.
pub fn rules(allow: &[String], deny: &[String]) -> Result<Vec<(ServerName, Rule)>, Stop> {
    let denied = deny.iter().map(|text| rule(text, Mode::Deny));
    let allowed = allow.iter().map(|text| rule(text, Mode::Auto));
    denied.chain(allowed).collect()
}

fn rule(text: &str, permissions: Mode) -> Result<(ServerName, Rule), Stop> {
    let (server, rule) = Rule::parse_cli(text, permissions).map_err(Stop::usage)?;
    Ok((server.0.as_str().into(), rule))
}

/// What is to be said about rules that no server or tool fits: most likely they are misspelt. Of
/// a server without a list nothing can be said.
pub fn idle(rules: &[(ServerName, Rule)], catalog: &Catalog) -> Vec<Warning> {
    rules.iter().filter_map(|(server, rule)| idle_rule(server, rule, catalog)).collect()
}

fn idle_rule(server: &ServerName, rule: &Rule, catalog: &Catalog) -> Option<Warning> {
    let wanted = Pattern(server.as_str().to_owned());
    let servers: Vec<&Server> =
        catalog.servers.iter().filter(|known| wanted.matches(known.name.as_str())).collect();
    let option = if rule.permissions == Mode::Deny { "--deny" } else { "--allow" };
    let shown = text::strict_line(&format!("{server}/{}", rule.tool.0)).into_string();
    if servers.is_empty() {
        let names = catalog.servers.iter().map(|known| known.name.as_str());
        let what = format!("{option} {shown}: no server has that name.");
        return Some(Warning::new(Source::Program, what, near(server.as_str(), names)));
    }
    let known = || servers.iter().flat_map(|known| &known.tools);
    let listed = servers.iter().all(|known| known.state.usable());
    if !listed || known().any(|tool| rule.tool.matches(tool.id.tool.as_str())) {
        return None;
    }
    let names = known().map(|tool| tool.id.tool.as_str());
    let what = format!("{option} {shown}: no tool there has that name.");
    Some(Warning::new(Source::Program, what, near(&rule.tool.0, names)))
}

fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    text::nearest(word, names).map_or_else(
        || {
            "Write it as `server/tool` in original names; `mini-me-tui tools` lists them."
                .to_owned()
        },
        |near| format!("Did you mean `{}`?", text::strict_line(near)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_come_before_what_is_allowed() {
        let made = rules(&["a/*".to_owned()], &["a/drop/all".to_owned()]).unwrap();
        let modes: Vec<_> = made
            .iter()
            .map(|(server, rule)| (server.as_str(), rule.tool.0.as_str(), rule.permissions))
            .collect();
        assert_eq!(modes, [("a", "drop/all", Mode::Deny), ("a", "*", Mode::Auto)]);
    }

    #[test]
    fn rule_without_a_server_is_wrong_usage() {
        for text in ["get_task", "/x", "a/", ""] {
            assert_eq!(rules(&[text.to_owned()], &[]).unwrap_err().exit, super::super::Exit::Usage);
        }
    }
}
