//! OpenTelemetry spans: converts protobuf or JSON to pieces; each piece is an export of one span.
//!
//! Spans of judge calls are not stored, so that Jurist does not grade its own grading. They are recognised by the
//! resource `service.name` or the scope `jurist`, or by an attribute `jurist.judge`.

use std::collections::HashMap;

use jurist_core::grade::Time;
use jurist_core::redact::Redactor;
use jurist_store::pieces::{NewPiece, PieceKind};
use jurist_store::{Probability, TraceId};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::arrival::clean_name;
use super::sampled;

/// Deepest nesting of values that the JSON parser can read back.
const DEEPEST: usize = 100;

/// The resource and scope of a span are stored with each span. This is the limit of these repeated bytes per request.
const MAX_REPEATED_BYTES: usize = 64 << 20;

/// Most reasons in a refusal message.
const REASONS: usize = 5;

/// Encoding of a request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Protobuf,
    Json,
}

/// Why a request cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum BadExport {
    #[error("not a valid ExportTraceServiceRequest in protobuf: {0}")]
    Protobuf(prost::DecodeError),
    #[error("not valid JSON: {0}")]
    Json(serde_json::Error),
    #[error("`resourceSpans` is missing; it is a list")]
    NoSpans,
}

/// The spans of an export.
#[derive(Debug, Default)]
pub struct Spans {
    pub pieces: Vec<NewPiece>,
    /// Number of spans that cannot be stored.
    pub n_rejected: usize,
    /// Reasons of the first few.
    pub reasons: Vec<String>,
    /// Spans of judges, which are left out.
    pub n_own: usize,
    /// Repeated bytes: resource and scope in each piece.
    n_repeated_bytes: usize,
}

impl Spans {
    pub fn read(body: &[u8], encoding: Encoding, redactor: &Redactor, now: Time) -> Result<Self, BadExport> {
        match encoding {
            Encoding::Protobuf => {
                let request = ExportTraceServiceRequest::decode(body).map_err(BadExport::Protobuf)?;
                Ok(read_protobuf_spans(request, redactor, now))
            }
            Encoding::Json => {
                let mut value: Json = serde_json::from_slice(body).map_err(BadExport::Json)?;
                // An exporter without spans may leave out the list.
                let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
                if !is_empty && !value["resourceSpans"].is_array() {
                    return Err(BadExport::NoSpans);
                }
                Ok(read_json_spans(&mut value, redactor, now))
            }
        }
    }

    pub fn reject(&mut self, why: String) {
        self.n_rejected += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push(why);
        }
    }

    /// The response that OpenTelemetry specifies.
    pub fn answer(&self, encoding: Encoding) -> Vec<u8> {
        let partial = (0 < self.n_rejected).then(|| ExportTracePartialSuccess {
            rejected_spans: i64::try_from(self.n_rejected).unwrap_or(i64::MAX),
            error_message: self.reasons.join("; "),
        });
        match (encoding, partial) {
            (Encoding::Protobuf, partial_success) => {
                ExportTraceServiceResponse { partial_success }.encode_to_vec()
            }
            (Encoding::Json, None) => b"{}".to_vec(),
            (Encoding::Json, Some(it)) => {
                let partial = json!({ "rejectedSpans": it.rejected_spans.to_string(), "errorMessage": it.error_message });
                json!({ "partialSuccess": partial }).to_string().into_bytes()
            }
        }
    }

    fn add(&mut self, origin: &Origin<'_>, span: Span, redactor: &Redactor, now: Time) {
        if origin.is_own || is_attribute_set(&span.attributes, "jurist.judge") {
            self.n_own += 1;
            return;
        }
        let n_repeated_bytes = self.n_repeated_bytes + origin.n_bytes();
        if MAX_REPEATED_BYTES < n_repeated_bytes {
            return self.reject(format!(
                "the attributes of a resource are stored with each of its spans, and one request may have at most {} MiB of them; send fewer spans at once",
                MAX_REPEATED_BYTES >> 20
            ));
        }
        match piece(origin, span, redactor, now) {
            Ok(piece) => {
                self.n_repeated_bytes = n_repeated_bytes;
                self.pieces.push(piece);
            }
            Err(why) => self.reject(why),
        }
    }
}

