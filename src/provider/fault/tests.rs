use std::time::UNIX_EPOCH;

use serde_json::json;

use super::*;

fn endpoint() -> Endpoint {
    Endpoint {
        url: "http://localhost:1234/v1".to_owned(),
        model: "tiny".to_owned(),
        key_env: Some("DEMO_KEY".to_owned()),
        local_port: Some(1234),
    }
}

fn refused(status: u16, body: &str) -> ProviderError {
    of_refusal(&endpoint(), &Refusal { status, body, retry_after: None, with_tools: true })
}

#[test]
fn a_full_context_is_recognised_however_it_is_worded() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"input too large","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"maximum context length is 8192 tokens but the prompt holds 9001 input tokens","type":"BadRequestError","code":400}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (9001 tokens) exceeds the available context size (8192 tokens)","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}"#,
        ),
        (400, r#""prompt is too long: 9001 tokens > 8192 maximum""#),
        (400, "prompt is too long: 9001 tokens > 8192 maximum"),
        (413, "Payload Too Large"),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]"#,
        ),
    ] {
        let error = refused(status, body);
        assert_eq!(error.kind, Kind::TooLong, "{body}");
        assert!(!is_retryable(error.kind));
        assert!(error.message.contains("new session"), "{}", error.message);
    }
}

#[test]
fn a_model_without_tools_is_named_with_what_to_change() {
    let body = r#"{"error":{"message":"library/tiny:latest does not support tools"}}"#;
    let error = refused(400, body);
    assert_eq!(error.kind, Kind::NoTools);
    assert!(error.message.contains("tools") && error.message.contains("tiny"));
    let without = Refusal { status: 400, body, retry_after: None, with_tools: false };
    assert_eq!(of_refusal(&endpoint(), &without).kind, Kind::Refused);
}

#[test]
fn a_refused_key_names_its_variable() {
    let error = refused(401, r#"{"error":{"message":"Incorrect API key provided."}}"#);
    assert_eq!(error.kind, Kind::Auth);
    assert!(error.message.contains("DEMO_KEY"), "{}", error.message);
    let nobody = Endpoint { key_env: None, ..endpoint() };
    let refusal = Refusal { status: 403, body: "", retry_after: None, with_tools: false };
    assert!(of_refusal(&nobody, &refusal).message.contains("apiKeyEnv"));
}

#[test]
fn an_unknown_model_and_a_wrong_path_are_told_apart() {
    let model = refused(404, r#"{"error":{"message":"model 'tiny' not found"}}"#);
    assert_eq!(model.kind, Kind::UnknownModel);
    assert!(model.message.contains("model.name"), "{}", model.message);
    let path = refused(404, "404 page not found");
    assert_eq!(path.kind, Kind::UnknownModel);
    assert!(path.message.contains("baseUrl"), "{}", path.message);
    assert_eq!(refused(400, "tiny is not a valid model ID").kind, Kind::UnknownModel);
}

#[test]
fn an_empty_account_is_not_a_rate_limit() {
    assert_eq!(refused(429, r#"{"error":{"code":"insufficient_quota"}}"#).kind, Kind::Refused);
    assert_eq!(refused(429, "slow down").kind, Kind::RateLimited);
}

#[test]
fn only_errors_that_may_pass_are_retried() {
    for status in [400, 401, 402, 403, 404, 409, 422] {
        assert!(!is_retryable(refused(status, "no").kind), "{status}");
    }
    for status in [408, 429, 500, 502, 503, 504, 529] {
        assert!(is_retryable(refused(status, "later").kind), "{status}");
    }
}

#[test]
fn quoted_bodies_are_one_bounded_line() {
    let error = refused(400, &"line\n".repeat(100_000));
    assert!(error.message.chars().count() < EXCERPT + 120);
    assert!(!error.message.contains('\n'));
}

#[test]
fn errors_inside_an_answer_keep_the_providers_words() {
    let error = of_stream(&json!({"error": {"code": 502, "message": "upstream worker is full"}}));
    assert_eq!(error.kind, Kind::Server);
    assert!(error.message.contains("upstream worker is full"), "{}", error.message);
    assert_eq!(of_stream(&json!({"error": "cut off"})).kind, Kind::Broken);
    assert_eq!(of_stream(&json!({"error": {"code": 429}})).kind, Kind::RateLimited);
    assert_eq!(of_stream(&json!({"error": "prompt is too long"})).kind, Kind::TooLong);
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    assert_eq!(retry_after(" 2 ", now), Some(Duration::from_secs(2)));
    assert_eq!(retry_after("0.5", now), Some(Duration::from_millis(500)));
    assert_eq!(retry_after("-3", now), Some(Duration::ZERO));
    assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:40 GMT", now), Some(Duration::from_secs(3)));
    assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now), Some(Duration::ZERO));
    assert_eq!(retry_after("soon", now), None);
    assert_eq!(retry_after("NaN", now), None);
    assert_eq!(retry_after("1e300", now), None);
}
