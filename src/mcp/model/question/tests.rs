use serde_json::json;

use super::*;

fn all(params: &Value) -> Result<Asked, ErrorObject> {
    read(params, Answering::Everything)
}

fn form_request(message: &str) -> Value {
    json!({"method": "elicitation/create", "params": {"message": message,
        "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}}}})
}

#[test]
fn a_form_needs_no_mode_and_a_page_needs_to_be_declared() {
    let form = form_request("Sure?")["params"].clone();
    let asked = all(&form).unwrap();
    assert_eq!(asked.message, "Sure?");
    let ElicitationKind::Form { fields, fault, .. } = asked.kind else { panic!() };
    assert_eq!((fields.len(), fault), (1, None));
    let page = json!({"mode": "url", "message": "m", "elicitationId": "e1",
        "url": "https://Bücher.example/a?b=c"});
    let asked = all(&page).unwrap();
    assert_eq!(asked.name.as_deref(), Some("e1"));
    let ElicitationKind::Url { url, host } = asked.kind else { panic!() };
    assert_eq!(host, "xn--bcher-kva.example");
    assert_eq!(url, "https://xn--bcher-kva.example/a?b=c");
    assert_eq!(read(&page, Answering::Forms).unwrap_err().code, -32602);
    assert_eq!(read(&form, Answering::Nobody).unwrap_err().code, -32601);
}

#[test]
fn what_cannot_be_put_is_an_error_of_its_parameters() {
    for params in [
        json!(null),
        json!({"message": "m"}),
        json!({"message": 1, "requestedSchema": {}}),
        json!({"message": "m", "mode": "voice"}),
        json!({"message": "m", "mode": "url"}),
        json!({"message": "m", "mode": "url", "url": "file:///etc/passwd"}),
        json!({"message": "m", "mode": "url", "url": "javascript:alert(1)"}),
        json!({"message": "m", "mode": "url", "url": format!("https://a.example/{}", "x".repeat(9000))}),
    ] {
        assert_eq!(all(&params).unwrap_err().code, -32602, "{params}");
    }
}

#[test]
fn a_schema_that_is_no_form_can_only_be_declined() {
    let params = json!({"message": "m", "requestedSchema": {"type": "object",
        "properties": {"x": {"type": "object"}}}});
    let ElicitationKind::Form { fields, fault, .. } = all(&params).unwrap().kind else { panic!() };
    assert!(fields.is_empty() && fault.is_some());
}

#[test]
fn only_what_can_be_answered_is_declared() {
    let says = |answering, version| declared(answering, version);
    assert_eq!(says(Answering::Nobody, "2026-07-28"), None);
    assert_eq!(says(Answering::Forms, "2026-07-28"), Some(json!({"form": {}})));
    assert_eq!(says(Answering::Everything, "2025-11-25"), Some(json!({"form": {}, "url": {}})));
    assert_eq!(says(Answering::Everything, "2025-06-18"), Some(json!({})));
    assert_eq!(says(Answering::Everything, "2025-03-26"), None);
}

#[test]
fn state_is_kept_as_it_is_and_absence_is_not_emptiness() {
    let read = |result: Value| input_required(&result, Answering::Everything);
    assert_eq!(read(json!({"content": []})), None);
    assert_eq!(read(json!({"resultType": "complete"})), None);
    let state = "{\"a\": 1.0 }\u{e9}";
    let got = read(json!({"resultType": "input_required", "requestState": state}));
    assert_eq!(got.unwrap().unwrap().state.as_deref(), Some(state));
    let got = read(json!({"resultType": "input_required", "requestState": ""}));
    assert_eq!(got.unwrap().unwrap().state.as_deref(), Some(""));
    let got = read(json!({"resultType": "input_required",
        "inputRequests": {"q1": form_request("a"), "q2": form_request("b")}}));
    let got = got.unwrap().unwrap();
    assert_eq!(got.state, None);
    let keys: Vec<_> = got.questions.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["q1", "q2"]);
}

#[test]
fn what_was_not_offered_ends_the_request_with_the_reason() {
    let read = |requests: Value, answering| {
        let result = json!({"resultType": "input_required", "inputRequests": requests});
        input_required(&result, answering).unwrap().unwrap_err()
    };
    let sampling = json!({"s": {"method": "sampling/createMessage", "params": {}}});
    assert!(read(sampling, Answering::Everything).contains("did not offer"));
    assert!(read(json!({"q": form_request("a")}), Answering::Nobody).contains("nobody"));
    assert!(read(json!({}), Answering::Everything).contains("none in particular"));
    assert!(read(json!([]), Answering::Everything).contains("understood"));
    let many: Map<String, Value> =
        (0..17).map(|nth| (nth.to_string(), form_request("a"))).collect();
    assert!(read(Value::Object(many), Answering::Everything).contains("limit of 16"));
}

#[test]
fn pages_are_read_from_the_error_of_2025_11_25_alone() {
    let page =
        json!({"mode": "url", "elicitationId": "e", "url": "https://a.example/", "message": "m"});
    let error = |code, data| ErrorObject { code, message: String::new(), data };
    let data = json!({ "elicitations": [page] });
    let pages = |error: &ErrorObject, answering| pages_required(error, answering).map(|p| p.len());
    assert_eq!(pages(&error(-32042, data.clone()), Answering::Everything), Some(1));
    assert_eq!(pages(&error(-32042, data.clone()), Answering::Forms), None);
    assert_eq!(pages(&error(-32000, data), Answering::Everything), None);
    let odd = json!({ "elicitations": [form_request("a")["params"]] });
    assert_eq!(pages(&error(-32042, odd), Answering::Everything), None);
}
