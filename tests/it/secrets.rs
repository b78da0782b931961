//! Marked secrets through the built binary, against servers, a model and a proxy that echo every
//! credential they are sent, in every place and spelling: afterwards nothing that was written, shown
//! or sent on holds one of them.
#![cfg(unix)]

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

use crate::support::fake::{Answer, Fakes, Request, bind};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Variable and value; the values have characters that JSON, URLs and Base64 write differently.
const SECRETS: [(&str, &str); 5] = [
    ("ECHO_TOKEN", "mk-bearer/7+x=Q\"z%41&end"),
    ("ECHO_KEY", "mk-apikey/8+y=W\"v%42&end"),
    ("ECHO_TENANT", "mk-tenant/9+z=E\"u%43&end"),
    ("MODEL_KEY", "mk-model/1+a=R\"t%44&end"),
    ("MOVED_TOKEN", "mk-moved/2+b=T\"s%45&end"),
];
/// In the address of the proxy, and in one that is refused.
const PROXY_PASSWORD: &str = "mkproxy3c3Y9pass";
const URL_PASSWORD: &str = "mkurl4d4U8pass";

/// Every way in which somebody may write a secret down.
fn spellings(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    vec![
        secret.to_owned(),
        json[1..json.len() - 1].to_owned(),
        form.replace('+', "%20"),
        form,
        STANDARD.encode(secret),
        URL_SAFE.encode(secret),
        STANDARD.encode(format!("Bearer {secret}")),
        STANDARD.encode(format!("puser:{secret}")),
        secret.bytes().fold(String::new(), |mut hex, byte| {
            hex.extend([format!("{byte:02x}")]);
            hex
        }),
    ]
}

/// What a talkative server says of the request: all headers, plain and encoded.
fn echo(request: &Request) -> String {
    let mut said = format!("you sent {}\n", request.whole());
    for (_, value) in &request.headers {
        let bare = value.trim_start_matches("Bearer ").trim_start_matches("Basic ");
        for text in [value.as_str(), bare] {
            said.extend(spellings(text).into_iter().flat_map(|spelt| [spelt, " ".to_owned()]));
        }
        let decoded = STANDARD.decode(bare).unwrap_or_default();
        said.push_str(&String::from_utf8_lossy(&decoded));
    }
    said
}

fn with_echo(status: u16, content_type: &str, request: &Request, body: String) -> Answer {
    let mut headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
    if let Some((_, value)) = request.headers.iter().find(|(name, _)| name == "authorization") {
        headers.push(("X-Echo".to_owned(), value.clone()));
        headers.push(("WWW-Authenticate".to_owned(), format!("Bearer realm=\"{value}\"")));
    }
    Answer::Whole { status, headers, body: body.into_bytes() }
}

/// A server that answers in JSON and echoes in every text it has.
fn mcp(request: &Request) -> Answer {
    let said = echo(request);
    let message = request.json();
    let result = match request.rpc().as_str() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            "serverInfo": { "name": format!("echo {said}"), "version": "1" },
            "instructions": format!("Be told: {said}"),
        }),
        "tools/list" => json!({ "tools": [
            tool("echo", &said), tool("fail", &said), tool(&format!("odd {}", said.len()), "odd"),
        ] }),
        "tools/call" if message["params"]["name"] == "fail" => {
            let error = json!({ "code": -32000, "message": said, "data": { "echo": said } });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            return with_echo(200, "application/json", request, body.to_string());
        }
        "tools/call" => json!({
            "content": [
                { "type": "text", "text": said },
                { "type": "resource_link", "uri": "x://y", "name": said },
                { "type": "strange", "echo": said },
            ],
            "structuredContent": { "headers": [said], "body": message },
        }),
        "prompts/list" => json!({ "prompts": [{ "name": "p", "description": said }] }),
        "resources/list" => json!({ "resources": [{ "uri": "x://r", "name": said }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "" if request.method == "GET" => return with_echo(405, "text/plain", request, said),
        method if method.starts_with("notifications/") => return Answer::status(202),
        _ => {
            let error = json!({ "code": -32601, "message": said });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            return with_echo(200, "application/json", request, body.to_string());
        }
    };
    let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    with_echo(200, "application/json", request, body.to_string())
}

fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "description": description,
        "properties": { "q": { "type": "string", "default": description } } });
    json!({ "name": name, "title": description, "description": description, "inputSchema": schema })
}

