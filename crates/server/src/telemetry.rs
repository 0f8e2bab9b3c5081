//! Jurist's own telemetry: sends spans and log lines to an OpenTelemetry collector.
//!
//! Requests never wait for it: what cannot be sent in time is dropped, and the number of dropped records is logged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jurist_core::redact::Redactor;
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_store::{clock, random};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use reqwest::Client;
use tokio::sync::{mpsc, watch};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Most records in the queue.
const WAITING: usize = 8192;

/// Records per batch, and how long a record may wait for a batch to fill.
const BATCH: usize = 512;
const PAUSE: Duration = Duration::from_secs(1);

const TIMEOUT: Duration = Duration::from_secs(10);

/// Attempts per batch.
const TRIES: u32 = 4;

/// Where telemetry goes.
#[derive(Debug, Clone)]
pub struct Collector {
    /// Such as `http://127.0.0.1:4318`.
    pub endpoint: String,
    /// Headers that the collector requires, such as an API key.
    pub headers: Vec<(String, String)>,
    /// Service name of this process.
    pub service: String,
    pub redactor: Redactor,
}

/// A `tracing` layer that collects spans and events of this process.
#[derive(Debug)]
pub struct Telemetry {
    sender: mpsc::Sender<TelemetryItem>,
    dropped: Arc<AtomicU64>,
    redactor: Redactor,
}

/// Sends the collected records.
#[derive(Debug)]
pub struct Exporter {
    collector: Collector,
    coming: mpsc::Receiver<TelemetryItem>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum TelemetryItem {
    Span(Span),
    Line(LogRecord),
}

impl Collector {
    /// The layer for this process and its exporter.
    pub fn open(self) -> (Telemetry, Exporter) {
        let (sender, coming) = mpsc::channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let telemetry = Telemetry { sender, dropped: Arc::clone(&dropped), redactor: self.redactor.clone() };
        (telemetry, Exporter { collector: self, coming, dropped })
    }
}

impl Telemetry {
    fn enqueue(&self, item: TelemetryItem) {
        if self.sender.try_send(item).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn fields(&self) -> FieldVisitor<'_> {
        FieldVisitor {
            redactor: &self.redactor,
            attributes: Vec::new(),
            message: None,
            name: None,
            parent: None,
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Telemetry {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = self.fields();
        attributes.record(&mut fields);
        let above = span.parent().and_then(|span_ref| Some(span_ids(span_ref.extensions().get::<Span>()?)));
        let above = above.or(fields.parent);
        let above = above.unwrap_or_else(|| SpanIds { trace: random::<16>().to_vec(), span: Vec::new() });
        // Spans of requests are `SERVER`; all others are `INTERNAL`.
        let kind =
            if attributes.metadata().name() == REQUEST { SpanKind::Server } else { SpanKind::Internal };
        span.extensions_mut().insert(Span {
            trace_id: above.trace,
            span_id: random::<8>().to_vec(),
            parent_span_id: above.span,
            name: fields.name.unwrap_or_else(|| attributes.metadata().name().to_owned()),
            kind: kind.into(),
            start_time_unix_nano: now_unix_nanos(),
            attributes: fields.attributes,
            ..Span::default()
        });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let mut fields = self.fields();
        record.record(&mut fields);
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Span>() {
            open.attributes.extend(fields.attributes);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = self.fields();
        event.record(&mut fields);
        let within = context
            .event_span(event)
            .and_then(|span_ref| Some(span_ids(span_ref.extensions().get::<Span>()?)));
        let SpanIds { trace: trace_id, span: span_id } = within.unwrap_or_default();
        let level = *event.metadata().level();
        // As OpenTelemetry numbers them.
        let severity = match level {
            Level::TRACE => 1,
            Level::DEBUG => 5,
            Level::INFO => 9,
            Level::WARN => 13,
            Level::ERROR => 17,
        };
        self.enqueue(TelemetryItem::Line(LogRecord {
            time_unix_nano: now_unix_nanos(),
            observed_time_unix_nano: now_unix_nanos(),
            severity_number: severity,
            severity_text: level.to_string(),
            body: fields.message.map(string_value),
            attributes: fields.attributes,
            trace_id,
            span_id,
            ..LogRecord::default()
        }));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(mut closed) = span.extensions_mut().remove::<Span>() {
            closed.end_time_unix_nano = now_unix_nanos();
            self.enqueue(TelemetryItem::Span(closed));
        }
    }
}

/// Name of a request's span before its route is known.
pub const REQUEST: &str = "request";

/// Collects the fields of a span or an event; some of them are special.
struct FieldVisitor<'a> {
    redactor: &'a Redactor,
    attributes: Vec<KeyValue>,
    message: Option<String>,
    /// `otel.name`.
    name: Option<String>,
    /// `traceparent`: the trace and the span of the client.
    parent: Option<SpanIds>,
}

impl FieldVisitor<'_> {
    fn add(&mut self, field: &Field, value: Value) {
        let value = Some(AnyValue { value: Some(value) });
        self.attributes.push(KeyValue { key: field.name().to_owned(), value, ..KeyValue::default() });
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = Some(self.redactor.text(value).into_owned()),
            "otel.name" => self.name = Some(value.to_owned()),
            "traceparent" => self.parent = parent(value),
            _ => self.add(field, Value::StringValue(self.redactor.text(value).into_owned())),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, Value::IntValue(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, Value::DoubleValue(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, Value::BoolValue(value));
    }
}

/// W3C's header: `00-TRACE-SPAN-FLAGS`.
fn parent(header: &str) -> Option<SpanIds> {
    let mut parts = header.split('-');
    let (version, trace, span) = (parts.next()?, decode_hex(parts.next()?)?, decode_hex(parts.next()?)?);
    let is_known = version.len() == 2 && version != "ff" && trace.len() == 16 && span.len() == 8;
    let is_set = |bytes: &[u8]| bytes.iter().any(|byte| *byte != 0);
    (is_known && is_set(&trace) && is_set(&span)).then_some(SpanIds { trace, span })
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes()
        .chunks(2)
        .map(|bytes| Some(digit(*bytes.first()?)? << 4 | digit(*bytes.get(1)?)?))
        .collect()
}

#[derive(Debug, Default)]
struct SpanIds {
    trace: Vec<u8>,
    span: Vec<u8>,
}

fn span_ids(span: &Span) -> SpanIds {
    SpanIds { trace: span.trace_id.clone(), span: span.span_id.clone() }
}

fn string_value(text: String) -> AnyValue {
    AnyValue { value: Some(Value::StringValue(text)) }
}

fn now_unix_nanos() -> u64 {
    u64::try_from(clock::current_time().micros()).unwrap_or(0) * 1000
}

impl Exporter {
    /// Sends until the stop signal, and then the rest.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let client = match client(&NetworkOptions::default()) {
            Ok(client) => client,
            Err(error) => return tracing::error!(%error, "cannot send telemetry"),
        };
        let (mut some, mut lost) = (Vec::new(), 0);
        loop {
            // The first record waits a moment for the batch to fill.
            let gathered = async {
                self.coming.recv_many(&mut some, BATCH).await;
                tokio::time::sleep(PAUSE).await;
            };
            let stopped = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => true,
                () = gathered => false,
            };
            while (stopped || some.len() < BATCH)
                && let Ok(item) = self.coming.try_recv()
            {
                some.push(item);
            }
            let (mut spans, mut lines) = (Vec::new(), Vec::new());
            for item in some.drain(..) {
                match item {
                    TelemetryItem::Span(span) => spans.push(span),
                    TelemetryItem::Line(line) => lines.push(line),
                }
            }
            let n = spans.len() + lines.len();
            let sent = async {
                self.send(&client, "/v1/traces", (!spans.is_empty()).then(|| self.traces(spans))).await?;
                self.send(&client, "/v1/logs", (!lines.is_empty()).then(|| self.logs(lines))).await
            };
            let sent = sent.await;
            lost += self.dropped.swap(0, Ordering::Relaxed) + sent.as_ref().map_or(n as u64, |()| 0);
            if let Err(why) = sent {
                tracing::warn!(why, lost, "telemetry could not be sent");
            }
            if stopped {
                return;
            }
        }
    }

