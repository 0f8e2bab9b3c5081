//! The job that judges one trace for a monitor.

use jurist_core::grade::Time;
use jurist_store::decisions::MonitorDecision;
use jurist_store::jobs::NewJob;
use jurist_store::{MonitorId, MonitorVersionId, ProjectId, RescoreId, TraceId};
use serde::{Deserialize, Serialize};

/// Kind of these jobs.
pub const KIND: &str = "monitor";

/// Attempts of a job after errors other than judge errors.
const ATTEMPTS: u32 = 5;

/// Why a trace is not judged.
pub const NOTHING_TO_JUDGE: &str = "the trace holds no task, message, tool call or file";

/// Why work is put off.
pub const PAUSED: &str = "the monitor is paused";
pub const NO_MONEY: &str = "the monthly budget is used up";

/// Payload of the job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MonitorTask {
    pub monitor: MonitorId,
    /// The monitor version under which the trace is judged.
    pub version: MonitorVersionId,
    pub trace: TraceId,
    /// Revision of the trace when the job was added; another revision is another job.
    #[serde(default)]
    pub revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescore: Option<RescoreId>,
}

impl MonitorTask {
    /// A job for a new or changed trace.
    pub fn live(monitor: MonitorId, version: MonitorVersionId, trace: TraceId, revision: u64) -> Self {
        Self { monitor, version, trace, revision, rescore: None }
    }

    pub fn again(decision: &MonitorDecision) -> Self {
        Self::live(decision.monitor, decision.version, decision.trace.clone(), decision.revision)
    }

    /// Prefix of the keys of a monitor's jobs.
    pub fn prefix(monitor: MonitorId) -> String {
        format!("{monitor}/")
    }

    /// Prefix of the keys of jobs for new and changed traces.
    pub fn live_prefix(monitor: MonitorId) -> String {
        format!("{}/", Self::prefix(monitor))
    }

    /// Prefix of the keys of a re-scoring's jobs.
    pub fn prefix_of(monitor: MonitorId, rescore: RescoreId) -> String {
        format!("{}{rescore}/", Self::prefix(monitor))
    }

    pub fn job(self, project: ProjectId, now: Time) -> NewJob {
        let prefix = match self.rescore {
            Some(rescore) => Self::prefix_of(self.monitor, rescore),
            None => Self::live_prefix(self.monitor),
        };
        NewJob {
            project: Some(project),
            kind: KIND.to_owned(),
            dedupe: Some(format!("{prefix}{}@{}", self.trace, self.revision)),
            payload: serde_json::to_value(self).expect("it is plain data"),
            priority: 0,
            ready: now,
            max_attempts: ATTEMPTS,
        }
    }
}
