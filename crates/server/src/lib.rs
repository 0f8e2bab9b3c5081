//! HTTP over the store: the API, ingest of traces, work in the background.
//!
//! Knows `engine` and `store`. A handler reads the request, calls one function, and returns;
//! status codes are in [`error`] only.

pub mod annotate;
mod api;
mod app;
mod assemble;
mod auth;
mod blocking;
mod connections;
mod error;
mod housekeeping;
mod metrics;
mod money;
pub mod monitor;
mod notify;
mod once;
mod ingest;
mod pages;
#[cfg(feature = "parquet")]
pub mod parquet;
mod serve;
mod telemetry;
mod work;

pub use api::description;
pub use app::{Access, App, Settings};
pub use assemble::{assemble_ended, put_together};
pub use auth::{join_link, owner_link};
pub use connections::ConnectionLimits;
pub use ingest::{
    BadExport, Became, Defaults, Encoding, Intake, Limits, LineAnswer, Rate, SpanFacts, Spans, facts,
};
pub use metrics::Metrics;
pub use money::{
    AlertShown, CapShown, DayShown, ForecastShown, PartShown, SpendShown, alerts, set_cap_of, spend,
};
pub use notify::{signature, tell};
pub use serve::{Bound, NotServed, bind};
pub use telemetry::{Collector, Exporter, Telemetry};
pub use work::{Environment, NewRun, Purse, Replies, Shard, Work, Workshop, upkeep, work};

#[cfg(test)]
mod simulation;