    fn resource(&self) -> Option<Resource> {
        let attribute = |key: &str, value: &str| KeyValue {
            key: key.to_owned(),
            value: Some(string_value(value.to_owned())),
            ..KeyValue::default()
        };
        let attributes = vec![
            attribute("service.name", &self.collector.service),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
        ];
        Some(Resource { attributes, ..Resource::default() })
    }

    fn traces(&self, spans: Vec<Span>) -> Vec<u8> {
        let scope_spans = vec![ScopeSpans { scope: scope(), spans, ..ScopeSpans::default() }];
        let resource_spans =
            vec![ResourceSpans { resource: self.resource(), scope_spans, ..ResourceSpans::default() }];
        ExportTraceServiceRequest { resource_spans }.encode_to_vec()
    }

    fn logs(&self, log_records: Vec<LogRecord>) -> Vec<u8> {
        let scope_logs = vec![ScopeLogs { scope: scope(), log_records, ..ScopeLogs::default() }];
        let resource_logs =
            vec![ResourceLogs { resource: self.resource(), scope_logs, ..ResourceLogs::default() }];
        ExportLogsServiceRequest { resource_logs }.encode_to_vec()
    }

    async fn send(&self, client: &Client, path: &str, body: Option<Vec<u8>>) -> Result<(), String> {
        let Some(body) = body else { return Ok(()) };
        let address = format!("{}{path}", self.collector.endpoint.trim_end_matches('/'));
        let mut why = String::new();
        for attempt in 0..TRIES {
            if 0 < attempt {
                tokio::time::sleep(Duration::from_millis(250 << attempt)).await;
            }
            let mut request = client.post(&address).timeout(TIMEOUT).body(body.clone());
            request = request.header("content-type", "application/x-protobuf");
            for (name, value) in &self.collector.headers {
                request = request.header(name, value);
            }
            match request.send().await {
                Ok(answer) if answer.status().is_success() => return Ok(()),
                Ok(answer) => why = format!("the collector answered {}", answer.status()),
                Err(error) => why = error.without_url().to_string(),
            }
        }
        Err(why)
    }
}

/// The scope by which ingest recognises Jurist's own spans.
fn scope() -> Option<InstrumentationScope> {
    Some(InstrumentationScope { name: "jurist".to_owned(), ..InstrumentationScope::default() })
}
