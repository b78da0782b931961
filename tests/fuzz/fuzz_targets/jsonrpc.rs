//! Any text as a JSON-RPC message: no panic, the same message alone and in a batch, and an answer
//! of ours to whatever was asked is read back as that answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mini_me_tui_fuzz::jsonrpc::{self, Message};
use serde_json::{Value, json};

fuzz_target!(|input: &[u8]| {
    let Ok(messages) = jsonrpc::decode(input) else { return };
    assert!(!messages.is_empty(), "there is always something to tell");
    let is_batch = input.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if !is_batch {
        assert_eq!(messages.len(), 1);
        // One deeper may be too deep.
        if let Ok(batch) = jsonrpc::decode(&[b"[", input, b"]"].concat()) {
            assert_eq!(batch, messages);
        }
    }
    for message in messages {
        match message {
            Message::Request { id, method, params } => {
                assert!(matches!(id.as_value(), Value::String(_) | Value::Number(_)));
                answered(jsonrpc::result(&id, &json!({ "of": method })), id.as_value(), true);
                answered(jsonrpc::error(&id, -1, &method), id.as_value(), false);
                asked(&method, &params);
            }
            Message::Notification { method, params } => asked(&method, &params),
            Message::Response { id, .. } | Message::Invalid { id, .. } => {
                let text = id.to_string();
                // Numbers and their text name the same request; no other id does.
                for ours in [0, 1, 7, 1 << 40] {
                    let is = jsonrpc::answers(&id, ours);
                    assert!(!is || id.is_number() || id.is_string(), "{text} is no {ours}");
                }
            }
        }
    }
});

fn answered(answer: Value, id: &Value, well: bool) {
    let back = jsonrpc::decode(answer.to_string().as_bytes()).expect("our own message");
    let [Message::Response { id: given, body }] = back.as_slice() else {
        panic!("{answer} is no response");
    };
    // A float may be written in more than one way.
    assert!(given == id || id.is_f64(), "{given} is not {id}");
    assert_eq!(body.is_ok(), well);
}

fn asked(method: &str, params: &Value) {
    let request = jsonrpc::request(7, method, params).to_string();
    if let Ok(back) = jsonrpc::decode(request.as_bytes()) {
        assert!(matches!(back.as_slice(), [Message::Request { .. }]));
    }
    let told = jsonrpc::notification(method, params).to_string();
    if let Ok(back) = jsonrpc::decode(told.as_bytes()) {
        assert!(matches!(back.as_slice(), [Message::Notification { .. }]));
    }
}
