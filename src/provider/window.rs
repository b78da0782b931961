//! How large a model's window usually is, for endpoints that do not tell. Pure.

use super::place::is_near;
use crate::config::ModelConfig;
use crate::config::model::ProviderKind;

/// By the beginning of a model's name, without the maker's. The first that fits counts.
const KNOWN: [(&str, u64); 17] = [
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-3.5", 16_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("gemini", 1_000_000),
    ("mistral", 128_000),
    ("magistral", 128_000),
    ("codestral", 128_000),
    ("devstral", 128_000),
    ("deepseek", 64_000),
    ("grok", 128_000),
];
/// Of any other model, and of every one at home: those servers are often started with less than
/// the model could take.
const USUAL: u64 = 32_768;

/// The window of this model in tokens, if nobody says otherwise. Rather too small than too large:
/// an answer that does not fit costs more than a summary that came early.
pub fn assumed(model: &ModelConfig) -> u64 {
    if model.provider == ProviderKind::Anthropic {
        return 200_000;
    }
    if is_near(&model.base_url) {
        return USUAL;
    }
    let name = model.name.rsplit('/').next().unwrap_or_default().to_lowercase();
    KNOWN.iter().find(|(start, _)| name.starts_with(start)).map_or(USUAL, |(_, window)| *window)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn model(base: &str, name: &str) -> ModelConfig {
        ModelConfig::new(ProviderKind::OpenAi, Url::parse(base).unwrap(), name.to_owned())
    }

    #[test]
    fn a_model_is_known_by_its_name_whoever_routes_to_it() {
        assert_eq!(assumed(&model("https://api.openai.com/v1", "gpt-4o-mini")), 128_000);
        assert_eq!(assumed(&model("https://openrouter.ai/api/v1", "openai/GPT-5-mini")), 400_000);
        assert_eq!(assumed(&model("https://models.example/v1", "something-new")), USUAL);
    }

    #[test]
    fn a_server_at_home_is_not_assumed_to_be_large_whatever_it_serves() {
        assert_eq!(assumed(&model("http://localhost:11434/v1", "gemini-like")), USUAL);
    }
}
