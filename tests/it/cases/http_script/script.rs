//! A script as a server: which step answers a request, and with what.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::support::server::{Act, Recorded, Reply, error};

/// The steps of one run and how often each one's condition was met.
pub(super) struct Script {
    steps: Vec<Value>,
    met: Mutex<HashMap<usize, u64>>,
    unit: u64,
    other: String,
    variant: String,
}

impl Script {
    pub(super) fn new(script: &Value, other: String) -> Self {
        Self {
            steps: script["steps"].as_array().unwrap().clone(),
            met: Mutex::default(),
            unit: script["time_unit_ms"].as_u64().unwrap_or(100),
            other,
            variant: script["name"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The first step that fits answers; without one a server that knows nothing does.
    pub(super) fn answer(&self, request: &Recorded) -> Reply {
        let mut chosen = None;
        for (at, step) in self.steps.iter().enumerate().filter(|(_, s)| fits(&s["when"], request)) {
            // Every step counts what fits it, whichever step answers.
            let mut met = self.met.lock().unwrap();
            let count = met.entry(at).or_default();
            *count += 1;
            if step["nth"].as_u64().is_none_or(|nth| nth == *count) {
                chosen.get_or_insert(step);
            }
        }
        if let Some(step) = chosen {
            return self.respond(&step["respond"], request);
        }
        match (request.method.as_str(), request.json()) {
            ("POST", body) if body["method"].is_string() && !body["id"].is_null() => {
                Reply::json(200, &error(request, -32601, "Method not found"))
            }
            ("POST", body) if body["jsonrpc"].is_string() => Reply::status(202),
            ("GET" | "DELETE", _) => Reply::status(405),
            _ => Reply::status(404),
        }
    }

    fn respond(&self, respond: &Value, request: &Recorded) -> Reply {
        match respond["drop"].as_str() {
            Some("after_request") => return Reply::nothing(),
            Some("reset") => return self.body(respond, request).reset(),
            Some(other) => panic!("an unknown way to drop: {other}"),
            None => {}
        }
        let reply = self.body(respond, request);
        if respond["hang"] == true { reply.hang() } else { reply }
    }

    fn body(&self, respond: &Value, request: &Recorded) -> Reply {
        let status = u16::try_from(respond["status"].as_u64().unwrap_or(200)).unwrap();
        let empty = serde_json::Map::new();
        let headers: Vec<(String, String)> = respond["headers"]
            .as_object()
            .unwrap_or(&empty)
            .iter()
            .map(|(name, value)| (name.clone(), self.fill(value.as_str().unwrap(), request)))
            .collect();
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut reply = Reply::head(status, &headers);
        let packed = respond["body_encoding"] == "gzip";
        let mut pieces = self.pieces(respond, request);
        let last = pieces.pop();
        let mut now = 0;
        let mut pack = Gzip::default();
        for (at, text) in pieces.into_iter().chain(last) {
            if at > now {
                reply
                    .acts
                    .push(Act::Wait(std::time::Duration::from_millis((at - now) * self.unit)));
                now = at;
            }
            reply =
                reply.bytes(&if packed { pack.block(text.as_bytes()) } else { text.into_bytes() });
        }
        if packed { reply.bytes(&pack.end()) } else { reply }
    }

    /// The body's text in pieces, each with the time unit at which it comes.
    fn pieces(&self, respond: &Value, request: &Recorded) -> Vec<(u64, String)> {
        let fill = |value: &Value| self.fill(value.as_str().unwrap_or_default(), request);
        if let Some(text) = respond["body_text"].as_str() {
            return vec![(0, self.fill(text, request))];
        }
        if let Some(json) = respond.get("body_json") {
            return vec![(0, filled_json(json, request).to_string())];
        }
        let count = |value: &Value| usize::try_from(value["count"].as_u64().unwrap()).unwrap();
        if let Some(made) = respond.get("body_generate") {
            let middle = made["repeat"].as_str().unwrap().repeat(count(made));
            return vec![(0, [fill(&made["prefix"]), middle, fill(&made["suffix"])].concat())];
        }
        if let Some(made) = respond.get("body_repeat") {
            return vec![(
                0,
                [fill(&made["text"]).repeat(count(made)), fill(&made["then"])].concat(),
            )];
        }
        let timed = respond["body_timed"].as_array().cloned().unwrap_or_default();
        timed.iter().map(|piece| (piece["at"].as_u64().unwrap(), fill(&piece["text"]))).collect()
    }

    fn fill(&self, text: &str, request: &Recorded) -> String {
        let id = request.json()["id"].clone();
        let raw = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let token = &request.json()["params"]["_meta"]["progressToken"];
        text.replace("$ID_RAW", &raw)
            .replace("$ID", &id.to_string())
            .replace("$TOKEN", &token.to_string())
            .replace("$OTHER_ORIGIN", &self.other)
            .replace("$VARIANT", &self.variant)
    }
}

/// `"$ID"` as a whole value stands for the id.
fn filled_json(value: &Value, request: &Recorded) -> Value {
    match value {
        Value::String(text) if text == "$ID" => request.json()["id"].clone(),
        Value::Array(items) => items.iter().map(|item| filled_json(item, request)).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (key.clone(), filled_json(value, request))).collect(),
        ),
        other => other.clone(),
    }
}

fn fits(when: &Value, request: &Recorded) -> bool {
    let body = request.json();
    let header_is = |(name, value): (&String, &Value)| request.header(name) == value.as_str();
    when.as_object().unwrap().iter().all(|(key, value)| match key.as_str() {
        "method" => value == &request.method,
        "rpc" => value == &request.rpc(),
        "not_rpc" => value != &request.rpc(),
        "path" => request.target.split('?').next() == value.as_str(),
        "header" => value.as_object().unwrap().iter().all(header_is),
        "not_header" => !value.as_object().unwrap().iter().all(header_is),
        "params_has" => value
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, value)| body["params"].get(name) == Some(value)),
        "response_to" => body["method"].is_null() && body.get("id") == Some(value),
        "body_has" => body.get(value.as_str().unwrap()).is_some(),
        "body_lacks" => body.get(value.as_str().unwrap()).is_none(),
        other => panic!("an unknown condition: {other}"),
    })
}

/// Packs without making smaller: a stored block for each piece.
#[derive(Default)]
struct Gzip {
    begun: bool,
    crc: u32,
    size: u32,
}

impl Gzip {
    fn block(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            packed.extend([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]);
        }
        let length = u16::try_from(bytes.len()).unwrap();
        packed.push(0);
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(bytes);
        self.size += u32::from(length);
        self.crc = !bytes.iter().fold(!self.crc, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 }
            })
        });
        packed
    }

    fn end(&self) -> Vec<u8> {
        let tail = [self.crc.to_le_bytes(), self.size.to_le_bytes()].concat();
        [vec![1, 0, 0, 255, 255], tail].concat()
    }
}
