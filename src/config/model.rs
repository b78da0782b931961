//! The config as it is in force: every key with its default filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use crate::domain::{Mode, ServerName};
use crate::permission::{GrantLimits, Pattern, Rule};

/// Everything that was configured, defaults filled in.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it was read from; `None` if there is none.
    pub file: Option<PathBuf>,
    /// The language model; `None` if not configured.
    pub model: Option<ModelConfig>,
    /// The servers and what holds for all of them.
    pub mcp: McpConfig,
    /// The screen.
    pub ui: UiConfig,
    /// Rebound keys: action name → key, such as `approve` → `y`.
    pub keys: BTreeMap<String, String>,
    /// The decision log.
    pub audit: AuditConfig,
}

impl Config {
    /// Every secret that was read from the environment: what no log and no screen may hold.
    pub fn secrets(&self) -> Vec<SecretString> {
        self.named_secrets().into_iter().map(|(_, secret)| secret).collect()
    }

    /// The variables that hold secrets, whether they are set or not: nobody else needs them.
    pub fn secret_variables(&self) -> Vec<String> {
        let of_model = self.model.iter().filter_map(|model| model.api_key_env.clone());
        let of_servers = self.mcp.servers.iter().flat_map(|server| {
            let auth = server.auth.iter().map(|auth| match auth {
                Auth::Bearer { token_env: variable, .. }
                | Auth::ApiKey { key_env: variable, .. } => variable.clone(),
            });
            auth.chain(server.headers_env.iter().map(|(_, variable, _)| variable.clone()))
        });
        of_model.chain(of_servers).collect()
    }

    /// Every secret with the name of its variable, and what guards an address: user info and query.
    pub fn named_secrets(&self) -> Vec<(String, SecretString)> {
        let of_model = self.model.iter().flat_map(|model| {
            let name = model.api_key_env.as_deref().unwrap_or("model key").to_owned();
            let key = model.api_key.iter().map(move |key| (name.clone(), key.clone()));
            key.chain(crate::redact::in_url("model address", &model.base_url))
        });
        let of_servers = self.mcp.servers.iter().flat_map(|server| {
            let auth = server.auth.iter().map(|auth| match auth {
                Auth::Bearer { token_env, token } => (token_env.clone(), token.clone()),
                Auth::ApiKey { key_env, key, .. } => (key_env.clone(), key.clone()),
            });
            let headers = server.headers_env.iter();
            let headers = headers.map(|(_, variable, value)| (variable.clone(), value.clone()));
            let address = format!("address of {}", server.name);
            auth.chain(headers).chain(crate::redact::in_url(&address, &server.url))
        });
        of_model.chain(of_servers).collect()
    }
}

/// The decision log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditConfig {
    /// How arguments are written.
    pub arguments: AuditArguments,
}

/// How the decision log holds arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditArguments {
    /// By their hash: enough to show that two calls were the same.
    #[default]
    Hash,
    /// Whole, without their secrets.
    Full,
}

/// Stands for the endpoint of the embedded model, which has its address once it is started.
pub const DEMO_ENDPOINT: &str = "http://127.0.0.1/";

/// Which protocol the model's endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
    /// The embedded scripted model.
    Demo,
}

/// The language model.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// Its protocol.
    pub provider: ProviderKind,
    /// Base URL; the provider appends its path.
    pub base_url: Url,
    /// Model name as the endpoint knows it.
    pub name: String,
    /// The key, read from the environment.
    pub api_key: Option<SecretString>,
    /// The variable the key is read from.
    pub api_key_env: Option<String>,
    /// The window in tokens, if configured.
    pub context_window: Option<u64>,
    /// Limit on one answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Further headers, never secrets.
    pub headers: Vec<(String, String)>,
}

impl ModelConfig {
    /// A model about which nothing else is said.
    pub fn new(provider: ProviderKind, base_url: Url, name: impl Into<String>) -> Self {
        Self {
            provider,
            base_url,
            name: name.into(),
            api_key: None,
            api_key_env: None,
            context_window: None,
            max_output_tokens: None,
            temperature: None,
            headers: Vec::new(),
        }
    }
}

/// The servers and what holds for all of them.
#[derive(Debug, Clone)]
pub struct McpConfig {
    /// Mode where nothing finer decides.
    pub permissions: Mode,
    /// Whole of one server's discovery. Default 10 s.
    pub discovery_timeout: Duration,
    /// Silence allowed during a call; any byte starts it anew. Default 60 s.
    pub call_timeout: Duration,
    /// Longest a call may take, whatever the progress. Default 15 min.
    pub max_call_time: Duration,
    /// Tokens of one result that the model sees at once. Default 6000.
    pub result_limit: u64,
    /// What a changed definition does.
    pub pins: PinMode,
    /// Whether the model searches for tools instead of getting the definitions of all.
    pub tool_search: ToolSearchMode,
    /// What “this tool for this session” allows at most.
    pub grants: GrantLimits,
    /// A file with further certificate authorities, in PEM.
    pub ca_file: Option<PathBuf>,
    /// The servers, in the order of the file. Refused entries are not here but in
    /// [`Loaded::refused`](super::Loaded::refused).
    pub servers: Vec<ServerConfig>,
}