fn read_protobuf_spans(request: ExportTraceServiceRequest, redactor: &Redactor, now: Time) -> Spans {
    let mut spans = Spans::default();
    for of_resource in request.resource_spans {
        let resource = ResourceText::new(&of_resource.resource.unwrap_or_default(), redactor);
        for of_scope in of_resource.scope_spans {
            let origin = Origin::new(&resource, of_scope.scope.as_ref(), redactor);
            of_scope.spans.into_iter().for_each(|span| spans.add(&origin, span, redactor, now));
        }
    }
    spans
}

/// Parses JSON spans one by one, so that an invalid span does not affect the others.
pub fn read_json_spans(value: &mut Json, redactor: &Redactor, now: Time) -> Spans {
    let mut spans = Spans::default();
    for of_resource in iter_objects_mut(value, "resourceSpans") {
        let resource = take_otlp_json(of_resource, "resource").unwrap_or_default();
        let resource = ResourceText::new(&resource, redactor);
        for of_scope in iter_objects_mut(of_resource, "scopeSpans") {
            let scope: Option<InstrumentationScope> = take_otlp_json(of_scope, "scope");
            let origin = Origin::new(&resource, scope.as_ref(), redactor);
            for span in iter_objects_mut(of_scope, "spans") {
                normalise_otlp_json(span);
                match serde_json::from_value(span.take()) {
                    Ok(span) => spans.add(&origin, span, redactor, now),
                    Err(error) => spans.reject(format!("a span is malformed: {error}")),
                }
            }
        }
    }
    spans
}

fn iter_objects_mut<'v>(value: &'v mut Json, key: &str) -> impl Iterator<Item = &'v mut Json> {
    value.get_mut(key).and_then(Json::as_array_mut).into_iter().flatten().filter(|value| value.is_object())
}

/// What is under a key; a key that is absent is not added.
fn take_otlp_json<T: DeserializeOwned>(value: &mut Json, key: &str) -> Option<T> {
    let mut part = value.get_mut(key)?.take();
    normalise_otlp_json(&mut part);
    serde_json::from_value(part).ok()
}

/// Corrects deviations of exporters: enum names instead of numbers, and null for absent fields.
fn normalise_otlp_json(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(normalise_otlp_json),
        Json::Object(map) => {
            map.retain(|_, value| !value.is_null());
            for (key, it) in map.iter_mut() {
                match (key.as_str(), it.as_str().and_then(otlp_enum_number)) {
                    ("kind" | "code", Some(number)) => *it = number.into(),
                    _ => normalise_otlp_json(it),
                }
            }
        }
        _ => {}
    }
}

fn otlp_enum_number(name: &str) -> Option<i32> {
    Some(match name {
        "SPAN_KIND_UNSPECIFIED" | "STATUS_CODE_UNSET" => 0,
        "SPAN_KIND_INTERNAL" | "STATUS_CODE_OK" => 1,
        "SPAN_KIND_SERVER" | "STATUS_CODE_ERROR" => 2,
        "SPAN_KIND_CLIENT" => 3,
        "SPAN_KIND_PRODUCER" => 4,
        "SPAN_KIND_CONSUMER" => 5,
        _ => return None,
    })
}

/// The resource of spans; redacted and serialised once, because two bytes are a scope of it.
struct ResourceText {
    /// As JSON.
    text: String,
    service: Option<String>,
    is_own: bool,
}

impl ResourceText {
    fn new(resource: &Resource, redactor: &Redactor) -> Self {
        let service = string_attribute(&resource.attributes, "service.name");
        let is_own = service == Some("jurist");
        let mut attributes = json!({ "attributes": resource.attributes });
        redactor.data(&mut attributes);
        // SDKs send `unknown_service` if no name is configured.
        let service = service.filter(|service| !service.starts_with("unknown_service")).and_then(clean_name);
        Self { text: attributes.to_string(), service, is_own }
    }
}

/// Resource and scope of spans; the scope is redacted and serialised once.
struct Origin<'a> {
    resource: &'a ResourceText,
    /// As JSON.
    scope: String,
    is_own: bool,
}

