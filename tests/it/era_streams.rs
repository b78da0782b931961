//! Streams outside any answer, in both eras: what they tell, how they end, and what they outlive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mini_me_tui::domain::{Changed, Inquiry, ServerState};
use mini_me_tui::mcp::{Command, ServerEventKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::client::{Client, eventually, spec, states, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

/// A legacy server with a session that declares everything; the standing stream is the closure's.
async fn legacy(get: impl Fn(&Recorded, usize) -> Reply + Send + Sync + 'static) -> Server {
    let opened = AtomicUsize::new(0);
    Server::start(move |request| match (request.method.as_str(), request.rpc().as_str()) {
        ("GET", _) => get(request, opened.fetch_add(1, Ordering::Relaxed) + 1),
        ("POST", "initialize") => {
            let offers = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true}});
            let agreed = json!({"protocolVersion": "2025-11-25", "capabilities": offers});
            let body = result(request, &agreed).to_string();
            let headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", "s-1")];
            Reply::whole(200, &headers, body.as_bytes())
        }
        ("POST", "tools/call") => Reply::default().hang(),
        _ => usual(request),
    })
    .await
}

/// A modern server that declares everything; subscriptions are the closure's, with their number.
async fn modern(listen: impl Fn(&Recorded, usize) -> Reply + Send + Sync + 'static) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |request| match request.rpc().as_str() {
        "server/discover" => {
            let offers = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true}});
            let found = json!({"supportedVersions": ["2026-07-28"], "capabilities": offers});
            Reply::json(200, &result(request, &found))
        }
        "subscriptions/listen" => listen(request, asked.fetch_add(1, Ordering::Relaxed) + 1),
        _ => usual(request),
    })
    .await
}

fn usual(request: &Recorded) -> Reply {
    let answer = match request.rpc().as_str() {
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "prompts/list" => json!({"prompts": []}),
        "resources/subscribe" | "resources/unsubscribe" => json!({}),
        "resources/read" if request.json()["params"]["uri"] == "silent" => {
            return Reply::default().hang();
        }
        "resources/read" => {
            let uri = request.json()["params"]["uri"].clone();
            json!({"ttlMs": 600_000, "contents": [{"uri": uri, "text": "t"}]})
        }
        "server/discover" => return Reply::json(400, &error(request, -32600, "no session")),
        _ if request.json()["id"].is_null() => return Reply::status(202),
        _ => return Reply::json(404, &error(request, -32601, "Method not found")),
    };
    Reply::json(200, &result(request, &answer))
}

fn told(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params})
}

/// A subscription's stream so far: all that was asked for is granted.
fn granted(request: &Recorded) -> Reply {
    let wanted = request.json()["params"]["notifications"].clone();
    let id = json!({"io.modelcontextprotocol/subscriptionId": request.json()["id"]});
    let params = json!({"notifications": wanted, "_meta": id});
    Reply::stream().event(&told("subscriptions/acknowledged", &params))
}

fn wanted(request: &Recorded) -> Value {
    request.json()["params"]["notifications"].clone()
}

fn read(uri: &str) -> Inquiry {
    Inquiry::Read { uri: uri.to_owned() }
}

fn changes(events: &[ServerEventKind]) -> Vec<Changed> {
    let change = |kind: &ServerEventKind| match kind {
        ServerEventKind::Changed(what) => Some(what.clone()),
        _ => None,
    };
    events.iter().filter_map(change).collect()
}

fn warned(client: &Client, words: &str) -> bool {
    client.warnings().iter().any(|warning| warning.contains(words))
}

fn resource(uri: &str) -> Changed {
    Changed::Resource { uri: uri.to_owned() }
}

// §16, U1: prompts and resources too, in either era, and a burst is told once.
#[tokio::test]
async fn changes_of_prompts_and_resources_are_told_once_for_each_burst() {
    let news = |stream: Reply| {
        let burst = (0..20).fold(stream, |stream, _| {
            stream
                .event(&told("prompts/list_changed", &json!({})))
                .event(&told("resources/list_changed", &json!({})))
                .event(&told("resources/updated", &json!({"uri": "a:1"})))
        });
        burst.hang()
    };
    let servers = [
        legacy(move |_, _| news(Reply::stream())).await,
        modern(move |request, _| news(granted(request))).await,
    ];
    for server in servers {
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        let told =
            client.until(|events| Some(changes(events)).filter(|told| told.len() == 3)).await;
        assert_eq!(told, [Changed::Prompts, Changed::Resources, resource("a:1")]);
        assert!(client.warnings().is_empty(), "{:?}", client.warnings());
        client.stop().await;
    }
}

// O4
#[tokio::test]
async fn a_resource_that_was_read_is_subscribed_to_once_and_again_on_a_new_connection() {
    let server = legacy(|_, _| Reply::stream().hang()).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    client.inquire(read("a:1")).await.unwrap();
    client.inquire(read("a:1")).await.unwrap();
    let subscribed = || server.asked("resources/subscribe");
    eventually("it is subscribed to", || subscribed().len() == 1).await;
    client.send(Command::Connect).await;
    eventually("and again", || subscribed().len() == 2).await;
    assert!(subscribed().iter().all(|ask| ask.json()["params"] == json!({"uri": "a:1"})));
    client.stop().await;
}

