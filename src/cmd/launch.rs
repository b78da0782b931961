//! From the command line to what the runtime starts from: config, `--demo`, `--url`, `--model`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Exit, Stop, config as config_command, crash, output};
use crate::cli::{self, Common};
#[cfg(feature = "demo")]
use crate::config::model::DEMO_ENDPOINT;
use crate::config::{self, Config, Loaded, ModelConfig, ServerConfig};
#[cfg(feature = "demo")]
use crate::config::{Auth, ProviderKind};
#[cfg(feature = "demo")]
use crate::demo::{self, Services};
use crate::domain::{Interaction, Source, Warning};
use crate::logging::{self, LogError, LogGuard};
use crate::paths::Paths;
use crate::runtime::{self, Setup, spec};
use crate::telemetry;
use crate::wire::{self, Limits, Recorder};

/// Everything a face needs to start.
#[derive(Debug)]
pub struct Launch {
    /// What the runtime starts from.
    pub setup: Setup,
    /// Whether there was a config file with something in it.
    pub presence: config::Presence,
    /// How this program was started, as shell words: what makes its servers known again.
    pub program: String,
    archive: Option<Archive>,
    log: Option<LogGuard>,
    #[cfg(feature = "demo")]
    services: Option<Services>,
}

impl Launch {
    /// Reads the config and applies the command line to it. Must be called inside a tokio runtime:
    /// `--demo` binds its ports here.
    pub fn prepare(common: &Common, interaction: Interaction) -> Result<Self, Stop> {
        if common.token_env.is_some() && common.url.is_none() {
            return Err(Stop::usage("--token-env names the token for --url: give both."));
        }
        let paths = Paths::discover(&variable);
        let mut loaded = load(common, paths.as_ref())?;
        if interaction == Interaction::Headless {
            // The screen says so itself.
            config_command::remark_keys(&mut loaded);
        }
        let presence = loaded.presence;
        let mut config = loaded.config;
        let mut setup = Setup::new(config.clone(), interaction);
        setup.paths = paths;
        setup.warnings = loaded.warnings;
        setup.refused = loaded.refused;
        #[cfg(feature = "demo")]
        let services = if common.demo {
            Some(start_demo(&mut config, &mut setup)?)
        } else {
            start_demo_model(&mut config)?
        };
        #[cfg(not(feature = "demo"))]
        if common.demo {
            return Err(Stop::usage("this build has no demo; build it with the feature `demo`."));
        }
        setup.warnings.extend(apply(common, &mut config)?);
        match telemetry::Settings::from_env(&variable) {
            Ok(asked) => setup.telemetry = asked,
            Err(warning) => setup.warnings.push(*warning),
        }
        setup.config = config;
        crash::hide(&spec::secrets(&setup.config));
        let archive =
            common.wire.clone().map(|file| Archive::begin(file, &mut setup)).transpose()?;
        let log = start_log(common, &mut setup);
        Ok(Self {
            setup,
            presence,
            program: program(common),
            archive,
            log,
            #[cfg(feature = "demo")]
            services,
        })
    }

    /// Takes over the log of a launch that this one replaces.
    #[must_use]
    pub fn instead_of(mut self, earlier: Self) -> Self {
        if let Some(log) = earlier.log {
            log.hide(&spec::secrets(&self.setup.config));
            self.log = Some(log);
        }
        self
    }

    /// Runs `face` beside the demo's services, if there are any, until the face ends; then writes
    /// the archive of the run, if one is wanted.
    pub async fn accompany<T>(mut services: Accompaniment, face: impl Future<Output = T>) -> T {
        let archive = services.archive.take();
        let cancel = CancellationToken::new();
        let _stop = cancel.clone().drop_guard();
        let serving = services.serve(cancel);
        tokio::pin!(face);
        let ended = tokio::select! { biased;
            ended = &mut face => ended,
            // The services ended first: what needed them says so by itself.
            () = serving => face.await,
        };
        if let Some(Err(stop)) = archive.map(|archive| archive.write()) {
            output::complain(&stop.message);
        }
        ended
    }

    /// Takes the services out, to be run beside a face.
    pub fn accompaniment(&mut self) -> Accompaniment {
        Accompaniment {
            archive: self.archive.take(),
            #[cfg(feature = "demo")]
            services: self.services.take(),
        }
    }
}

/// A file that the exchanges of a run are written to.
#[derive(Debug)]
struct Archive {
    file: PathBuf,
    recorder: Arc<Recorder>,
}

impl Archive {
    /// The whole run is kept for it. A file that cannot be written is wrong usage, and is known at
    /// once.
    fn begin(file: PathBuf, setup: &mut Setup) -> Result<Self, Stop> {
        setup.wire = runtime::recorder(Limits::RUN);
        let archive = Self { file, recorder: Arc::clone(&setup.wire) };
        archive.write().map_err(|stop| Stop::usage(stop.message))?;
        Ok(archive)
    }

    /// Writes it, for this user alone.
    fn write(&self) -> Result<(), Stop> {
        let written = runtime::write_archive(&self.recorder, None, &self.file);
        written.map(drop).map_err(|fault| Stop::new(Exit::Failed, format!("--wire: {fault}")))
    }
}

