//! Spans of OpenTelemetry over HTTP.

use std::io::Write;

use jurist_core::grade::Time;
use jurist_server::{App, ServerSettings, bind};
use jurist_store::pieces::{MAX_PIECES, NewPiece, PieceKind};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::place::{Answer, Place, hasty, served, served_on_sqlite, until};

pub const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const JSON: (&str, &str) = ("content-type", "application/json");
const PROTOBUF: (&str, &str) = ("content-type", "application/x-protobuf");

fn attributes(pairs: &[(&str, Json)]) -> Json {
    let value = |value: &Json| match value {
        Json::Number(value) => json!({ "intValue": value.to_string() }),
        Json::String(value) => json!({ "stringValue": value }),
        other => json!({ "stringValue": other.to_string() }),
    };
    pairs.iter().map(|pair| json!({ "key": pair.0, "value": value(&pair.1) })).collect()
}

/// A span that starts at second `start` and takes one.
fn span(id: u64, parent: Option<u64>, start: u64, pairs: &[(&str, Json)]) -> Json {
    let at = |second: u64| (1_700_000_000_000_000_000 + second * 1_000_000_000).to_string();
    let mut span = json!({
        "traceId": TRACE, "spanId": format!("{id:016x}"), "name": format!("span {id}"), "kind": 1,
        "startTimeUnixNano": at(start), "endTimeUnixNano": at(start + 1), "attributes": attributes(pairs),
        "status": { "code": 1 },
    });
    if let Some(parent) = parent {
        span["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    span
}

pub fn root(start: u64) -> Json {
    let agent = [
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.agent.name", json!("helper")),
        ("gen_ai.conversation.id", json!("talk-1")),
        ("gen_ai.usage.input_tokens", json!(11)),
        ("gen_ai.usage.output_tokens", json!(5)),
    ];
    span(1, None, start, &agent)
}

pub fn model_call(id: u64, start: u64, question: &str) -> Json {
    let input = json!([{ "role": "user", "parts": [{ "type": "text", "content": question }] }]);
    let output = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Four." }] }]);
    span(
        id,
        Some(1),
        start,
        &[
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.request.model", json!("gpt-4o")),
            ("gen_ai.input.messages", input),
            ("gen_ai.output.messages", output),
            ("gen_ai.usage.input_tokens", json!(11)),
            ("gen_ai.usage.output_tokens", json!(5)),
        ],
    )
}

pub fn export(spans: &[Json]) -> Json {
    let resource = json!({ "attributes": attributes(&[("service.name", json!("shop"))]) });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": { "name": "test" }, "spans": spans }] }] })
}

fn protobuf(export: &Json) -> Vec<u8> {
    ExportTraceServiceRequest::deserialize(export).unwrap().encode_to_vec()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn send(place: &Place, export: &Json) -> Answer {
    place.send("/v1/traces", &[JSON], export.to_string()).await
}

async fn send_protobuf(
    place: &Place,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> (Answer, ExportTraceServiceResponse) {
    let answer = place.send("/v1/traces", &[&[PROTOBUF], headers].concat(), body).await;
    assert_eq!(answer.headers["content-type"], "application/x-protobuf");
    let read = ExportTraceServiceResponse::decode(answer.bytes.as_slice()).unwrap_or_default();
    (answer, read)
}

async fn finished(place: &Place) -> Json {
    place.until(TRACE, |value| value["state"] == "finished").await
}

/// A span takes about 10 kB of memory when its trace is put together, and whoever may send may send any number.
#[test]
fn spans_beyond_the_limit_of_a_trace_are_refused_and_counted() {
    served(&ServerSettings::default(), |place| async move {
        let now = Time::from_micros(1);
        let body = export(&[span(2, Some(1), 1, &[])]).to_string().into_bytes();
        let there = |n: usize| NewPiece {
            trace: TRACE.parse().unwrap(),
            id: format!("there already {n}"),
            kind: PieceKind::Span,
            time: now,
            body: body.clone(),
            agent: None,
            session: None,
        };
        let pieces = (0..MAX_PIECES - 10).map(there).collect();
        place
            .app
            .store
            .put_pieces(place.app.default_project, pieces, jurist_store::clock::current_time())
            .await
            .unwrap();
        let first: Vec<Json> = (2..7).map(|id| span(id, Some(1), 1, &[])).collect();
        let rest: Vec<Json> = (7..2_012).map(|id| span(id, Some(1), 2, &[])).collect();
        assert_eq!(send(&place, &export(&first)).await.json(), json!({}));
        let told = send(&place, &export(&rest)).await.json()["partialSuccess"].clone();
        assert_eq!(told["rejectedSpans"], "2000", "{told}");
        assert!(told["errorMessage"].as_str().unwrap().contains("already has 50000 spans"), "{told}");
        // What is there already may come again, and other traces do not suffer.
        assert_eq!(send(&place, &export(&first)).await.json(), json!({}));
        let mut other = root(1);
        other["traceId"] = json!("1af7651916cd43dd8448eb211c80319c");
        assert_eq!(send(&place, &export(&[other])).await.json(), json!({}));
        let metrics = place.fetch("/metrics").await.text;
        assert!(metrics.contains("jurist_refused_pieces_total 2000"), "{metrics}");
        let head = place.fetch(&format!("/api/v1/traces/{TRACE}")).await.json();
        assert_eq!(head["n_pieces"], MAX_PIECES, "{head}");
    });
}

/// Bodies may be small when they are packed, and large when they are read.
#[test]
fn a_trace_is_put_together_from_so_many_bytes_and_says_what_is_missing() {
    served_on_sqlite(&hasty(), |place| async move {
        let blank = " ".repeat(12_000_000);
        for id in 2..9 {
            let long = span(id, Some(1), id, &[("note", json!(blank))]);
            assert_eq!(send(&place, &export(&[long])).await.json(), json!({}));
        }
        let head = finished(&place).await;
        let why = head["metadata"]["unreadable"].as_str().unwrap();
        assert!(why.contains("only the first 5 pieces are read; 2 exceed the limit"), "{why}");
        assert!(!place.fetch("/metrics").await.text.contains("jurist_cut_traces_total 0"));
    });
}

#[test]
fn spans_become_a_trace_whose_tokens_are_counted_once() {
    served(&hasty(), |place| async move {
        // Clocks differ: the call seems to begin before the agent.
        let export = export(&[model_call(2, 0, "2 + 2?"), root(3)]);
        let (answer, read) =
            send_protobuf(&place, &[("content-encoding", "gzip")], gzip(&protobuf(&export))).await;
        assert_eq!((answer.status, read.partial_success), (StatusCode::OK, None));
        let head = finished(&place).await;
        assert_eq!(head["tokens"], json!({ "input": 11, "output": 5, "cached": 0 }));
        assert_eq!((head["agent"].clone(), head["session"].clone()), (json!("helper"), json!("talk-1")));
        assert_eq!((head["status"].clone(), head["is_failed"].clone()), (json!("ok"), json!(false)));
        assert_eq!(
            (head["duration_ms"].clone(), head["started"].clone()),
            (json!(1000.0), json!("2023-11-14T22:13:23Z"))
        );
        assert_eq!(
            head["metadata"],
            json!({ "cost_from_tokens": true, "format": "otlp", "models": ["gpt-4o"], "n_spans": 2, "service": "shop" })
        );
        let trace = place.fetch(&format!("/api/v1/traces/{TRACE}/content")).await.json();
        assert_eq!(trace["steps"][1]["text"], "Four.");
        // Noted a moment after the trace.
        let agents = async || place.fetch("/api/v1/agents").await.json();
        until(async || agents().await != json!([])).await;
        assert_eq!(agents().await[0]["name"], "helper");
        // The same in JSON is the same: nothing comes of it.
        let answer = send(&place, &export).await;
        assert_eq!((answer.status, answer.text.as_str()), (StatusCode::OK, "{}"));
        assert_eq!(finished(&place).await["n_pieces"], 2);
    });
}

#[test]
fn spans_that_cannot_be_kept_are_counted_and_the_others_stay() {
    served(&hasty(), |place| async move {
        send(&place, &export(&[root(0)])).await;
        let other = span(1, None, 9, &[]);
        let mut short = span(3, None, 0, &[]);
        short["spanId"] = json!("abcd");
        let mut wrong = span(4, None, 0, &[]);
        wrong["startTimeUnixNano"] = json!({});
        let answer = send(&place, &export(&[other.clone(), short, wrong, model_call(2, 0, "x")])).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let partial = answer.json()["partialSuccess"].clone();
        assert_eq!(partial["rejectedSpans"], "3", "{partial}");
        let message = partial["errorMessage"].as_str().unwrap();
        assert!(message.contains("span `0000000000000001`") && message.contains("`abcd`"), "{message}");
        assert_eq!(place.until(TRACE, |it| it["n_steps"] == 2).await["n_pieces"], 2);
        let (_, read) = send_protobuf(&place, &[], protobuf(&export(&[other]))).await;
        assert_eq!(read.partial_success.unwrap().rejected_spans, 1);
    });
}

#[test]
fn what_exporters_write_beside_the_rules_is_understood() {
    served(&hasty(), |place| async move {
        let mut named = model_call(1, 0, "x");
        named["kind"] = json!("SPAN_KIND_CLIENT");
        named["status"] = json!({ "code": "STATUS_CODE_ERROR", "message": null });
        named["parentSpanId"] = Json::Null;
        named["traceState"] = json!("ot=th:c");
        assert_eq!(send(&place, &export(&[named])).await.text, "{}");
        let head = finished(&place).await;
        assert_eq!((head["is_failed"].clone(), head["probability"].clone()), (json!(true), json!(0.25)));
        assert_eq!(send(&place, &json!({})).await.text, "{}");
    });
}

#[test]
fn malformed_requests_are_refused_in_the_words_of_the_protocol() {
    served(&ServerSettings { max_body: 100_000, ..ServerSettings::default() }, |place| async move {
        let (answer, _) = send_protobuf(&place, &[], b"\xff\xff\xff\xffnonsense".to_vec()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.text.contains("not a valid ExportTraceServiceRequest"), "{}", answer.text);
        for body in ["{", "[]", "{\"resourceSpans\": 1}", "null"] {
            let answer = place.send("/v1/traces", &[JSON], body).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
            assert_eq!(answer.headers["content-type"], "application/json");
            assert!(answer.json()["message"].is_string(), "{}", answer.text);
        }
        let deep = format!("{{\"resourceSpans\": {}", "[".repeat(50_000));
        assert_eq!(place.send("/v1/traces", &[JSON], deep).await.status, StatusCode::BAD_REQUEST);
        let answer = place.send("/v1/traces", &[("content-type", "text/plain")], "x").await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        // Small as it comes, large once it is unpacked.
        let bomb = gzip(&vec![b' '; 50_000_000]);
        assert!(bomb.len() < 300_000);
        let answer = place.send("/v1/traces", &[JSON, ("content-encoding", "gzip")], bomb).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", answer.text);
        let (answer, _) = send_protobuf(&place, &[], vec![b' '; 200_000]).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", answer.text);
        let (answer, _) = send_protobuf(&place, &[("content-encoding", "gzip")], b"no gzip".to_vec()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.text);
    });
}

#[test]
fn values_nested_too_deeply_are_refused_and_the_rest_is_kept() {
    served(&hasty(), |place| async move {
        let mut value = json!({ "stringValue": "x" });
        for _ in 0..35 {
            value = json!({ "arrayValue": { "values": [value] } });
        }
        let mut deep = span(7, None, 0, &[]);
        deep["attributes"] = json!([{ "key": "deep", "value": value }]);
        let (_, read) = send_protobuf(&place, &[], protobuf(&export(&[deep, root(0)]))).await;
        let partial = read.partial_success.unwrap();
        assert_eq!(partial.rejected_spans, 1);
        assert!(partial.error_message.contains("nested"), "{}", partial.error_message);
    });
}

#[test]
fn spans_without_a_root_are_a_trace_once_they_fall_silent() {
    served(&hasty(), |place| async move {
        // Its parent is elsewhere.
        let calls: Vec<Json> = (2..5).map(|n| model_call(n, n, &format!("{n}?"))).collect();
        send(&place, &export(&calls)).await;
        let head = finished(&place).await;
        assert_eq!((head["duration_ms"].clone(), head["agent"].clone()), (json!(3000.0), json!("shop")));
        assert_eq!(head["metadata"]["n_without_parent"], 3);
        assert_eq!(head["tokens"]["input"], 33);
        // The root comes at last.
        send(&place, &export(&[root(0)])).await;
        let head = place.until(TRACE, |value| value["state"] == "finished" && value["n_pieces"] == 4).await;
        assert_eq!((head["agent"].clone(), head["tokens"]["input"].clone()), (json!("helper"), json!(33)));
    });
}

#[test]
fn an_end_before_the_start_is_no_duration() {
    served(&hasty(), |place| async move {
        let mut wrong = model_call(1, 5, "x");
        wrong["parentSpanId"] = Json::Null;
        wrong["endTimeUnixNano"] = json!("1");
        send(&place, &export(&[wrong])).await;
        assert_eq!(finished(&place).await["duration_ms"], Json::Null);
    });
}

#[test]
fn spans_of_judges_are_not_graded() {
    served(&hasty(), |place| async move {
        let judge = span(5, Some(1), 0, &[("jurist.judge", json!("quality"))]);
        assert_eq!(send(&place, &export(&[root(0), model_call(2, 0, "x"), judge])).await.text, "{}");
        let mut own = export(&[span(6, Some(1), 0, &[])]);
        own["resourceSpans"][0]["resource"]["attributes"] = attributes(&[("service.name", json!("jurist"))]);
        assert_eq!(send(&place, &own).await.text, "{}");
        assert_eq!(finished(&place).await["n_pieces"], 2);
    });
}

#[test]
fn secret_attributes_are_not_kept() {
    served(&hasty(), |place| async move {
        let call = model_call(1, 0, "the key is sk-ABCDEFGHIJKLMNOPQRSTUV123456");
        let tool = span(2, Some(1), 0, &[("db.password", json!("hunter2")), ("http.url", json!("x\r\ny"))]);
        send(&place, &export(&[call, tool])).await;
        let pieces =
            place.app.store.pieces(place.app.default_project, &TRACE.parse().unwrap()).await.unwrap();
        for piece in pieces {
            let text = String::from_utf8(piece.body.unwrap()).unwrap();
            assert!(!text.contains("hunter2") && !text.contains("sk-ABC"), "{text}");
        }
    });
}

#[test]
fn ten_thousand_spans_are_one_trace() {
    check_large_trace(10_000);
}

/// The limit of a trace.
#[test]
#[ignore = "takes a minute; a part of `make test-long`"]
fn fifty_thousand_spans_are_one_trace() {
    check_large_trace(50_000);
}

fn check_large_trace(n_spans: u64) {
    // The root ends the trace: between two requests it is not put together.
    let idle = std::time::Duration::from_secs(60);
    served(&ServerSettings { max_body: 256 << 20, idle, ..hasty() }, |place| async move {
        // On the second database a part shows that it does the same.
        let n = if place.scene.url.starts_with("postgres") { 5_000 } else { n_spans };
        let spans: Vec<Json> = (2..n + 1)
            .map(|n| {
                if n % 100 == 0 {
                    model_call(n, n, &format!("question {n}"))
                } else {
                    span(
                        n,
                        Some(n / 2),
                        n,
                        &[
                            ("gen_ai.operation.name", json!("execute_tool")),
                            ("gen_ai.tool.name", json!("search")),
                            ("gen_ai.tool.call.result", json!("found")),
                        ],
                    )
                }
            })
            .collect();
        for chunk in spans.chunks(10_000) {
            let (answer, read) = send_protobuf(&place, &[], protobuf(&export(chunk))).await;
            assert_eq!((answer.status, read.partial_success), (StatusCode::OK, None));
        }
        send(&place, &export(&[root(0)])).await;
        let head = place.until(TRACE, |value| value["state"] == "finished" && value["n_pieces"] == n).await;
        assert_eq!(head["metadata"]["n_spans"], n);
        assert_eq!(head["tokens"]["input"], n / 100 * 11);
        assert!(n - n / 50 < head["n_steps"].as_u64().unwrap(), "{head}");
    });
}

#[test]
fn several_servers_do_not_disturb_each_other() {
    served(&hasty(), |place| async move {
        let others = 3;
        for _ in 0..others {
            let app = App::new(place.app.store.clone(), hasty()).await.unwrap();
            let bound = bind(app, std::net::SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
            tokio::spawn(bound.serve(std::future::pending()));
        }
        let trace = |n: u64| format!("{:032x}", n + 1);
        for at in 0..40 {
            let mut spans = [root(0), model_call(2, 1, "x")];
            spans.iter_mut().for_each(|span| span["traceId"] = json!(trace(at)));
            send(&place, &export(&spans[..1])).await;
            send(&place, &export(&spans[1..])).await;
        }
        for at in 0..40 {
            let head =
                place.until(&trace(at), |value| value["state"] == "finished" && value["n_steps"] == 2).await;
            assert!(head["revision"].as_u64().unwrap() <= 2, "{head}");
        }
    });
}
