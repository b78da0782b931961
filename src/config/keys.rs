//! The keys of the config, place by place, and what an unknown one was probably meant to be.

use super::nearest::{distance, nearest, plain};
use super::secret;

pub(super) const TOP: [&str; 6] = ["model", "mcp", "servers", "ui", "keys", "audit"];
pub(super) const AUDIT: [&str; 1] = ["arguments"];
pub(super) const MODEL: [&str; 8] = [
    "provider",
    "baseUrl",
    "name",
    "apiKeyEnv",
    "contextWindow",
    "maxOutputTokens",
    "temperature",
    "headers",
];
pub(super) const MCP: [&str; 10] = [
    "permissions",
    "discoveryTimeout",
    "callTimeout",
    "maxCallTime",
    "resultLimit",
    "pins",
    "toolSearch",
    "grants",
    "caFile",
    "servers",
];
pub(super) const SERVER: [&str; 11] = [
    "name",
    "url",
    "auth",
    "permissions",
    "tools",
    "excludeTools",
    "rules",
    "headers",
    "headersEnv",
    "protocol",
    "enabled",
];
pub(super) const BEARER: [&str; 2] = ["type", "tokenEnv"];
pub(super) const API_KEY: [&str; 3] = ["type", "header", "keyEnv"];
pub(super) const AUTH: [&str; 4] = ["type", "tokenEnv", "header", "keyEnv"];
/// A rule, in the config and in `rules.yaml`. `server` says whose it is; in the config, where that is
/// known, it may be left out.
pub(super) const RULE: [&str; 9] =
    ["server", "tool", "when", "readOnly", "destructive", "from", "permissions", "maxCalls", "pin"];
/// What “this tool for this session” allows at most.
pub(super) const GRANTS: [&str; 2] = ["until", "maxCalls"];
pub(super) const UI: [&str; 4] = ["theme", "mouse", "sidebarWidth", "notify"];

/// Keys that say what a server may do: a misspelt one closes.
pub(super) const GUARDS: [&str; 6] =
    ["permissions", "rules", "tools", "excludeTools", "enabled", "auth"];
/// How near to a guard an unknown key has to be, in letters, to close.
const NEAR: usize = 2;

/// What people write when they mean one of our keys: (their word without separators, our key).
const SYNONYMS: &[(&str, &str)] = &[
    ("allow", "tools"),
    ("allowed", "tools"),
    ("allowedtools", "tools"),
    ("allowlist", "tools"),
    ("include", "tools"),
    ("includetools", "tools"),
    ("enabledtools", "tools"),
    ("toolfilter", "tools"),
    ("whitelist", "tools"),
    ("deny", "excludeTools"),
    ("denied", "excludeTools"),
    ("deniedtools", "excludeTools"),
    ("denytools", "excludeTools"),
    ("denylist", "excludeTools"),
    ("exclude", "excludeTools"),
    ("excluded", "excludeTools"),
    ("excludedtools", "excludeTools"),
    ("block", "excludeTools"),
    ("blockedtools", "excludeTools"),
    ("blacklist", "excludeTools"),
    ("disabledtools", "excludeTools"),
    ("disallowedtools", "excludeTools"),
    ("disabled", "enabled"),
    ("disable", "enabled"),
    ("active", "enabled"),
    ("enable", "enabled"),
    ("permission", "permissions"),
    ("permissionmode", "permissions"),
    ("mode", "permissions"),
    ("approval", "permissions"),
    ("approvals", "permissions"),
    ("requireapproval", "permissions"),
    ("approvalpolicy", "permissions"),
    ("policy", "rules"),
    ("policies", "rules"),
    ("authentication", "auth"),
    ("authorization", "auth"),
    ("credentials", "auth"),
    ("oauth", "auth"),
    ("endpoint", "url"),
    ("uri", "url"),
    ("serverurl", "url"),
    ("address", "url"),
    ("id", "name"),
    ("title", "name"),
    ("timeout", "callTimeout"),
    ("timeoutsec", "callTimeout"),
    ("timeoutseconds", "callTimeout"),
    ("timeoutms", "callTimeout"),
    ("maxtokens", "maxOutputTokens"),
    ("model", "name"),
    ("baseurl", "url"),
    ("apibase", "baseUrl"),
    ("type", "provider"),
    ("mcpservers", "mcp.servers"),
];

