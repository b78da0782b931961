//! `config init|show|path|schema`. Functions give the text to print; printing is the caller's.

use std::path::Path;

use crate::config::load::{VARIABLE, place};
use crate::config::{ConfigError, Env, Loaded, ModelConfig, ProviderKind, load, show as effective};
use crate::domain::{Source, Warning};
use crate::paths::Paths;
use crate::store::{self, StoreError};
use crate::ui::Keymap;

/// The starter file.
const STARTER: &str = include_str!("../../config.example.yaml");
/// JSON Schema of the config, for editors.
const SCHEMA: &str = include_str!("../../assets/config.schema.json");

/// Why a `config` command failed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigCommandError {
    /// Neither a home directory nor a named file.
    #[error(
        "there is no home directory and no file was named: set HOME or MINI_ME_HOME, or use --config FILE"
    )]
    NoPlace,
    /// `init` found a file and left it as it is.
    #[error(
        "{file} exists and was left as it is\nRead it with `mini-me-tui config show`; to begin anew, move it away first."
    )]
    Exists {
        /// Which file.
        file: String,
    },
    /// The starter file cannot be written.
    #[error("{source}\n{}", source.advice())]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
    /// The config cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The JSON cannot be written.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ConfigCommandError {
    /// The program's exit code: 2 for an unreadable config or nowhere to look for one, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoPlace | Self::Config(_) => 2,
            Self::Exists { .. } | Self::Store { .. } | Self::Json(_) => 1,
        }
    }
}

/// In which form `show` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// YAML with the origin of each value as a comment.
    Yaml,
    /// JSON with `{value, origin}`.
    Json,
}

/// What to print, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub out: String,
    /// For standard error: the warnings, one per paragraph; empty if there are none.
    pub err: String,
}

/// Writes the starter file for this user alone. Gives the sentence to print.
pub fn init(
    flag: Option<&Path>,
    env: &Env<'_>,
    paths: Option<&Paths>,
) -> Result<String, ConfigCommandError> {
    let place = place(flag, env, paths).ok_or(ConfigCommandError::NoPlace)?;
    let shown = shown_path(&place.file);
    if !store::create_new(&place.file, STARTER.as_bytes())? {
        return Err(ConfigCommandError::Exists { file: shown });
    }
    Ok(format!(
        "Wrote {shown}\nName your model and servers in it, then check it with `mini-me-tui config show`.\n"
    ))
}

/// The same with this model in its `model:` section. Gives the sentence to print.
pub fn init_with(
    flag: Option<&Path>,
    env: &Env<'_>,
    paths: Option<&Paths>,
    model: &ModelConfig,
) -> Result<String, ConfigCommandError> {
    let place = place(flag, env, paths).ok_or(ConfigCommandError::NoPlace)?;
    let shown = shown_path(&place.file);
    if !store::create_new(&place.file, starter_with(model).as_bytes())? {
        return Err(ConfigCommandError::Exists { file: shown });
    }
    Ok(format!("Wrote {shown}; it names the model that was chosen.\n"))
}

fn starter_with(model: &ModelConfig) -> String {
    let provider = match model.provider {
        ProviderKind::OpenAi => "openai",
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Demo => "demo",
    };
    // Text in double quotes means the same in JSON and YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let line = |line: &str| {
        if line == "  provider: openai" {
            format!("  provider: {provider}")
        } else if line.starts_with("  baseUrl: ") {
            format!("  baseUrl: {}", quoted(model.base_url.as_str()))
        } else if line.starts_with("  name: ") {
            format!("  name: {}", quoted(&model.name))
        } else if let (true, Some(key)) = (line.starts_with("  # apiKeyEnv: "), &model.api_key_env)
        {
            format!("  apiKeyEnv: {key}")
        } else {
            line.to_owned()
        }
    };
    let mut in_model = false;
    let lines = STARTER.lines().map(|text| {
        if !text.starts_with([' ', '#']) && !text.is_empty() {
            in_model = text == "model:";
        }
        if in_model { line(text) } else { text.to_owned() }
    });
    lines.map(|line| line + "\n").collect()
}

/// The effective config with the origin of each value, secrets redacted.
pub fn show(
    flag: Option<&Path>,
    env: &Env<'_>,
    paths: Option<&Paths>,
    form: Form,
) -> Result<Printed, ConfigCommandError> {
    let mut loaded = load(flag, env, paths)?;
    remark_keys(&mut loaded);
    let out = match form {
        Form::Yaml => effective::yaml(&loaded),
        Form::Json => serde_json::to_string_pretty(&effective::json(&loaded))? + "\n",
    };
    Ok(Printed { out, err: warnings(&loaded) })
}

