//! A monitor version with judges that are ready to be asked.

use crate::job::{ResolvedJudges, Work, WorkRefusal, build_monitor_judges};
use crate::monitor::{LoadedMonitorVersion, PANEL};

/// A monitor version with its prepared judges; each judge is asked separately.
#[derive(Debug)]
pub struct PreparedMonitor {
    pub watched: LoadedMonitorVersion,
    pub benches: Vec<ResolvedJudges>,
}

impl PreparedMonitor {
    pub fn new(watched: LoadedMonitorVersion, work: &Work) -> Result<Self, WorkRefusal> {
        let benches = build_monitor_judges(&watched.monitor, work)?;
        Ok(Self { watched, benches })
    }

    /// The judge's name; for a panel, all names joined.
    pub(super) fn judge(&self) -> String {
        let names: Vec<&str> = self.benches.iter().map(judge_name).collect();
        names.join(PANEL)
    }
}

pub(super) fn judge_name(bench: &ResolvedJudges) -> &str {
    &bench.members[0].line.name
}
