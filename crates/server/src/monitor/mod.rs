//! Monitors: files and versions, sampling decisions, and estimates for all traffic.
//!
//! Functions take a store, so that the command line and the API share them.

mod alert_watch;
mod apply;
mod check;
pub(crate) mod consider;
mod contest;
mod estimates;
mod falls;
mod figures;
mod judgement_costs;
mod labelled;
mod pace;
mod pause;
mod projection;
mod radar;
mod rescore;
mod sequences;
mod thresholds;
mod traffic;
mod monitor_version;
mod trace_explanation;

pub use alert_watch::{AlertChecks, watch_monitors};
pub use apply::{
    Applied, MonitorView, NotApplied, VersionView, apply_monitor_file, build_monitor_view, remove_monitor,
};
pub use check::{MonitorFileCheck, check_monitor_file};
pub use consider::{DecisionLoopSettings, run_decision_loop};
pub use contest::{
    ComparisonPlan, ComparisonView, NewComparison, NotCompared, Side, list_comparisons,
    plan_or_start_comparison,
};
pub(crate) use estimates::PANEL;
pub use estimates::{
    CriterionEstimate, Estimates, JudgeEstimates, MonitorTrend, MonitorTrendPoint, ScoreScale, StateCount,
    TrafficWindow, compute_monitor_trends, estimate_monitor_traffic,
};
pub use figures::{AgentFigures, DayMean, Figure, MonitorFigures, compute_monitor_figures};
pub use monitor_version::LoadedMonitorVersion;
pub use pace::MonitorBudgetView;
pub(crate) use pace::{FOR_FAILURES, compute_sampling_pace, monitor_budget_cap, monthly_monitor_budget};
pub use pause::{pause_monitor, resume_monitor};
pub use projection::{CostAhead, DialProjection, DialView, HalfWidths, compute_dial_projection};
pub use radar::{MOST_AGENTS, build_monitor_radar};
pub use rescore::{
    NewRescore, NotRescored, Offset, RescorePlan, RescoreView, list_rescores, plan_rescore, start_rescore,
};
pub use sequences::Sequences;
pub use trace_explanation::{DecisionView, EventView, explain_trace_decisions, load_newest_verdicts};
pub use traffic::{CorrectedView, StratumView, TrafficView};

use jurist_core::diagnostic::closest;
use jurist_store::{MonitorId, ProjectId, Store, StoreError, monitors::StoredMonitor};

/// A monitor by its id or its name; one that was removed only by its id.
pub async fn find_monitor(
    store: &Store,
    project: ProjectId,
    name: &str,
) -> Result<StoredMonitor, StoreError> {
    if let Ok(id) = name.parse::<MonitorId>() {
        return store.monitor(project, id).await;
    }
    let stored_monitor =
        store.monitor_named(project, name).await?.filter(|stored_monitor| stored_monitor.removed.is_none());
    if let Some(stored_monitor) = stored_monitor {
        return Ok(stored_monitor);
    }
    let all = store.monitors(project).await?;
    let names: Vec<&str> = all.iter().map(|stored_monitor| stored_monitor.name.as_str()).collect();
    let hint = closest(name, &names).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Err(StoreError::Unknown { what: "monitor", id: name.to_owned(), hint })
}