/// A model that asks for both tools, then says something; every third request is refused.
fn model(request: &Request) -> Answer {
    if !request.target.ends_with("/chat/completions") {
        return with_echo(
            404,
            "application/json",
            request,
            json!({ "error": echo(request) }).to_string(),
        );
    }
    let body = request.json();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    if messages
        .iter()
        .any(|message| message["content"].as_str().is_some_and(|text| text.contains("be refused")))
    {
        let error =
            json!({ "error": { "message": format!("Incorrect API key: {}", echo(request)) } });
        return with_echo(401, "application/json", request, error.to_string());
    }
    let answered = messages.iter().any(|message| message["role"] == "tool");
    let chunk = |choice: Value| {
        let chunk = json!({ "id": "x", "object": "chat.completion.chunk", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let stream = if answered {
        chunk(json!({ "delta": { "content": format!("{} All is done.", echo(request)) } }))
            + &chunk(json!({ "delta": {}, "finish_reason": "stop" }))
    } else {
        let call = |index: usize, name: &str| {
            json!({ "index": index, "id": format!("c{index}"), "type": "function",
                "function": { "name": name, "arguments": "{\"q\":\"hello\"}" } })
        };
        chunk(
            json!({ "delta": { "tool_calls": [call(0, "echo_echo"), call(1, "echo_fail"), call(2, "keyed_echo")] } }),
        ) + &chunk(json!({ "delta": {}, "finish_reason": "tool_calls" }))
    };
    with_echo(200, "text/event-stream", request, stream + "data: [DONE]\n\n")
}

/// The ports of the test, by part.
#[derive(Debug, Clone, Copy)]
struct Ports {
    mcp: u16,
    model: u16,
    moved: u16,
    elsewhere: u16,
    refusing: u16,
    page: u16,
    proxy: u16,
}

struct World {
    home: tempfile::TempDir,
    fakes: Fakes,
    ports: Ports,
    said: Vec<(String, Vec<u8>)>,
}

impl World {
    fn new() -> Self {
        let mut listeners = Vec::new();
        let mut port = || {
            let (port, bound) = bind(&[HERE]);
            listeners.extend(bound);
            port
        };
        let ports = Ports {
            mcp: port(),
            model: port(),
            moved: port(),
            elsewhere: port(),
            refusing: port(),
            page: port(),
            proxy: port(),
        };
        let mut fakes = Fakes::new(move |request| ports.answer(request));
        fakes.serve(listeners, None);
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.yaml"), ports.config()).unwrap();
        Self { home, fakes, ports, said: Vec::new() }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> =
            SECRETS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let proxy = format!("http://puser:{PROXY_PASSWORD}@127.0.0.1:{}", self.ports.proxy);
        all.push(("MINI_ME_HOME".to_owned(), self.home.path().display().to_string()));
        all.push(("HTTP_PROXY".to_owned(), proxy.clone()));
        all.push(("http_proxy".to_owned(), proxy));
        all.push(("RUST_BACKTRACE".to_owned(), "1".to_owned()));
        all.push(("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()));
        all
    }

    fn run(&mut self, words: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"))
            .args(["--log-level", "trace"])
            .args(words)
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let name = words.join(" ");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        self.said.push((format!("stdout of {name}"), output.stdout));
        self.said.push((format!("stderr of {name}"), output.stderr));
        text
    }

    /// The screen, with a message sent and both calls allowed.
    fn screen(&mut self) {
        let size = PtySize { rows: 50, cols: 160, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(["--log-level", "trace", "look around"]);
        command.env_clear();
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut from = pair.master.try_clone_reader().unwrap();
        let rows = vt100::Parser::new(50.try_into().unwrap(), 160.try_into().unwrap(), 0);
        let shown = Arc::new(Mutex::new((rows, Vec::new(), Vec::<String>::new())));
        let kept = Arc::clone(&shown);
        let reading = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let (parser, bytes, screens) = &mut *kept.lock().unwrap();
                parser.process(&buffer[..read]);
                bytes.extend_from_slice(&buffer[..read]);
                screens.push(parser.screen().contents());
            }
        });
        let mut keys = pair.master.take_writer().unwrap();
        let until = |what: &str| {
            let end = Instant::now() + Duration::from_secs(40);
            loop {
                let contents = shown.lock().unwrap().0.screen().contents();
                if contents.contains(what) {
                    return;
                }
                assert!(Instant::now() < end, "no {what}:\n{contents}");
                std::thread::park_timeout(Duration::from_millis(20));
            }
        };
        until("All is done.");
        // Leaving takes two.
        for _ in 0..2 {
            keys.write_all(b"\x03").unwrap();
            keys.flush().unwrap();
            std::thread::park_timeout(Duration::from_millis(200));
        }
        let end = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() && Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        drop(child.kill());
        drop((keys, pair.master));
        drop(reading.join());
        let (_, bytes, screens) = &*shown.lock().unwrap();
        self.said.push(("the screen, as bytes".to_owned(), bytes.clone()));
        // Wrapped rows hide nothing: what draws a screen is left out.
        let drawn = |c: &char| !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(c);
        for screen in screens {
            let text: String = screen.chars().filter(drawn).collect();
            self.said.push(("the screen".to_owned(), text.into_bytes()));
        }
    }

    /// Everything that was written, shown or told to the model.
    fn everything(&self) -> Vec<(String, Vec<u8>)> {
        let mut all = self.said.clone();
        files(self.home.path(), &mut all);
        for request in self.fakes.seen().iter().filter(|request| request.port == self.ports.model) {
            all.push((format!("sent to the model: {}", request.target), request.body.clone()));
        }
        all
    }
}

impl Ports {
    fn answer(self, request: &Request) -> Answer {
        let port = request.port;
        if port == self.model {
            model(request)
        } else if port == self.moved && request.target == "/away" {
            let to = format!("http://127.0.0.1:{}/mcp", self.elsewhere);
            redirect(&to)
        } else if port == self.moved && request.target == "/near" {
            redirect("/mcp")
        } else if port == self.refusing {
            with_echo(401, "text/plain", request, echo(request))
        } else if port == self.page {
            with_echo(200, "text/html", request, format!("<html>{}", echo(request)))
        } else if port == self.proxy {
            with_echo(407, "text/plain", request, echo(request))
        } else {
            mcp(request)
        }
    }

    fn config(self) -> String {
        let Self { mcp, model, moved, refusing, page, .. } = self;
        format!(
            "model: {{ baseUrl: 'http://127.0.0.1:{model}/v1', name: m, apiKeyEnv: MODEL_KEY }}
audit: {{ arguments: full }}
mcp:
  permissions: auto
  pins: off
  discoveryTimeout: 5s
  servers:
    - {{ name: echo, protocol: 2025-06-18, url: 'http://127.0.0.1:{mcp}/mcp', auth: {{ type: bearer, tokenEnv: ECHO_TOKEN }}, headersEnv: {{ X-Tenant: ECHO_TENANT }} }}
    - {{ name: keyed, protocol: 2025-06-18, url: 'http://127.0.0.1:{mcp}/keyed', auth: {{ type: apiKey, header: X-Api-Key, keyEnv: ECHO_KEY }} }}
    - {{ name: away, protocol: 2025-06-18, url: 'http://127.0.0.1:{moved}/away', auth: {{ type: bearer, tokenEnv: MOVED_TOKEN }} }}
    - {{ name: near, protocol: 2025-06-18, url: 'http://127.0.0.1:{moved}/near', auth: {{ type: bearer, tokenEnv: MOVED_TOKEN }} }}
    - {{ name: refusing, url: 'http://127.0.0.1:{refusing}/mcp', auth: {{ type: bearer, tokenEnv: ECHO_TOKEN }} }}
    - {{ name: page, url: 'http://127.0.0.1:{page}/mcp', auth: {{ type: bearer, tokenEnv: ECHO_TOKEN }} }}
    - {{ name: far, url: 'http://far.invalid/mcp', auth: {{ type: bearer, tokenEnv: ECHO_TOKEN }} }}
"
        )
    }
}

fn redirect(to: &str) -> Answer {
    let headers = vec![("Location".to_owned(), to.to_owned())];
    Answer::Whole { status: 307, headers, body: Vec::new() }
}

fn files(dir: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn places(everything: &[(String, Vec<u8>)]) -> Vec<String> {
    let marked: Vec<&str> = SECRETS.iter().map(|(_, value)| *value).collect();
    let mut found = Vec::new();
    for secret in marked.into_iter().chain([PROXY_PASSWORD, URL_PASSWORD]) {
        for spelt in spellings(secret) {
            for (place, bytes) in everything {
                if holds(bytes, &spelt) {
                    let at =
                        bytes.windows(spelt.len()).position(|w| w == spelt.as_bytes()).unwrap();
                    let around = &bytes[at.saturating_sub(120)..(at + 60).min(bytes.len())];
                    found
                        .push(format!("{spelt} in {place}: …{}…", String::from_utf8_lossy(around)));
                }
            }
        }
    }
    found
}

#[test]
fn no_secret_is_written_shown_or_told_to_the_model() {
    let mut world = World::new();
    let typed = format!("q={}", SECRETS[0].1);
    let listed = world.run(&["tools", "--json", "--schemas"]);
    assert!(listed.contains("[redacted: ECHO_TOKEN]"), "{listed}");
    for words in [
        ["tools"].as_slice(),
        &["tools", "--json"],
        &["servers"],
        &["servers", "--json"],
        &["check"],
        &["check", "--json"],
        &["call", "echo/echo", "q=1"],
        &["call", "echo/echo", &typed, "--json"],
        &["call", "echo/fail", "--json"],
        &["call", "keyed/fail"],
        &["prompts", "list"],
        &["resources", "list", "--json"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["tools", "--explain", "echo/echo"],
        &["exec", "look around"],
        &["exec", "look around", "--json"],
        &["exec", "be refused"],
        &["--url", &format!("https://user:{URL_PASSWORD}@host.invalid/mcp"), "tools"],
        &["audit"],
        &["audit", "--json"],
        &["sessions", "list"],
    ] {
        world.run(words);
    }
    world.screen();
    let everything = world.everything();
    for place in ["audit.jsonl", "sessions/", "log/", "the screen", "sent to the model"] {
        assert!(everything.iter().any(|(name, _)| name.contains(place)), "nothing of {place}");
    }
    let found = places(&everything);
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
    // The credentials did go where they belong, and nowhere else.
    let seen = world.fakes.seen();
    let holding = |secret: &str| -> Vec<u16> {
        let mut ports: Vec<u16> = seen
            .iter()
            .filter(|request| request.headers.iter().any(|(_, value)| value.contains(secret)))
            .map(|request| request.port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    };
    let sorted = |mut ports: Vec<u16>| {
        ports.sort_unstable();
        ports
    };
    let ports = world.ports;
    assert_eq!(holding(SECRETS[1].1), [ports.mcp]);
    assert_eq!(holding(SECRETS[2].1), [ports.mcp]);
    assert_eq!(holding(SECRETS[3].1), [ports.model]);
    assert_eq!(holding(SECRETS[4].1), [ports.moved]);
    assert_eq!(
        holding(SECRETS[0].1),
        sorted(vec![ports.mcp, ports.refusing, ports.page, ports.proxy])
    );
    assert!(seen.iter().all(|request| request.port != ports.elsewhere));
    // Loopback is never proxied.
    let proxied = seen.iter().filter(|request| request.port == ports.proxy);
    assert!(proxied.clone().count() > 0);
    assert!(proxied.clone().all(|request| request.whole().contains("far.invalid")));
}
