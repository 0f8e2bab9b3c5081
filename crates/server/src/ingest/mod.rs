//! How traces come in: whole, in pieces, as lines, or as spans of OpenTelemetry.
//!
//! What is acknowledged is on disk. Nothing is kept before keys and passwords were taken out of it.

mod arrival;
mod admission;
mod lines;
mod otlp;
mod sampled;

pub use admission::{AdmittedRequest, IngestAdmission, IngestLimits, Rate};
pub use arrival::{
    Arrival, BadArrival, FinishBody, IngestDefaults, StartBody, TraceEnvelope, clean_name, means_failure,
};
pub use lines::{BodyLine, BodyLineReader, Intake, LineAnswer, LineStatus};
pub use otlp::{BadExport, Encoding, SpanFacts, Spans, read_span_facts};
