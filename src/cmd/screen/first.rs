//! The first start, without any config: what this machine offers, and carrying out the choice.

use secrecy::SecretString;
use tokio::sync::mpsc;
use url::Url;

use crate::app::{self, Chosen};
use crate::cli::{self, Common};
use crate::cmd::launch::{self, Launch};
use crate::cmd::{Exit, Stop, output};
use crate::config::{ModelConfig, ProviderKind};
use crate::domain::Interaction;
use crate::provider::{LocalEndpoint, probe_local};
use crate::ui::UiOptions;
use crate::ui::welcome::{Choice, Welcome};

/// Room for endpoints that were found: more than there are.
const FOUND: usize = 8;

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
    let why = "There is no config yet, so no model and no servers are known. Nothing has left this machine.";
    let welcome = Welcome::new(why, choices()).searching();
    let chosen = ask(options, welcome)
        .await
        .map_err(|report| Stop::new(Exit::Failed, format!("{report:#}")))?;
    let Some(Chosen { choice, keep }) = chosen else { return Ok(Way::End(Exit::Done)) };
    let model = match choice {
        Choice::Demo => {
            let demo = Common { demo: true, ..common.clone() };
            let demo = Launch::prepare(&demo, Interaction::Interactive)?;
            return Ok(Way::On(Box::new(demo.instead_of(launch))));
        }
        Choice::StarterConfig => {
            return launch::config(common, &cli::Config::Init).map(Way::End);
        }
        Choice::Local { url, model, .. } => local(&url, model),
        Choice::Key { variable, .. } => by_key(&variable),
        Choice::Without => None,
    };
    if let Some(model) = model.as_ref().filter(|_| keep) {
        output::note(launch::write_config(common, model)?.trim_end());
        // From here on as if it had been there.
        let again = Launch::prepare(common, Interaction::Interactive)?;
        return Ok(Way::On(Box::new(again.instead_of(launch))));
    }
    launch.setup.config.model = model;
    Ok(Way::On(Box::new(launch)))
}

/// Shows the screen at once and looks for endpoints of this machine meanwhile.
async fn ask(options: &UiOptions, welcome: Welcome) -> color_eyre::Result<Option<Chosen>> {
    let (sender, found) = mpsc::channel(FOUND);
    let screen = app::welcome(options, welcome, found);
    tokio::pin!(screen);
    tokio::select! { biased;
        chosen = &mut screen => chosen,
        () = look(sender) => screen.await,
    }
}

/// Endpoints of this machine that answer now and have a model, each as soon as it has answered.
async fn look(sender: mpsc::Sender<Choice>) {
    let (endpoints, mut answering) = mpsc::channel(FOUND);
    let probing = async {
        probe_local(&endpoints).await;
        drop(endpoints);
    };
    let passing = async {
        while let Some(endpoint) = answering.recv().await {
            if let Some(choice) = usable(endpoint)
                && sender.send(choice).await.is_err()
            {
                return;
            }
        }
    };
    tokio::join!(probing, passing);
}

fn choices() -> Vec<Choice> {
    let mut choices = Vec::new();
    if cfg!(feature = "demo") {
        choices.push(Choice::Demo);
    }
    choices.extend(KNOWN.iter().filter(|known| key(known.variable).is_some()).map(|known| {
        Choice::Key { provider: known.provider.to_owned(), variable: known.variable.to_owned() }
    }));
    choices.extend([Choice::StarterConfig, Choice::Without]);
    choices
}

/// Its first model that is not for embeddings only; `/model` takes another.
fn usable(endpoint: LocalEndpoint) -> Option<Choice> {
    let model = endpoint.models.into_iter().find(|name| !name.contains("embed"))?;
    Some(Choice::Local { name: endpoint.name, url: endpoint.base_url.to_string(), model })
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
    ModelConfig::new(provider, base_url, name)
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

    fn endpoint(models: &[&str]) -> LocalEndpoint {
        LocalEndpoint {
            name: "Ollama".to_owned(),
            base_url: Url::parse("http://localhost:11434/v1").unwrap(),
            models: models.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_model_for_embeddings_only_is_passed_over() {
        let choice = usable(endpoint(&["nomic-embed-text", "qwen3"])).unwrap();
        let Choice::Local { model, url, .. } = choice else { panic!("{choice:?}") };
        assert_eq!(model, "qwen3");
        assert!(local(&url, model).is_some());
        assert_eq!(usable(endpoint(&["nomic-embed-text"])), None);
        assert_eq!(usable(endpoint(&[])), None);
    }

    #[test]
    fn addresses_of_known_endpoints_are_addresses() {
        for known in KNOWN {
            assert!(Url::parse(known.base_url).is_ok());
        }
    }
}
