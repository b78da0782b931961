//! One run's surroundings: a home with the config, a working directory, an environment, and
//! something behind every address.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mini_me_tui::config;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::answers::{self, Answers};
use super::ports::{self, Place, Ports};
use crate::support::fake::{Fakes, bind};

/// Everything around one run.
pub(super) struct World {
    home: TempDir,
    pub(super) cwd: TempDir,
    pub(super) env: BTreeMap<String, OsString>,
    /// Case port → port of this run.
    pub(super) ports: Ports,
    /// Name of a server → its port in this run, if it has one.
    pub(super) servers: BTreeMap<String, Option<u16>>,
    pub(super) model: Option<u16>,
    /// Ports of this run that belong to no server and no model of the config.
    pub(super) others: Vec<u16>,
    pub(super) answers: Arc<Answers>,
    pub(super) fakes: Fakes,
    pub(super) has_model: bool,
}

impl World {
    pub(super) fn new(yaml: &[u8], expected: &Value) -> Result<Self, String> {
        Self::with_fault(yaml, expected, None)
    }

    /// The same with servers that have this fault.
    pub(super) fn with_fault(
        yaml: &[u8],
        expected: &Value,
        fault: Option<&str>,
    ) -> Result<Self, String> {
        let (home, cwd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (places, wanted) = named(yaml, expected);
        let closed = expected["listen"] == "none";
        let mut ports = Ports::new();
        let mut listeners = Vec::new();
        for port in wanted {
            let at_port: Vec<&Place> = places.iter().filter(|place| place.port == port).collect();
            let (free, bound) = bind(&addresses(&at_port, expected));
            ports.insert(port, free);
            let tls = at_port.iter().any(|place| place.tls);
            // A closed port is a free one that nobody took.
            let named = at_port.iter().any(|place| place.host == "localhost");
            listeners.push((free, if closed && named { Vec::new() } else { bound }, tls));
        }
        let text = std::str::from_utf8(yaml).map(|text| ports::exchange(text, &ports, false));
        let mut yaml = text.map_or_else(|_| yaml.to_vec(), String::into_bytes);
        let env = environment(expected, &ports, home.path());
        let authority = Authority::new();
        let mut world = Self {
            env,
            ports,
            servers: BTreeMap::new(),
            model: None,
            others: Vec::new(),
            answers: Arc::default(),
            fakes: Fakes::new(|_| crate::support::fake::Answer::Close),
            has_model: false,
            home,
            cwd,
        };
        world.trust(expected, &authority, &mut yaml)?;
        if fault.is_some() {
            hasten(&mut yaml);
        }
        world.write_config(&yaml);
        for (name, text) in expected["cwd_files"].as_object().into_iter().flatten() {
            let file = world.cwd.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text = ports::exchange(text.as_str().unwrap(), &world.ports, false);
            std::fs::write(file, text).unwrap();
        }
        world.look_up(&yaml);
        let answers = Arc::new(world.behaviour(&yaml, expected, fault)?);
        world.answers = Arc::clone(&answers);
        world.fakes = Fakes::new(move |request| answers.answer(request));
        let server_ports: Vec<u16> = world.servers.values().flatten().copied().collect();
        for (port, bound, tls) in listeners {
            let refused = fault == Some("refused") && server_ports.contains(&port);
            let tls = tls.then(|| authority.config());
            world.fakes.serve(if refused { Vec::new() } else { bound }, tls.as_ref());
        }
        Ok(world)
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(super) fn config_file(&self) -> PathBuf {
        self.home().join("config.yaml")
    }

    pub(super) fn write_config(&self, yaml: &[u8]) {
        std::fs::write(self.config_file(), yaml).unwrap();
    }

    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        self.env.get(name).cloned()
    }

    /// A text of the expectations with the ports of this run.
    pub(super) fn here(&self, text: &str) -> String {
        ports::exchange(text, &self.ports, true)
    }

    /// Whether the first screen offers ways to begin, because nothing is configured.
    pub(super) fn begins_with_choices(&self) -> bool {
        let env = |name: &str| self.variable(name);
        let paths = mini_me_tui::paths::Paths::discover(&env);
        config::load(None, &env, paths.as_ref()).is_ok_and(|loaded| {
            loaded.config.model.is_none() && loaded.presence != config::Presence::Given
        })
    }

    /// The full screen, once the servers have settled.
    pub(super) fn screen(&self) -> String {
        super::in_process(super::scenario::picture(self)).unwrap()
    }

    /// Finds out which port belongs to whom.
    fn look_up(&mut self, yaml: &[u8]) {
        let text = String::from_utf8_lossy(yaml);
        let env = |name: &str| self.variable(name);
        if let Ok(loaded) = config::decode(&text, Path::new("config.yaml"), &env) {
            for server in &loaded.config.mcp.servers {
                self.servers.insert(server.name.to_string(), server.url.port());
            }
            for server in loaded.refused {
                let port = ports::places(&server.url).first().map(|place| place.port);
                self.servers.entry(server.name).or_insert(port);
            }
            self.has_model = loaded.config.model.is_some();
            self.model = loaded.config.model.and_then(|model| model.base_url.port());
        }
        let taken: Vec<u16> =
            self.servers.values().chain([&self.model]).flatten().copied().collect();
        self.others = self.ports.values().filter(|port| !taken.contains(port)).copied().collect();
    }

    /// What the endpoints do.
    fn behaviour(
        &self,
        yaml: &[u8],
        expected: &Value,
        fault: Option<&str>,
    ) -> Result<Answers, String> {
        let entries = entries(yaml);
        let mut answers = Answers::default();
        for (name, port) in &self.servers {
            let Some(port) = *port else { continue };
            let tools = tools_of(name, &entries, expected);
            answers.tools.entry(port).or_insert(tools);
            if let Some(list) = expected["server_answers"].as_array() {
                let described: Result<Vec<_>, _> = list
                    .iter()
                    .map(|one| answers::described(one, |text| self.here(text)))
                    .collect();
                answers.instead.insert(port, described?);
            }
            if let Some(answer) = fault.map(answers::fault).transpose()?.flatten() {
                answers.instead.insert(port, vec![answer]);
            }
        }
        Ok(answers)
    }

    /// Makes the program trust the authority in the way that the case names.
    fn trust(
        &mut self,
        expected: &Value,
        authority: &Authority,
        yaml: &mut Vec<u8>,
    ) -> Result<(), String> {
        let Some(way) = expected["ca"].as_str() else { return Ok(()) };
        let dir = self.home().join("authority");
        std::fs::create_dir(&dir).unwrap();
        let file = dir.join("ca.pem");
        std::fs::write(&file, &authority.pem).unwrap();
        match way {
            "none" => {}
            // The system's store is a directory of certificates; this names another one.
            "system" | "SSL_CERT_DIR" => {
                // The name is a hash of the subject, which readers of the whole directory ignore.
                std::fs::copy(&file, dir.join("0a1b2c3d.0")).unwrap();
                std::fs::remove_file(&file).unwrap();
                self.env.insert("SSL_CERT_DIR".to_owned(), dir.into());
            }
            "SSL_CERT_FILE" => {
                self.env.insert("SSL_CERT_FILE".to_owned(), file.into());
            }
            "extra CA file of the config" => {
                *yaml = edited(yaml, |config| config["mcp"]["caFile"] = json!(file));
            }
            other => return Err(format!("the driver does not know the authority `{other}`")),
        }
        Ok(())
    }
}

/// The addresses of a case, and the ports that need a free one.
fn named(yaml: &[u8], expected: &Value) -> (Vec<Place>, Vec<u16>) {
    let mut places = ports::places(&String::from_utf8_lossy(yaml));
    let texts = [&expected["env"], &expected["cwd_files"]].into_iter().filter_map(Value::as_object);
    for text in texts.flat_map(|map| map.values()).filter_map(Value::as_str) {
        places.extend(ports::places(text));
    }
    for answer in expected["server_answers"].as_array().into_iter().flatten() {
        places.extend(ports::places(answer["location"].as_str().unwrap_or_default()));
    }
    places.retain(|place| !place.addresses().is_empty());
    let mut wanted: Vec<u16> = places.iter().map(|place| place.port).collect();
    let counted = expected["requests_to_ports"].as_object().into_iter().flatten();
    wanted.extend(counted.filter_map(|(port, _)| port.parse::<u16>().ok()));
    wanted.sort_unstable();
    wanted.dedup();
    (places, wanted)
}

/// Where a port is listened on.
fn addresses(places: &[&Place], expected: &Value) -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for place in places {
        let listen = expected["listen"].as_str().and_then(|text| text.parse().ok());
        match listen.filter(|_| place.host == "localhost") {
            Some(only) => addresses.push(only),
            None => addresses.extend(place.addresses()),
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() { vec![[127, 0, 0, 1].into()] } else { addresses }
}

fn environment(expected: &Value, ports: &Ports, home: &Path) -> BTreeMap<String, OsString> {
    let mut env = BTreeMap::from([("MINI_ME_HOME".to_owned(), home.into())]);
    for (name, value) in expected["env"].as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => ports::exchange(text, ports, false).into(),
            Value::Object(raw) => bytes(raw["hex"].as_str().expect("raw bytes are `hex`")),
            other => panic!("{name} is {other}"),
        };
        env.insert(name.clone(), value);
    }
    env
}

