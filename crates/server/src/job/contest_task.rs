//! The job that compares two traces of the same task.

use jurist_core::grade::Time;
use jurist_store::jobs::NewJob;
use jurist_store::{ContestId, MonitorId, MonitorVersionId, ProjectId, SeriesId, TraceId};
use serde::{Deserialize, Serialize};

use super::MonitorTask;

/// Kind of these jobs.
pub const KIND: &str = "contest";

const ATTEMPTS: u32 = 5;

/// Payload of the job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ContestTask {
    pub monitor: MonitorId,
    pub version: MonitorVersionId,
    pub series: SeriesId,
    /// Display names of the two sides.
    pub sides: (String, String),
    pub traces: (TraceId, TraceId),
    /// Time of the request for the series.
    pub begun: Time,
}

impl ContestTask {
    /// Prefix of the keys of a series.
    pub fn prefix(monitor: MonitorId, series: SeriesId) -> String {
        format!("{}{series}/", MonitorTask::prefix(monitor))
    }

    pub fn job(self, project: ProjectId) -> NewJob {
        let (a, b) = &self.traces;
        let dedupe = format!("{}{a}/{b}", Self::prefix(self.monitor, self.series));
        NewJob {
            project: Some(project),
            kind: KIND.to_owned(),
            dedupe: Some(dedupe),
            priority: -1,
            ready: self.begun,
            max_attempts: ATTEMPTS,
            payload: serde_json::to_value(self).expect("it is plain data"),
        }
    }

    /// The same id for the same judge, so that a repeated contest counts once.
    pub fn id(&self, judge: &str) -> ContestId {
        let mut hasher = blake3::Hasher::new();
        let parts = [&self.series.to_string(), self.traces.0.as_str(), self.traces.1.as_str(), judge];
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let chance = hasher.finalize().as_bytes()[..10].try_into().expect("a hash is longer than that");
        ContestId::new(self.begun, chance)
    }
}
