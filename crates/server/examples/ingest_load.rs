//! Load for a server's ingest, from a process of its own: `ingest_load URL SECONDS SENDERS`.
//!
//! Each sender exports traces of ten spans in protobuf, ten traces a request, and waits for the answer, as
//! exporters do. Prints traces and spans a second that were acknowledged, and how long answers took.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on ends")]

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;

const TRACES: u64 = 10;
const SPANS: u64 = 10;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = std::env::args().skip(1);
    let url = args.next().expect("the address of a server") + "/v1/traces";
    let seconds: u64 = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(10);
    let n_senders: u64 = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(16);
    let (next, n_busy) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));
    let started = Instant::now();
    let until = started + Duration::from_secs(seconds);
    let client = reqwest::Client::new();
    let senders: Vec<_> = (0..n_senders)
        .map(|_| tokio::spawn(send(client.clone(), url.clone(), next.clone(), n_busy.clone(), until)))
        .collect();
    let mut waits = Vec::new();
    for sender in senders {
        waits.extend(sender.await.unwrap());
    }
    let wall = started.elapsed().as_secs_f64();
    waits.sort();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    let n_traces = waits.len() as u64 * TRACES;
    writeln!(
        std::io::stdout(),
        "{:.0} traces/s, {:.0} spans/s, answers p50 {:.1} ms, p99 {:.1} ms, {} asked to retry later",
        n_traces as f64 / wall,
        (n_traces * SPANS) as f64 / wall,
        at(0.5),
        at(0.99),
        n_busy.load(Ordering::Relaxed),
    )
}

async fn send(
    client: reqwest::Client,
    url: String,
    next: Arc<AtomicU64>,
    n_busy: Arc<AtomicU64>,
    until: Instant,
) -> Vec<Duration> {
    let mut waits = Vec::new();
    while Instant::now() < until {
        let body = export(next.fetch_add(TRACES, Ordering::Relaxed)).encode_to_vec();
        let asked = Instant::now();
        let request = client.post(&url).header("content-type", "application/x-protobuf").body(body);
        let answer = request.send().await.unwrap();
        match answer.status().as_u16() {
            200 => waits.push(asked.elapsed()),
            429 | 503 => {
                n_busy.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            other => panic!("the server says {other}"),
        }
    }
    waits
}

fn export(first: u64) -> ExportTraceServiceRequest {
    let spans = (first..first + TRACES).flat_map(|trace| (1..=SPANS).map(move |n| span(trace, n))).collect();
    let resource = Resource { attributes: vec![text("service.name", "load")], ..Resource::default() };
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    let of_resource = ResourceSpans { resource: Some(resource), scope_spans, ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![of_resource] }
}

fn span(trace: u64, id: u64) -> Span {
    let message = |role: &str, content: &str| {
        format!(r#"[{{"role":"{role}","parts":[{{"type":"text","content":"{content} {trace}.{id}"}}]}}]"#)
    };
    let start = 1_790_000_000_000_000_000 + trace * 1_000_000_000 + id * 1_000_000;
    Span {
        trace_id: (u128::from(trace) << 64 | 1).to_be_bytes().to_vec(),
        span_id: id.to_be_bytes().to_vec(),
        parent_span_id: if id == 1 { Vec::new() } else { 1_u64.to_be_bytes().to_vec() },
        name: "chat gpt-4o".to_owned(),
        start_time_unix_nano: start,
        end_time_unix_nano: start + 500_000,
        attributes: vec![
            text("gen_ai.operation.name", if id == 1 { "invoke_agent" } else { "chat" }),
            text("gen_ai.request.model", "gpt-4o"),
            text("gen_ai.input.messages", &message("user", "What is the answer to this question, please?")),
            text(
                "gen_ai.output.messages",
                &message("assistant", "The answer is forty-two, as everybody knows."),
            ),
            number("gen_ai.usage.input_tokens", 120),
            number("gen_ai.usage.output_tokens", 30),
        ],
        ..Span::default()
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
