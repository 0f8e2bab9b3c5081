//! What a body takes in memory once it is decoded, estimated before anything is built.
//!
//! Two bytes of protobuf are an empty span, which takes a hundred times as much in memory.

use jurist_core::syntax::estimate_json_bytes;
use opentelemetry_proto::tonic::common::v1::{AnyValue, EntityRef, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

use super::otlp::Encoding;

/// The decoder's own limit of nested messages.
const MAX_DEPTH: usize = 100;

/// Bytes that a body takes in memory once it is decoded, in addition to its texts.
pub fn estimate_decoded_bytes(body: &[u8], encoding: Encoding) -> usize {
    match encoding {
        Encoding::Protobuf => estimate_message_bytes(&EXPORT, body, 0),
        Encoding::Json => estimate_json_bytes(body),
    }
}

/// A message of an export: what one takes in a list, and which of its fields are messages.
struct MessageShape {
    bytes: usize,
    fields: &'static [(u64, &'static MessageShape)],
}

static EXPORT: MessageShape = MessageShape { bytes: 0, fields: &[(1, &RESOURCE_SPANS)] };
static RESOURCE_SPANS: MessageShape =
    MessageShape { bytes: size_of::<ResourceSpans>(), fields: &[(1, &RESOURCE), (2, &SCOPE_SPANS)] };
static RESOURCE: MessageShape = MessageShape { bytes: 0, fields: &[(1, &KEY_VALUE), (3, &ENTITY)] };
static ENTITY: MessageShape =
    MessageShape { bytes: size_of::<EntityRef>(), fields: &[(3, &TEXT), (4, &TEXT)] };
static TEXT: MessageShape = MessageShape { bytes: size_of::<String>(), fields: &[] };
static SCOPE_SPANS: MessageShape =
    MessageShape { bytes: size_of::<ScopeSpans>(), fields: &[(1, &SCOPE), (2, &SPAN)] };
static SCOPE: MessageShape = MessageShape { bytes: 0, fields: &[(3, &KEY_VALUE)] };
static SPAN: MessageShape =
    MessageShape { bytes: size_of::<Span>(), fields: &[(9, &KEY_VALUE), (11, &EVENT), (13, &LINK)] };
static EVENT: MessageShape = MessageShape { bytes: size_of::<Event>(), fields: &[(3, &KEY_VALUE)] };
static LINK: MessageShape = MessageShape { bytes: size_of::<Link>(), fields: &[(4, &KEY_VALUE)] };
static KEY_VALUE: MessageShape = MessageShape { bytes: size_of::<KeyValue>(), fields: &[(2, &OWN_VALUE)] };
/// The value of an attribute, which is part of it.
static OWN_VALUE: MessageShape = MessageShape { bytes: 0, fields: &[(5, &LIST), (6, &MAPPING)] };
static LISTED_VALUE: MessageShape =
    MessageShape { bytes: size_of::<AnyValue>(), fields: &[(5, &LIST), (6, &MAPPING)] };
static LIST: MessageShape = MessageShape { bytes: 0, fields: &[(1, &LISTED_VALUE)] };
static MAPPING: MessageShape = MessageShape { bytes: 0, fields: &[(1, &KEY_VALUE)] };

/// Walks through the fields as the decoder does. Errors are left to the decoder, which reports them.
fn estimate_message_bytes(shape: &MessageShape, mut bytes: &[u8], depth: usize) -> usize {
    let mut sum = shape.bytes;
    while let Some(field) = next_field(bytes) {
        bytes = field.rest;
        let inner = shape.fields.iter().find(|(number, _)| *number == field.number);
        if let (Some((_, inner)), Some(content)) = (inner, field.content)
            && depth < MAX_DEPTH
        {
            sum = sum.saturating_add(estimate_message_bytes(inner, content, depth + 1));
        }
    }
    sum
}

/// A field of a message, and what comes after it.
struct WireField<'b> {
    number: u64,
    /// Of a text, bytes or a message.
    content: Option<&'b [u8]>,
    rest: &'b [u8],
}

