use serde_json::json;

use super::*;

fn calls(fragments: &[Value]) -> Vec<(String, String, String)> {
    let mut building = Fragments::default();
    for fragment in fragments {
        building.push(fragment).unwrap();
    }
    let (calls, _) = building.finish(1, false);
    calls
        .into_iter()
        .map(|call| {
            let arguments = match call.arguments {
                Ok(object) => Value::Object((*object).clone()).to_string(),
                Err(bad) => format!("bad: {}", bad.raw),
            };
            (call.provider_id, call.name.to_string(), arguments)
        })
        .collect()
}

fn fragment(index: &Value, id: &str, name: &str, arguments: &Value) -> Value {
    json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn a_new_id_starts_a_call_even_under_a_used_index() {
    let found = calls(&[
        fragment(&json!(0), "a", "look", &json!("{\"q\":1}")),
        fragment(&json!(0), "b", "look", &json!("{\"q\"")),
        fragment(&json!(0), "", "", &json!(":2}")),
    ]);
    assert_eq!(found, [call("a", "look", r#"{"q":1}"#), call("b", "look", r#"{"q":2}"#)]);
}

#[test]
fn a_fragment_without_index_and_id_continues_the_call_being_written() {
    let found = calls(&[
        json!({"id": "a", "function": {"name": "x", "arguments": "{"}}),
        json!({"function": {"arguments": "}"}}),
        json!({"id": "b", "function": {"name": "y", "arguments": ""}}),
        json!({"index": null, "function": {"arguments": "{\"p\":0}"}}),
    ]);
    assert_eq!(found, [call("a", "x", "{}"), call("b", "y", r#"{"p":0}"#)]);
}

#[test]
fn interleaved_calls_are_told_apart_by_index() {
    let found = calls(&[
        fragment(&json!(0), "a", "x", &json!("{\"n\":")),
        fragment(&json!(1), "b", "y", &json!("{\"n\":")),
        fragment(&json!(0), "", "", &json!("0}")),
        fragment(&json!(1), "", "", &json!("1}")),
    ]);
    assert_eq!(found, [call("a", "x", r#"{"n":0}"#), call("b", "y", r#"{"n":1}"#)]);
}

#[test]
fn repeated_names_are_not_added_up() {
    let again = fragment(&json!(0), "r", "read_file", &json!("}"));
    let found = calls(&[fragment(&json!(0), "r", "read_file", &json!("{")), again]);
    assert_eq!(found, [call("r", "read_file", "{}")]);
}

#[test]
fn calls_without_any_id_are_kept_apart_and_get_unique_ids() {
    let found = calls(&[
        json!({"index": 0, "function": {"name": "a", "arguments": "{\"n\":1}"}}),
        json!({"index": 0, "function": {"name": "b", "arguments": "{\"n\":2}"}}),
        json!({"function": {"name": "b", "arguments": {"n": 3}}}),
    ]);
    let names: Vec<_> = found.iter().map(|(_, name, text)| format!("{name}{text}")).collect();
    assert_eq!(names, [r#"a{"n":1}"#, r#"b{"n":2}"#, r#"b{"n":3}"#]);
    let ids: HashSet<_> = found.iter().map(|(id, ..)| id).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn one_id_for_two_indexes_is_two_calls_with_two_ids() {
    let found = calls(&[
        fragment(&json!(0), "same", "x", &json!("{}")),
        fragment(&json!(1), "same", "y", &json!("{}")),
    ]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, "same");
    assert_ne!(found[1].0, "same");
}

#[test]
fn an_id_that_changes_without_a_name_is_the_same_call() {
    let found = calls(&[
        fragment(&json!(0), "one", "x", &json!("{\"a\":")),
        fragment(&json!(0), "two", "", &json!("1}")),
    ]);
    assert_eq!(found, [call("one", "x", r#"{"a":1}"#)]);
}

#[test]
fn a_name_that_comes_in_pieces_is_put_together() {
    let found = calls(&[
        fragment(&json!(0), "a", "read_", &json!("")),
        fragment(&json!(0), "", "file", &json!("")),
        fragment(&json!(0), "", "", &json!("{}")),
    ]);
    assert_eq!(found, [call("a", "read_file", "{}")]);
}

#[test]
fn too_many_calls_are_an_error_that_names_the_limit() {
    let mut building = Fragments::default();
    let fault = (0..=CALLS_LIMIT)
        .find_map(|n| building.push(&fragment(&json!(n), &n.to_string(), "x", &json!(""))).err());
    assert!(fault.unwrap().message.contains("calls of one answer"));
}

#[test]
fn a_last_call_without_arguments_is_not_run_when_the_answer_was_cut() {
    let mut building = Fragments::default();
    building.push(&fragment(&json!(0), "a", "x", &json!(""))).unwrap();
    building.push(&fragment(&json!(1), "b", "x", &json!(""))).unwrap();
    let (calls, _) = building.finish(1, true);
    assert!(calls[0].arguments.is_ok());
    assert!(calls[1].arguments.is_err());
}
