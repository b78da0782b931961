//! What the answers of endpoints say of themselves. Pure.

use serde_json::Value;

use crate::provider::OfferedModel;

/// Smallest number that is a window and not a mistake.
const SMALLEST: u64 = 128;

/// Where an entry of a list of models tells its window, what is in force first.
const WINDOWS: [&str; 9] = [
    "/meta/n_ctx",
    "/loaded_context_length",
    "/max_model_len",
    "/top_provider/context_length",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_input_tokens",
    "/meta/n_ctx_train",
];

/// The models in a list; `None` if it is no such list.
pub(super) fn models(answer: &Value) -> Option<Vec<OfferedModel>> {
    // Docker gives null for an empty list.
    if answer.get("data").is_some_and(Value::is_null) {
        return Some(Vec::new());
    }
    let entries = entries(answer)?;
    let name = |entry: &Value| {
        let name = entry.as_str().or_else(|| entry.get("id")?.as_str());
        name.or_else(|| entry.get("name")?.as_str()).map(str::to_owned)
    };
    let model = |entry: &Value| {
        let name = name(entry).filter(|name| !name.is_empty())?;
        Some(OfferedModel { name, window: window_of(entry) })
    };
    Some(entries.iter().filter_map(model).collect())
}

fn window_of(entry: &Value) -> Option<u64> {
    WINDOWS.iter().find_map(|pointer| window(entry.pointer(pointer)))
}

fn entries(answer: &Value) -> Option<&Vec<Value>> {
    // A few servers give the bare list.
    answer.get("data").or_else(|| answer.get("models")).unwrap_or(answer).as_array()
}

/// The window of a model in a list of models, under the names that servers use.
pub(super) fn window_in_models(answer: &Value, model: &str) -> Option<u64> {
    let entries = entries(answer)?;
    let is_model = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
    // A server with one model serves it under any name.
    let only = || if let [only] = entries.as_slice() { Some(only) } else { None };
    window_of(entries.iter().find(is_model).or_else(only)?)
}

/// Docker Model Runner: models by their tags, with the window they are run with.
pub(super) fn window_in_docker(answer: &Value, model: &str) -> Option<u64> {
    let bare = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    let tagged = |entry: &&Value| {
        let tags = entry.get("tags").and_then(Value::as_array);
        let mut tags = tags.into_iter().flatten().filter_map(Value::as_str);
        tags.any(|tag| bare(tag) == bare(model))
    };
    let entry = answer.as_array()?.iter().find(tagged)?;
    let config = entry.get("config")?;
    window(config.get("context_size")).or_else(|| {
        let length = config.pointer("/gguf")?.as_object()?;
        let (_, length) = length.iter().find(|(key, _)| key.ends_with(".context_length"))?;
        let length = length.as_u64().or_else(|| length.as_str()?.parse().ok())?;
        (length >= SMALLEST).then_some(length)
    })
}

/// llama.cpp: the window of one slot.
pub(super) fn window_in_props(answer: &Value) -> Option<u64> {
    window(answer.pointer("/default_generation_settings/n_ctx"))
        .or_else(|| window(answer.get("n_ctx")))
}

/// Ollama: the window that a loaded model runs with.
pub(super) fn window_in_running(answer: &Value, model: &str) -> Option<u64> {
    let bare = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    let named = |entry: &&Value| {
        let name = entry.get("model").or_else(|| entry.get("name")).and_then(Value::as_str);
        name.is_some_and(|name| bare(name) == bare(model))
    };
    let entry = answer.get("models")?.as_array()?.iter().find(named)?;
    window(entry.get("context_length"))
}

/// Ollama: the window set for a model, else the one that it was trained for.
pub(super) fn window_in_show(answer: &Value) -> Option<u64> {
    set_in_parameters(answer).or_else(|| {
        let info = answer.get("model_info")?.as_object()?;
        let (_, length) = info.iter().find(|(key, _)| key.ends_with(".context_length"))?;
        window(Some(length))
    })
}

fn set_in_parameters(answer: &Value) -> Option<u64> {
    let parameters = answer.get("parameters")?.as_str()?;
    let value = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
    value.trim().parse().ok().filter(|length| *length >= SMALLEST)
}

fn window(value: Option<&Value>) -> Option<u64> {
    value?.as_u64().filter(|length| *length >= SMALLEST)
}