fn next_field(bytes: &[u8]) -> Option<WireField<'_>> {
    let (key, rest) = read_varint(bytes)?;
    let (content, rest) = match key & 7 {
        0 => {
            let (_, rest) = read_varint(rest)?;
            (None, rest)
        }
        1 => (None, rest.get(8..)?),
        2 => {
            let (length, rest) = read_varint(rest)?;
            let (content, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Some(content), rest)
        }
        // A group has no length; its fields are read as if they were those around it.
        3 | 4 => (None, rest),
        5 => (None, rest.get(4..)?),
        _ => return None,
    };
    Some(WireField { number: key >> 3, content, rest })
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use prost::Message;

    use super::*;

    fn growth(body: &[u8], encoding: Encoding) -> usize {
        estimate_decoded_bytes(body, encoding) / body.len()
    }

    fn export(attribute: KeyValue, spans: Vec<Span>) -> Vec<u8> {
        let resource = Some(Resource { attributes: vec![attribute], ..Resource::default() });
        let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
        let of_resource = ResourceSpans { resource, scope_spans, ..ResourceSpans::default() };
        ExportTraceServiceRequest { resource_spans: vec![of_resource] }.encode_to_vec()
    }

    fn attribute(value: Value) -> KeyValue {
        let value = Some(AnyValue { value: Some(value) });
        KeyValue { key: "notes".to_owned(), value, ..KeyValue::default() }
    }

    #[test]
    fn what_is_small_and_grows_is_found_wherever_it_is() {
        let text = || attribute(Value::StringValue(String::new()));
        let empty_spans = export(text(), vec![Span::default(); 10_000]);
        assert!(
            50 < growth(&empty_spans, Encoding::Protobuf),
            "{}",
            growth(&empty_spans, Encoding::Protobuf)
        );
        // Behind a group, which the decoder skips.
        let behind = [&[0x7b, 0x7c][..], &empty_spans].concat();
        assert_eq!(
            estimate_decoded_bytes(&behind, Encoding::Protobuf),
            estimate_decoded_bytes(&empty_spans, Encoding::Protobuf)
        );
        let span = |attributes| vec![Span { attributes, ..Span::default() }];
        let empty_attributes = export(text(), span(vec![KeyValue::default(); 10_000]));
        assert!(20 < growth(&empty_attributes, Encoding::Protobuf));
        let values = vec![AnyValue::default(); 10_000];
        let list = attribute(Value::ArrayValue(ArrayValue { values }));
        let mapping = attribute(Value::KvlistValue(KeyValueList { values: vec![list] }));
        assert!(8 < growth(&export(mapping, Vec::new()), Encoding::Protobuf));
        let mappings = format!("[{}]", vec![r#"{"":0}"#; 10_000].join(","));
        assert!(80 < growth(mappings.as_bytes(), Encoding::Json));
    }

    #[test]
    fn what_exporters_send_grows_little() {
        let attributes = (0..9).map(|n| attribute(Value::IntValue(n))).collect();
        let span = Span {
            trace_id: vec![1; 16],
            span_id: vec![2; 8],
            name: "step".to_owned(),
            start_time_unix_nano: 1,
            end_time_unix_nano: 2,
            attributes,
            ..Span::default()
        };
        let body = export(attribute(Value::BoolValue(true)), vec![span; 100]);
        assert!(growth(&body, Encoding::Protobuf) < 12, "{}", growth(&body, Encoding::Protobuf));
    }

    #[test]
    fn damaged_bytes_are_left_to_the_decoder() {
        for bytes in [&[][..], &[0x0a], &[0x0a, 0xff], &[0xff; 12], &[0x0a, 0x05, 0x12], &[0x0f], &[0x09, 1]]
        {
            assert_eq!(estimate_decoded_bytes(bytes, Encoding::Protobuf), 0, "{bytes:?}");
        }
    }
}