/// The guard that an unknown key was probably meant to be: two letters away or fewer, or a common
/// other word for it.
pub(super) fn near_guard(key: &str) -> Option<&'static str> {
    let near = GUARDS
        .iter()
        .map(|guard| (distance(key, guard).min(distance(&plain(key), &plain(guard))), *guard))
        .filter(|(distance, _)| *distance <= NEAR)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, guard)| guard);
    near.or_else(|| synonym(key).and_then(|meant| GUARDS.into_iter().find(|g| *g == meant)))
}

/// Whether an unknown key was probably meant to be `pins`.
pub(super) fn near_pins(key: &str) -> bool {
    distance(key, "pins") <= 1
}

fn synonym(key: &str) -> Option<&'static str> {
    let spelled = plain(key);
    SYNONYMS.iter().find(|(word, _)| *word == spelled).map(|(_, meant)| *meant)
}

/// What is wrong with an unknown key, and what to write instead.
pub(super) fn explain(key: &str, known: &[&'static str]) -> (String, String) {
    if key == "<<" {
        return (
            "merge keys (`<<`) are not supported, so what it would bring is missing".to_owned(),
            "Write the merged values out.".to_owned(),
        );
    }
    let what = "not a known key here".to_owned();
    if let Some(near) = nearest(key, known) {
        return (
            format!("{what}; the nearest known key is `{near}`"),
            format!("Did you mean `{near}`?"),
        );
    }
    if known == SERVER && ["type", "transport", "transporttype"].contains(&plain(key).as_str()) {
        return (what, "Take it out: every server is spoken to over Streamable HTTP.".to_owned());
    }
    let meant = synonym(key);
    if let Some(meant) = meant.filter(|meant| known.contains(meant)) {
        return (
            format!("{what}; the nearest known key is `{meant}`"),
            format!("Write `{meant}`."),
        );
    }
    let elsewhere = elsewhere(key).or_else(|| meant.and_then(elsewhere));
    if let Some((place, near)) = elsewhere {
        return (
            format!("{what}; the nearest known key is `{near}`"),
            format!("`{near}` belongs {place}."),
        );
    }
    if secret::key_of_secret(key) {
        return (
            what,
            "Secrets are named by variable, as in `auth: { type: bearer, tokenEnv: NAME }`."
                .to_owned(),
        );
    }
    (what, format!("Known here: {}.", known.join(", ")))
}

/// Where else a key of this name has its place.
fn elsewhere(key: &str) -> Option<(&'static str, &'static str)> {
    let places: [(&'static str, &[&'static str]); 6] = [
        ("under `mcp`", &MCP),
        ("in a server's entry", &SERVER),
        ("in a server's `auth`", &AUTH),
        ("under `model`", &MODEL),
        ("under `ui`", &UI),
        ("at the top of the file", &TOP),
    ];
    let key = key.rsplit('.').next().unwrap_or(key);
    places.iter().find_map(|(place, known)| {
        let same = known.iter().find(|candidate| plain(candidate) == plain(key))?;
        Some((*place, *same))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_recognised_two_letters_away() {
        for (key, guard) in [
            ("permisions", "permissions"),
            ("Permissions", "permissions"),
            ("rulse", "rules"),
            ("rule", "rules"),
            ("tool", "tools"),
            ("toolz", "tools"),
            ("excludeTool", "excludeTools"),
            ("exclude_tools", "excludeTools"),
            ("enbled", "enabled"),
            ("aut", "auth"),
            ("allowed_tools", "tools"),
            ("disabled", "enabled"),
        ] {
            assert_eq!(near_guard(key), Some(guard), "{key}");
        }
        for key in ["call_timeout", "timeout_sec", "description", "command", "transport", "env"] {
            assert_eq!(near_guard(key), None, "{key}");
        }
    }

    #[test]
    fn unknown_keys_name_the_nearest_and_where_it_belongs() {
        let told = |key: &str| {
            let (what, advice) = explain(key, &SERVER);
            format!("{what} {advice}")
        };
        assert!(told("exclude_tools").contains("`excludeTools`"));
        assert!(told("endpoint").contains("`url`"));
        assert!(told("call_timeout").contains("`callTimeout` belongs under `mcp`"));
        assert!(told("timeout_sec").contains("callTimeout"));
        assert!(told("token_env").contains("`tokenEnv` belongs in a server's `auth`"));
        assert!(told("type").contains("Streamable HTTP"));
        assert!(told("banana").contains("Known here: name, url"));
    }
}