fn warnings(loaded: &Loaded) -> String {
    let paragraph = |warning: &Warning| {
        let place = match &warning.source {
            Source::Config { file, line: Some(line), .. } => {
                format!("{}:{line}: ", shown_path(file))
            }
            Source::Config { file, line: None, .. } => format!("{}: ", shown_path(file)),
            _ => String::new(),
        };
        let message = crate::text::line(&warning.message);
        match warning.advice.as_str() {
            "" => format!("warning: {place}{message}\n"),
            advice => format!("warning: {place}{message}\n  {}\n", crate::text::line(advice)),
        }
    };
    loaded.warnings.iter().map(paragraph).collect()
}

/// Where the config is looked for, who chose the place, and whether there is a file.
pub fn path(
    flag: Option<&Path>,
    env: &Env<'_>,
    paths: Option<&Paths>,
) -> Result<Printed, ConfigCommandError> {
    let place = place(flag, env, paths).ok_or(ConfigCommandError::NoPlace)?;
    let state = if place.file.exists() { "exists" } else { "does not exist" };
    let err = format!(
        "chosen by {}; {state} (order: --config, ${VARIABLE}, config.yaml in $MINI_ME_HOME or else in the user's config directory)\n",
        place.chosen_by
    );
    Ok(Printed { out: format!("{}\n", shown_path(&place.file)), err })
}

/// Adds a warning for every rebound key that the screen could not use.
pub fn remark_keys(loaded: &mut Loaded) {
    let (_, warnings) = Keymap::new(&loaded.config.keys, loaded.config.file.as_ref());
    for mut warning in warnings {
        if let Source::Config { line, field, .. } = &mut warning.source {
            let action = field.strip_prefix("keys.").unwrap_or(field);
            *line = loaded.origins.line("keys", action);
        }
        loaded.warnings.push(warning);
    }
}

/// The JSON Schema of the config.
pub fn schema() -> &'static str {
    SCHEMA
}

