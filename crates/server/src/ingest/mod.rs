//! How traces come in: whole, in pieces, as lines, or as spans of OpenTelemetry.
//!
//! What is acknowledged is on disk. Nothing is kept before keys and passwords were taken out of it.

mod arrival;
mod gate;
mod lines;
mod otlp;
mod sampled;

pub use arrival::{Arrival, BadArrival, Defaults, FinishBody, Sent, StartBody, means_failure, named};
pub use gate::{Gate, Limits, Pass, Rate};
pub use lines::{Became, Intake, Line, LineAnswer, Lines};
pub use otlp::{BadExport, Encoding, SpanFacts, Spans, facts};
