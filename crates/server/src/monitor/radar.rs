//! Radar chart of agents by criterion.

use std::collections::BTreeSet;

use jurist_core::chart::{Chart, MeasuredValue, Radar, RadarSeries};
use jurist_core::stats::monitoring::estimate_traffic_mean;
use jurist_store::decisions::TallyGrouping;
use jurist_store::monitors::StoredMonitor;
use jurist_store::{ProjectId, Store, StoreError};

use super::LoadedMonitorVersion;
use super::estimates::{JudgeSeries, TallySelection, TrafficWindow, load_monitor_tallies, own_score_scale};

/// Readers of a chart cannot distinguish more shapes than this.
pub const MOST_AGENTS: usize = 6;

/// The post-stratified mean of each criterion under the version in use, for the agent that is named or for all
/// agents (at most `MOST_AGENTS`).
pub async fn build_monitor_radar(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    window: &TrafficWindow,
    agents: &[String],
) -> Result<Chart, StoreError> {
    let gathered = load_monitor_tallies(store, project, monitor, window, TallyGrouping::Agent, None).await?;
    let series = gathered.main_series(monitor);
    let rubric = monitor
        .newest
        .as_ref()
        .and_then(|monitor_version| LoadedMonitorVersion::read(monitor_version).ok())
        .map(|loaded_monitor_version| loaded_monitor_version.monitor.rubric.clone());
    let axes: Vec<String> =
        rubric.iter().flat_map(|rubric| rubric.questions().map(|question| question.id())).collect();
    let known: BTreeSet<&str> =
        gathered.decisions.iter().filter_map(|decision| decision.agent.as_deref()).collect();
    let agents: Vec<&str> = match agents {
        [] => known.into_iter().take(MOST_AGENTS).collect(),
        named => named.iter().map(String::as_str).collect(),
    };
    let shape = |agent: &&str| {
        let value = |criterion: &String| {
            let Some(JudgeSeries { version, judge }) = &series else { return MeasuredValue::default() };
            let only = TallySelection { agent: Some(agent), ..TallySelection::default() };
            let estimate =
                estimate_traffic_mean(&gathered.sums((version, judge, criterion), only).units).ok();
            MeasuredValue::new(
                estimate.as_ref().map(|traffic| traffic.mean),
                estimate.as_ref().map(|traffic| traffic.interval),
            )
            .on_scale(rubric.as_ref().and_then(|rubric| own_score_scale(rubric, criterion)))
        };
        RadarSeries { name: (*agent).to_owned(), values: axes.iter().map(value).collect() }
    };
    let shapes = agents.iter().map(shape).collect();
    let mark = rubric.as_ref().map(|rubric| rubric.pass_mark);
    let title = format!("Criteria of {}", monitor.name);
    Ok(Chart::Radar(Radar { title, axes: axes.clone(), series: shapes, mark }))
}