#[cfg(unix)]
fn bytes(hex: &str) -> OsString {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    std::os::unix::ffi::OsStringExt::from_vec(digits.chunks(2).map(byte).collect())
}

#[cfg(not(unix))]
fn bytes(hex: &str) -> OsString {
    panic!("raw bytes in a variable: {hex}")
}

/// The config with a change made to it. Lines are not kept.
pub(super) fn edited(yaml: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut config: Value = serde_yaml::from_slice(yaml).unwrap();
    change(&mut config);
    // JSON is YAML.
    config.to_string().into_bytes()
}

/// Makes discovery give up soon, where nothing about it is configured.
fn hasten(yaml: &mut Vec<u8>) {
    if !String::from_utf8_lossy(yaml).lines().any(|line| line.starts_with("mcp")) {
        yaml.extend_from_slice(b"\nmcp: { discoveryTimeout: 2s }\n");
    }
}

/// The entries of servers as they are written.
pub(super) fn entries(yaml: &[u8]) -> Vec<Value> {
    let config: Value = serde_yaml::from_slice(yaml).unwrap_or_default();
    let lists = [&config["mcp"]["servers"], &config["servers"]].into_iter();
    lists.filter_map(Value::as_array).flatten().cloned().collect()
}

/// The tools that a server has: those the case gives it, or all that the case and the config name.
fn tools_of(server: &str, entries: &[Value], expected: &Value) -> Vec<Value> {
    if let Some(given) = expected["server_tools"][server].as_array() {
        return given.iter().map(tool).collect();
    }
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.replace('*', "x");
        if name.len() > 1 && !names.contains(&name) {
            names.push(name);
        }
    };
    add("any");
    for step in expected["scenario"].as_array().into_iter().flatten() {
        for named in [&step["model_calls"], &step["session_grant"]] {
            if named["server"] == server {
                named["tool"].as_str().into_iter().for_each(&mut add);
            }
        }
    }
    for entry in entries.iter().filter(|entry| entry["name"] == server) {
        let lists = [&entry["tools"], &entry["excludeTools"]].into_iter();
        lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str).for_each(&mut add);
        let rules = entry["rules"].as_array().into_iter().flatten();
        rules.filter_map(|rule| rule["tool"].as_str()).for_each(&mut add);
    }
    let offered = expected["offered"][server].as_array().into_iter().flatten();
    offered.filter_map(Value::as_str).for_each(&mut add);
    names.iter().map(|name| tool(&json!(name))).collect()
}

/// A tool by its name alone, or as a definition with the rest filled in.
fn tool(given: &Value) -> Value {
    let mut tool = json!({ "description": "Does it.", "inputSchema": { "type": "object" } });
    match given {
        Value::Object(given) => tool.as_object_mut().unwrap().extend(given.clone()),
        name => tool["name"] = name.clone(),
    }
    tool
}

/// A certificate authority of one run, and a certificate for this machine.
struct Authority {
    pem: String,
    config: Arc<rustls::ServerConfig>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "Authority of a test");
        let certificate = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let own_key = KeyPair::generate().unwrap();
        let mut own = CertificateParams::new(names).unwrap();
        own.extended_key_usages.push(rcgen::ExtendedKeyUsagePurpose::ServerAuth);
        let own = own.signed_by(&own_key, &issuer).unwrap();
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], private)
            .unwrap();
        Self { pem: certificate.pem(), config: Arc::new(config) }
    }

    fn config(&self) -> Arc<rustls::ServerConfig> {
        Arc::clone(&self.config)
    }
}
