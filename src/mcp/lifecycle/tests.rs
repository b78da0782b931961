use serde_json::{Value, json};

use super::*;

fn error(status: u16, code: i64, data: Value) -> Reply {
    Reply::Error { status, error: ErrorObject { code, message: "m".to_owned(), data } }
}

fn status(status: u16) -> Reply {
    Reply::Status { status, detail: format!("HTTP {status}") }
}

fn initialize(version: &str) -> Reply {
    Reply::Result(json!({"protocolVersion": version, "capabilities": {"tools": {}}}))
}

fn refusal(lifecycle: &Lifecycle) -> &Refusal {
    let Step::Refused(refusal) = lifecycle.step() else { panic!("{:?}", lifecycle.step()) };
    refusal
}

#[test]
fn a_modern_server_is_agreed_with_in_one_exchange() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    assert_eq!(*lifecycle.step(), Step::Discover("2026-07-28"));
    lifecycle
        .replied(&Reply::Result(json!({"supportedVersions": ["2026-07-28"], "capabilities": {}})));
    let Step::Agreed(agreed) = lifecycle.step() else { panic!() };
    assert_eq!((agreed.era, agreed.version.as_str()), (Era::Modern, "2026-07-28"));
}

#[test]
fn a_legacy_server_is_initialized_and_told_so() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    lifecycle.replied(&status(404));
    assert_eq!(*lifecycle.step(), Step::Initialize("2025-11-25"));
    lifecycle.replied(&initialize("2025-03-26"));
    assert!(matches!(lifecycle.step(), Step::Initialized(_)));
    lifecycle.acknowledged();
    let Step::Agreed(agreed) = lifecycle.step() else { panic!() };
    assert_eq!((agreed.era, agreed.version.as_str()), (Era::Legacy, "2025-03-26"));
}

#[test]
fn a_remembered_legacy_server_is_initialized_at_once_and_probed_if_that_fails() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, Some(Era::Legacy));
    assert_eq!(*lifecycle.step(), Step::Initialize("2025-11-25"));
    lifecycle.replied(&error(400, -32022, json!({"supported": ["2026-07-28"]})));
    assert_eq!(*lifecycle.step(), Step::Discover("2026-07-28"));
    lifecycle.replied(&status(404));
    lifecycle.replied(&status(404));
    assert!(!refusal(&lifecycle).retry);
}

#[test]
fn a_remembered_server_that_is_overloaded_is_not_taken_for_another_era() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, Some(Era::Legacy));
    lifecycle.replied(&status(503));
    assert!(refusal(&lifecycle).retry);
}

#[test]
fn a_forced_version_is_used_and_its_failure_says_what_to_change() {
    let mut modern = Lifecycle::new(Protocol::V20260728, Some(Era::Legacy));
    assert_eq!(*modern.step(), Step::Discover("2026-07-28"));
    modern.replied(&error(200, -32601, Value::Null));
    assert!(refusal(&modern).reason.contains("protocol: auto"));
    let mut legacy = Lifecycle::new(Protocol::V20250618, None);
    assert_eq!(*legacy.step(), Step::Initialize("2025-06-18"));
    legacy.replied(&error(400, -32022, json!({"supported": ["2026-07-28"]})));
    assert!(refusal(&legacy).reason.contains("protocol: auto"));
}

#[test]
fn a_refused_initialize_is_sent_again_once_with_a_version_both_speak() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    lifecycle.replied(&status(400));
    let offer = error(400, -32602, json!({"supported": ["2025-03-26"], "requested": "x"}));
    lifecycle.replied(&offer);
    assert_eq!(*lifecycle.step(), Step::Initialize("2025-03-26"));
    lifecycle.replied(&error(400, -32602, json!({"supported": ["2025-06-18"]})));
    assert_eq!(refusal(&lifecycle).stage, Stage::Negotiate);
}

#[test]
fn an_unknown_version_is_refused_and_named() {
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    lifecycle.replied(&status(404));
    lifecycle.replied(&initialize("1999-12-31"));
    assert!(refusal(&lifecycle).reason.contains("1999-12-31"));
}

#[test]
fn a_web_page_is_no_mcp_server_and_is_not_tried_again_by_itself() {
    let page = Reply::Odd { detail: "HTTP 200 with text/html".to_owned() };
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    lifecycle.replied(&page);
    lifecycle.replied(&page);
    let refusal = refusal(&lifecycle);
    assert!(refusal.reason.contains("text/html") && !refusal.retry);
    assert_eq!(refusal.stage, Stage::Http);
}

// E8, §1.2
#[test]
fn a_modern_refusal_of_initialize_names_the_versions_and_is_asked_again_later() {
    let supported = json!({"supported": ["2026-07-28", "2027-01-01"]});
    let refused = error(400, -32022, supported);
    let mut lifecycle = Lifecycle::new(Protocol::Auto, None);
    lifecycle.replied(&status(500));
    lifecycle.replied(&refused);
    let refusal = refusal(&lifecycle);
    assert!(refusal.retry && refusal.stage == Stage::Negotiate, "{refusal:?}");
    assert!(refusal.reason.contains("2026-07-28, 2027-01-01"), "{refusal:?}");
    let mut forced = Lifecycle::new(Protocol::V20251125, None);
    forced.replied(&refused);
    let reason = &self::refusal(&forced).reason;
    assert!(reason.contains("2027-01-01") && reason.contains("protocol: auto"), "{reason}");
}
