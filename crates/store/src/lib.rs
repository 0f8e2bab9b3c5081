//! The database of Jurist: traces, grades, runs, jobs, spend and accounts, in SQLite or PostgreSQL.
//!
//! This crate depends on `core` only. Every object belongs to a project. Functions get the time as an argument, so
//! that no result depends on the clock. Acknowledged data is on disk: it survives a killed process and a power
//! failure. (The exception is the assignment of an annotator's next item, which a power failure may lose; the item is
//! then assigned again.) Tables with history are append-only, and triggers of the database enforce this.
//!
//! ```no_run
//! # async fn example() -> Result<(), jurist_store::StoreError> {
//! use jurist_store::{Store, clock};
//!
//! let store = Store::open("jurist.db").await?;
//! let project = store.add_project("support", clock::current_time()).await?;
//! let page = store.traces(project.id, &Default::default(), None, 50).await?;
//! # Ok(()) }
//! ```

mod arg;
pub mod blocking;
pub mod clock;
mod db;
mod error;
mod faults;
mod filter;
mod ids;
mod migrate;
mod open;
mod pack;
mod page;
mod plans;
mod probability;
mod role;
mod wake;
mod wal;

pub mod accounts;
pub mod adjudications;
pub mod agents;
pub mod alert_figures;
pub mod alerts;
pub mod annotate;
pub mod assignments;
pub mod audit;
pub mod cache;
pub mod maintenance;
mod consider;
pub mod contests;
pub mod datasets;
mod decision_state;
mod decision_tallies;
pub mod decisions;
pub mod exchanges;
pub mod grades;
pub mod idempotency;
pub mod jobs;
pub mod labels;
pub mod monitors;
mod piece_batches;
pub mod pieces;
pub mod projects;
mod record_grades;
pub mod rescores;
pub mod rubrics;
pub mod run_labels;
pub mod runs;
pub mod scores;
pub mod spend;
pub mod submissions;
pub mod tallies;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tokens;
pub mod trace_counts;
pub mod traces;

pub use error::StoreError;
pub use ids::{
    AccountId, AdjudicationId, AgentId, AlertId, AnnotationId, AssignmentId, AuditId, BadId, BadTraceId,
    ContestId, DatasetId, DecisionEventId, ExchangeId, GradeId, ItemId, JobId, LabelId, MonitorId,
    MonitorVersionId, ProjectId, Region, RescoreId, ReservationId, RubricId, RubricVersionId, SeriesId,
    TaskId, TokenId, TraceId, random,
};
pub use migrate::SCHEMA;
pub use open::{Store, StoreOptions, Sync, make_private, read_sqlite_version};
pub use page::{BadCursor, Cursor, ResultPage};
pub use probability::Probability;
