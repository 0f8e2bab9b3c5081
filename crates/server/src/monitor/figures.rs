//! Key figures of a monitor for lists.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::grade::Time;
use jurist_core::money::Month;
use jurist_core::stats::monitoring::{Traffic, TrafficSums, estimate_traffic_mean};
use jurist_store::decisions::TallyGrouping;
use jurist_store::monitors::StoredMonitor;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::estimates::{JudgeSeries, StratumSums, TallySelection, TrafficWindow, load_monitor_tallies};

/// Estimates of a monitor for the last 30 days, by its current version
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MonitorFigures {
    /// Whose scores these are: one model, or several, whose scores are averaged.
    pub judge: Option<String>,
    /// The mean score on 0 to 1.
    pub score: Option<Figure>,
    /// Estimated share of traffic that passes; `null` if nothing was scored.
    pub pass_rate: Option<Figure>,
    /// Among the judged traces.
    pub error_rate: Option<f64>,
    /// Number of finished traces per state, under any version.
    pub states: BTreeMap<String, u64>,
    /// Dollars that its judges cost this month.
    pub spent_this_month: f64,
    /// The same figures for each agent.
    pub agents: Vec<AgentFigures>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgentFigures {
    /// Name of the agent.
    pub agent: String,
    /// Finished traces of the agent that the current rubric version decided about.
    pub n_seen: u64,
    /// Scores.
    pub n: usize,
    /// Estimated mean score; `null` if nothing was scored.
    pub score: Option<Figure>,
    /// Estimated share of traffic that passes; `null` if nothing was scored.
    pub pass_rate: Option<Figure>,
    /// Its mean score on each day that has one.
    pub days: Vec<DayMean>,
}

/// The mean score of a day
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DayMean {
    /// Its first moment, in UTC.
    pub day: String,
    /// Mean score of the day, from 0 to 1.
    pub mean: f64,
}

/// A mean over all traffic, post-stratified
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Figure {
    /// Estimate for all traffic, from 0 to 1.
    pub mean: f64,
    /// Of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % confidence interval.
    pub high: f64,
    /// Number of scored traces.
    pub n: usize,
}

pub async fn compute_monitor_figures(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    now: Time,
) -> Result<MonitorFigures, StoreError> {
    let window = TrafficWindow::new(None, None, None, now);
    let gathered =
        load_monitor_tallies(store, project, monitor, &window, TallyGrouping::AgentAndDay, Some("")).await?;
    let series = gathered.main_series(monitor);
    let estimated = |only: TallySelection<'_>| match &series {
        Some(JudgeSeries { version, judge }) => gathered.sums((version, judge, ""), only),
        None => StratumSums::default(),
    };
    let StratumSums { units, passes } = estimated(TallySelection::default());
    let (mut states, mut seen): (BTreeMap<String, u64>, BTreeMap<&str, u64>) = Default::default();
    for it in &gathered.decisions {
        *states.entry(it.state.as_str().to_owned()).or_default() += it.n;
        let n_seen = seen.entry(it.agent.as_deref().unwrap_or_default()).or_default();
        *n_seen += if it.state.is_counted() { it.n } else { 0 };
    }
    let all_days: BTreeSet<Time> = gathered.decisions.iter().filter_map(|decision| decision.day).collect();
    let agent = |(agent, n_seen): (&str, u64)| {
        let StratumSums { units, passes } =
            estimated(TallySelection { agent: Some(agent), ..TallySelection::default() });
        let mean_of = |day: &Time| {
            let mean = estimate_traffic_mean(
                &estimated(TallySelection {
                    agent: Some(agent),
                    day: Some(*day),
                    ..TallySelection::default()
                })
                .units,
            )
            .ok()?
            .mean;
            Some(DayMean { day: day.to_string(), mean })
        };
        // Traces that only earlier versions decided about are not part of the estimate.
        let n_estimated: usize = units.iter().map(|sums| sums.n_seen).sum();
        AgentFigures {
            agent: agent.to_owned(),
            n_seen: if series.is_some() { n_estimated as u64 } else { n_seen },
            n: units.iter().map(|sums| sums.scores.n).sum(),
            score: Figure::of(&units),
            pass_rate: Figure::of(&passes),
            days: all_days.iter().filter_map(mean_of).collect(),
        }
    };
    let month = Month::of(now).to_string();
    let spent = store.subject_spend(project, &monitor.id.to_string(), Some(&month)).await?;
    Ok(MonitorFigures {
        score: Figure::of(&units),
        pass_rate: Figure::of(&passes),
        error_rate: judge_error_rate(&units),
        states,
        spent_this_month: spent.settled.nanos() as f64 / 1e9,
        agents: seen.into_iter().map(agent).collect(),
        judge: series.map(|series| series.judge),
    })
}

fn judge_error_rate(strata: &[TrafficSums]) -> Option<f64> {
    let sum = |of: fn(&TrafficSums) -> usize| strata.iter().map(of).sum::<usize>() as f64;
    let (n_errors, n) = (sum(|sums| sums.n_errors), sum(|sums| sums.scores.n));
    (0.0 < n + n_errors).then(|| n_errors / (n + n_errors))
}

impl Figure {
    fn of(strata: &[TrafficSums]) -> Option<Self> {
        let Traffic { mean, interval: (low, high), n, .. } = estimate_traffic_mean(strata).ok()?;
        Some(Self { mean, low, high, n })
    }
}
