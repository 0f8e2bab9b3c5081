//! Work in the background: jobs of the store, taken one by one by any number of processes.
//!
//! A job may be done twice, when its worker dies at the wrong moment; results have places, so the second time
//! counts for nothing.

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
pub use submission::{NewRun, ReplyCaching, Shard};
pub use worker::{JobEnd, JobError, run_worker, run_worker_maintenance};
pub use worker_context::WorkerContext;

/// What work may touch, and how long a worker may be silent.
#[derive(Debug, Clone)]
pub struct Work {
    /// Programs, servers, vendors and addresses that a submitted file names.
    pub allow_commands: bool,
    /// Addresses inside the machine or its network, where a request names them.
    pub allow_private_network: bool,
    /// Keys. Never anything of a request.
    pub environment: Environment,
    /// Vendors, prices, limits and the network of this machine.
    pub settings: ProjectSettings,
    /// Folder of the reply cache; no cache by default.
    pub cache: Option<PathBuf>,
    /// Where evaluation events go when a run has ended: an OTLP endpoint.
    pub emit: Option<String>,
    /// Whether prompts and raw replies of judges are stored; grades and reasons always are.
    pub store_exchanges: bool,
    /// After so long without a sign of life, a job is somebody else's.
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

/// Variables as they were when the process started.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Arc::new(variables.into_iter().filter(|variable| !variable.1.is_empty()).collect()))
    }

    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Values of those whose names say that they are secret.
    pub fn secrets(&self) -> Vec<String> {
        self.0.iter().filter(|it| is_secret_variable(it.0)).map(|it| it.1.clone()).collect()
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}