impl<'a> Origin<'a> {
    fn new(resource: &'a ResourceText, scope: Option<&InstrumentationScope>, redactor: &Redactor) -> Self {
        let is_own = resource.is_own || scope.is_some_and(|scope| scope.name == "jurist");
        let mut of_scope = json!({});
        if let Some(scope) = scope {
            of_scope = json!({ "name": scope.name, "version": scope.version });
            redactor.data(&mut of_scope);
        }
        Self { resource, scope: of_scope.to_string(), is_own }
    }

    /// What is stored with each span.
    fn n_bytes(&self) -> usize {
        self.resource.text.len() + self.scope.len()
    }

    /// An export of one span.
    fn wrap_span(&self, span: &Json) -> Vec<u8> {
        let (resource, scope) = (&self.resource.text, &self.scope);
        format!(
            r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":[{span}]}}]}}]}}"#
        )
        .into_bytes()
    }
}

fn piece(origin: &Origin<'_>, span: Span, redactor: &Redactor, now: Time) -> Result<NewPiece, String> {
    let (trace, id) = (encode_hex(&span.trace_id), encode_hex(&span.span_id));
    let is_id = |bytes: &[u8], length: usize| bytes.len() == length && bytes.iter().any(|byte| *byte != 0);
    if !is_id(&span.trace_id, 16) {
        return Err(format!("`{trace}` is not a trace id of 16 bytes"));
    }
    if !is_id(&span.span_id, 8) {
        return Err(format!("`{id}` is not a span id of 8 bytes"));
    }
    let start = i64::try_from(span.start_time_unix_nano / 1000).ok().filter(|micros| 0 < *micros);
    let agent = string_attribute(&span.attributes, "gen_ai.agent.name")
        .and_then(clean_name)
        .or_else(|| origin.resource.service.clone());
    let session = ["gen_ai.conversation.id", "session.id"]
        .iter()
        .find_map(|text| string_attribute(&span.attributes, text));
    let session = session.and_then(clean_name);
    let is_root = span.parent_span_id.iter().all(|parent_span_id| *parent_span_id == 0);
    let (name, events, links) = (span.name, span.events, span.links);
    let mut body = json!({
        "name": name, "attributes": span.attributes, "events": events, "links": links, "status": span.status,
    });
    if DEEPEST < json_depth(&body) {
        return Err(format!("span `{id}` has attributes nested deeper than can be read"));
    }
    redactor.data(&mut body);
    body["traceId"] = json!(trace);
    body["spanId"] = json!(id);
    if !is_root {
        body["parentSpanId"] = json!(encode_hex(&span.parent_span_id));
    }
    body["kind"] = json!(span.kind);
    body["flags"] = json!(span.flags);
    body["startTimeUnixNano"] = json!(span.start_time_unix_nano.to_string());
    body["endTimeUnixNano"] = json!(span.end_time_unix_nano.to_string());
    if !span.trace_state.is_empty() {
        body["traceState"] = json!(span.trace_state);
    }
    Ok(NewPiece {
        trace: TraceId::new(trace).expect("32 digits name a trace"),
        id,
        kind: if is_root { PieceKind::RootSpan } else { PieceKind::Span },
        time: start.map_or(now, Time::from_micros),
        body: origin.wrap_span(&body),
        agent,
        session,
    })
}

fn encode_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes.iter().take(32) {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).expect("four bits are a digit"));
        }
    }
    text
}

