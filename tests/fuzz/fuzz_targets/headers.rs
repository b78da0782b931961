//! Values in headers: whatever the text, what is written is a header value and reads back as the
//! text. An input schema and arguments, with a NUL in between, never make a header that is none.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use mini_me_tui_fuzz::headers;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = str::from_utf8(input) {
        let written = headers::encode(text);
        is_value(&written);
        assert_eq!(read(&written), text);
    }
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let Some(Ok(schema)) = parts.next().map(serde_json::from_slice::<Value>) else { return };
    let Ok(found) = headers::scan(&schema) else { return };
    for header in &found {
        assert!(!header.path.is_empty());
        assert!(!header.name.is_empty());
        assert!(header.name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':'));
    }
    let Some(Ok(Value::Object(arguments))) = parts.next().map(serde_json::from_slice) else {
        return;
    };
    let Ok(mirrored) = headers::mirror(&found, &arguments) else { return };
    assert!(mirrored.len() <= found.len());
    let size: usize = mirrored.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(size <= 2 * headers::PARAM_LIMIT);
    for (name, value) in &mirrored {
        assert!(name.starts_with("Mcp-Param-"));
        is_value(value);
    }
});

/// What a header may hold so that nobody on the way changes it.
fn is_value(text: &str) {
    assert!(text.bytes().all(|byte| (0x20..=0x7E).contains(&byte)), "{text:?}");
    assert!(!text.starts_with(' ') && !text.ends_with(' '), "{text:?}");
}

/// As a server reads it.
fn read(value: &str) -> String {
    let packed = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    packed.map_or_else(
        || value.to_owned(),
        |packed| String::from_utf8(STANDARD.decode(packed).expect("Base64")).expect("UTF-8"),
    )
}
