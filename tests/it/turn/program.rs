//! The built binary against the demo: results that have to be read page by page, and more tools than
//! fit the model's window.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Router, routing};
use mini_me_tui::demo;
use mini_me_tui::domain::Message;
use mini_me_tui::domain::turn::estimate_tokens;
use mini_me_tui::session::store;
use secrecy::ExposeSecret;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const KEY: &str = "MINI_ME_TEST_DEMO_KEY";
/// A tenth of a window of 8k.
const TENTH: u64 = 8192 / 10;
const SEVEN: [&str; 7] = [
    "tracker_get_current_project",
    "tracker_list_tasks",
    "tracker_get_task",
    "tracker_list_reports_for_task",
    "tracker_get_report",
    "tracker_get_report_telemetry",
    "tracker_search_reports",
];

/// Runs the program in this home; what it prints on standard output.
async fn run(home: &Path, words: &[&str], key: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    command.args(words).env("MINI_ME_HOME", home).stdin(Stdio::null());
    for name in ["MINI_ME_CONFIG", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    if let Some(key) = key {
        command.env(KEY, key);
    }
    let ran = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "out: {out}\nerr: {err}");
    out
}

/// The messages of the conversation in this home.
fn messages(home: &Path) -> Vec<Message> {
    let directory = home.join("sessions");
    let id = store::latest(&directory).unwrap().unwrap();
    store::read(&directory, &id).unwrap().messages()
}

/// Results as the model saw them: of the servers' tools, and of reading on.
fn results(messages: &[Message]) -> (String, String) {
    let (mut first, mut further) = (String::new(), String::new());
    for message in messages {
        if let Message::Result { name, text, .. } = message {
            let read_on = name.as_str() == "mini_me_read_result";
            (if read_on { &mut further } else { &mut first }).push_str(text);
        }
    }
    (first, further)
}

#[tokio::test]
async fn an_answer_quotes_what_stands_only_on_a_later_page_of_a_result() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("config.yaml"), "mcp: { resultLimit: 150 }\n").unwrap();
    let words = ["exec", "--demo", "--allow", "tracker/*", "Look at task #42 and explain it"];
    let answer = run(home.path(), &words, None).await;
    let messages = messages(home.path());
    let (first, further) = results(&messages);
    assert!(further.contains("\"hasMore\":true"), "some take more than two pages");
    let only_later: Vec<&str> = answer
        .lines()
        .map(str::trim)
        .filter(|line| line.len() > 25 && further.contains(*line) && !first.contains(*line))
        .collect();
    assert!(only_later.iter().any(|line| line.contains("src/")), "{only_later:?}\n{answer}");
}

#[tokio::test]
async fn a_config_that_names_the_demo_model_has_it_started() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("config.yaml"), "model: { provider: demo }\n").unwrap();
    assert!(!run(home.path(), &["exec", "hello"], None).await.is_empty());
}

/// Passes requests on to the model and remembers what they were.
#[derive(Clone)]
struct Tap {
    to: String,
    client: reqwest::Client,
    seen: Arc<Mutex<Vec<Value>>>,
}

async fn pass_on(State(tap): State<Tap>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    if let Ok(seen) = serde_json::from_slice(&body) {
        tap.seen.lock().unwrap().push(seen);
    }
    let url = format!("{}{}", tap.to, head.uri.path());
    let mut headers = head.headers;
    headers.remove("host");
    headers.remove("content-length");
    let asked = tap.client.request(head.method, url).headers(headers).body(body);
    let answer = asked.send().await.unwrap();
    let mut response = Response::builder().status(answer.status());
    if let Some(kind) = answer.headers().get("content-type") {
        response = response.header("content-type", kind);
    }
    response.body(Body::from(answer.bytes().await.unwrap())).unwrap()
}

/// What the definitions in a request cost, and their names.
fn offered(request: &Value) -> (u64, Vec<String>) {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    let cost = |tool: &Value| {
        estimate_tokens(&name(tool))
            + estimate_tokens(tool["function"]["description"].as_str().unwrap())
            + estimate_tokens(&tool["function"]["parameters"].to_string())
    };
    (tools.iter().map(cost).sum(), tools.iter().map(name).collect())
}

async fn with_many_tools(demo: &demo::Demo, mcp: &str) {
    let home = TempDir::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tap = Tap {
        to: format!("http://{}", demo.model.authority()),
        client: reqwest::Client::builder().no_proxy().build().unwrap(),
        seen: Arc::default(),
    };
    let model = format!("http://{}/v1", listener.local_addr().unwrap());
    let routes = Router::new().fallback(routing::any(pass_on)).with_state(tap.clone());
    std::fs::write(
        home.path().join("config.yaml"),
        format!(
            "model: {{ provider: openai, baseUrl: \"{model}\", name: {}, apiKeyEnv: {KEY}, contextWindow: 8192 }}\nmcp: {{ servers: [{{ name: tracker, url: \"{mcp}\" }}] }}\n",
            demo::MODEL
        ),
    )
    .unwrap();
    let key = Some(demo.key.expose_secret());
    let working = async {
        let tools = run(home.path(), &["tools", "--json"], key).await;
        let tools: Value = serde_json::from_str(&tools).unwrap();
        assert_eq!(tools["tools"].as_array().unwrap().len(), 200);
        let mut runs = Vec::new();
        for (prompt, says) in [
            ("Look at task #42 and explain it", "formatMoney"),
            ("Search for TypeError", "TypeError"),
            ("Which project is this?", "Harbor"),
        ] {
            let mut words = vec!["exec", "--allow", "tracker/*", prompt];
            if !runs.is_empty() {
                words.push("--continue");
            }
            let answer = run(home.path(), &words, key).await;
            assert!(answer.contains(says), "{prompt}: {answer}");
            runs.push(std::mem::take(&mut *tap.seen.lock().unwrap()));
        }
        runs
    };
    let runs = tokio::select! {
        runs = working => runs,
        ended = async { axum::serve(listener, routes).await } => panic!("the tap ended: {ended:?}"),
    };
    let first = runs[0].first().unwrap();
    assert_eq!(offered(first).1, ["mini_me_search_tools"]);
    let mut last = Vec::new();
    for requests in &runs {
        let mut before: Vec<String> = Vec::new();
        for request in requests {
            let (cost, names) = offered(request);
            assert!(cost < TENTH, "{cost} tokens for {names:?}");
            assert!(names.starts_with(&before), "{names:?} after {before:?}");
            before = names;
        }
        last = before;
    }
    for name in SEVEN {
        assert!(last.iter().any(|known| known == name), "{name} is not among {last:?}");
    }
}

#[tokio::test]
async fn among_two_hundred_tools_the_seven_are_found_within_a_tenth_of_the_window() {
    let (demo, model) = demo::start().unwrap();
    let (mcp, _, tracker) = demo::server_alone(0).unwrap();
    let cancel = CancellationToken::new();
    let tracker = tracker.with_extra_tools(193);
    let serving =
        async { tokio::join!(model.serve(cancel.clone()), tracker.serve(cancel.clone())) };
    tokio::select! {
        () = with_many_tools(&demo, mcp.as_str()) => {}
        ended = serving => panic!("the demo ended: {ended:?}"),
    }
}