fn json_depth(value: &Json) -> usize {
    let inner = match value {
        Json::Array(items) => items.iter().map(json_depth).max(),
        Json::Object(map) => map.values().map(json_depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

fn string_attribute<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let value = attributes.iter().find(|key_value| key_value.key == key)?.value.as_ref()?;
    let AnyValue { value: Some(any_value::Value::StringValue(text)) } = value else { return None };
    Some(text)
}

/// Whether an attribute is present and not `false`.
fn is_attribute_set(attributes: &[KeyValue], key: &str) -> bool {
    let value = attributes
        .iter()
        .find(|key_value| key_value.key == key)
        .and_then(|key_value| key_value.value.as_ref());
    value.is_some_and(|value| value.value != Some(any_value::Value::BoolValue(false)))
}

/// Facts about a stored span.
#[derive(Debug)]
pub struct SpanFacts {
    pub id: String,
    pub parent: Option<String>,
    /// Nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub failed: Option<bool>,
    pub agent: Option<String>,
    pub service: Option<String>,
    pub session: Option<String>,
    pub model: Option<String>,
    pub probability: Option<Probability>,
}

/// Reads back what [`piece`] wrote.
pub fn read_span_facts(body: &Json) -> Option<SpanFacts> {
    let of_resource = &body["resourceSpans"][0];
    let span = of_resource["scopeSpans"][0]["spans"].get(0)?;
    let texts = |attributes: &Json| -> HashMap<String, String> {
        let pairs = attributes.as_array().into_iter().flatten();
        pairs
            .filter_map(|pair| {
                Some((pair["key"].as_str()?.to_owned(), pair["value"]["stringValue"].as_str()?.to_owned()))
            })
            .collect()
    };
    let (attributes, resource) = (texts(&span["attributes"]), texts(&of_resource["resource"]["attributes"]));
    let nanos = |key: &str| span[key].as_str().and_then(|span| span.parse().ok()).unwrap_or(0);
    let first =
        |keys: &[&str]| keys.iter().find_map(|key| attributes.get(*key)).and_then(|map| clean_name(map));
    Some(SpanFacts {
        id: span["spanId"].as_str()?.to_owned(),
        parent: span["parentSpanId"].as_str().map(str::to_owned),
        start: nanos("startTimeUnixNano"),
        end: nanos("endTimeUnixNano"),
        failed: match span["status"]["code"].as_i64() {
            Some(1) => Some(false),
            Some(2) => Some(true),
            _ => None,
        },
        agent: first(&["gen_ai.agent.name"]),
        service: resource.get("service.name").and_then(|resource| clean_name(resource)),
        session: first(&["gen_ai.conversation.id", "session.id"]),
        model: first(&["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"]),
        probability: span["traceState"].as_str().and_then(sampled::probability),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the resource read for each of them, this took an hour.
    #[test]
    fn a_large_resource_is_read_once_and_not_for_each_of_its_scopes() {
        let notes = json!({ "key": "notes", "value": { "stringValue": "x".repeat(1 << 20) } });
        let span = json!({ "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "step",
            "startTimeUnixNano": "1", "endTimeUnixNano": "2" });
        let mut scopes = vec![json!({}); 100_000];
        scopes.push(json!({ "scope": { "name": "one" }, "spans": [span] }));
        let body =
            json!({ "resourceSpans": [{ "resource": { "attributes": [notes] }, "scopeSpans": scopes }] });
        let now = Time::from_micros(1);
        let read =
            Spans::read(body.to_string().as_bytes(), Encoding::Json, &Redactor::default(), now).unwrap();
        assert_eq!((read.pieces.len(), read.n_rejected), (1, 0));
        let stored: Json = serde_json::from_slice(&read.pieces[0].body).unwrap();
        assert_eq!(stored["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"], "one");
    }

    #[test]
    fn a_large_resource_is_not_kept_with_spans_without_end() {
        let span = |id: usize| {
            json!({ "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{id:016x}"), "name": "step",
                "startTimeUnixNano": "1", "endTimeUnixNano": "2" })
        };
        let spans: Vec<Json> = (1..=200).map(span).collect();
        let notes = json!({ "key": "notes", "value": { "stringValue": "x".repeat(1 << 20) } });
        let body = json!({ "resourceSpans": [{ "resource": { "attributes": [notes] }, "scopeSpans": [{ "spans": spans }] }] });
        let read = Spans::read(
            body.to_string().as_bytes(),
            Encoding::Json,
            &Redactor::default(),
            Time::from_micros(1),
        );
        let read = read.unwrap();
        let n_bytes: usize = read.pieces.iter().map(|piece| piece.body.len()).sum();
        assert!(n_bytes < 65 << 20, "a request of 1 MiB is kept as {n_bytes} bytes");
        assert_eq!((read.pieces.len(), read.n_rejected), (63, 137));
        assert!(read.reasons[0].contains("send fewer spans at once"), "{:?}", read.reasons);
    }
}