/// What happens when a tool's definition is not the one remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinMode {
    /// It is *ask* again, with a warning.
    #[default]
    Warn,
    /// It cannot be called until accepted.
    Block,
    /// Nothing.
    Off,
}

/// Whether the model searches for tools instead of getting the definitions of all in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolSearchMode {
    /// Where the definitions would take more than a tenth of the model's window.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Which era to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Find out.
    #[default]
    Auto,
    /// 2026-07-28.
    V20260728,
    /// 2025-11-25.
    V20251125,
    /// 2025-06-18.
    V20250618,
    /// 2025-03-26.
    V20250326,
}

/// How a server's credential travels.
#[derive(Debug, Clone)]
pub enum Auth {
    /// `Authorization: Bearer …`.
    Bearer {
        /// The variable.
        token_env: String,
        /// Its value.
        token: SecretString,
    },
    /// A header of the server's own.
    ApiKey {
        /// The header.
        header: String,
        /// The variable.
        key_env: String,
        /// Its value.
        key: SecretString,
    },
}

/// Why a server is off that has all it needs: the user said so.
pub(super) const SWITCHED_OFF: &str = "`enabled: false` in the config";

impl ServerConfig {
    /// A server that is on and about which nothing else is said.
    pub fn new(name: ServerName, url: Url) -> Self {
        Self {
            name,
            url,
            auth: None,
            permissions: None,
            tools: None,
            exclude_tools: Vec::new(),
            rules: Vec::new(),
            headers: Vec::new(),
            headers_env: Vec::new(),
            protocol: Protocol::Auto,
            disabled: None,
            line: None,
        }
    }

    /// Why it cannot be switched on during a run: the credential it names cannot be had. `None` if
    /// it is on, or was only switched off.
    pub fn missing_credential(&self) -> Option<&str> {
        self.disabled.as_deref().filter(|reason| *reason != SWITCHED_OFF)
    }
}

/// One server entry that can be used, or is switched off.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Its name.
    pub name: ServerName,
    /// Its endpoint, query included. Show only through [`crate::redact::url`].
    pub url: Url,
    /// Its credential.
    pub auth: Option<Auth>,
    /// Its own mode.
    pub permissions: Option<Mode>,
    /// Only these tools exist; `None` for all.
    pub tools: Option<Vec<Pattern>>,
    /// These do not.
    pub exclude_tools: Vec<Pattern>,
    /// Its rules, first match wins.
    pub rules: Vec<Rule>,
    /// Plain headers.
    pub headers: Vec<(String, String)>,
    /// Secret headers: name, variable, value.
    pub headers_env: Vec<(String, String, SecretString)>,
    /// Which era to speak.
    pub protocol: Protocol,
    /// Why it is off: `enabled: false`, or a credential that is missing. `None` when on.
    pub disabled: Option<String>,
    /// Line of the entry in the file, from 1.
    pub line: Option<usize>,
}

/// The screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UiConfig {
    /// Colours.
    pub theme: ThemeName,
    /// Whether the mouse is captured.
    pub mouse: bool,
    /// Columns of the side panel. Default 38.
    pub sidebar_width: u16,
    /// How a waiting decision makes itself known.
    pub notify: Notify,
}

/// Names of the themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// By terminal.
    #[default]
    Auto,
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// The sixteen colours alone.
    Ansi,
    /// No colours.
    None,
}

/// How a waiting decision makes itself known when the terminal is not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notify {
    /// Desktop notice where the terminal is known to show it, else the bell.
    #[default]
    Auto,
    /// The bell.
    Bell,
    /// A desktop notice (OSC 9).
    Desktop,
    /// Not at all.
    Off,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self {
            permissions: Mode::Ask,
            discovery_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(60),
            max_call_time: Duration::from_secs(15 * 60),
            result_limit: 6000,
            pins: PinMode::default(),
            tool_search: ToolSearchMode::default(),
            grants: GrantLimits::default(),
            ca_file: None,
            servers: Vec::new(),
        }
    }
}

impl Default for UiConfig {
    fn default() -> Self {
        Self {
            theme: ThemeName::default(),
            mouse: true,
            sidebar_width: 38,
            notify: Notify::default(),
        }
    }
}
