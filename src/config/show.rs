//! The effective config with the origin of each value, its secrets redacted.

use serde_json::{Map, Value as Json, json};

use super::decode::{rule, words};
use super::model::{Auth, Config, ModelConfig, ServerConfig};
use super::{Loaded, Origins, RefusedServer, scalar};
use crate::domain::{Source as Place, Warning};
use crate::permission::{Matcher, Pattern, Rule};
use crate::text;

/// A value in force and where it comes from, or several under a key.
enum Shown {
    Value(Json, String),
    Section(Vec<(String, Self)>),
    List(Vec<Self>),
}

/// As YAML, with the origin of each value as a comment.
pub fn yaml(loaded: &Loaded) -> String {
    let mut out = heading(&loaded.config);
    write_section(&mut out, &sections(loaded), 0);
    for server in &loaded.refused {
        out.push_str(&refused_comment(server));
    }
    text::strict_block(&out).into_string()
}

/// As JSON: `{value, origin}` for each value.
pub fn json(loaded: &Loaded) -> Json {
    let mut all = section_json(&sections(loaded));
    let refused: Vec<Json> = loaded
        .refused
        .iter()
        .map(|server| {
            json!({ "name": server.name, "url": server.url, "reason": server.reason, "line": server.line })
        })
        .collect();
    let warnings: Vec<Json> = loaded.warnings.iter().map(warning_json).collect();
    all.insert("file".to_owned(), json!(loaded.config.file));
    all.insert("refused".to_owned(), refused.into());
    all.insert("warnings".to_owned(), warnings.into());
    all.into()
}

fn warning_json(warning: &Warning) -> Json {
    let (line, field) = match &warning.source {
        Place::Config { line, field, .. } => (*line, Some(field)),
        _ => (None, None),
    };
    json!({ "line": line, "field": field, "message": warning.message, "advice": warning.advice })
}

fn heading(config: &Config) -> String {
    config.file.as_ref().map_or_else(
        || "# no config file: these are the defaults\n".to_owned(),
        |file| format!("# {}\n", file.display()),
    )
}

fn refused_comment(server: &RefusedServer) -> String {
    format!("# refused: {} {}\n#   {}\n", server.name, server.url, server.reason)
}

/// Knows where the values of one section come from.
struct Source<'a> {
    file: String,
    origins: &'a Origins,
    section: String,
}

impl Source<'_> {
    fn of(&self, key: &str) -> String {
        let line = self.origins.line(&self.section, key);
        line.map_or_else(|| "default".to_owned(), |line| format!("{}:{line}", self.file))
    }

    fn value(&self, key: &str, value: impl Into<Json>) -> (String, Shown) {
        (key.to_owned(), Shown::Value(value.into(), self.of(key)))
    }

    /// A value that is shown only where it is given.
    fn given(&self, key: &str, value: Option<impl Into<Json>>) -> Option<(String, Shown)> {
        value.map(|value| self.value(key, value))
    }
}

/// A secret's place: the variable's name, and whether it holds something.
fn from_variable(key: &str, name: &str, set: bool) -> (String, Shown) {
    let state = if set { "set" } else { "not set" };
    let value = Json::String(format!("<from ${name}, {state}>"));
    (key.to_owned(), Shown::Value(value, format!("environment variable {name}")))
}

fn sections(loaded: &Loaded) -> Vec<(String, Shown)> {
    let config = &loaded.config;
    let file = config.file.as_ref().and_then(|file| file.file_name());
    let file = file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let source = |section: &str| Source {
        file: file.clone(),
        origins: &loaded.origins,
        section: section.to_owned(),
    };
    let mut all = Vec::new();
    if let Some(model) = &config.model {
        all.push(("model".to_owned(), Shown::Section(model_section(model, &source("model")))));
    }
    let mut mcp = mcp_section(config, &source("mcp"));
    let servers = config.mcp.servers.iter().map(|server| {
        let section = Origins::server(server.name.as_str());
        Shown::Section(server_section(server, config, &source(&section)))
    });
    mcp.push(("servers".to_owned(), Shown::List(servers.collect())));
    all.push(("mcp".to_owned(), Shown::Section(mcp)));
    all.push(("ui".to_owned(), Shown::Section(ui_section(config, &source("ui")))));
    let audit = source("audit").value("arguments", words::audit(config.audit.arguments));
    all.push(("audit".to_owned(), Shown::Section(vec![audit])));
    let from = source("keys");
    let keys: Vec<_> =
        config.keys.iter().map(|(action, key)| from.value(action, key.clone())).collect();
    if !keys.is_empty() {
        all.push(("keys".to_owned(), Shown::Section(keys)));
    }
    all
}

