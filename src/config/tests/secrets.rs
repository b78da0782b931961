//! Secrets come from the environment alone and are shown nowhere.

use secrecy::ExposeSecret;

use super::{loaded, names, told, with_env};
use crate::config::{Auth, Loaded};
use crate::domain::Source;

fn entry(lines: &str) -> String {
    let mut text = String::from("servers:\n  - name: a\n    url: http://127.0.0.1/mcp\n");
    for line in lines.lines() {
        text = format!("{text}    {line}\n");
    }
    text
}

fn token(loaded: &Loaded) -> Option<&str> {
    match loaded.config.mcp.servers.first()?.auth.as_ref()? {
        Auth::Bearer { token, .. } => Some(token.expose_secret()),
        Auth::ApiKey { key, .. } => Some(key.expose_secret()),
    }
}

#[test]
fn literal_secrets_are_refused_with_the_fix_and_never_shown() {
    for line in [
        "auth: { type: bearer, token: tok-EXAMPLE-1 }",
        "auth: { type: apiKey, header: X-K, key: hunter2-EXAMPLE }",
        "auth: { type: apiKey, header: X-K, apiKey: hunter2-EXAMPLE }",
        "auth: { type: bearer, tokenEnv: tok-EXAMPLE-1 }",
        "auth: { type: bearer, tokenEnv: ghp_EXAMPLE0123456789 }",
        "auth: { type: bearer, tokenEnv: \"Bearer EXAMPLE\" }",
        "auth: { type: bearer, tokenEnv: X, password: EXAMPLE }",
        "token: tok-EXAMPLE-1",
        "apiKey: EXAMPLE-1",
        "headers: { Authorization: Bearer EXAMPLE }",
        "headers: { X-Api-Key: EXAMPLE }",
        "headers: { X-Thing: sk-EXAMPLE-1234 }",
        "headers: { X-Thing: \"Bearer EXAMPLE\" }",
        "headers: { X-Thing: a8Jk2lmQ09xZEXAMPLE4tRw7yVb31 }",
        "headersEnv: { X-Thing: sk-EXAMPLE-1234 }",
    ] {
        let loaded = with_env(&entry(line), &[("X", "y")]).unwrap();
        assert_eq!(names(&loaded), (vec![], vec!["a"]), "{line}");
        let shown = format!("{loaded:?}");
        assert!(!shown.contains("EXAMPLE"), "{line}: {shown}");
        assert!(told(&loaded.warnings).contains("variable"), "{line}: {}", told(&loaded.warnings));
    }
}

#[test]
fn secrets_in_an_address_are_refused_and_never_shown() {
    for url in [
        "http://user:pw-EXAMPLE@127.0.0.1/mcp",
        "http://EXAMPLE@127.0.0.1/mcp",
        "http://127.0.0.1/mcp?key=EXAMPLE",
        "http://127.0.0.1/mcp?api_key=EXAMPLE",
        "http://127.0.0.1/mcp?x=sk-EXAMPLE-1234",
        "127.0.0.1?key=EXAMPLE",
        "ftp://u:EXAMPLE@h/",
    ] {
        let text = format!("servers:\n  - {{ name: a, url: \"{url}\" }}\n");
        let loaded = loaded(&text);
        assert_eq!(names(&loaded), (vec![], vec!["a"]), "{url}");
        assert!(!format!("{loaded:?}").contains("EXAMPLE"), "{url}: {loaded:?}");
    }
    let fine = loaded("servers:\n  - { name: a, url: \"http://127.0.0.1/mcp?toolset=repos\" }\n");
    assert_eq!(fine.warnings, []);
}

#[test]
fn all_secrets_can_be_named_to_the_log() {
    let text = format!(
        "model: {{ name: x, apiKeyEnv: A }}\n{}",
        entry("auth: { type: bearer, tokenEnv: B }\nheadersEnv: { X-C: C }")
    );
    let loaded = with_env(&text, &[("A", "1"), ("B", "2"), ("C", "3")]).unwrap();
    let secrets = loaded.config.secrets();
    let secrets: Vec<&str> = secrets.iter().map(ExposeSecret::expose_secret).collect();
    assert_eq!(secrets, ["1", "2", "3"]);
}

#[test]
fn placeholders_are_refused_with_the_bare_name() {
    for written in ["${TOK}", "$TOK", "%TOK%"] {
        let line = format!("auth: {{ type: bearer, tokenEnv: \"{written}\" }}");
        let loaded = with_env(&entry(&line), &[("TOK", "x")]).unwrap();
        assert_eq!(names(&loaded).1, ["a"]);
        assert!(told(&loaded.warnings).contains("`tokenEnv: TOK`"), "{}", told(&loaded.warnings));
    }
    for line in ["headers: { X-A: \"${TENANT}\" }", "headers: { X-A: $TENANT }"] {
        assert_eq!(names(&loaded(&entry(line))).1, ["a"], "{line}");
    }
    let loaded = loaded("servers:\n  - { name: a, url: \"http://127.0.0.1/${X}\" }\n");
    assert_eq!(names(&loaded).1, ["a"]);
}

