//! Background jobs from the store's queue, executed by any number of processes.
//!
//! A job may be executed twice if its worker dies after the work and before it reported the end. Results have fixed
//! ids or positions, so the second execution changes nothing.

mod contest_jobs;
mod emit;
mod monitor_jobs;
mod prepared;
mod shared_budget;
mod worker_context;
mod run_slice;
mod submission;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::dialect::ProjectSettings;
use jurist_core::redact::is_secret_variable;

pub use contest_jobs::{ContestTask, KIND as CONTEST};
pub use monitor_jobs::{
    KIND as MONITOR, MonitorTask, NO_MONEY, NOTHING_TO_JUDGE, PAUSED, ResolvedJudges, build_monitor_judges,
    failure_name, find_criterion, is_met,
};
pub use prepared::{PreparedSubmission, WorkRefusal, format_load_errors};
pub use run_slice::{KIND as RUN, build_run_jobs, run_job_prefix};
pub use shared_budget::ProjectBudget;
pub use submission::{NewRun, ReplyCaching, RunProvenanceView, Shard};
pub use worker::{JobEnd, JobError, run_worker, run_worker_maintenance};
pub use worker_context::WorkerContext;

/// Permissions and settings of workers.
#[derive(Debug, Clone)]
pub struct Work {
    /// Whether submitted files may start programs and name servers, vendors and addresses.
    pub allow_commands: bool,
    /// Whether requests may name addresses inside this machine or its network.
    pub allow_private_network: bool,
    /// Environment variables with API keys; never values from a request.
    pub environment: Environment,
    /// Vendors, prices, limits and the network of this machine.
    pub settings: ProjectSettings,
    /// Folder of the reply cache; no cache by default.
    pub cache: Option<PathBuf>,
    /// Where evaluation events go when a run has ended: an OTLP endpoint.
    pub emit: Option<String>,
    /// Whether prompts and raw replies of judges are stored; grades and reasons always are.
    pub store_exchanges: bool,
    /// Length of a lease: after this time without a heartbeat, another worker may take the job.
    pub lease: Duration,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            allow_commands: false,
            allow_private_network: false,
            environment: Environment::default(),
            settings: ProjectSettings::default(),
            cache: None,
            emit: None,
            store_exchanges: true,
            lease: Duration::from_secs(60),
        }
    }
}

/// Environment variables at the start of the process.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Arc::new(variables.into_iter().filter(|variable| !variable.1.is_empty()).collect()))
    }

    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Values of variables with secret-looking names.
    pub fn secrets(&self) -> Vec<String> {
        self.0.iter().filter(|it| is_secret_variable(it.0)).map(|it| it.1.clone()).collect()
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}