fn model_section(model: &ModelConfig, from: &Source<'_>) -> Vec<(String, Shown)> {
    let mut section = vec![
        from.value("provider", words::provider(model.provider)),
        from.value("baseUrl", crate::redact::url(&model.base_url)),
        from.value("name", model.name.clone()),
    ];
    if let Some(name) = &model.api_key_env {
        section.push(from.value("apiKeyEnv", name.clone()));
        section.push(from_variable("apiKey", name, model.api_key.is_some()));
    }
    section.extend(from.given("contextWindow", model.context_window));
    section.extend(from.given("maxOutputTokens", model.max_output_tokens));
    section.extend(from.given("temperature", model.temperature));
    section.extend(headers(&model.headers, from));
    section
}

fn headers(headers: &[(String, String)], from: &Source<'_>) -> Option<(String, Shown)> {
    let map: Map<String, Json> =
        headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    (!map.is_empty()).then(|| from.value("headers", map))
}

fn mcp_section(config: &Config, from: &Source<'_>) -> Vec<(String, Shown)> {
    let mcp = &config.mcp;
    let mut section = vec![
        from.value("permissions", mcp.permissions.word()),
        from.value("discoveryTimeout", scalar::show_duration(mcp.discovery_timeout)),
        from.value("callTimeout", scalar::show_duration(mcp.call_timeout)),
        from.value("maxCallTime", scalar::show_duration(mcp.max_call_time)),
        from.value("resultLimit", mcp.result_limit),
        from.value("pins", words::pins(mcp.pins)),
        from.value("toolSearch", words::tool_search(mcp.tool_search)),
    ];
    section.extend(from.given("grants", rule::write_grants(mcp.grants)));
    section
        .extend(from.given("caFile", mcp.ca_file.as_ref().map(|file| file.display().to_string())));
    section
}

fn server_section(
    server: &ServerConfig,
    config: &Config,
    from: &Source<'_>,
) -> Vec<(String, Shown)> {
    let mut section = vec![
        from.value("name", server.name.as_str()),
        from.value("url", crate::redact::url(&server.url)),
    ];
    section.extend(server.auth.as_ref().map(|auth| ("auth".to_owned(), auth_section(auth, from))));
    let inherited = || {
        let value = Json::from(config.mcp.permissions.word());
        ("permissions".to_owned(), Shown::Value(value, "mcp.permissions".to_owned()))
    };
    section.push(
        server.permissions.map_or_else(inherited, |mode| from.value("permissions", mode.word())),
    );
    section.extend(from.given("tools", server.tools.as_deref().map(patterns)));
    if !server.exclude_tools.is_empty() {
        section.push(from.value("excludeTools", patterns(&server.exclude_tools)));
    }
    if !server.rules.is_empty() {
        let rules = server.rules.iter().map(|rule| rule_value(rule, from)).collect();
        section.push(("rules".to_owned(), Shown::List(rules)));
    }
    section.extend(headers(&server.headers, from));
    if !server.headers_env.is_empty() {
        let read = server.headers_env.iter();
        let read = read.map(|(header, name, _)| from_variable(header, name, true)).collect();
        section.push(("headersEnv".to_owned(), Shown::Section(read)));
    }
    section.push(from.value("protocol", words::protocol(server.protocol)));
    section.push(match &server.disabled {
        None => from.value("enabled", true),
        Some(reason) => ("enabled".to_owned(), Shown::Value(false.into(), reason.clone())),
    });
    section
}

fn auth_section(auth: &Auth, from: &Source<'_>) -> Shown {
    let origin = from.of("auth");
    let plain =
        |key: &str, value: &str| (key.to_owned(), Shown::Value(value.into(), origin.clone()));
    Shown::Section(match auth {
        Auth::Bearer { token_env, .. } => vec![
            plain("type", "bearer"),
            plain("tokenEnv", token_env),
            from_variable("token", token_env, true),
        ],
        Auth::ApiKey { header, key_env, .. } => vec![
            plain("type", "apiKey"),
            plain("header", header),
            plain("keyEnv", key_env),
            from_variable("key", key_env, true),
        ],
    })
}

fn patterns(patterns: &[Pattern]) -> Json {
    patterns.iter().map(|pattern| pattern.0.clone()).collect::<Vec<_>>().into()
}

