//! Figures for alert rules that are not in the daily sums: last activity of an agent, latency and cost of its traces.

use jurist_core::grade::{Time, Usd};

use crate::db::{args, statements};
use crate::{MonitorId, ProjectId, Store, StoreError};

/// Duration and cost of a finished trace, as far as the trace contains them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceUsage {
    pub seconds: Option<f64>,
    pub cost: Option<Usd>,
}

statements! {
    LAST_OF_AGENT = "SELECT decided FROM decisions WHERE project = $1 AND monitor = $2 AND $3 <= decided
        AND decided < $4 AND agent = $5 ORDER BY decided DESC, trace DESC LIMIT 1";
    USAGE = "SELECT duration, cost FROM traces WHERE project = $1 AND agent = $2 AND $3 <= started
        AND state = 'finished' ORDER BY started DESC, id DESC LIMIT $4";
}

impl Store {
    /// When a monitor last decided about a trace of an agent, between two times.
    pub async fn last_decided_of(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        agent: &str,
        (from, until): (Time, Time),
    ) -> Result<Option<Time>, StoreError> {
        let row = self.db.optional(LAST_OF_AGENT, args![project, monitor, from, until, agent]).await?;
        row.map(|row| row.time("decided")).transpose()
    }

    /// Duration and cost of an agent's finished traces since a time, the newest first.
    pub async fn trace_usage(
        &self,
        project: ProjectId,
        agent: &str,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TraceUsage>, StoreError> {
        let mut all = Vec::new();
        for row in self.db.fetch(USAGE, args![project, agent, since, limit]).await? {
            let micros: Option<i64> = row.get("duration")?;
            let nanos: Option<i64> = row.get("cost")?;
            all.push(TraceUsage {
                seconds: micros.map(|micros| micros as f64 / 1e6),
                cost: nanos.map(Usd::from_nanos),
            });
        }
        Ok(all)
    }
}