/// What goes on beside a face: the demo's services, the archive of its exchanges; or nothing.
#[derive(Debug)]
pub struct Accompaniment {
    archive: Option<Archive>,
    #[cfg(feature = "demo")]
    services: Option<Services>,
}

impl Accompaniment {
    #[cfg(feature = "demo")]
    async fn serve(self, cancel: CancellationToken) {
        let Some(services) = self.services else { return };
        if let Err(fault) = services.serve(cancel).await {
            tracing::error!(%fault, "the demo's services ended");
        }
    }

    #[cfg(not(feature = "demo"))]
    #[expect(
        clippy::unused_async,
        reason = "stands in for the demo, whose services are waited for"
    )]
    async fn serve(self, _cancel: CancellationToken) {}
}

/// Writes a config that names this model. Gives the sentence to print.
pub fn write_config(common: &Common, model: &ModelConfig) -> Result<String, Stop> {
    let paths = Paths::discover(&variable);
    let written =
        config_command::init_with(common.config.as_deref(), &variable, paths.as_ref(), model);
    written.map_err(|error| Stop::new(Exit::Failed, error.to_string()))
}

/// `config init|show|path|schema`.
pub fn config(common: &Common, what: &cli::Config) -> Result<Exit, Stop> {
    let paths = Paths::discover(&variable);
    let (flag, paths) = (common.config.as_deref(), paths.as_ref());
    let quiet = |out: String| config_command::Printed { out, err: String::new() };
    let shown = match what {
        cli::Config::Init => config_command::init(flag, &variable, paths).map(quiet),
        cli::Config::Path => config_command::path(flag, &variable, paths),
        cli::Config::Schema => Ok(quiet(config_command::schema().to_owned())),
        cli::Config::Show(form) => {
            let form =
                if form.json { config_command::Form::Json } else { config_command::Form::Yaml };
            config_command::show(flag, &variable, paths, form)
        }
    };
    let shown = shown.map_err(|error| {
        let exit = if error.exit_code() == 2 { Exit::Usage } else { Exit::Failed };
        Stop::new(exit, error.to_string())
    })?;
    shown.err.lines().for_each(output::note);
    output::print(&shown.out)?;
    Ok(Exit::Done)
}

/// Reads the config; a file that cannot be read at all ends the program.
pub fn load(common: &Common, paths: Option<&Paths>) -> Result<Loaded, Stop> {
    config::load(common.config.as_deref(), &variable, paths)
        .map_err(|error| Stop::usage(error.to_string()))
}

/// Starts the log. Without one the program goes on.
fn start_log(common: &Common, setup: &mut Setup) -> Option<LogGuard> {
    let level = common.log_level.map_or("warn", cli::LogLevel::word);
    match logging::init(setup.paths.as_ref(), level) {
        Ok(Some(log)) => {
            log.hide(&spec::secrets(&setup.config));
            Some(log)
        }
        // A second start in one process (the demo, chosen on the first screen) keeps the first log.
        Ok(None) | Err(LogError::Again(_)) => None,
        Err(error) => {
            let advice = "The program works without a log; --log-level off asks for none.";
            setup.warnings.push(Warning::new(Source::Program, error.to_string(), advice));
            None
        }
    }
}

/// A variable of the environment.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The program with the options that say which servers there are.
fn program(common: &Common) -> String {
    let mut words = vec!["mini-me-tui".to_owned()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), wire::quote(&value)]);
        }
    };
    option("--config", common.config.as_ref().map(|file| file.display().to_string()));
    // Its query may hold a secret.
    let url = common.url.as_ref().filter(|url| url.query().is_none() && url.password().is_none());
    option("--url", url.map(Url::to_string));
    option("--token-env", common.token_env.clone().filter(|_| url.is_some()));
    if common.demo {
        words.push("--demo".to_owned());
    }
    words.join(" ")
}

/// The demo replaces servers and model: nothing but the loopback interface is spoken to.
#[cfg(feature = "demo")]
fn start_demo(config: &mut Config, setup: &mut Setup) -> Result<Services, Stop> {
    let (demo, services) = demo::start()
        .map_err(|error| Stop::new(Exit::Failed, format!("the demo cannot start: {error}")))?;
    config.mcp.servers = vec![ServerConfig {
        auth: Some(Auth::Bearer { token_env: demo::KEY.to_owned(), token: demo.key.clone() }),
        ..ServerConfig::new(demo::SERVER.into(), demo.mcp)
    }];
    config.model = Some(ModelConfig {
        api_key: Some(demo.key),
        api_key_env: Some(demo::KEY.to_owned()),
        context_window: Some(demo::WINDOW),
        ..ModelConfig::new(ProviderKind::Demo, demo.model, demo::MODEL.to_owned())
    });
    // What the user's own file says of other servers and of a model has no part in the demo.
    setup.refused.clear();
    setup.warnings.clear();
    Ok(services)
}

