//! Contents of resources, texts of prompts, completions. What is malformed stays as it came, or
//! is left out where nothing could be made of it.

use serde_json::{Map, Value, json};

use super::result::{binary, block, text};
use crate::domain::{
    Completion, CompletionOf, Content, Inquiry, PromptMessage, PromptText, ResourcePart,
};

/// Values of a completion that are kept; servers may send this many (K1).
const VALUES: usize = 100;

/// Parameters of the request that an inquiry is; of a list without its cursor.
pub fn params(inquiry: &Inquiry) -> Map<String, Value> {
    let params = match inquiry {
        Inquiry::Resources | Inquiry::Templates | Inquiry::Prompts => json!({}),
        Inquiry::Read { uri } => json!({ "uri": uri }),
        Inquiry::Prompt { name, arguments } if arguments.is_empty() => json!({ "name": name }),
        Inquiry::Prompt { name, arguments } => json!({ "name": name, "arguments": arguments }),
        Inquiry::Complete { of, argument, value, others } => {
            let of = match of {
                CompletionOf::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
                CompletionOf::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
            };
            let argument = json!({ "name": argument, "value": value });
            let mut params = json!({ "ref": of, "argument": argument });
            if let (false, Some(params)) = (others.is_empty(), params.as_object_mut()) {
                params.insert("context".to_owned(), json!({ "arguments": others }));
            }
            params
        }
    };
    match params {
        Value::Object(params) => params,
        _ => Map::new(),
    }
}

/// Parts of a resource (O1). `Err` says what is wrong with the whole.
pub fn parts(result: Value) -> Result<Vec<ResourcePart>, String> {
    match take(result, "contents") {
        Some(Value::Array(parts)) => Ok(parts.into_iter().map(part).collect()),
        _ => Err("its answer to resources/read has no list of contents".to_owned()),
    }
}

fn take(result: Value, key: &str) -> Option<Value> {
    let Value::Object(mut result) = result else { return None };
    result.remove(key)
}

fn part(part: Value) -> ResourcePart {
    let uri = text(&part, "uri").unwrap_or_default();
    let mime = text(&part, "mimeType").unwrap_or_default();
    let known =
        text(&part, "text").map(Content::Text).or_else(|| binary(&part, "resource", "blob"));
    ResourcePart { uri, mime, content: known.unwrap_or(Content::Unknown(part)) }
}

/// The text of a prompt (Q1). `Err` says what is wrong with the whole.
pub fn prompt(result: Value) -> Result<PromptText, String> {
    let description = text(&result, "description").unwrap_or_default();
    let Some(Value::Array(messages)) = take(result, "messages") else {
        return Err("its answer to prompts/get has no list of messages".to_owned());
    };
    let messages = messages.into_iter().flat_map(message).collect();
    Ok(PromptText { description, messages })
}

/// One message; one whose content is a list, as some servers give it, becomes several.
fn message(message: Value) -> Vec<PromptMessage> {
    let role = text(&message, "role").unwrap_or_default();
    let one = |content| PromptMessage { role: role.clone(), content };
    match message {
        Value::Object(mut members) => match members.remove("content") {
            Some(Value::Array(blocks)) => blocks.into_iter().map(|b| one(block(b))).collect(),
            Some(Value::String(text)) => vec![one(Content::Text(text))],
            Some(content) => vec![one(block(content))],
            None => vec![one(Content::Unknown(Value::Object(members)))],
        },
        other => vec![one(Content::Unknown(other))],
    }
}

/// Ways to go on (K1). `Err` says what is wrong with the whole.
pub fn completion(result: &Value) -> Result<Completion, String> {
    let completion = result.get("completion");
    let Some(values) = completion.and_then(|it| it.get("values")).and_then(Value::as_array) else {
        return Err("its answer to completion/complete has no list of values".to_owned());
    };
    let given = |key| completion.and_then(|it| it.get(key));
    Ok(Completion {
        values: values.iter().filter_map(Value::as_str).take(VALUES).map(str::to_owned).collect(),
        total: given("total").and_then(Value::as_u64),
        more: given("hasMore").and_then(Value::as_bool).unwrap_or(values.len() > VALUES),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn parts_are_text_or_bytes_and_the_malformed_stays_as_it_came() {
        let odd = json!({"uri": "a:3"});
        let parts = parts(json!({"contents": [
            {"uri": "a:1", "mimeType": "text/plain", "text": "hi"},
            {"uri": "a:2", "mimeType": "image/png", "blob": "AAAA"}, odd]}))
        .unwrap();
        let content: Vec<_> = parts.into_iter().map(|part| (part.uri, part.content)).collect();
        let bytes = Content::Binary {
            kind: "resource".to_owned(),
            mime: "image/png".to_owned(),
            uri: "a:2".to_owned(),
            size: 3,
            data: "AAAA".into(),
        };
        assert_eq!(
            content,
            [
                ("a:1".to_owned(), Content::Text("hi".to_owned())),
                ("a:2".to_owned(), bytes),
                ("a:3".to_owned(), Content::Unknown(odd)),
            ]
        );
    }

    #[test]
    fn no_contents_at_all_is_an_answer_and_a_missing_list_is_none() {
        assert_eq!(parts(json!({"contents": []})), Ok(Vec::new()));
        assert!(parts(json!({})).is_err() && parts(json!(1)).is_err());
        assert!(prompt(json!({"description": "x"})).is_err());
        assert!(completion(&json!({"completion": {}})).is_err());
    }

    #[test]
    fn sloppy_messages_of_a_prompt_are_not_lost() {
        let read = prompt(json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "a"}},
            {"role": "assistant", "content": [{"type": "text", "text": "b"}]},
            {"role": "user", "content": "c"}]}));
        let said: Vec<_> = read.unwrap().messages.into_iter().map(|m| m.content).collect();
        assert_eq!(said, ["a", "b", "c"].map(|text| Content::Text(text.to_owned())));
    }

    #[test]
    fn a_completion_names_its_reference_and_sends_the_other_values_only_if_there_are_any() {
        let mut inquiry = Inquiry::Complete {
            of: CompletionOf::Template("a:{x}".to_owned()),
            argument: "x".to_owned(),
            value: "1".to_owned(),
            others: BTreeMap::new(),
        };
        let expected = json!({"ref": {"type": "ref/resource", "uri": "a:{x}"},
            "argument": {"name": "x", "value": "1"}});
        assert_eq!(Value::Object(params(&inquiry)), expected);
        if let Inquiry::Complete { others, .. } = &mut inquiry {
            others.insert("y".to_owned(), "2".to_owned());
        }
        assert_eq!(params(&inquiry)["context"], json!({"arguments": {"y": "2"}}));
    }
}
