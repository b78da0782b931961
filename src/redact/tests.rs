use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_body_in_the_log_is_redacted_and_cut() {
    assert_eq!(body(br#"{"a":1,"password":"p"}"#), r#"{"a":1,"password":"[redacted]"}"#);
    assert_eq!(body(b"\xff\xfe"), "[2 bytes]");
    let long = serde_json::json!({ "a": "x".repeat(2 * BODY) }).to_string();
    let shown = body(long.as_bytes());
    assert!(shown.ends_with(&format!("… [{} bytes in all]", long.len())), "{shown}");
}

#[test]
fn url_keeps_scheme_host_port_and_path() {
    let full = Url::parse("https://user:pw@host.example:8443/mcp?key=k#f").unwrap();
    assert_eq!(url(&full), "https://host.example:8443/mcp");
}

#[test]
fn guarded_headers_keep_their_scheme_only() {
    assert_eq!(header("Authorization", "Bearer tok-EXAMPLE"), "Bearer [redacted]");
    assert_eq!(header("authorization", "tok-EXAMPLE"), MARK);
    assert_eq!(header("X-Api-Key", "a b"), MARK);
    assert_eq!(header("CONTEXT7_API_KEY", "k"), MARK);
    assert_eq!(header("Mcp-Session-Id", "1"), MARK);
    assert_eq!(header("Set-Cookie", "a=b"), MARK);
    assert_eq!(header("Content-Type", "text/plain"), "text/plain");
}

#[test]
fn guarded_members_are_hidden_at_any_depth() {
    let value = json!({
        "access_token": "x", "apiKey": 5, "name": "n", "max_tokens": 7, "progressToken": null,
        "list": [{"password": ["a"], "ok": true}],
    });
    let expected = json!({
        "access_token": MARK, "apiKey": MARK, "name": "n", "max_tokens": 7, "progressToken": null,
        "list": [{"password": MARK, "ok": true}],
    });
    assert_eq!(json(&value), expected);
}

#[test]
fn parameter_named_like_a_secret_keeps_its_schema() {
    let schema = json!({"properties": {"token": {"type": "string"}}});
    assert_eq!(json(&schema), schema);
}

#[test]
fn known_secrets_vanish_in_every_spelling() {
    let text = r#"a k"y/1 b k\"y\/1 k\"y/1 k%22y%2F1 end"#;
    let clean = secrets(text, &["k\"y/1"]);
    assert_eq!(clean, r#"a [redacted] b k\"y\/1 [redacted] [redacted] end"#);
}

#[test]
fn longer_secret_goes_before_its_own_beginning() {
    assert_eq!(secrets("abc abcdef", &["abc", "abcdef"]), "[redacted] [redacted]");
    assert_eq!(secrets("abc", &["", "  "]), "abc");
}

proptest! {
    #[test]
    fn no_secret_survives(before in ".*", secret in "[!-~]{6,20}", after in ".*") {
        prop_assume!(!MARK.contains(&secret));
        let clean = secrets(&format!("{before}{secret}{after}"), &[&secret]);
        prop_assert!(!clean.contains(&secret));
    }
}
