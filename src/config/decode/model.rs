//! `model:`. A section that cannot be used is no model, with a warning.

use url::Url;

use super::super::model::{DEMO_ENDPOINT, ModelConfig, ProviderKind};
use super::super::scalar;
use super::auth::{self, Variable};
use super::server::{endpoint, in_the_clear, plain_headers};
use super::{Context, Fields, Node, Problem, Value, fault, keys};

pub(super) const PROVIDERS: [(&str, ProviderKind); 3] = [
    ("openai", ProviderKind::OpenAi),
    ("anthropic", ProviderKind::Anthropic),
    ("demo", ProviderKind::Demo),
];
/// Most tokens that a window or an answer may be said to have.
const MAX_TOKENS: u64 = 100_000_000;

pub(super) fn decode(context: &mut Context<'_>, node: &Node) -> Option<ModelConfig> {
    match whole(context, node) {
        Ok(model) => Some(model),
        Err(mut problem) => {
            problem.what = format!("{}; no model is configured until this is mended", problem.what);
            context.warn(&problem);
            None
        }
    }
}

fn whole(context: &mut Context<'_>, node: &Node) -> Result<ModelConfig, Problem> {
    let fields = Fields::of(node, "model", "a map with `provider`, `baseUrl` and `name`")?;
    let mut literal = None;
    for entry in fields.unknown(&keys::MODEL) {
        match auth::literal(&fields, entry) {
            Some(problem) if literal.is_none() => literal = Some(problem),
            _ => context.warn(&fields.unknown_key(entry, &keys::MODEL)),
        }
    }
    if let Some(mut problem) = literal {
        "Put it into an environment variable and write the variable's name: `apiKeyEnv: NAME`."
            .clone_into(&mut problem.advice);
        return Err(problem);
    }
    fault(node, "model").map_or(Ok(()), Err)?;
    context.origins.note("model", &fields);
    let provider = fields.given("provider");
    let provider = provider
        .map(|node| scalar::choice(node, "model.provider", &PROVIDERS))
        .transpose()?
        .unwrap_or(ProviderKind::OpenAi);
    let base_url = match fields.given("baseUrl") {
        Some(node) => endpoint(node, "model.baseUrl")?,
        None => usual_endpoint(&fields, provider)?,
    };
    let name = match fields.given("name") {
        Some(Node { value: Value::Int(number), .. }) => number.to_string(),
        Some(node) => scalar::text(node, "model.name", "a model's name")?.to_owned(),
        None if provider == ProviderKind::Demo => "demo".to_owned(),
        None => {
            let advice = "Write the name as the endpoint knows it, such as `name: ai/qwen3`.";
            return Err(Problem::new(fields.at, "model.name", "`name` is missing", advice));
        }
    };
    let advice = "Put it into an environment variable and write `apiKeyEnv: NAME`.";
    let headers = fields.given("headers");
    let headers = headers.map(|node| plain_headers(node, "model.headers", advice)).transpose()?;
    let key = fields
        .given("apiKeyEnv")
        .map(|node| auth::variable(context, node, "model.apiKeyEnv"))
        .transpose()?;
    let (api_key_env, api_key) = read_key(context, key);
    if api_key_env.is_some() && in_the_clear(&base_url) {
        warn_in_the_clear(context, &fields, &base_url);
    }
    Ok(ModelConfig {
        provider,
        base_url,
        name,
        api_key,
        api_key_env,
        context_window: tokens(context, &fields, "contextWindow"),
        max_output_tokens: tokens(context, &fields, "maxOutputTokens"),
        temperature: temperature(context, &fields),
        headers: headers.unwrap_or_default(),
    })
}

fn usual_endpoint(fields: &Fields<'_>, provider: ProviderKind) -> Result<Url, Problem> {
    let usual = match provider {
        ProviderKind::OpenAi => "https://api.openai.com/v1",
        ProviderKind::Anthropic => "https://api.anthropic.com/v1",
        ProviderKind::Demo => DEMO_ENDPOINT,
    };
    Url::parse(usual).map_err(|error| {
        Problem::new(fields.at, "model.baseUrl", error.to_string(), "Write `baseUrl`.")
    })
}

/// A key that cannot be read leaves the endpoint without one: local endpoints need none, and
/// others say so.
fn read_key(
    context: &mut Context<'_>,
    key: Option<Variable>,
) -> (Option<String>, Option<secrecy::SecretString>) {
    let Some(Variable { name, value }) = key else { return (None, None) };
    let value = value.map_err(|mut problem| {
        problem.what.push_str(": requests to the model carry no key");
        context.warn(&problem);
    });
    (Some(name), value.ok())
}

fn warn_in_the_clear(context: &mut Context<'_>, fields: &Fields<'_>, url: &Url) {
    let at = fields.get("baseUrl").map_or(fields.at, |entry| entry.value.at);
    let host = url.host_str().unwrap_or_default();
    context.warn(&Problem::new(
        at,
        "model.baseUrl",
        format!("the model's key would travel unencrypted to `{host}`"),
        "Use `https://`, or a tunnel that ends on this machine.",
    ));
}

fn tokens(context: &mut Context<'_>, fields: &Fields<'_>, key: &str) -> Option<u64> {
    let field = fields.path_of(key);
    let found = fields.given(key).map(|node| scalar::whole(node, &field, 1, MAX_TOKENS));
    context.or_default(found.transpose(), None, "what the endpoint says")
}

fn temperature(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<f64> {
    let found =
        fields.given("temperature").map(|node| scalar::number(node, "model.temperature", 0.0, 2.0));
    context.or_default(found.transpose(), None, "the model's own default")
}
