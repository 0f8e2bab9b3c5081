//! The HTTP server: API, ingest of traces, and background jobs.
//!
//! This crate uses `engine` and `store`. A handler parses the request, calls one function, and returns; status codes
//! are in [`error`] only.

pub mod annotate;
mod api;
mod app;
mod assemble;
mod auth;
mod blocking;
mod build;
mod connections;
mod credential;
pub mod datasets;
mod error;
mod housekeeping;
mod job;
mod metrics;
mod money;
pub mod monitor;
mod notify;
mod idempotent_requests;
mod ingest;
mod local_service;
mod pages;
#[cfg(feature = "parquet")]
pub mod parquet;
mod request_id;
mod run_comparisons;
mod serve;
mod telemetry;
mod work;

pub use api::{EndedRun, PushedResult, PushedResults, PushedRun, description};
pub use app::{Access, App, ServerSettings};
pub use assemble::{assemble_ended, build_trace_from_pieces};
pub use auth::{join_link, owner_link};
pub use build::{BuildFacts, read_build_facts};
pub use connections::ConnectionLimits;
pub use ingest::{
    BadExport, Encoding, IngestDefaults, IngestLimits, Intake, LineAnswer, LineStatus, Rate, SpanFacts,
    Spans, read_span_facts,
};
pub use job::{Environment, Work};
pub use local_service::{BoundService, ServiceToken};
pub use metrics::Metrics;
pub use money::{
    AlertShown, CapShown, DayShown, ForecastShown, PartShown, SpendShown, load_alerts, load_month_spend,
    set_cap_of,
};
pub use notify::{LONGEST_SNOOZE, apply_alert_signal, signature, snooze_alert_for_hours};
pub use pages::EmbeddedPages;
pub use serve::{BoundServer, NotServed, bind};
pub use telemetry::{Collector, Exporter, Telemetry};
pub use work::{
    NewRun, ProjectBudget, ReplyCaching, RunProvenanceView, Shard, WorkerContext, run_worker,
    run_worker_maintenance,
};

#[cfg(test)]
mod simulation;
