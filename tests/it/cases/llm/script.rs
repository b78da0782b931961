//! Scripts of a model endpoint: refusals, waits and what comes after them, over real HTTP.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::{Message, ModelName};
use mini_me_tui::provider::http::Provider;
use mini_me_tui::provider::{
    ModelEvent, ModelRequest, ProviderError, ProviderErrorKind, ToolOffer,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Faults, cases, config, input, report, request, unjudged};
use crate::support::model::{ModelServer, Reply, Seen};

/// The model that the scripts speak of.
const MODEL: &str = "library/tiny:latest";

/// What came of one request.
struct Run {
    events: Vec<ModelEvent>,
    result: Result<(), ProviderError>,
    seen: Vec<Seen>,
}

#[tokio::test]
async fn endpoints_that_refuse_are_handled_as_expected() {
    let mut failed = Vec::new();
    for (path, expected) in cases("http-script") {
        let script: Value = serde_json::from_slice(&input(&path, &expected["input"])).unwrap();
        let mut faults = Faults::new();
        for (variant, script) in variants(&script) {
            let run = run(&script, false).await;
            let mut found = judge(&run, &expected);
            if expected.get("cancel_during_wait").is_some() {
                found.extend(cancelled(&script).await);
            }
            faults.extend(found.into_iter().map(|fault| format!("{variant}: {fault}")));
        }
        let judged = [
            "text",
            "requests",
            "wait_seconds",
            "cancel_during_wait",
            "either",
            "error_class",
            "requests_max_identical",
            "history_valid",
        ];
        faults.extend(unjudged(&expected, &judged));
        failed.push((expected["case"].to_string(), faults));
    }
    report(failed);
}

/// One script per body and per value of the header that varies.
fn variants(script: &Value) -> Vec<(String, Value)> {
    if let Some(bodies) = script["bodies"].as_array() {
        let with = |body: &Value| {
            let mut one = script.clone();
            for step in one["steps"].as_array_mut().unwrap() {
                if step["respond"]["body_from"] == "bodies" {
                    step["respond"]["body_json"] = body.clone();
                }
            }
            (body.to_string(), one)
        };
        return bodies.iter().map(with).collect();
    }
    let Some(values) = script["variants_header"].as_array() else {
        return vec![("as it is".to_owned(), script.clone())];
    };
    let with = |value: &Value| {
        let mut one = script.clone();
        for step in one["steps"].as_array_mut().unwrap() {
            if let Some(header) = step["respond"]["headers"].get_mut("Retry-After") {
                *header = value.clone();
            }
        }
        (value.to_string(), one)
    };
    values.iter().map(with).collect()
}

fn serve(script: &Value) -> ModelServer {
    let steps = script["steps"].as_array().unwrap().clone();
    ModelServer::start(move |number, seen| {
        let fits = |step: &&Value| {
            let member = |name: &str, present: bool| {
                let wanted = step["when"][name].as_str();
                wanted.is_none_or(|member| seen.body.get(member).is_some() == present)
            };
            let nth = step["nth"].as_u64().is_none_or(|nth| nth == number as u64 + 1);
            nth && member("body_has", true) && member("body_lacks", false)
        };
        reply(&steps.iter().find(fits).expect("a step that fits")["respond"])
    })
}

fn reply(respond: &Value) -> Reply {
    let status = u16::try_from(respond["status"].as_u64().unwrap()).unwrap();
    let mut reply = match respond["body_text"].as_str() {
        Some(text) => Reply::new(status, "text/plain", text),
        None => Reply::json(status, &respond["body_json"]),
    };
    for (name, value) in respond["headers"].as_object().unwrap() {
        reply = reply.header(name, &placed(value.as_str().unwrap()));
    }
    reply
}

/// A value with its placeholder filled in.
fn placed(value: &str) -> String {
    let Some(ahead) = value.strip_prefix("$HTTPDATE+") else { return value.to_owned() };
    let date = SystemTime::now() + Duration::from_secs(ahead.parse().unwrap());
    let format = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    time::OffsetDateTime::from(date).format(format).unwrap()
}

