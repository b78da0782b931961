//! Rules of the command line: `server/tool`, `*` allowed.

use super::Stop;
use crate::domain::{Mode, ServerName};
use crate::permission::Rule;

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
