//! Open spans and how they stand to one another: turn, below it model requests and calls.

use std::collections::HashMap;

use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId,
    TraceState, Tracer, TracerProvider,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use super::{Export, Peer, Settings, export, words};
use crate::config::ModelConfig;
use crate::domain::model::{ModelEvent, ModelRequest, ProviderError};
use crate::domain::{Call, CallId, Outcome, TraceContext, TurnEnd, TurnId, Usage, Warning};

/// Most text of an answer that is kept for its span, in bytes.
const SAID: usize = 16 * 1024;
/// The program, as an agent.
const AGENT: &str = "mini-me-tui";

/// Records spans.
#[derive(Debug)]
pub(super) struct Recorder {
    tracer: SdkTracer,
    content: bool,
    /// The span of whoever started the program, or nothing.
    outside: Context,
    session: String,
    turn: Option<(TurnId, Context)>,
    model: Option<Asking>,
    calls: HashMap<CallId, Span>,
}

/// A request to the model under way.
#[derive(Debug)]
struct Asking {
    turn: TurnId,
    span: Span,
    said: String,
}

pub(super) fn begin(settings: &Settings) -> Result<(Recorder, Export), Box<Warning>> {
    let (provider, export) = export::begin()?;
    let outside = settings.parent.as_ref().and_then(remote);
    let outside =
        outside.map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent));
    let recorder = Recorder {
        tracer: provider.tracer(AGENT),
        content: settings.content,
        outside,
        session: String::new(),
        turn: None,
        model: None,
        calls: HashMap::new(),
    };
    Ok((recorder, export))
}

/// The parent that the environment names.
fn remote(context: &TraceContext) -> Option<SpanContext> {
    let mut parts = context.parent.split('-').skip(1);
    let trace = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let flags = u8::from_str_radix(parts.next()?, 16).ok()?;
    let state = context.state.parse::<TraceState>().unwrap_or_default();
    let flags = TraceFlags::new(flags) & TraceFlags::SAMPLED;
    Some(SpanContext::new(trace, span, flags, true, state))
}

impl Recorder {
    pub(super) fn session(&mut self, id: &str) {
        id.clone_into(&mut self.session);
    }

    fn start(&self, name: String, kind: SpanKind, with: Vec<KeyValue>, below: &Context) -> Span {
        let builder = self.tracer.span_builder(name).with_kind(kind).with_attributes(with);
        self.tracer.build_with_context(builder, below)
    }

    /// The span of this turn, or whatever is above all turns.
    fn above(&self, turn: Option<TurnId>) -> Context {
        let own = self.turn.as_ref().filter(|(open, _)| Some(*open) == turn);
        own.map_or_else(|| self.outside.clone(), |(_, context)| context.clone())
    }

    pub(super) fn turn_started(&mut self, turn: TurnId, text: &str) {
        let mut with = vec![
            KeyValue::new("gen_ai.operation.name", "invoke_agent"),
            KeyValue::new("gen_ai.agent.name", AGENT),
            KeyValue::new("gen_ai.conversation.id", self.session.clone()),
        ];
        if self.content {
            with.push(words::text("mini_me.prompt", text));
        }
        let name = format!("invoke_agent {AGENT}");
        let span = self.start(name, SpanKind::Internal, with, &self.outside);
        self.turn = Some((turn, Context::new().with_span(span)));
    }