#[test]
fn an_unset_or_empty_variable_disables_its_server_and_names_both() {
    let text = entry("auth: { type: bearer, tokenEnv: DOCS_TOKEN }");
    for env in [&[][..], &[("DOCS_TOKEN", "")], &[("DOCS_TOKEN", " \r\n")]] {
        let loaded = with_env(&text, env).unwrap();
        let server = &loaded.config.mcp.servers[0];
        assert!(server.disabled.as_ref().unwrap().contains("DOCS_TOKEN"));
        assert!(server.auth.is_none());
        let message = told(&loaded.warnings);
        assert!(message.contains("DOCS_TOKEN") && message.contains("`a`"), "{message}");
    }
    let loaded = loaded(&entry("headersEnv: { X-Tenant: TENANT }"));
    assert!(loaded.config.mcp.servers[0].disabled.as_ref().unwrap().contains("TENANT"));
}

#[test]
fn white_space_around_a_secret_is_trimmed_and_a_control_character_inside_refused() {
    let text = entry("auth: { type: apiKey, header: X-Key, keyEnv: K }");
    let loaded = with_env(&text, &[("K", "  tok-EXAMPLE-2\r\n")]).unwrap();
    assert_eq!(token(&loaded), Some("tok-EXAMPLE-2"));
    assert_eq!(loaded.warnings, []);
    for bad in ["a\nb", "a\u{0}b", "a\u{7f}b", "a\u{e4}b"] {
        let loaded = with_env(&text, &[("K", bad)]).unwrap();
        assert_eq!(token(&loaded), None);
        let reason = loaded.config.mcp.servers[0].disabled.clone().unwrap();
        assert!(reason.contains('K') && reason.contains("refused"), "{reason}");
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_holds_no_text_disables_its_server() {
    use std::os::unix::ffi::OsStringExt as _;
    let text = entry("auth: { type: bearer, tokenEnv: K }");
    let lookup = |_: &str| Some(std::ffi::OsString::from_vec(vec![b'a', 0xff]));
    let loaded = super::decode(&text, std::path::Path::new("c.yaml"), &lookup).unwrap();
    assert!(loaded.config.mcp.servers[0].disabled.is_some());
}

#[test]
fn a_server_that_is_switched_off_needs_no_variable() {
    let loaded = loaded(&entry("enabled: false\nauth: { type: bearer, tokenEnv: UNSET }"));
    assert_eq!(loaded.warnings, []);
    let server = &loaded.config.mcp.servers[0];
    assert!(server.missing_credential().is_some_and(|reason| reason.contains("UNSET")));
    let loaded = super::loaded(&entry("enabled: false"));
    let server = &loaded.config.mcp.servers[0];
    assert!(server.disabled.is_some() && server.missing_credential().is_none());
}

#[test]
fn an_unknown_key_in_auth_that_leaves_no_credential_skips_the_server() {
    let loaded = with_env(&entry("auth: { type: bearer, token_env: T }"), &[("T", "x")]).unwrap();
    assert_eq!(names(&loaded).1, ["a"]);
    let message = told(&loaded.warnings);
    assert!(
        message.contains("servers[0].auth.token_env") && message.contains("`tokenEnv`"),
        "{message}"
    );
    let usable = with_env(&entry("auth: { type: bearer, tokenEnv: T, note: x }"), &[("T", "x")]);
    let usable = usable.unwrap();
    assert_eq!((names(&usable).0, usable.warnings.len()), (vec!["a"], 1));
}

#[test]
fn a_credential_over_plain_http_to_another_machine_is_a_warning_on_the_server() {
    let load = |url: &str| {
        let text = format!(
            "servers:\n  - name: a\n    url: {url}\n    auth: {{ type: bearer, tokenEnv: T }}\n"
        );
        with_env(&text, &[("T", "x")]).unwrap()
    };
    let far = load("http://mcp.example.test/mcp");
    assert_eq!(far.warnings[0].source, Source::Server("a".into()));
    assert!(far.config.mcp.servers[0].disabled.is_none());
    for near in [
        "http://127.0.0.2/",
        "http://localhost:1/",
        "\"http://[::1]/\"",
        "http://x.localhost/",
        "https://mcp.example.test/",
    ] {
        assert_eq!(load(near).warnings, [], "{near}");
    }
    let bare = loaded("servers:\n  - { name: a, url: \"http://mcp.example.test/\" }\n");
    assert_eq!(bare.warnings, []);
}

#[test]
fn headers_that_cannot_be_sent_refuse_the_entry() {
    for line in [
        "headers: { \"X A\": b }",
        "headers: { Host: b }",
        "headers: { Mcp-Session-Id: b }",
        "headers: { X-A: \"b\\nc\" }",
        "headers: { X-A: [b] }",
        "headers: { X-A: b, x-a: c }",
        "headers: { X-A: b }\nheadersEnv: { X-A: T }",
        "headersEnv: { Authorization: T }\nauth: { type: bearer, tokenEnv: T }",
        "headers: x",
    ] {
        let loaded = with_env(&entry(line), &[("T", "x")]).unwrap();
        assert_eq!(names(&loaded).1, ["a"], "{line}");
    }
    let loaded = with_env(
        &entry("headers: { X-Toolset: repos, X-N: 5 }\nheadersEnv: { X-Tenant: T }"),
        &[("T", "x")],
    );
    let loaded = loaded.unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.config.mcp.servers[0].headers.len(), 2);
    assert_eq!(loaded.config.mcp.servers[0].headers_env.len(), 1);
}
