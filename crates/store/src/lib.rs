//! The database of Jurist: traces, grades, runs, work, money and people, in SQLite or PostgreSQL.
//!
//! Knows `core` only. Everything belongs to a project; times and ids are given by the caller, so that
//! nothing here depends on the hour. What is acknowledged is on disk: it survives a killed process and a
//! power failure (except that somebody's next item may then be given out anew). Where history matters rows are added and never changed, and the database itself refuses
//! anything else.
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
pub mod contests;
mod decision_state;
pub mod decisions;
pub mod exchanges;
pub mod grades;
pub mod idempotency;
pub mod jobs;
pub mod labels;
pub mod monitors;
pub mod pieces;
pub mod projects;
pub mod rescores;
pub mod rubrics;
pub mod runs;
pub mod scores;
pub mod spend;
pub mod submissions;
pub mod tallies;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tokens;
pub mod traces;

pub use error::StoreError;
pub use ids::{
    AccountId, AdjudicationId, AgentId, AlertId, AnnotationId, AssignmentId, AuditId, BadId, BadTraceId,
    ContestId, DecisionEventId, ExchangeId, GradeId, ItemId, JobId, LabelId, MonitorId, MonitorVersionId,
    ProjectId, Region, RescoreId, ReservationId, RubricId, RubricVersionId, SeriesId, TaskId, TokenId,
    TraceId, random,
};
pub use migrate::SCHEMA;
pub use open::{Store, StoreOptions, Sync, make_private};
pub use page::{BadCursor, Cursor, ResultPage};
pub use probability::Probability;
