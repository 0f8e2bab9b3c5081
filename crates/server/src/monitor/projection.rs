//! Projected monthly cost and precision of another sample rate.

use std::collections::BTreeMap;

use jurist_core::grade::Time;
use jurist_core::plan::{TraceStratum, stratum_sample_rate};
use jurist_core::stats::monitoring::{Dialled, TrafficSums, half_width, month_ahead};
use jurist_core::suite;
use jurist_store::decisions::{DecisionState, TallyGrouping};
use jurist_store::monitors::StoredMonitor;
use jurist_store::tallies::TallyFilter;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LoadedMonitorVersion;
use super::estimates::{
    DAY, JudgeSeries, MonitorTallies, StratumSums, TallySelection, TrafficWindow, load_monitor_tallies,
};
use super::judgement_costs::load_judgement_costs;

/// A month at another sample rate, if traffic and scores stay as they were in the last thirty days
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DialProjection {
    #[serde(flatten)]
    pub asked: DialView,
    /// The same at the sample rate of the version in use.
    pub now: DialView,
}

/// A month at one sample rate. Pacing and caps may reduce the figures
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DialView {
    /// Share of finished traces that is judged, from 0 to 1; failed ones always are.
    pub sample_rate: f64,
    /// Watched traces in 30 mean days. Today counts, as a whole day, only if no other day has traces.
    pub traces_a_month: f64,
    /// Expected number of judged traces in a month.
    pub judged_a_month: f64,
    /// In US dollars; absent where no judgement has cost anything yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostAhead>,
    /// Precision of the estimates of a month.
    pub half_width: HalfWidths,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CostAhead {
    /// Expected cost of a month, in US dollars.
    pub value: f64,
    /// 80 % interval; absent before the second day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 80 % interval; absent before the second day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Half width of the 95 % confidence interval of a monthly estimate; absent if nothing is scored yet
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HalfWidths {
    /// Half-width of the 95 % confidence interval of the score; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Half-width of the 95 % confidence interval of the pass rate; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<f64>,
}

/// Everything that does not depend on the sample rate.
struct ProjectionInputs {
    /// Traces of each day and stratum.
    days: Vec<BTreeMap<TraceStratum, f64>>,
    /// How many of each agent's traces are in each stratum.
    agents: BTreeMap<(String, TraceStratum), f64>,
    units: Vec<TrafficSums>,
    passes: Vec<TrafficSums>,
    /// Dollars for one judgement.
    price: Option<f64>,
}

pub async fn compute_dial_projection(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    sample_rate: f64,
    now: Time,
) -> Result<DialProjection, StoreError> {
    let damaged = |why: String| StoreError::Damaged { what: "monitor", id: monitor.id.to_string(), why };
    let version = monitor.newest.as_ref().ok_or_else(|| damaged("it has no version".to_owned()))?;
    let watched = LoadedMonitorVersion::read(version).map_err(damaged)?;
    let known = load_projection_inputs(store, project, monitor, now).await?;
    let at = |sample_rate: f64| {
        known.at(&suite::Monitor { sample_rate, ..suite::Monitor::clone(&watched.monitor) })
    };
    Ok(DialProjection { asked: at(sample_rate), now: at(watched.monitor.sample_rate) })
}

async fn load_projection_inputs(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    now: Time,
) -> Result<ProjectionInputs, StoreError> {
    let window = TrafficWindow::new(None, None, None, now);
    let by_agent =
        load_monitor_tallies(store, project, monitor, &window, TallyGrouping::Agent, Some("")).await?;
    let by_day = store
        .tally_decisions(project, monitor.id, None, (window.from, window.until), TallyGrouping::Day)
        .await?;
    let today = Time::from_micros(now.micros().div_euclid(DAY) * DAY);
    let is_watched = |state: DecisionState| state.is_counted();
    let mut days: BTreeMap<Time, BTreeMap<TraceStratum, f64>> = BTreeMap::new();
    for it in by_day.iter().filter(|decision_tally| is_watched(decision_tally.state)) {
        let Some(day) = it.day else { continue };
        *days.entry(day).or_default().entry(it.stratum).or_default() += it.n as f64;
    }
    // Today is incomplete, so it is left out if there are other days.
    if 1 < days.len() {
        days.remove(&today);
    }
    let (first, last) = (days.keys().next().copied(), days.keys().next_back().copied());
    let whole = first.zip(last).into_iter().flat_map(|(first, last)| {
        let end = if last == today { today.micros() } else { today.micros() - DAY };
        (first.micros()..=end).step_by(DAY as usize).map(Time::from_micros)
    });
    let days = whole.map(|time| days.get(&time).cloned().unwrap_or_default()).collect();
    let mut agents: BTreeMap<(String, TraceStratum), f64> = BTreeMap::new();
    for it in by_agent.decisions.iter().filter(|decision| is_watched(decision.state)) {
        *agents.entry((it.agent.clone().unwrap_or_default(), it.stratum)).or_default() += it.n as f64;
    }
    let series = by_agent.main_series(monitor);
    // Costs since the version in use, because its judges may have another price; otherwise all costs.
    let since = monitor
        .newest
        .as_ref()
        .map(|monitor_version| Time::from_micros(monitor_version.created.micros().div_euclid(DAY) * DAY));
    let newest = TrafficWindow { from: since.unwrap_or(window.from).max(window.from), ..window.clone() };
    let price = match load_judgement_price(store, project, series.as_ref(), &newest).await? {
        None => load_judgement_price(store, project, series.as_ref(), &window).await?,
        price => price,
    };
    let StratumSums { units, passes } = sums(&by_agent, series.as_ref());
    Ok(ProjectionInputs { days, agents, units, passes, price })
}

fn sums(gathered: &MonitorTallies, series: Option<&JudgeSeries>) -> StratumSums {
    let sums = |JudgeSeries { version, judge }: &JudgeSeries| {
        gathered.sums((version, judge, ""), TallySelection::default())
    };
    series.map(sums).unwrap_or_default()
}

/// Mean cost of a judgement under a rubric version, including free ones from the cache.
async fn load_judgement_price(
    store: &Store,
    project: ProjectId,
    series: Option<&JudgeSeries>,
    window: &TrafficWindow,
) -> Result<Option<f64>, StoreError> {
    let Some(JudgeSeries { version, .. }) = series else { return Ok(None) };
    let filter = TallyFilter {
        rubric_version: Some(version.clone()),
        from: Some(window.from),
        until: Some(window.until),
        ..TallyFilter::default()
    };
    Ok(load_judgement_costs(store, project, &filter).await?.mean(1))
}

impl ProjectionInputs {
    fn at(&self, monitor: &suite::Monitor) -> DialView {
        let shares = self.shares(monitor);
        let share = |stratum: &TraceStratum| shares.get(stratum).copied().unwrap_or_default();
        let judged = |day: &BTreeMap<TraceStratum, f64>| {
            day.iter().map(|(trace_stratum, n)| n * share(trace_stratum)).sum::<f64>()
        };
        let month = |of: &dyn Fn(&BTreeMap<TraceStratum, f64>) -> f64| {
            month_ahead(&self.days.iter().map(of).collect::<Vec<_>>())
        };
        let value = |of: &dyn Fn(&BTreeMap<TraceStratum, f64>) -> f64| {
            month(of).map_or(0.0, |month_ahead| month_ahead.value)
        };
        let cost = self.price.and_then(|price| month(&|day| price * judged(day))).map(|month_ahead| {
            let (low, high) = month_ahead.interval.unzip();
            CostAhead { value: month_ahead.value, low, high }
        });
        let traces_a_month = value(&|day| day.values().sum());
        // Scores are those of the current rubric and judges, which may cover fewer days than the traffic.
        let dialled = |strata: &[TrafficSums]| {
            let n_seen = strata.iter().map(|sums| sums.n_seen as f64).sum::<f64>();
            let of = |it: &TrafficSums| {
                let share = it.name.parse().ok().map_or(0.0, |trace_stratum| share(&trace_stratum));
                Dialled { sums: it.clone(), share }
            };
            half_width(&strata.iter().map(of).collect::<Vec<_>>(), traces_a_month / n_seen)
        };
        DialView {
            sample_rate: monitor.sample_rate,
            traces_a_month,
            judged_a_month: value(&judged),
            cost,
            half_width: HalfWidths { score: dialled(&self.units), pass_rate: dialled(&self.passes) },
        }
    }

    /// Sampled share of each stratum over all agents, some of which may have sample rates of their own.
    fn shares(&self, monitor: &suite::Monitor) -> BTreeMap<TraceStratum, f64> {
        let (mut judged, mut all): (BTreeMap<TraceStratum, f64>, BTreeMap<TraceStratum, f64>) =
            Default::default();
        for ((agent, stratum), n) in &self.agents {
            let own = monitor
                .agents
                .iter()
                .find(|(name, _)| name == agent)
                .map(|(_, own)| *own)
                .unwrap_or_default();
            *judged.entry(*stratum).or_default() += n * stratum_sample_rate(monitor, own, *stratum);
            *all.entry(*stratum).or_default() += n;
        }
        judged.into_iter().map(|(trace_stratum, n)| (trace_stratum, n / all[&trace_stratum])).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A new rubric has scored two of thirty days: a month is fifteen times that traffic.
    #[test]
    fn what_a_new_rubric_has_seen_is_held_against_the_whole_months_traffic() {
        let mut sums =
            TrafficSums { name: "other".to_owned(), n_seen: 200, population: 200.0, ..Default::default() };
        for n in 0..100 {
            sums.scores.add(f64::from(n % 2), 0.5);
        }
        let known = |n_days: usize| ProjectionInputs {
            days: vec![BTreeMap::from([(TraceStratum::Other, 100.0)]); n_days],
            agents: BTreeMap::from([(("desk".to_owned(), TraceStratum::Other), 100.0)]),
            units: vec![sums.clone()],
            passes: Vec::new(),
            price: None,
        };
        let monitor = suite::Monitor { sample_rate: 0.5, ..monitor() };
        let width = |n_days: usize| known(n_days).at(&monitor).half_width.score.unwrap();
        assert!((width(2) - width(29)).abs() < 1e-12, "{} {}", width(2), width(29));
        // 3,000 traces of which half are judged: the variance of 1,500, times 1/2 (finite population correction).
        let half_width = 1.96 * (0.25_f64 / 1_500.0 * 0.5).sqrt();
        assert!((width(29) / half_width - 1.0).abs() < 0.02, "{} {half_width}", width(29));
    }

    fn monitor() -> suite::Monitor {
        let source = "agent: desk\nrubric: {criteria: [{name: a, description: It greets.}]}\njudge_model: openai/gpt-5-mini\n";
        super::super::monitor_version::parse_monitor_source(source).unwrap()
    }
}
