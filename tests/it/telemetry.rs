//! Traces as a collector receives them from a run of the program.

use std::process::Command;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

use crate::support::run::{Home, Ran, run};
use crate::support::scripted::{desk, obedient};
use crate::support::server::{Recorded, Reply, Server};

const SECRET: &str = "tok-EXAMPLE-4711";

async fn collector() -> Server {
    let headers = [("Content-Type", "application/x-protobuf")];
    Server::start(move |_| Reply::whole(200, &headers, b"")).await
}

fn exports(collector: &Server) -> Vec<Recorded> {
    let requests = collector.requests().into_iter();
    requests.filter(|request| request.target == "/v1/traces").collect()
}

fn spans(collector: &Server) -> Vec<Span> {
    let decode =
        |request: Recorded| ExportTraceServiceRequest::decode(request.body.as_slice()).unwrap();
    let resources = exports(collector).into_iter().flat_map(|it| decode(it).resource_spans);
    resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
}

fn named<'a>(spans: &'a [Span], start: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name.starts_with(start)).collect()
}

/// An attribute as text; empty where it is missing.
fn attribute(span: &Span, name: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|attribute| attribute.value.clone()).and_then(|value| value.value) {
        Some(Any::StringValue(text)) => text,
        Some(Any::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

fn traced(mut command: Command, collector: &Server) -> Command {
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""));
    command
}

/// One run against a scripted model and server, with a credential for the server.
async fn desk_run(collector: &Server, prompt: &str, env: &[(&str, &str)]) -> (Ran, Server) {
    let mcp = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::new();
    home.configure(&format!(
        "model: {{ baseUrl: \"{}\", name: m, apiKeyEnv: MODEL_KEY, contextWindow: 100000 }}\n\
         mcp: {{ servers: [{{ name: desk, url: \"{}\", auth: {{ type: bearer, tokenEnv: DESK_KEY }} }}] }}\n",
        model.url("/v1"),
        mcp.url("/mcp"),
    ));
    let mut command = traced(home.command(&["exec", prompt, "--allow", "desk/*"]), collector);
    command.env("MODEL_KEY", SECRET).env("DESK_KEY", SECRET).envs(env.iter().copied());
    (run(command).await, mcp)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_holds_its_requests_and_calls_and_nothing_that_was_said() {
    let collector = collector().await;
    let prompt = "Look at task #42 and explain it";
    let home = Home::new();
    let words = ["--demo", "exec", prompt, "--allow", "*/*"];
    run(traced(home.command(&words), &collector)).await.ends(0);

    let spans = spans(&collector);
    let [turn] = named(&spans, "invoke_agent")[..] else { panic!("{spans:#?}") };
    let (chats, calls) = (named(&spans, "chat "), named(&spans, "tools/call "));
    assert_eq!((chats.len(), calls.len(), spans.len()), (7, 6, 14));
    assert!(turn.parent_span_id.is_empty());
    for span in chats.iter().chain(&calls) {
        assert_eq!((&span.trace_id, &span.parent_span_id), (&turn.trace_id, &turn.span_id));
        assert!(span.start_time_unix_nano >= turn.start_time_unix_nano, "{span:?}");
        assert!(span.end_time_unix_nano <= turn.end_time_unix_nano, "{span:?}");
    }
    assert_eq!(attribute(chats[0], "gen_ai.operation.name"), "chat");
    assert_eq!(attribute(chats[0], "server.address"), "127.0.0.1");
    assert!(attribute(chats[0], "gen_ai.response.finish_reasons").contains("tool_call"));
    assert_ne!(attribute(turn, "gen_ai.usage.input_tokens"), "");
    let tools: Vec<String> = calls.iter().map(|call| attribute(call, "gen_ai.tool.name")).collect();
    assert_eq!(tools[..2], ["list_tasks", "get_task"]);
    assert_eq!(attribute(calls[0], "mcp.method.name"), "tools/call");
    assert_eq!(attribute(calls[0], "mcp.protocol.version"), "2026-07-28");
    for request in exports(&collector) {
        let sent = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!sent.contains(prompt) && !sent.contains("formatMoney"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_told_the_span_of_its_call_and_no_span_holds_a_credential() {
    let collector = collector().await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let env =
        [("TRACEPARENT", parent), ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")];
    let (ran, mcp) = desk_run(&collector, "call desk_echo", &env).await;
    ran.ends(0);

    let spans = spans(&collector);
    let [call] = named(&spans, "tools/call echo")[..] else { panic!("{spans:#?}") };
    let asked = mcp.asked("tools/call");
    let [asked] = &asked[..] else { panic!("{asked:?}") };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let told = format!("00-{}-{}-01", hex(&call.trace_id), hex(&call.span_id));
    let meta = &asked.json()["params"]["_meta"];
    assert_eq!(meta["traceparent"], told);
    assert!(meta.get("progressToken").is_some() && meta.get("tracestate").is_none(), "{meta}");

    let [turn] = named(&spans, "invoke_agent")[..] else { panic!("{spans:#?}") };
    assert_eq!(hex(&turn.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&turn.parent_span_id), "b7ad6b7169203331");

    // What was asked for is there, and still no key.
    assert!(attribute(call, "gen_ai.tool.call.arguments").contains("word-of-the-call"));
    assert!(attribute(call, "gen_ai.tool.call.result").contains("word-of-the-call"));
    let chats = named(&spans, "chat m");
    assert!(attribute(chats[0], "gen_ai.input.messages").contains("call desk_echo"));
    assert!(attribute(chats[1], "gen_ai.output.messages").contains("Done."));
    for request in exports(&collector) {
        assert!(!String::from_utf8_lossy(&request.body).contains(SECRET));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_failed_is_an_error_without_its_text() {
    let collector = collector().await;
    let (ran, _mcp) = desk_run(&collector, "call desk_fail", &[]).await;
    ran.ends(6);
    let spans = spans(&collector);
    let [call] = named(&spans, "tools/call fail")[..] else { panic!("{spans:#?}") };
    assert_eq!(attribute(call, "error.type"), "tool_error");
    assert_eq!(call.status.as_ref().unwrap().message, "tool_error");
    assert_eq!(attribute(call, "gen_ai.tool.call.arguments"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_variables_no_server_is_told_of_traces() {
    let mcp = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::with(&model.url("/v1"), &[("desk", &mcp.url("/mcp"))]);
    home.run(&["exec", "call desk_echo", "--allow", "desk/*"]).await.ends(0);
    let asked = mcp.asked("tools/call");
    assert!(asked[0].json()["params"]["_meta"].get("traceparent").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_refuses_or_hangs_disturbs_nothing() {
    let away = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refusing = Server::start(|_| Reply::status(500)).await;
    let hanging = Server::start(|_| Reply::default().hang()).await;
    for endpoint in [format!("http://{away}"), refusing.url(""), hanging.url("")] {
        let home = Home::new();
        let mut command = home.command(&["--demo", "exec", "hello"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
        let ran = run(command).await;
        assert_eq!(ran.ends(0).err, "", "{endpoint}");
        assert!(!ran.out.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protocol_that_is_not_spoken_is_a_warning() {
    let home = Home::new();
    let mut command = home.command(&["--demo", "exec", "hello"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317");
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let ran = run(command).await;
    assert!(ran.ends(0).err.contains("OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`"), "{}", ran.err);
    assert!(ran.err.contains("4318"), "{}", ran.err);
}
