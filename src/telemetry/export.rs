//! From ended spans to the collector: a bounded queue and one sender in the background.

use std::time::Duration;

use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    SdkTracerProvider, Span, SpanData, SpanExporter as _, SpanProcessor,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Export;
use crate::domain::Warning;

/// Ended spans that may wait; more are dropped, as the conventions have it.
const WAITING: usize = 2048;
/// Spans that are sent at once.
const BATCH: usize = 512;
/// How long the first span of a batch waits for others.
const GATHER: Duration = Duration::from_secs(2);
/// How long one batch may take.
const SENDING: Duration = Duration::from_secs(10);

/// A provider of tracers whose ended spans reach the collector while the future is run.
pub(super) fn begin() -> Result<(SdkTracerProvider, Export), Box<Warning>> {
    // No redirect: headers of the environment may hold a key for this origin alone.
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(SENDING)
        .build()
        .map_err(|fault| Box::new(unusable(&fault)))?;
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .build()
        .map_err(|fault| Box::new(unusable(&fault)))?;
    let resource = resource();
    exporter.set_resource(&resource);
    let (ended, queue) = mpsc::channel(WAITING);
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_span_processor(Queue { ended })
        .build();
    Ok((provider, Box::pin(send(queue, exporter))))
}

fn unusable(fault: &dyn std::error::Error) -> Warning {
    super::off(
        &format!("The OTEL_EXPORTER_OTLP_ variables cannot be used ({fault})"),
        "Correct them, or unset them.",
    )
}

/// `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come before our own words.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let made = Resource::builder().with_attribute(version);
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let in_attributes = std::env::var("OTEL_RESOURCE_ATTRIBUTES")
        .is_ok_and(|attributes| attributes.contains("service.name="));
    if named("OTEL_SERVICE_NAME") || in_attributes {
        return made.build();
    }
    made.with_service_name("mini-me-tui").build()
}

/// Puts ended spans into the queue. Never waits.
#[derive(Debug)]
struct Queue {
    ended: mpsc::Sender<SpanData>,
}

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        // A full queue means that the collector does not keep up: the run goes first.
        drop(self.ended.try_send(span));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Sends batches until the queue is closed and empty. Sleeps while nothing ends.
async fn send(mut queue: mpsc::Receiver<SpanData>, exporter: SpanExporter) {
    let mut said = false;
    while let Some(first) = queue.recv().await {
        let mut batch = vec![first];
        let more = async {
            while batch.len() < BATCH
                && let Some(span) = queue.recv().await
            {
                batch.push(span);
            }
        };
        // What came in time is in the batch already.
        drop(timeout(GATHER, more).await);
        let sent = timeout(SENDING, exporter.export(batch)).await;
        let fault = match sent {
            Ok(Ok(())) => continue,
            Ok(Err(fault)) => fault.to_string(),
            Err(_) => format!("no answer within {} s", SENDING.as_secs()),
        };
        if !std::mem::replace(&mut said, true) {
            tracing::warn!(fault, "spans did not reach the collector");
        }
    }
}