#[tokio::test]
async fn nothing_is_subscribed_to_where_nobody_is_there() {
    let server = legacy(|_, _| Reply::status(405)).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.answering = mini_me_tui::domain::Answering::Nobody;
    let client = Client::ready(spec).await;
    client.inquire(read("a:1")).await.unwrap();
    client.stop().await;
    assert!(server.asked("resources/subscribe").is_empty());
}

// U1, U5, C4
#[tokio::test]
async fn another_resource_opens_a_subscription_to_all_of_them_before_the_old_one_is_closed() {
    let changed = CancellationToken::new();
    let server = modern({
        let changed = changed.clone();
        move |request, nth| match nth {
            1 => granted(request).hang(),
            _ => granted(request)
                .until(&changed)
                .event(&told("resources/updated", &json!({"uri": "a:1"})))
                .hang(),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    eventually("it is asked for", || server.asked("subscriptions/listen").len() == 1).await;
    let mut all = json!({"toolsListChanged": true, "promptsListChanged": true,
        "resourcesListChanged": true});
    assert_eq!(wanted(&server.asked("subscriptions/listen")[0]), all);
    client.inquire(read("a:1")).await.unwrap();
    client.inquire(read("a:2")).await.unwrap();
    eventually("the first is closed", || server.left() == ["subscriptions/listen"]).await;
    let asked = server.asked("subscriptions/listen");
    assert_eq!(asked.len(), 2, "two readings at a time make one new subscription");
    all["resourceSubscriptions"] = json!(["a:1", "a:2"]);
    assert_eq!(wanted(&asked[1]), all);
    changed.cancel();
    client.until(|events| (changes(events) == [resource("a:1")]).then_some(())).await;
    let before = server.asked("resources/read").len();
    client.inquire(read("a:1")).await.unwrap();
    assert_eq!(server.asked("resources/read").len(), before + 1, "it is stale");
    client.stop().await;
}

// U4
#[tokio::test]
async fn a_subscription_that_ends_in_any_way_is_opened_anew_and_what_was_missed_is_fetched() {
    let ends: [fn(&Recorded) -> Reply; 3] = [
        |request| granted(request).event(&result(request, &json!({"resultType": "complete"}))),
        |request| {
            let id = request.json()["id"].clone();
            granted(request).event(&told("cancelled", &json!({"requestId": id}))).hang()
        },
        granted,
    ];
    let runs = ends.map(|end| async move {
        let server = modern(move |request, nth| match nth {
            1 => end(request),
            _ => granted(request).hang(),
        })
        .await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        eventually("it is opened anew", || server.asked("subscriptions/listen").len() == 2).await;
        eventually("the tools are listed again", || server.asked("tools/list").len() == 2).await;
        client.until(|events| (changes(events).len() == 2).then_some(())).await;
        let ids: Vec<Value> =
            server.asked("subscriptions/listen").iter().map(|r| r.json()["id"].clone()).collect();
        assert_ne!(ids[0], ids[1]);
        client.stop().await;
    });
    futures_util::future::join_all(runs).await;
}

// U2, U3
#[tokio::test]
async fn news_before_the_acknowledgement_or_of_another_subscription_are_taken_and_told() {
    let server = modern(|_, _| {
        let of_another = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 99_999}});
        Reply::stream()
            .event(&told("prompts/list_changed", &json!({})))
            .event(&told("subscriptions/acknowledged", &json!({"notifications": {}})))
            .event(&told("resources/list_changed", &of_another))
            .hang()
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    client.until(|events| (changes(events).len() == 2).then_some(())).await;
    assert!(warned(&client, "before it acknowledges it"), "{:?}", client.warnings());
    assert!(warned(&client, "names another subscription"), "{:?}", client.warnings());
    client.stop().await;
}

// T14, T15: a call may need the old stream.
#[tokio::test]
async fn reconnecting_by_hand_keeps_the_old_stream_until_its_calls_have_ended() {
    let answered = CancellationToken::new();
    let server = legacy({
        let answered = answered.clone();
        move |_, nth| match nth {
            1 => {
                let late = json!({"jsonrpc": "2.0", "id": 4, "result": {"content":
                    [{"type": "text", "text": "late"}]}});
                Reply::stream().until(&answered).event(&late).hang()
            }
            _ => Reply::stream().hang(),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    assert_eq!(server.asked("tools/call")[0].json()["id"], 4);
    client.send(Command::Connect).await;
    eventually("there are two streams", || server.count("GET") == 2).await;
    assert!(server.left().is_empty(), "{:?}", server.left());
    assert_eq!(server.count("DELETE"), 0);
    answered.cancel();
    assert_eq!(text(&calling.outcome().await), "late");
    eventually("the old stream is closed", || server.left().contains(&String::new())).await;
    eventually("the old session is ended", || server.count("DELETE") == 1).await;
    client.stop().await;
}

// §16: a live token counts on whichever stream it is named.
#[tokio::test]
async fn progress_on_the_standing_stream_reaches_its_call() {
    let called = CancellationToken::new();
    let server = legacy({
        let called = called.clone();
        move |_, _| {
            let progress = |token: i32| {
                told("progress", &json!({"progressToken": token, "progress": 3, "message": "m"}))
            };
            Reply::stream().until(&called).event(&progress(77)).event(&progress(4)).hang()
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    called.cancel();
    let id = calling.id;
    let note = client
        .until(|events| {
            events.iter().find_map(|kind| match kind {
                ServerEventKind::Progress { call, progress } if *call == id => {
                    Some(progress.note.clone())
                }
                _ => None,
            })
        })
        .await;
    assert_eq!(note, "m");
    calling.cancel.cancel();
    client.stop().await;
}

// T9, T13, T15: each stream goes on after its own last event.
#[tokio::test]
async fn each_stream_is_resumed_after_its_own_last_event() {
    let server = Server::start(|request| {
        let last = request.header("last-event-id");
        match (request.method.as_str(), request.rpc().as_str(), last) {
            ("GET", _, None) => Reply::stream().bytes(b"id: g\xc3\xa9-1\nretry: 40\ndata:\n\n"),
            ("GET", _, Some("c-1")) => Reply::stream().event(&json!({"jsonrpc": "2.0", "id": 4,
                "result": {"content": [{"type": "text", "text": "late"}]}})),
            ("GET", _, _) => Reply::stream().hang(),
            ("POST", "tools/call", _) => Reply::stream().bytes(b"id: c-1\nretry: 1500\ndata:\n\n"),
            _ => crate::era_legacy::usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "late");
    let resumed = || -> Vec<String> {
        let requests = server.requests();
        let gets = requests.iter().filter(|request| request.method == "GET");
        gets.filter_map(|request| request.header("last-event-id").map(str::to_owned)).collect()
    };
    eventually("both are resumed", || resumed().len() == 2).await;
    let mut resumed = resumed();
    resumed.sort();
    // S10: an id is any text.
    assert_eq!(resumed, ["c-1", "gé-1"]);
    client.stop().await;
}

// T11, T15: a server that was started anew does not know the session of the stream.
#[tokio::test]
async fn a_standing_stream_whose_session_was_forgotten_makes_the_connection_anew() {
    let server = legacy(|_, nth| match nth {
        1 => Reply::stream().bytes(b"id: 1\ndata:\n\n"),
        2 => Reply::status(404),
        _ => Reply::stream().hang(),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    eventually("it is initialized again", || server.asked("initialize").len() == 2).await;
    eventually("the stream is open again", || server.count("GET") == 3).await;
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_goes_away_is_missed_by_its_stream_and_found_again() {
    let server = legacy(|_, _| Reply::stream().hang()).await;
    let (address, url) = (server.address, server.url("/mcp"));
    let client = Client::ready(spec(&url)).await;
    eventually("the stream is open", || server.count("GET") == 1).await;
    drop(server);
    let reason = client
        .until(|events| match states(events).pop() {
            Some(ServerState::Degraded { reason }) => Some(reason),
            _ => None,
        })
        .await;
    assert!(reason.contains("TCP") && reason.contains(&address.to_string()), "{reason}");
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let server = Server::on(listener, crate::era_legacy::usual);
    client.until(|events| (states(events).pop() == Some(ServerState::Ready)).then_some(())).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    client.stop().await;
    assert_eq!(server.asked("initialize").len(), 1);
}

// T2
#[tokio::test]
async fn a_modern_stream_that_breaks_off_is_not_resumed_whatever_it_says() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "tools/call" => Reply::stream().bytes(b"id: 1\nretry: 1\ndata:\n\n"),
        _ => crate::era_modern::usual(request),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.call("météo", &json!({})).await.word(), "unknown");
    client.stop().await;
    assert_eq!((server.count("GET"), server.asked("tools/call").len()), (0, 1));
}

// T3
#[tokio::test]
async fn nothing_is_waited_for_after_the_answer() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "tools/call" => {
            let said = result(request, &json!({"content": [{"type": "text", "text": "12 C"}]}));
            Reply::stream().event(&said).hang()
        }
        _ => crate::era_modern::usual(request),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
    eventually("the stream is given up", || server.left() == ["tools/call"]).await;
    client.stop().await;
}

// T8, G10: what is given up is withdrawn, in the way of each era.
#[tokio::test]
async fn a_question_that_is_given_up_is_withdrawn_by_a_notice_or_by_closing() {
    let old = legacy(|_, _| Reply::status(405)).await;
    let new = modern(|_, _| Reply::status(404)).await;
    for server in [&old, &new] {
        let mut spec = spec(&server.url("/mcp"));
        spec.limits.call = Duration::from_millis(250);
        let client = Client::ready(spec).await;
        assert!(client.inquire(read("silent")).await.is_err());
        eventually("it is closed", || server.left() == ["resources/read"]).await;
        client.stop().await;
    }
    let withdrawn = &old.asked("notifications/cancelled")[0].json()["params"]["requestId"];
    assert_eq!(*withdrawn, old.asked("resources/read")[0].json()["id"]);
    assert!(new.asked("notifications/cancelled").is_empty());
}