    pub(super) fn turn_ended(&mut self, turn: TurnId, reason: &TurnEnd, usage: &Usage) {
        self.model_stopped(turn);
        let Some((_, context)) = self.turn.take_if(|(open, _)| *open == turn) else { return };
        let span = context.span();
        for count in words::usage(usage) {
            span.set_attribute(count);
        }
        if let Some(error) = words::turn_error(reason) {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(error));
        }
        span.end();
    }

    pub(super) fn model_asked(
        &mut self,
        turn: TurnId,
        model: &ModelConfig,
        request: &ModelRequest,
    ) {
        let mut with = vec![
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.provider.name", words::provider(model)),
            KeyValue::new("gen_ai.request.model", model.name.clone()),
            KeyValue::new("gen_ai.request.stream", true),
            KeyValue::new("gen_ai.conversation.id", self.session.clone()),
        ];
        with.extend(place(
            model.base_url.host_str().unwrap_or_default(),
            model.base_url.port_or_known_default(),
        ));
        if let Some(limit) = request.max_output_tokens {
            with.push(KeyValue::new("gen_ai.request.max_tokens", words::number(limit)));
        }
        if let Some(temperature) = request.temperature {
            with.push(KeyValue::new("gen_ai.request.temperature", temperature));
        }
        if self.content {
            with.push(words::text("gen_ai.system_instructions", &request.system));
            with.push(words::input(request));
        }
        let name = format!("chat {}", model.name);
        let span = self.start(name, SpanKind::Client, with, &self.above(Some(turn)));
        self.model = Some(Asking { turn, span, said: String::new() });
    }

    pub(super) fn model_said(&mut self, turn: TurnId, event: &ModelEvent) {
        let content = self.content;
        let Some(asking) = self.model.as_mut().filter(|asking| asking.turn == turn) else { return };
        match event {
            ModelEvent::Text(chunk) if content && asking.said.len() < SAID => {
                asking.said.push_str(chunk);
            }
            ModelEvent::Usage(usage) => asking.span.set_attributes(words::usage(usage)),
            ModelEvent::Retrying { attempt, .. } => {
                let attempt = KeyValue::new("attempt", i64::from(*attempt));
                asking.span.add_event("retry", vec![attempt]);
            }
            ModelEvent::Finished(finish) => {
                let word = words::finish(*finish);
                let reasons = Value::Array(Array::String(vec![StringValue::from(word)]));
                asking.span.set_attribute(KeyValue::new("gen_ai.response.finish_reasons", reasons));
                if content {
                    asking.span.set_attribute(words::output(&asking.said, word));
                }
                self.end_model(turn, None);
            }
            ModelEvent::Text(_)
            | ModelEvent::Reasoning(_)
            | ModelEvent::ReasoningDone(_)
            | ModelEvent::Call(_)
            | ModelEvent::Warned(_) => {}
        }
    }

    pub(super) fn model_failed(&mut self, turn: TurnId, error: &ProviderError) {
        self.end_model(turn, Some(words::error(error.kind)));
    }

    pub(super) fn model_stopped(&mut self, turn: TurnId) {
        self.end_model(turn, Some("cancelled"));
    }

    fn end_model(&mut self, turn: TurnId, error: Option<&'static str>) {
        if let Some(mut asking) = self.model.take_if(|asking| asking.turn == turn) {
            end(&mut asking.span, error);
        }
    }

    pub(super) fn call_run(&mut self, call: &Call, peer: &Peer) -> TraceContext {
        let mut with = vec![
            KeyValue::new("mcp.method.name", "tools/call"),
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", call.tool.tool.as_str().to_owned()),
            KeyValue::new("mini_me.server", call.tool.server.as_str().to_owned()),
            KeyValue::new("network.protocol.name", "http"),
        ];
        with.extend(place(&peer.host, peer.port));
        if let Some(version) = &peer.version {
            with.push(KeyValue::new("mcp.protocol.version", version.clone()));
        }
        if self.content {
            let arguments = serde_json::to_string(&*call.arguments).unwrap_or_default();
            with.push(words::text("gen_ai.tool.call.arguments", &arguments));
        }
        let name = format!("tools/call {}", call.tool.tool);
        let span = self.start(name, SpanKind::Client, with, &self.above(call.turn));
        let context = told(span.span_context());
        self.calls.insert(call.id, span);
        context
    }

    pub(super) fn call_done(&mut self, call: CallId, outcome: &Outcome) {
        let Some(mut span) = self.calls.remove(&call) else { return };
        if let (true, Outcome::Ok(output) | Outcome::ToolError(output)) = (self.content, outcome) {
            let result = serde_json::to_string(&output.content).unwrap_or_default();
            span.set_attribute(words::text("gen_ai.tool.call.result", &result));
        }
        end(&mut span, words::call_error(outcome));
    }
}

fn end(span: &mut Span, error: Option<&'static str>) {
    if let Some(error) = error {
        span.set_attribute(KeyValue::new("error.type", error));
        span.set_status(Status::error(error));
    }
    span.end();
}

fn place(host: &str, port: Option<u16>) -> impl Iterator<Item = KeyValue> {
    let host = (!host.is_empty()).then(|| KeyValue::new("server.address", host.to_owned()));
    let port = port.map(|port| KeyValue::new("server.port", i64::from(port)));
    host.into_iter().chain(port)
}

/// What a server is told of a span.
fn told(span: &SpanContext) -> TraceContext {
    let flags = span.trace_flags().to_u8();
    TraceContext {
        parent: format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id()),
        state: span.trace_state().header(),
    }
}
