//! A monitor version with judges that are ready to be asked.

use crate::job::{ResolvedJudges, Work, WorkRefusal, build_monitor_judges};
use crate::monitor::{LoadedMonitorVersion, PANEL};

/// A monitor version with its prepared judges; each judge is asked separately.
#[derive(Debug)]
pub struct PreparedMonitor {
    pub watched: LoadedMonitorVersion,
    pub judges: Vec<ResolvedJudges>,
}

impl PreparedMonitor {
    pub fn new(watched: LoadedMonitorVersion, work: &Work) -> Result<Self, WorkRefusal> {
        let judges = build_monitor_judges(&watched.monitor, work)?;
        Ok(Self { watched, judges })
    }

    /// The judge's name; for a panel, all names joined.
    pub(super) fn judge(&self) -> String {
        let names: Vec<&str> = self.judges.iter().map(judge_name).collect();
        names.join(PANEL)
    }
}

pub(super) fn judge_name(judge: &ResolvedJudges) -> &str {
    &judge.members[0].line.name
}
