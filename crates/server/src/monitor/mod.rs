//! Monitors: what is applied, what they decide about traces, and what they say of all traffic.
//!
//! Everything here works on a store, so that a command and a request do the same.

mod alarms;
mod apply;
mod check;
pub(crate) mod consider;
mod contest;
mod estimates;
mod falls;
mod figures;
mod labelled;
mod pace;
mod projection;
mod radar;
mod rescore;
mod sequences;
mod thresholds;
mod traffic;
mod watched;
mod why;

pub use alarms::watch_monitors;
pub use apply::{Applied, MonitorView, NotApplied, VersionView, apply, pause, remove, resume, shown};
pub use check::{Tried, check};
pub use consider::run;
pub use contest::{
    ComparisonPlan, ComparisonView, NewComparison, NotCompared, Side, comparison, comparisons,
};
pub(crate) use estimates::PANEL;
pub use estimates::{
    CriterionEstimate, Estimates, JudgeEstimates, Look, StateCount, Trend, TrendPoint, estimates, trend,
};
pub use figures::{AgentFigures, DayMean, Figure, MonitorFigures, figures};
pub(crate) use pace::{FOR_FAILURES, budget, pace};
pub use projection::{CostAhead, DialProjection, DialView, HalfWidths, projection};
pub use radar::{MOST_AGENTS, radar};
pub use rescore::{NewRescore, NotRescored, Offset, RescorePlan, RescoreView, plan, rescore, rescores};
pub use sequences::Sequences;
pub use traffic::{CorrectedView, StratumView, TrafficView};
pub use watched::Watched;
pub use why::{DecisionView, EventView, why};

use jurist_store::{MonitorId, ProjectId, Store, StoreError, monitors::Monitor};

/// A monitor by its id or its name; one that was removed only by its id.
pub async fn find(store: &Store, project: ProjectId, name: &str) -> Result<Monitor, StoreError> {
    if let Ok(id) = name.parse::<MonitorId>() {
        return store.monitor(project, id).await;
    }
    let found = store.monitor_named(project, name).await?.filter(|it| it.removed.is_none());
    found.ok_or_else(|| StoreError::Unknown { what: "monitor", id: name.to_owned(), hint: String::new() })
}