/// A config that names the demo's model, and no endpoint of one that runs already, has it started.
#[cfg(feature = "demo")]
fn start_demo_model(config: &mut Config) -> Result<Option<Services>, Stop> {
    let named = |model: &&mut ModelConfig| {
        model.provider == ProviderKind::Demo && model.base_url.as_str() == DEMO_ENDPOINT
    };
    let Some(model) = config.model.as_mut().filter(named) else { return Ok(None) };
    let (url, key, services) = demo::model_alone().map_err(|error| {
        Stop::new(Exit::Failed, format!("the demo's model cannot start: {error}"))
    })?;
    model.base_url = url;
    model.api_key = Some(key);
    model.api_key_env = Some(demo::KEY.to_owned());
    model.context_window = model.context_window.or(Some(demo::WINDOW));
    Ok(Some(services))
}

/// `--url`, `--model` and `--theme`; what is to be said about them.
fn apply(common: &Common, config: &mut Config) -> Result<Vec<Warning>, Stop> {
    let mut warnings = Vec::new();
    if let Some(url) = &common.url {
        let servers = &mut config.mcp.servers;
        let (server, remarks) = one_more(url, common.token_env.as_deref(), servers, &variable)?;
        servers.push(server);
        warnings = remarks;
    }
    if let Some(name) = &common.model {
        let Some(model) = &mut config.model else {
            return Err(Stop::usage(
                "--model names a model, but no endpoint is configured. Add `model:` to the config; `mini-me-tui config path` says where it is.",
            ));
        };
        if model.name != *name {
            // The window that the file states is that of the model that it names.
            model.context_window = None;
            model.name.clone_from(name);
        }
    }
    if let Some(theme) = common.theme {
        config.ui.theme = theme.into();
    }
    Ok(warnings)
}

/// The server of `--url`, held to the rules of the file. Without its token it would be of no use, so
/// a variable that gives none is wrong usage.
fn one_more(
    url: &Url,
    token_env: Option<&str>,
    others: &[ServerConfig],
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(ServerConfig, Vec<Warning>), Stop> {
    let (server, warnings) =
        config::decode::one::server(url.as_str(), token_env, env, others).map_err(Stop::usage)?;
    match server.missing_credential() {
        Some(reason) => Err(Stop::usage(format!("--token-env: {reason}."))),
        None => Ok((server, warnings)),
    }
}

/// Reads what `-` stands for.
///
/// # Errors
/// Wrong usage where it is no text, a failure where it cannot be read.
pub fn standard_input() -> Result<String, Stop> {
    io::read_to_string(io::stdin().lock()).map_err(|why| match why.kind() {
        io::ErrorKind::InvalidData => {
            Stop::usage("what standard input holds is no text in UTF-8: convert it first.")
        }
        _ => why.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn none(_: &str) -> Option<OsString> {
        None
    }

    fn names(urls: &[&str]) -> Vec<String> {
        let mut servers = Vec::new();
        for text in urls {
            servers.push(one_more(&url(text), None, &servers, &none).unwrap().0);
        }
        servers.iter().map(|server| server.name.to_string()).collect()
    }

    #[test]
    fn name_of_a_further_server_comes_from_its_host_and_is_free() {
        assert_eq!(
            names(&[
                "https://mcp.context7.com/mcp",
                "https://api.context7.com/x",
                "http://127.0.0.1:8080/mcp",
                "http://localhost:1/mcp",
            ]),
            ["context7", "context72", "local", "local2"]
        );
    }

    #[test]
    fn url_with_a_password_or_of_another_scheme_is_wrong_usage() {
        for text in ["https://me:pw-EXAMPLE@host.example/mcp", "ftp://host.example/", "file:///mcp"]
        {
            let stop = one_more(&url(text), None, &[], &none).unwrap_err();
            assert_eq!(stop.exit, Exit::Usage);
            assert!(!stop.message.contains("pw-EXAMPLE"), "{stop}");
        }
    }

    #[test]
    fn token_variable_that_is_unset_empty_or_odd_is_named_without_its_value() {
        let far = url("https://host.example/mcp");
        for value in [None, Some("  "), Some("a\u{7}b")] {
            let env = |_: &str| value.map(OsString::from);
            let stop = one_more(&far, Some("MY_TOKEN"), &[], &env).unwrap_err();
            assert_eq!(stop.exit, Exit::Usage);
            assert!(stop.message.contains("MY_TOKEN"), "{stop}");
            assert!(!stop.message.contains('\u{7}'), "{stop}");
        }
        let set = |_: &str| Some(OsString::from(" t \n"));
        let (server, warnings) = one_more(&far, Some("MY_TOKEN"), &[], &set).unwrap();
        assert!(server.auth.is_some() && warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn token_that_travels_unencrypted_to_another_machine_is_a_warning() {
        let set = |_: &str| Some(OsString::from("t"));
        let warnings = |text: &str| one_more(&url(text), Some("T"), &[], &set).unwrap().1.len();
        assert_eq!(warnings("http://host.example/mcp"), 1);
        assert_eq!(warnings("http://127.0.0.1:1/mcp"), 0);
        assert_eq!(warnings("https://host.example/mcp"), 0);
    }
}