fn shown_path(file: &Path) -> String {
    crate::text::strict_line(&file.display().to_string()).into_string()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use serde_json::{Value, json};

    use super::*;
    use crate::config::decode;

    fn home() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("mini-me");
        let paths = Paths { config: at.clone(), state: at.clone(), data: at };
        (dir, paths)
    }

    fn validator() -> jsonschema::Validator {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        assert!(jsonschema::meta::is_valid(&schema));
        jsonschema::validator_for(&schema).unwrap()
    }

    fn as_json(yaml: &str) -> Value {
        serde_json::to_value(serde_yaml::from_str::<serde_yaml::Value>(yaml).unwrap()).unwrap()
    }

    #[test]
    fn a_starter_with_a_model_is_read_back_as_that_model() {
        let (_dir, paths) = home();
        let mut model = ModelConfig {
            provider: ProviderKind::Anthropic,
            base_url: "https://models.example/v1".parse().unwrap(),
            name: "odd \"name\": #1".to_owned(),
            api_key: None,
            api_key_env: Some("MODEL_KEY".to_owned()),
            context_window: None,
            max_output_tokens: None,
            temperature: None,
            headers: Vec::new(),
        };
        let said = init_with(None, &|_| None, Some(&paths), &model).unwrap();
        assert!(said.contains("config.yaml"), "{said}");
        let env = |name: &str| (name == "MODEL_KEY").then(|| OsString::from("k"));
        let read = load(None, &env, Some(&paths)).unwrap().config.model.unwrap();
        assert_eq!(read.provider, model.provider);
        assert_eq!((&read.base_url, &read.name), (&model.base_url, &model.name));
        assert_eq!(read.api_key_env, model.api_key_env);
        assert!(init_with(None, &|_| None, Some(&paths), &model).is_err(), "left as it is");
        // Nothing outside of its section is touched.
        (model.name, model.api_key_env) = ("ai/qwen3".to_owned(), None);
        let servers = |text: &str| text.split("\nmcp:").nth(1).unwrap().to_owned();
        assert_eq!(servers(&starter_with(&model)), servers(STARTER));
    }

    /// The starter with every commented key taken in.
    fn uncommented() -> String {
        let mut text = STARTER.replace("      enabled: false\n", "");
        for key in [
            "apiKeyEnv:",
            "contextWindow:",
            "maxOutputTokens:",
            "temperature:",
            "headers:",
            "caFile:",
            "keys:",
            "- name: context7",
            "  url: https://mcp.context7",
            "  auth: { type: apiKey, header: C",
        ] {
            text = text.replace(&format!("# {key}"), key);
        }
        text
    }

    #[test]
    fn the_starter_loads_without_a_warning_and_fits_the_schema() {
        let loaded = decode(STARTER, Path::new("config.yaml"), &|_| None).unwrap();
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.refused, []);
        validator().validate(&as_json(STARTER)).unwrap();
    }

    #[test]
    fn the_starter_with_everything_switched_on_loads_when_its_variables_are_set() {
        let text = uncommented();
        let loaded =
            decode(&text, Path::new("/x/config.yaml"), &|_| Some(OsString::from("secret")))
                .unwrap();
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.config.mcp.servers.len(), 2);
        assert!(loaded.config.mcp.servers.iter().all(|server| server.disabled.is_none()));
        assert!(loaded.config.model.as_ref().unwrap().api_key.is_some());
        assert!(loaded.config.mcp.ca_file.is_some() && !loaded.config.keys.is_empty());
        validator().validate(&as_json(&text)).unwrap();
    }

    #[test]
    fn the_starter_explains_every_key() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let mut keys = Vec::new();
        let defs = [
            "/$defs/server",
            "/$defs/rule",
            "/properties/model",
            "/properties/mcp",
            "/properties/ui",
        ];
        for place in defs.into_iter().chain([""]) {
            let pointer = format!("{place}/properties");
            keys.extend(schema.pointer(&pointer).unwrap().as_object().unwrap().keys().cloned());
        }
        for key in keys {
            assert!(STARTER.contains(&key), "{key}");
        }
    }

    #[test]
    fn the_schema_refuses_what_decoding_refuses() {
        let validator = validator();
        let server = |extra: Value| {
            let mut entry = json!({ "name": "a", "url": "https://h/mcp" });
            entry.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            json!({ "servers": [entry] })
        };
        assert!(validator.is_valid(&server(json!({ "permissions": "auto" }))));
        for bad in [
            json!({ "permisions": "ask" }),
            json!({ "permissions": "AUTO" }),
            json!({ "auth": { "type": "bearer", "token": "x" } }),
            json!({ "auth": { "type": "bearer", "tokenEnv": "${X}" } }),
            json!({ "url": "http://user@h/" }),
            json!({ "rules": [{ "tool": "x" }] }),
            json!({ "rules": [{ "tool": "x", "permissions": "ask", "maxCalls": 5 }] }),
            json!({ "protocol": "2024-11-05" }),
            json!({ "command": "npx" }),
        ] {
            assert!(!validator.is_valid(&server(bad.clone())), "{bad}");
        }
        assert!(!validator.is_valid(&json!({ "mcp": { "callTimeout": 60 } })));
        assert!(!validator.is_valid(&json!({ "model": { "provider": "openai" } })));
    }

    #[test]
    fn init_writes_a_private_file_and_never_overwrites() {
        let (_dir, paths) = home();
        let told = init(None, &|_| None, Some(&paths)).unwrap();
        assert!(told.contains("config.yaml"), "{told}");
        assert_eq!(std::fs::read_to_string(paths.config_file()).unwrap(), STARTER);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(paths.config_file()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(paths.config_file(), "ui: {}\n").unwrap();
        let error = init(None, &|_| None, Some(&paths)).unwrap_err();
        assert!(error.to_string().contains("exists"), "{error}");
        assert_eq!(error.exit_code(), 1);
        assert_eq!(std::fs::read_to_string(paths.config_file()).unwrap(), "ui: {}\n");
    }

    #[test]
    fn init_show_and_path_agree_on_the_place() {
        let (dir, paths) = home();
        let file = dir.path().join("other.yaml");
        let env = |name: &str| (name == VARIABLE).then(|| OsString::from(&file));
        init(None, &env, Some(&paths)).unwrap();
        assert!(file.exists() && !paths.config_file().exists());
        let printed = path(None, &env, Some(&paths)).unwrap();
        assert_eq!(printed.out.trim_end(), file.display().to_string());
        assert!(printed.err.contains("$MINI_ME_CONFIG; exists"), "{}", printed.err);
        let shown = show(None, &env, Some(&paths), Form::Yaml).unwrap();
        assert!(shown.out.contains("callTimeout: 60s"), "{}", shown.out);
        assert_eq!(shown.err, "");
        let json = show(None, &env, Some(&paths), Form::Json).unwrap();
        assert!(serde_json::from_str::<Value>(&json.out).is_ok());
    }

    #[test]
    fn without_a_home_and_a_file_the_commands_say_so() {
        for error in
            [init(None, &|_| None, None).unwrap_err(), path(None, &|_| None, None).unwrap_err()]
        {
            assert!(error.to_string().contains("MINI_ME_HOME"), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
        assert!(show(None, &|_| None, None, Form::Yaml).unwrap().out.contains("no config file"));
    }
}
