use super::*;

fn one(text: &str) -> Message {
    let mut all = decode(text.as_bytes()).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_response_is_a_result_or_an_error() {
    assert_eq!(
        one(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"extra":true}"#),
        Message::Response { id: json!(1), body: Ok(json!({"a": 1})) }
    );
    assert_eq!(
        one(r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no","data":[1]}}"#),
        Message::Response {
            id: Value::Null,
            body: Err(ErrorObject { code: -32601, message: "no".to_owned(), data: json!([1]) })
        }
    );
}

#[test]
fn neither_or_both_of_result_and_error_is_no_message_but_keeps_the_id() {
    for text in [
        r#"{"id":3,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"id":3}"#,
        r#"{"id":3,"error":null}"#,
    ] {
        let Message::Invalid { id, .. } = one(text) else { panic!("{text}") };
        assert_eq!(id, json!(3));
    }
    assert!(matches!(one(r#"{"id":3,"result":{},"error":null}"#), Message::Response { .. }));
}

#[test]
fn a_request_keeps_its_id_as_it_came() {
    let Message::Request { id, method, .. } = one(r#"{"id":"srv-1","method":"ping"}"#) else {
        panic!()
    };
    assert_eq!(method, "ping");
    assert_eq!(result(&id, &json!({}))["id"], json!("srv-1"));
    assert!(matches!(one(r#"{"id":null,"method":"x"}"#), Message::Invalid { .. }));
}

#[test]
fn arrays_are_taken_apart_and_bad_items_stay_alone() {
    let all = decode(br#"[{"id":1,"result":{}},7,{"method":"n"}]"#).unwrap();
    assert!(matches!(all[0], Message::Response { .. }));
    assert!(matches!(all[1], Message::Invalid { .. }));
    assert!(matches!(all[2], Message::Notification { .. }));
    assert!(matches!(decode(b"[]").unwrap()[0], Message::Invalid { .. }));
}

#[test]
fn faults_say_what_is_wrong_without_quoting() {
    assert_eq!(decode(b"{\"id\":1,"), Err(DecodeError::Truncated));
    assert!(matches!(decode(b"<html>"), Err(DecodeError::Syntax { line: 1, .. })));
    let deep = [vec![b'['; 200], vec![b']'; 200]].concat();
    assert!(decode(&deep).unwrap_err().to_string().contains("nesting depth"));
}

#[test]
fn ids_match_by_value_as_text_and_as_integral_float() {
    for id in [json!(7), json!(7.0), json!("7")] {
        assert!(answers(&id, 7), "{id}");
    }
    for id in [json!(8), json!(7.5), json!("07x"), json!(null), json!([7]), json!(-7)] {
        assert!(!answers(&id, 7), "{id}");
    }
}

// J1
#[test]
fn messages_that_do_not_name_the_version_are_read_and_told_apart() {
    for (text, versioned) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
        (r#"{"id":1,"result":{}}"#, false),
        (r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, false),
        (r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"1.0","method":"n"}]"#, false),
        ("[]", true),
        ("null", true),
    ] {
        let read = read(text.as_bytes()).unwrap();
        assert_eq!(read.versioned, versioned, "{text}");
        assert_eq!(read.messages, decode(text.as_bytes()).unwrap());
    }
}

// J11: whatever fits into 64 bits, or into a float without loss, is passed on as it came. The last
// of two keys counts.
#[test]
fn numbers_are_kept_and_the_last_key_counts() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"a":9007199254740993,"b":18446744073709551615,
        "c":-9223372036854775808,"d":0.1,"e":1e-7,"f":1,"f":2}}"#;
    let Message::Response { body: Ok(result), .. } = one(text) else { panic!() };
    assert_eq!(
        result.to_string(),
        r#"{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":0.1,"e":1e-7,"f":2}"#
    );
}
