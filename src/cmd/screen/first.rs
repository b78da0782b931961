//! The first start, without any config: what this machine offers, and carrying out the choice.

use std::time::Duration;

use futures_util::future::join_all;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use crate::app;
use crate::cli::{self, Common};
use crate::cmd::launch::{self, Launch};
use crate::cmd::{Exit, Stop};
use crate::config::{ModelConfig, ProviderKind};
use crate::domain::Interaction;
use crate::ui::UiOptions;
use crate::ui::welcome::{Choice, Welcome};

/// How long an endpoint of this machine may take to say what it has.
const LOCAL: Duration = Duration::from_millis(300);
/// Most of such an answer that is read.
const ANSWER: usize = 1024 * 1024;

/// Endpoints that usually listen on this machine.
const LOCALS: [(&str, &str); 4] = [
    ("Docker Model Runner", "http://127.0.0.1:12434/engines/v1"),
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
];

/// A provider whose key may be in the environment.
struct Known {
    provider: &'static str,
    variable: &'static str,
    kind: ProviderKind,
    base_url: &'static str,
    model: &'static str,
}

/// The models are their providers' middle ones; `--model` takes another.
const KNOWN: [Known; 4] = [
    Known {
        provider: "Anthropic",
        variable: "ANTHROPIC_API_KEY",
        kind: ProviderKind::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        model: "claude-sonnet-4-5",
    },
    Known {
        provider: "OpenAI",
        variable: "OPENAI_API_KEY",
        kind: ProviderKind::OpenAi,
        base_url: "https://api.openai.com/v1",
        model: "gpt-5-mini",
    },
    Known {
        provider: "OpenRouter",
        variable: "OPENROUTER_API_KEY",
        kind: ProviderKind::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        model: "openrouter/auto",
    },
    Known {
        provider: "Mistral",
        variable: "MISTRAL_API_KEY",
        kind: ProviderKind::OpenAi,
        base_url: "https://api.mistral.ai/v1",
        model: "mistral-medium-latest",
    },
];

/// What follows the choice.
pub(super) enum Way {
    /// The screen, started like this.
    On(Box<Launch>),
    /// The end of the program.
    End(Exit),
}

/// Shows what there is to choose from and carries the choice out.
pub(super) async fn choose(
    common: &Common,
    options: &UiOptions,
    mut launch: Launch,
) -> Result<Way, Stop> {
    let why = "There is no config yet, so no model and no servers are known. Nothing has been sent anywhere.";
    let welcome = Welcome::new(why, choices().await);
    let chosen = app::welcome(options, welcome)
        .await
        .map_err(|report| Stop::new(Exit::Failed, format!("{report:#}")))?;
    let model = match chosen {
        None => return Ok(Way::End(Exit::Done)),
        Some(Choice::Demo) => {
            let demo = Common { demo: true, ..common.clone() };
            let demo = Launch::prepare(&demo, Interaction::Interactive)?;
            return Ok(Way::On(Box::new(demo.instead_of(launch))));
        }
        Some(Choice::StarterConfig) => {
            return launch::config(common, &cli::Config::Init).map(Way::End);
        }
        Some(Choice::Local { url, model, .. }) => local(&url, model),
        Some(Choice::Key { variable, .. }) => by_key(&variable),
        Some(Choice::Without) => None,
    };
    launch.setup.config.model = model;
    Ok(Way::On(Box::new(launch)))
}

async fn choices() -> Vec<Choice> {
    let mut choices = Vec::new();
    if cfg!(feature = "demo") {
        choices.push(Choice::Demo);
    }
    choices.extend(locals().await);
    choices.extend(KNOWN.iter().filter(|known| key(known.variable).is_some()).map(|known| {
        Choice::Key { provider: known.provider.to_owned(), variable: known.variable.to_owned() }
    }));
    choices.extend([Choice::StarterConfig, Choice::Without]);
    choices
}

/// Endpoints of this machine that answer now and have a model.
async fn locals() -> Vec<Choice> {
    // No proxy: what is asked is on this machine.
    let Ok(client) = reqwest::Client::builder().no_proxy().timeout(LOCAL).build() else {
        return Vec::new();
    };
    let asked = LOCALS.iter().map(|(name, url)| ask(&client, name, url));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, name: &str, url: &str) -> Option<Choice> {
    let mut response = client.get(format!("{url}/models")).send().await.ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER {
            return None;
        }
    }
    let model = first_model(&serde_json::from_slice(&body).ok()?)?;
    Some(Choice::Local { name: name.to_owned(), url: url.to_owned(), model })
}

/// The first model of a list that is not for embeddings only.
fn first_model(list: &Value) -> Option<String> {
    let models = list.get("data")?.as_array()?;
    let names = models.iter().filter_map(|model| model.get("id")?.as_str());
    names.into_iter().find(|name| !name.contains("embed")).map(str::to_owned)
}

fn local(url: &str, name: String) -> Option<ModelConfig> {
    Some(model(ProviderKind::OpenAi, Url::parse(url).ok()?, name))
}

fn by_key(variable: &str) -> Option<ModelConfig> {
    let known = KNOWN.iter().find(|known| known.variable == variable)?;
    let mut model = model(known.kind, Url::parse(known.base_url).ok()?, known.model.to_owned());
    model.api_key = key(variable);
    model.api_key_env = Some(variable.to_owned());
    Some(model)
}

fn model(provider: ProviderKind, base_url: Url, name: String) -> ModelConfig {
    ModelConfig {
        provider,
        base_url,
        name,
        api_key: None,
        api_key_env: None,
        context_window: None,
        max_output_tokens: None,
        temperature: None,
        headers: Vec::new(),
    }
}

fn key(variable: &str) -> Option<SecretString> {
    let value = launch::variable(variable)?.into_string().ok()?;
    let key = value.trim();
    let usable = !key.is_empty() && !key.chars().any(char::is_control);
    usable.then(|| SecretString::from(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_for_embeddings_only_is_passed_over() {
        let list = serde_json::json!({ "data": [{ "id": "nomic-embed-text" }, { "id": "qwen3" }] });
        assert_eq!(first_model(&list).as_deref(), Some("qwen3"));
        assert_eq!(first_model(&serde_json::json!({ "data": [] })), None);
        assert_eq!(first_model(&serde_json::json!("x")), None);
    }

    #[test]
    fn addresses_of_known_endpoints_are_addresses() {
        for (_, url) in LOCALS {
            assert!(local(url, "m".to_owned()).is_some());
        }
        for known in KNOWN {
            assert!(Url::parse(known.base_url).is_ok());
        }
    }
}
