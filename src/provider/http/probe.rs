//! Asks endpoints about themselves: which models they offer, how large a window is, and which of
//! the well-known local servers answer. Everything here is cheap, short and may come to nothing.

mod reading;

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use super::{add_headers, build, endpoint, of_transport};
use crate::config::ModelConfig;
use crate::config::model::ProviderKind;
use crate::provider::place::is_near;
use crate::provider::{OfferedModel, ProviderError, ProviderErrorKind, anthropic, fault, openai};

/// All questions about a window together.
const WINDOW_TIME: Duration = Duration::from_secs(3);
/// A list of models; large hosts have thousands.
const MODELS_TIME: Duration = Duration::from_secs(15);
/// A local server answers at once or is not there.
const LOCAL_TIME: Duration = Duration::from_millis(800);
/// Largest body that is read.
const BODY_LIMIT: usize = 8 * 1024 * 1024;
/// Most models of one endpoint that are kept.
const MODELS_LIMIT: usize = 2000;

/// The local servers that people run, and where.
const LOCAL: [(&str, &str); 4] = [
    ("Docker Model Runner", "http://localhost:12434/engines/v1"),
    ("Ollama", "http://localhost:11434/v1"),
    ("LM Studio", "http://localhost:1234/v1"),
    ("llama.cpp", "http://localhost:8080/v1"),
];

/// A model endpoint that answers on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalEndpoint {
    /// What usually listens there.
    pub name: String,
    /// Its base URL.
    pub base_url: Url,
    /// The models it offers; may be empty.
    pub models: Vec<String>,
}

/// Which of the well-known local endpoints answer, asked side by side; each is told as soon as it
/// has answered. Takes less than a second.
pub async fn probe_local(found: &mpsc::Sender<LocalEndpoint>) {
    let known = LOCAL.iter().filter_map(|(name, url)| Some((*name, Url::parse(url).ok()?)));
    answering(known.collect(), found).await;
}

async fn answering(known: Vec<(&str, Url)>, found: &mpsc::Sender<LocalEndpoint>) {
    let Some((_, first)) = known.first() else { return };
    let Ok(client) = build(first, None) else { return };
    let asked = known.into_iter().map(|(name, base_url)| {
        let request = client.get(openai::below(&base_url, "models"));
        async move {
            let answer = timeout(LOCAL_TIME, json_of(request)).await.ok()??;
            let models = reading::models(&answer)?;
            let models = bounded(models).into_iter().map(|model| model.name).collect();
            Some(LocalEndpoint { name: name.to_owned(), base_url, models })
        }
    });
    let told = asked.map(|answer| async {
        if let Some(endpoint) = answer.await {
            // Nobody wants to know any more.
            drop(found.send(endpoint).await);
        }
    });
    join_all(told).await;
}

/// The names of the models that the endpoint offers.
pub(super) async fn models(
    client: &reqwest::Client,
    config: &ModelConfig,
) -> Result<Vec<OfferedModel>, ProviderError> {
    let url = models_url(config);
    let about = endpoint(config, &url);
    let request = add_headers(client.get(url.clone()), config)?;
    let silent = || {
        let message = format!("{} did not answer in {} s.", about.url, MODELS_TIME.as_secs());
        fault::error(ProviderErrorKind::Unreachable, message)
    };
    let response = match timeout(MODELS_TIME, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(fault)) => return Err(of_transport(fault, &about, &url).await.error),
        Err(_) => return Err(silent()),
    };
    let status = response.status();
    let Ok(body) = timeout(MODELS_TIME, body_of(response)).await else { return Err(silent()) };
    let body = body.unwrap_or_default();
    if !status.is_success() {
        let body = String::from_utf8_lossy(&body);
        let refusal = fault::Refusal {
            status: status.as_u16(),
            body: &body,
            retry_after: None,
            with_tools: false,
        };
        return Err(fault::of_refusal(&about, &refusal));
    }
    let answer: Value = serde_json::from_slice(&body).map_err(|fault| {
        fault::not_json("its list of models", &String::from_utf8_lossy(&body), &fault)
    })?;
    reading::models(&answer).map(bounded).ok_or_else(|| {
        fault::broken(format!("{} did not answer with a list of models.", about.url))
    })
}

/// The window in tokens, as the endpoint tells it.
pub(super) async fn context_window(client: &reqwest::Client, config: &ModelConfig) -> Option<u64> {
    timeout(WINDOW_TIME, ask_for_window(client, config)).await.ok().flatten()
}

/// What is in force comes before what the model was trained for. Questions of local servers are
/// put to local servers only.
async fn ask_for_window(client: &reqwest::Client, config: &ModelConfig) -> Option<u64> {
    let listed = async {
        let request = add_headers(client.get(models_url(config)), config).ok()?;
        let answer = json_of(request).await?;
        reading::window_in_models(&answer, &config.name)
    };
    let base = &config.base_url;
    if config.provider == ProviderKind::Anthropic || !is_near(base) {
        return listed.await;
    }
    // LM Studio tells more at an address of its own, Docker Model Runner beside its engines.
    let studio = async {
        let answer = get(client, config, "api/v0/models").await?;
        reading::window_in_models(&answer, &config.name)
    };
    let docker = async {
        let answer = json_of(client.get(docker_models(base)?)).await?;
        reading::window_in_docker(&answer, &config.name)
    };
    let props = async { reading::window_in_props(&get(client, config, "props").await?) };
    let running =
        async { reading::window_in_running(&get(client, config, "api/ps").await?, &config.name) };
    let shown = async {
        let request = client.post(beside(base, "api/show")).json(&json!({"model": config.name}));
        reading::window_in_show(&json_of(add_headers(request, config).ok()?).await?)
    };
    let (props, running, shown) = tokio::join!(props, running, shown);
    if let Some(window) = props.or(running).or(shown) {
        return Some(window);
    }
    let (studio, docker, listed) = tokio::join!(studio, docker, listed);
    studio.or(docker).or(listed)
}

async fn get(client: &reqwest::Client, config: &ModelConfig, path: &str) -> Option<Value> {
    json_of(add_headers(client.get(beside(&config.base_url, path)), config).ok()?).await
}

fn models_url(config: &ModelConfig) -> Url {
    match config.provider {
        ProviderKind::Anthropic => anthropic::below(&config.base_url, "models"),
        ProviderKind::OpenAi | ProviderKind::Demo => openai::below(&config.base_url, "models"),
    }
}

/// `path` at the root of the server, next to its `/v1`.
fn beside(base: &Url, path: &str) -> Url {
    let trimmed = base.path().trim_end_matches('/');
    let root = trimmed.strip_suffix("/v1").unwrap_or(trimmed);
    let mut url = base.clone();
    url.set_path(&format!("{root}/{path}"));
    url
}

/// Where Docker Model Runner lists its models; `None` for the address of another server.
fn docker_models(base: &Url) -> Option<Url> {
    let (root, _) = base.path().split_once("/engines")?;
    let mut url = base.clone();
    url.set_path(&format!("{root}/models"));
    Some(url)
}

fn bounded(mut models: Vec<OfferedModel>) -> Vec<OfferedModel> {
    models.truncate(MODELS_LIMIT);
    models
}

async fn json_of(request: reqwest::RequestBuilder) -> Option<Value> {
    let response = request.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    serde_json::from_slice(&body_of(response).await?).ok()
}

/// A body that is not too large.
async fn body_of(mut response: reqwest::Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > BODY_LIMIT {
            return None;
        }
    }
    Some(body)
}

#[cfg(test)]
mod tests;