fn asking() -> ModelRequest {
    let tool = ToolOffer {
        name: ModelName::from("look"),
        description: "looks".to_owned(),
        schema: Arc::new(json!({"type": "object", "properties": {}})),
    };
    ModelRequest { tools: [tool].into(), ..request(vec![Message::User { text: "hi".to_owned() }]) }
}

/// Asks once. Waits are skipped, or cancelled once they are announced.
async fn run(script: &Value, cancel_wait: bool) -> Run {
    let server = serve(script);
    let config = config(ProviderKind::OpenAi, server.url().as_str(), MODEL);
    let provider = Provider::new(config, None);
    let (sender, mut receiver) = mpsc::channel(64);
    let (cancel, asked) = (CancellationToken::new(), asking());
    let listen = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            if let ModelEvent::Retrying { after, .. } = &event {
                if cancel_wait {
                    cancel.cancel();
                } else {
                    tokio::time::pause();
                    tokio::time::advance(*after).await;
                    tokio::time::resume();
                }
            }
            events.push(event);
        }
        events
    };
    let ask = async {
        let result = provider.ask(&asked, &sender, &cancel).await;
        drop(sender);
        result
    };
    let (result, events) = tokio::join!(ask, listen);
    Run { events, result, seen: server.seen() }
}

async fn cancelled(script: &Value) -> Faults {
    let run = run(script, true).await;
    match run.result {
        Err(error) if error.kind == ProviderErrorKind::Cancelled && run.seen.len() == 1 => {
            Faults::new()
        }
        other => vec![format!("cancelled while waiting: {other:?}")],
    }
}

fn judge(run: &Run, expected: &Value) -> Faults {
    if let Some(either) = expected["either"].as_array() {
        let all: Vec<_> = either.iter().map(|one| judge_one(run, one)).collect();
        return if all.iter().any(Vec::is_empty) { Faults::new() } else { all.concat() };
    }
    judge_one(run, expected)
}

fn judge_one(run: &Run, expected: &Value) -> Faults {
    let mut faults = Faults::new();
    if let Some(wanted) = expected["text"].as_str() {
        let text: String = run.events.iter().filter_map(text_of).collect();
        if text != wanted || run.result.is_err() {
            faults.push(format!("text is {text:?}, result {:?}", run.result));
        }
    }
    if expected["requests"].as_u64().is_some_and(|wanted| wanted != run.seen.len() as u64) {
        faults.push(format!("{} requests were sent", run.seen.len()));
    }
    let noticed = run.events.iter().any(|event| matches!(event, ModelEvent::Warned(_)));
    if expected["notice"] == true && !noticed {
        faults.push("no notice was given".to_owned());
    }
    let message = run.result.as_ref().err().map(|error| error.message.clone()).unwrap_or_default();
    for part in expected["error_mentions"].as_array().into_iter().flatten() {
        if !message.contains(part.as_str().unwrap()) {
            faults.push(format!("the error does not mention {part}: {message}"));
        }
    }
    if expected["error_class"] == "context_too_long" {
        let kind = run.result.as_ref().err().map(|error| error.kind);
        if kind != Some(ProviderErrorKind::TooLong) {
            faults.push(format!("the error is {kind:?}: {message}"));
        }
    }
    if let Some(most) = expected["requests_max_identical"].as_u64() {
        let same = |one: &Seen| run.seen.iter().filter(|other| other.body == one.body).count();
        if run.seen.iter().any(|one| same(one) as u64 > most) {
            faults.push("the same request was sent again".to_owned());
        }
    }
    if let Some(range) = expected["wait_seconds"].as_array() {
        faults.extend(waited(run, range));
    }
    faults
}

fn text_of(event: &ModelEvent) -> Option<&str> {
    if let ModelEvent::Text(text) = event { Some(text) } else { None }
}

fn waited(run: &Run, range: &[Value]) -> Option<String> {
    let announced = run.events.iter().find_map(|event| match event {
        ModelEvent::Retrying { after, .. } => Some(after.as_secs_f64()),
        _ => None,
    });
    let (least, most) = (range[0].as_f64().unwrap(), range[1].as_f64().unwrap());
    let within = announced.is_some_and(|wait| (least..=most).contains(&wait));
    (!within).then(|| format!("the wait is {announced:?} s"))
}
