//! Ingest of traces: complete, in pieces, as lines, or as OpenTelemetry spans.
//!
//! Acknowledged data is on disk. Keys and passwords are removed before data is stored.

mod arrival;
mod admission;
mod decoded_size;
mod lines;
mod otlp;
mod sampled;

pub use admission::{AdmittedRequest, IngestAdmission, IngestLimits, Rate, count_decoding};
pub use arrival::{
    Arrival, BadArrival, FinishBody, IngestDefaults, StartBody, TraceEnvelope, clean_name, means_failure,
};
pub use decoded_size::estimate_decoded_bytes;
pub use lines::{BodyLine, BodyLineReader, Intake, LineAnswer, LineBatch, LineStatus};
pub use otlp::{BadExport, Encoding, SpanFacts, Spans, read_span_facts};