fn rule_value(rule: &Rule, from: &Source<'_>) -> Shown {
    let mut map = Map::new();
    map.insert("tool".to_owned(), rule.tool.0.clone().into());
    if !rule.when.is_empty() {
        let when: Map<String, Json> = rule
            .when
            .iter()
            .map(|(pointer, matcher)| (pointer.clone(), matcher_value(matcher)))
            .collect();
        map.insert("when".to_owned(), when.into());
    }
    if let Some(read_only) = rule.read_only {
        map.insert("readOnly".to_owned(), read_only.into());
    }
    if let Some(destructive) = rule.destructive {
        map.insert("destructive".to_owned(), destructive.into());
    }
    if !rule.from.is_empty() {
        map.insert("from".to_owned(), patterns(&rule.from));
    }
    map.insert("permissions".to_owned(), rule.permissions.word().into());
    if let Some(rate) = rule.max_calls {
        map.insert("maxCalls".to_owned(), scalar::show_rate(rate).into());
    }
    let line = rule.origin.line.map(|line| format!("{}:{line}", from.file));
    Shown::Value(map.into(), line.unwrap_or_else(|| from.of("rules")))
}

fn matcher_value(matcher: &Matcher) -> Json {
    match matcher {
        Matcher::Text(pattern) => pattern.0.clone().into(),
        Matcher::Value(value) => value.clone(),
        Matcher::OneOf(several) => several.iter().map(matcher_value).collect::<Vec<_>>().into(),
    }
}

fn ui_section(config: &Config, from: &Source<'_>) -> Vec<(String, Shown)> {
    vec![
        from.value("theme", words::theme(config.ui.theme)),
        from.value("mouse", config.ui.mouse),
        from.value("sidebarWidth", config.ui.sidebar_width),
        from.value("notify", words::notify(config.ui.notify)),
    ]
}

fn section_json(section: &[(String, Shown)]) -> Map<String, Json> {
    section.iter().map(|(key, shown)| (key.clone(), shown_json(shown))).collect()
}

fn shown_json(shown: &Shown) -> Json {
    match shown {
        Shown::Value(value, origin) => json!({ "value": value, "origin": origin }),
        Shown::Section(section) => section_json(section).into(),
        Shown::List(items) => items.iter().map(shown_json).collect::<Vec<_>>().into(),
    }
}

fn write_section(out: &mut String, section: &[(String, Shown)], depth: usize) {
    for (key, shown) in section {
        out.push_str(&"  ".repeat(depth));
        write_entry(out, key, shown, depth);
    }
}

fn write_entry(out: &mut String, key: &str, shown: &Shown, depth: usize) {
    out.push_str(&scalar_text(key));
    match shown {
        Shown::Value(value, origin) => write_value(out, ": ", value, origin),
        Shown::Section(section) => {
            out.push_str(":\n");
            write_section(out, section, depth + 1);
        }
        Shown::List(items) if items.is_empty() => out.push_str(": []\n"),
        Shown::List(items) => {
            out.push_str(":\n");
            for item in items {
                write_item(out, item, depth + 1);
            }
        }
    }
}

fn write_item(out: &mut String, item: &Shown, depth: usize) {
    out.push_str(&"  ".repeat(depth));
    out.push_str("- ");
    match item {
        Shown::Value(value, origin) => write_value(out, "", value, origin),
        Shown::Section(section) => {
            for (index, (key, shown)) in section.iter().enumerate() {
                if index > 0 {
                    out.push_str(&"  ".repeat(depth + 1));
                }
                write_entry(out, key, shown, depth + 1);
            }
        }
        Shown::List(_) => out.push_str("[]\n"),
    }
}

/// Column at which the comments with the origins begin, where there is room.
const COMMENTS: usize = 48;

fn write_value(out: &mut String, before: &str, value: &Json, origin: &str) {
    let value = match value {
        Json::String(text) => scalar_text(text),
        other => other.to_string(),
    };
    out.push_str(before);
    out.push_str(&value);
    let begun = out.rsplit('\n').next().unwrap_or_default().chars().count();
    out.push_str(&" ".repeat(COMMENTS.saturating_sub(begun).max(2)));
    out.push_str("# ");
    out.push_str(origin);
    out.push('\n');
}

/// A text as YAML reads it back: bare where that is the same text, quoted as in JSON elsewhere.
fn scalar_text(text: &str) -> String {
    let alone = serde_yaml::from_str::<serde_yaml::Value>(&format!("k: {text} # c"));
    let same =
        alone.is_ok_and(|value| value.get("k").and_then(|value| value.as_str()) == Some(text));
    if same { text.to_owned() } else { Json::from(text).to_string() }
}

#[cfg(test)]
mod tests;
