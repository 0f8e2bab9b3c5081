//! Agents that send their traces in pieces, out of order, late, and again until the server confirms that all is stored.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use jurist_store::TraceId;
use jurist_store::testing::SeededRandom;
use serde_json::{Value as Json, json};
use tokio::time::sleep;
use tower::ServiceExt;

use super::processes::Processes;
use super::world::SimulationContext;

/// A trace as its agent means it.
#[derive(Debug, Clone)]
pub struct PlannedTrace {
    pub id: TraceId,
    /// Its texts, without the twins' own names.
    pub parts: Vec<String>,
    pub n_spans: u64,
    pub is_failed: bool,
    exports: Vec<PlannedExport>,
}

#[derive(Debug, Clone)]
struct PlannedExport {
    after: Duration,
    body: Json,
}

pub fn plan_traffic(random: &mut SeededRandom) -> Vec<PlannedTrace> {
    let n_traces = 2 + random.below(4);
    (1..=n_traces).map(|at| plan_trace(at, random)).collect()
}

fn plan_trace(at: u64, random: &mut SeededRandom) -> PlannedTrace {
    let trace = format!("{:032x}", 0xabcd_0000 + at);
    // Twins have the same texts, so that one is judged and the other is cached.
    let is_twin = random.once_in(4);
    let name = if is_twin { "twin".to_owned() } else { at.to_string() };
    let is_failed = random.once_in(5);
    let n_parts = if is_twin { 2 } else { 1 + random.below(4) };
    let parts: Vec<String> = (1..=n_parts).map(|part| format!("{name}-{part}")).collect();
    let mut spans = vec![root_span(&trace, is_failed)];
    spans.extend((1..).zip(&parts).map(|(at, part)| model_call(&trace, at, part)));
    for last in (1..spans.len()).rev() {
        spans.swap(last, random.below(last as u64 + 1) as usize);
    }
    let n_spans = spans.len() as u64;
    let begins = Duration::from_millis(random.below(8_000));
    let mut exports = Vec::new();
    while !spans.is_empty() {
        let some: Vec<Json> = spans.drain(..1 + random.below(spans.len() as u64) as usize).collect();
        // Often soon after, sometimes when the trace has long been put together and judged.
        let most = if random.once_in(3) { 25_000 } else { 1_500 };
        exports.push(PlannedExport {
            after: Duration::from_millis(random.below(most)),
            body: build_span_export(&some),
        });
    }
    exports[0].after += begins;
    let id = TraceId::new(trace).expect("32 digits name a trace");
    PlannedTrace { id, parts, n_spans, is_failed, exports }
}

/// Sends all of a trace; returns when all of it is acknowledged.
pub async fn send_trace(world: Arc<SimulationContext>, processes: Arc<Processes>, trace: PlannedTrace) {
    for export in &trace.exports {
        sleep(export.after).await;
        loop {
            let is_kept = processes.request(build_export_request(&export.body)).await;
            match is_kept {
                Some(reply) if reply == b"{}" => {
                    if !world.strikes(world.rates.ack_lost) {
                        world.note(&format!("acknowledged: {}", trace.id));
                        break;
                    }
                    world.note_fault(&format!("acknowledgement lost: {}", trace.id));
                }
                Some(reply) => {
                    let reply = String::from_utf8_lossy(&reply).into_owned();
                    world.violate(format!("an export of trace {} is refused: {reply}", trace.id));
                    return;
                }
                None => {}
            }
            sleep(world.millis(500, 4_000)).await;
        }
    }
}

fn build_export_request(body: &Json) -> Request<Body> {
    let mut request = Request::post("/v1/traces")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("the request is right");
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000))));
    request
}

/// The body of an answer that all is well; `None` where it is another.
pub async fn serve_otlp_request(app: crate::App, request: Request<Body>) -> Option<Vec<u8>> {
    let router: axum::Router<crate::App> = crate::api::otlp::build_otlp_routes();
    let response = router.with_state(app).oneshot(request).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let body = http_body_util::BodyExt::collect(response.into_body()).await.ok()?;
    Some(body.to_bytes().to_vec())
}

fn build_span_export(spans: &[Json]) -> Json {
    let scope = json!({ "scope": { "name": "simulation" }, "spans": spans });
    json!({ "resourceSpans": [{ "resource": {}, "scopeSpans": [scope] }] })
}

fn root_span(trace: &str, is_failed: bool) -> Json {
    let named = [("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "helper")];
    let mut root = build_span_json(trace, 1, 0, &named.map(|(key, value)| (key, value.to_owned())));
    root["status"] = json!({ "code": if is_failed { 2 } else { 1 } });
    root
}

fn model_call(trace: &str, at: u64, part: &str) -> Json {
    let messages = |role: &str, text: String| {
        json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let mut call = build_span_json(
        trace,
        at + 1,
        at,
        &[
            ("gen_ai.operation.name", "chat".to_owned()),
            ("gen_ai.request.model", "some-model".to_owned()),
            ("gen_ai.input.messages", messages("user", format!("part-{part};"))),
            ("gen_ai.output.messages", messages("assistant", "Done.".to_owned())),
        ],
    );
    call["parentSpanId"] = json!(format!("{:016x}", 1));
    call
}

fn build_span_json(trace: &str, id: u64, start: u64, pairs: &[(&str, String)]) -> Json {
    let at = |second: u64| (1_700_000_000_000_000_000 + second * 1_000_000_000).to_string();
    let pair = |(key, value): &(&str, String)| json!({ "key": key, "value": { "stringValue": value } });
    json!({
        "traceId": trace, "spanId": format!("{id:016x}"), "name": format!("span {id}"), "kind": 1,
        "startTimeUnixNano": at(start), "endTimeUnixNano": at(start + 1),
        "attributes": pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}
