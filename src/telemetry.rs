//! Traces for an OpenTelemetry collector: a span for each turn, model request and call, named as the
//! conventions for generative AI and MCP have it.
//!
//! Off unless the usual `OTEL_*` variables ask for it; then nothing is made, kept or sent. Spans hold
//! names, counts and outcomes. What was said and what tools answered is left out unless
//! [`CAPTURE`] asks for it; credentials are in no span whatever is set. A collector that cannot be
//! reached costs the spans, never the run: they are sent in the background from a bounded queue.

#[cfg(not(feature = "telemetry"))]
mod absent;
#[cfg(feature = "telemetry")]
mod export;
#[cfg(feature = "telemetry")]
mod recorder;
#[cfg(feature = "telemetry")]
mod words;

use std::ffi::OsString;
use std::pin::Pin;

use crate::config::ModelConfig;
use crate::domain::model::{ModelEvent, ModelRequest, ProviderError};
use crate::domain::{Call, CallId, Outcome, Source, TraceContext, TurnEnd, TurnId, Usage, Warning};

#[cfg(not(feature = "telemetry"))]
use absent::{Recorder, begin};
#[cfg(feature = "telemetry")]
use recorder::{Recorder, begin};

/// Asks for what was said and what tools answered.
pub const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Carries ended spans to the collector until the last one is there; bounded by who runs it.
pub type Export = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the environment asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Whether spans hold what was said and answered.
    pub content: bool,
    /// The span of whoever started the program (`TRACEPARENT`).
    pub parent: Option<TraceContext>,
}

impl Settings {
    /// Reads the variables; `None` where nothing asks for traces. What is asked for and cannot be
    /// had is a warning.
    pub fn from_env(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>, Box<Warning>> {
        let read = |name: &str| {
            let value = env(name).and_then(|value| value.into_string().ok());
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let is_true =
            |name: &str| read(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let endpoint = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
            .or_else(|| read("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let exporter = read("OTEL_TRACES_EXPORTER");
        if is_true("OTEL_SDK_DISABLED") {
            return Ok(None);
        }
        match (exporter.as_deref(), endpoint) {
            (Some("none"), _) | (None, None) => return Ok(None),
            (Some("otlp"), _) | (None, Some(_)) => {}
            (Some(other), _) => {
                let advice = "Set it to otlp, or to none.";
                let what = format!("OTEL_TRACES_EXPORTER is `{other}`");
                return Err(Box::new(off(&what, advice)));
            }
        }
        let protocol = read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            .or_else(|| read("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if let Some(other) = protocol.filter(|protocol| protocol != "http/protobuf") {
            let what = format!("OTEL_EXPORTER_OTLP_PROTOCOL is `{other}`");
            let advice = "Only http/protobuf is spoken: set that, and the address of the \
                          collector's HTTP port (usually 4318).";
            return Err(Box::new(off(&what, advice)));
        }
        let parent = read("TRACEPARENT").filter(|text| is_traceparent(text));
        let parent = parent
            .map(|parent| TraceContext { parent, state: read("TRACESTATE").unwrap_or_default() });
        Ok(Some(Self { content: is_true(CAPTURE), parent }))
    }
}

fn off(what: &str, advice: &str) -> Warning {
    let what = crate::text::strict_line(what).into_string();
    Warning::new(Source::Program, format!("{what}: no traces are sent."), advice)
}

/// Version, trace, span and flags in lower-case hexadecimal, ids not zero.
fn is_traceparent(text: &str) -> bool {
    let hex = |part: &&str| {
        part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags] = parts.as_slice() else { return false };
    let lengths = (version.len(), trace.len(), span.len(), flags.len());
    let zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    lengths == (2, 32, 16, 2) && parts.iter().all(hex) && !zero(trace) && !zero(span)
}

/// Where a call goes, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// Host of the endpoint.
    pub host: String,
    /// Its port.
    pub port: Option<u16>,
    /// The protocol's version that was agreed on.
    pub version: Option<String>,
}

/// Open spans of one run. Every method does nothing where traces are off.
#[derive(Debug, Default)]
pub struct Spans {
    recorder: Option<Recorder>,
}

impl Spans {
    /// Starts recording, and what has to be run for spans to reach the collector. That ends when
    /// this is dropped and the last span was sent.
    pub fn begin(settings: &Settings) -> Result<(Self, Export), Box<Warning>> {
        let (recorder, export) = begin(settings)?;
        Ok((Self { recorder: Some(recorder) }, export))
    }

    /// The conversation that what follows belongs to.
    pub fn session(&mut self, id: &str) {
        if let Some(recorder) = &mut self.recorder {
            recorder.session(id);
        }
    }

    /// A turn began with this message.
    pub fn turn_started(&mut self, turn: TurnId, text: &str) {
        if let Some(recorder) = &mut self.recorder {
            recorder.turn_started(turn, text);
        }
    }

    /// It ended.
    pub fn turn_ended(&mut self, turn: TurnId, reason: &TurnEnd, usage: &Usage) {
        if let Some(recorder) = &mut self.recorder {
            recorder.turn_ended(turn, reason, usage);
        }
    }

    /// The model is asked.
    pub fn model_asked(&mut self, turn: TurnId, model: &ModelConfig, request: &ModelRequest) {
        if let Some(recorder) = &mut self.recorder {
            recorder.model_asked(turn, model, request);
        }
    }

    /// It said something.
    pub fn model_said(&mut self, turn: TurnId, event: &ModelEvent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.model_said(turn, event);
        }
    }

    /// The request failed for good.
    pub fn model_failed(&mut self, turn: TurnId, error: &ProviderError) {
        if let Some(recorder) = &mut self.recorder {
            recorder.model_failed(turn, error);
        }
    }

    /// The request was stopped by us.
    pub fn model_stopped(&mut self, turn: TurnId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.model_stopped(turn);
        }
    }

    /// A call goes to its server. Gives what the server has to be told, so that its own spans stand
    /// below this one.
    pub fn call_run(&mut self, call: &Call, peer: impl FnOnce() -> Peer) -> Option<TraceContext> {
        self.recorder.as_mut().map(|recorder| recorder.call_run(call, &peer()))
    }

    /// It came to its end.
    pub fn call_done(&mut self, call: CallId, outcome: &Outcome) {
        if let Some(recorder) = &mut self.recorder {
            recorder.call_done(call, outcome);
        }
    }
}

#[cfg(test)]
mod tests;
