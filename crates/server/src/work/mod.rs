//! Background jobs from the store's queue, executed by any number of processes.
//!
//! A job may be executed twice if its worker dies after the work and before it reported the end. Results have fixed
//! ids or positions, so the second execution changes nothing.

mod contest_jobs;
mod emit;
mod monitor_jobs;
mod monitor_scores;
mod prepared;
mod prepared_monitor;
mod shared_budget;
mod worker_context;
mod run_slice;
mod submission;
mod worker;

pub use prepared::PreparedSubmission;
pub use run_slice::{KIND as RUN, build_run_jobs, run_job_prefix};
pub use shared_budget::ProjectBudget;
pub use submission::{NewRun, ReplyCaching, RunProvenanceView, Shard};
pub use worker::{run_worker, run_worker_maintenance};
pub use worker_context::WorkerContext;
