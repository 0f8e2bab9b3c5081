//! Estimates of a monitor for all traffic: the store has the sums, `core` estimates, and this module joins them.
//! Each score is weighted by the inverse of its own sampling probability, so that estimates stay right when the sample
//! rate changes.
//!
//! A figure belongs to one rubric version and one judge; neither is ever averaged with another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use jurist_core::report::{criterion_score_scale, rubric_score_scale};
use jurist_core::rubric::Rubric;
use jurist_core::stats::basics::Undefined;
use jurist_core::stats::monitoring::{
    LabelledTrace, Traffic, TrafficSums, WeightedScoreSums, correct_traffic_mean, estimate_traffic_mean,
};
use jurist_store::decisions::{DecisionState, DecisionTally, TallyGrouping};
use jurist_store::monitors::StoredMonitor;
use jurist_store::scores::{ScoreFilter, ScoreTally};
use jurist_store::{MonitorVersionId, ProjectId, RubricVersionId, Store, StoreError, clock};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LoadedMonitorVersion;
use super::labelled::HumanLabels;
use super::sequences::{DailySequences, ScoreTotal, SequenceKey, Sequences};
use super::traffic::{CorrectedView, TrafficView};

/// The traffic that is estimated: agent and time range.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficWindow {
    pub agent: Option<String>,
    pub from: Time,
    pub until: Time,
}

/// A day of UTC in microseconds.
pub(super) const DAY: i64 = 86_400_000_000;

/// Default length of the time window in days.
const DAYS: i64 = 30;

impl TrafficWindow {
    /// Rounds to whole days, because sums are stored per day. The default is the last thirty days.
    pub fn new(agent: Option<String>, from: Option<Time>, until: Option<Time>, now: Time) -> Self {
        let until = until.unwrap_or(Time::from_micros(now.micros() + 1));
        let end = (until.micros() + DAY - 1).div_euclid(DAY) * DAY;
        let from = from.map_or(end - DAYS * DAY, |time| time.micros().div_euclid(DAY) * DAY);
        Self { agent, from: Time::from_micros(from), until: Time::from_micros(end) }
    }
}

/// Estimates of a monitor for all traffic
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Estimates {
    /// Name of the monitor.
    pub monitor: String,
    /// Beginning of the time range, in UTC (RFC 3339).
    pub from: String,
    /// End of the time range, in UTC (RFC 3339).
    pub until: String,
    /// Number of finished traces per state.
    pub states: Vec<StateCount>,
    /// By rubric version, the newest first, and judge.
    pub judges: Vec<JudgeEstimates>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StateCount {
    /// State of a decision, such as `scored`.
    pub state: String,
    /// Number of traces.
    pub n: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JudgeEstimates {
    /// Id of the rubric version.
    pub rubric_version: String,
    /// Whether the monitor works with this version now.
    pub is_current: bool,
    /// One model, or several, whose scores are averaged.
    pub judge: String,
    /// The overall score and every criterion.
    pub criteria: Vec<CriterionEstimate>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CriterionEstimate {
    /// Absent for the overall score.
    pub criterion: Option<String>,
    /// The mean score on 0 to 1, post-stratified, with its interval, strata and errors.
    pub score: Option<TrafficView>,
    /// The same mean and interval on the author's own scale, where that is another.
    #[serde(default)]
    pub native: Option<NativeScore>,
    /// The share that passes.
    pub pass_rate: Option<TrafficView>,
    /// Reason, if there are none.
    pub not_estimable: Option<String>,
    /// The mean score, corrected by human labels (PPI++).
    pub corrected: Option<CorrectedView>,
    /// The same of the share that passes.
    #[serde(default)]
    pub corrected_pass_rate: Option<CorrectedView>,
}

/// A mean score on the scale that the rubric's author uses
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NativeScore {
    /// The ends of the scale.
    pub min: f64,
    /// Highest value of the scale.
    pub max: f64,
    /// Mean on the scale.
    pub mean: f64,
    /// 95 %.
    pub interval: (f64, f64),
}

impl NativeScore {
    fn new((min, max): (f64, f64), score: &Traffic) -> Self {
        let native = |unit: f64| min + unit * (max - min);
        let (low, high) = score.interval;
        Self { min, max, mean: native(score.mean), interval: (native(low), native(high)) }
    }
}

/// Ends of the scale on which authors want to see scores
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoreScale {
    /// What a score of 0 is on the scale.
    pub min: f64,
    /// What a score of 1 is on the scale.
    pub max: f64,
}

impl ScoreScale {
    pub fn ends(self) -> (f64, f64) {
        (self.min, self.max)
    }
}

impl From<(f64, f64)> for ScoreScale {
    fn from((min, max): (f64, f64)) -> Self {
        Self { min, max }
    }
}

/// The ends of the author's scale of a criterion, or of the overall score, which has no name; `None` if it is 0 to 1 or
/// not numeric.
pub(super) fn own_score_scale(rubric: &Rubric, criterion: &str) -> Option<(f64, f64)> {
    match criterion {
        "" => rubric_score_scale(rubric),
        name => criterion_score_scale(rubric, name),
    }
}

/// One judge's figures day by day, under one rubric version
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MonitorTrend {
    /// Id of the rubric version.
    pub rubric_version: String,
    /// Name of the judge; several are averaged.
    pub judge: String,
    /// Name of the criterion; `null` for the overall score.
    pub criterion: Option<String>,
    /// The author's scale for the means, which are from 0 to 1; absent if that is the only scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
    /// One point for each day, oldest first.
    pub points: Vec<MonitorTrendPoint>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MonitorTrendPoint {
    /// Its first moment, in UTC.
    pub day: String,
    /// Finished traces of monitored agents.
    pub n_seen: usize,
    /// Scores.
    pub n: usize,
    /// Of this day alone; absent where it cannot be estimated.
    pub mean: Option<f64>,
    /// 95 % confidence interval of the mean of the day; `null` if there is no mean.
    pub interval: Option<(f64, f64)>,
    /// Confidence sequence of the mean over all days so far; absent if all criteria are requested.
    pub sequence: Option<(f64, f64)>,
}

/// The sums behind the estimates.
pub(super) struct MonitorTallies {
    pub(super) decisions: Vec<DecisionTally>,
    scores: Vec<ScoreTally>,
    /// The judges of each version, as the file names them.
    judges: BTreeMap<MonitorVersionId, Vec<String>>,
    rubrics: BTreeMap<RubricVersionId, Arc<Rubric>>,
}

/// One judge under one rubric version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JudgeSeries {
    pub(super) version: RubricVersionId,
    pub(super) judge: String,
}

/// Sums of scores and of passes, by stratum.
#[derive(Debug, Default)]
pub(super) struct StratumSums {
    pub(super) units: Vec<TrafficSums>,
    pub(super) passes: Vec<TrafficSums>,
}

/// Selects a part of the sums; `None` matches everything.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TallySelection<'a> {
    pub day: Option<Time>,
    /// Days from this one on.
    pub from: Option<Time>,
    pub agent: Option<&'a str>,
}

impl TallySelection<'_> {
    fn holds(self, day: Option<Time>, agent: Option<&str>) -> bool {
        self.day.is_none_or(|time| Some(time) == day)
            && self.from.is_none_or(|time| day.is_some_and(|day| time <= day))
            && self.agent.is_none_or(|text| Some(text) == agent)
    }
}

pub async fn estimate_monitor_traffic(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    window: &TrafficWindow,
    is_corrected: bool,
) -> Result<Estimates, StoreError> {
    let gathered = load_monitor_tallies(store, project, monitor, window, TallyGrouping::All, None).await?;
    let labelled = if is_corrected {
        HumanLabels::read(store, project, monitor, window, &gathered.rubrics).await?
    } else {
        HumanLabels::default()
    };
    let mut judges = Vec::new();
    for series in gathered.series() {
        let JudgeSeries { version, judge } = &series;
        let criteria = gathered.criteria(version, judge).into_iter().map(|criterion| {
            let StratumSums { units, passes } =
                gathered.sums((version, judge, &criterion), TallySelection::default());
            let (score, pass_rate) = (estimate_traffic_mean(&units), estimate_traffic_mean(&passes));
            let rubric = gathered.rubrics.get(version);
            let labels = rubric.map(|rubric| labelled.pairs(rubric, &series, &criterion)).unwrap_or_default();
            let moved = |raw: &Result<Traffic, Undefined>, labels: &[LabelledTrace]| {
                raw.as_ref()
                    .ok()
                    .and_then(|traffic| correct_traffic_mean(traffic, labels).ok())
                    .map(CorrectedView::from)
            };
            let bounds = rubric.and_then(|rubric| own_score_scale(rubric, &criterion));
            let native =
                bounds.zip(score.as_ref().ok()).map(|(bounds, score)| NativeScore::new(bounds, score));
            CriterionEstimate {
                native,
                corrected: moved(&score, &labels.scores),
                corrected_pass_rate: moved(&pass_rate, &labels.passes),
                criterion: Some(criterion).filter(|text| !text.is_empty()),
                not_estimable: score.as_ref().err().map(ToString::to_string),
                score: score.ok().map(TrafficView::from),
                pass_rate: pass_rate.ok().map(TrafficView::from),
            }
        });
        let is_current =
            monitor.newest.as_ref().is_some_and(|monitor_version| monitor_version.rubric_version == *version);
        let (criteria, rubric_version) = (criteria.collect(), version.to_string());
        judges.push(JudgeEstimates { rubric_version, is_current, judge: judge.clone(), criteria });
    }
    let mut states: BTreeMap<DecisionState, u64> = BTreeMap::new();
    for it in &gathered.decisions {
        *states.entry(it.state).or_default() += it.n;
    }
    let count = |(state, n): (DecisionState, u64)| StateCount { state: state.as_str().to_owned(), n };
    Ok(Estimates {
        monitor: monitor.name.clone(),
        from: window.from.to_string(),
        until: window.until.to_string(),
        states: states.into_iter().map(count).collect(),
        judges,
    })
}

/// In place of a criterion: the overall score and each criterion.
const EVERY: &str = "*";

/// Figures per day; each rubric version starts a new series.
pub async fn compute_monitor_trends(
    store: &Store,
    sequences: &Sequences,
    project: ProjectId,
    monitor: &StoredMonitor,
    window: &TrafficWindow,
    criterion: Option<&str>,
) -> Result<Vec<MonitorTrend>, StoreError> {
    let gathered = load_monitor_tallies(store, project, monitor, window, TallyGrouping::Day, None).await?;
    let criterion = criterion.unwrap_or_default();
    let mut trends = Vec::new();
    for JudgeSeries { version, judge } in gathered.series() {
        if criterion == EVERY {
            // Only the sums are read, because there can be very many single scores.
            let every = gathered.criteria(&version, &judge);
            trends.extend(every.iter().map(|every| gathered.trend((&version, &judge, every), None)));
            continue;
        }
        let series = (&version, judge.as_str(), criterion);
        let key = SequenceKey::new(project, monitor.id, window, series);
        let days =
            sequences.follow(store, key, &gathered.totals_by_day(series), clock::current_time()).await?;
        trends.push(gathered.trend(series, Some(&days)));
    }
    Ok(trends)
}

/// Loads the sums of one criterion, or of all criteria and the overall score.
pub(super) async fn load_monitor_tallies(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    window: &TrafficWindow,
    per: TallyGrouping,
    criterion: Option<&str>,
) -> Result<MonitorTallies, StoreError> {
    let (agent, period) = (window.agent.as_deref(), (window.from, window.until));
    let filter = ScoreFilter {
        agent: window.agent.clone(),
        rubric_version: None,
        criterion: criterion.map(str::to_owned),
        from: window.from,
        until: window.until,
    };
    let (decisions, mut scores, mut versions) = tokio::try_join!(
        store.tally_decisions(project, monitor.id, agent, period, per),
        store.tally_scores(project, monitor.id, &filter, per),
        store.monitor_versions(project, monitor.id)
    )?;
    // Scores of a re-scoring are counted with that re-scoring.
    scores.retain(|tally| tally.rescore.is_none());
    let used: BTreeSet<MonitorVersionId> = decisions
        .iter()
        .map(|decision| decision.version)
        .chain(scores.iter().map(|tally| tally.version))
        .collect();
    versions.retain(|version| used.contains(&version.id));
    let (mut judges, mut rubrics) = (BTreeMap::new(), BTreeMap::new());
    for watched in versions.iter().filter_map(|version| LoadedMonitorVersion::read(version).ok()) {
        judges.insert(watched.id, watched.monitor.judges.clone());
        rubrics.insert(watched.rubric_version, Arc::clone(&watched.monitor.rubric));
    }
    Ok(MonitorTallies { decisions, scores, judges, rubrics })
}

impl MonitorTallies {
    /// The newest version first; within a version the panel before its members.
    fn series(&self) -> Vec<JudgeSeries> {
        let of_tally = |tally: &ScoreTally| JudgeSeries {
            version: tally.rubric_version.clone(),
            judge: tally.judge.clone(),
        };
        let all: BTreeSet<JudgeSeries> = self.scores.iter().map(of_tally).collect();
        let mut all: Vec<JudgeSeries> = all.into_iter().collect();
        all.sort_by(|a, b| (&b.version, n_judges(b), &a.judge).cmp(&(&a.version, n_judges(a), &b.judge)));
        all
    }

    /// The series with the most scores under the version in use; the panel if there is one.
    pub(super) fn main_series(&self, monitor: &StoredMonitor) -> Option<JudgeSeries> {
        let version = &monitor.newest.as_ref()?.rubric_version;
        let own = self.series().into_iter().filter(|series| series.version == *version);
        let n = |series: &JudgeSeries| {
            self.of(&series.version, &series.judge).map(|tally| tally.units.n).sum::<usize>()
        };
        own.max_by_key(|own| (n_judges(own), n(own)))
    }

    /// The trend with its confidence sequence, which stays valid however often it is read.
    fn trend(
        &self,
        (version, judge, criterion): (&RubricVersionId, &str, &str),
        sequence: Option<&DailySequences>,
    ) -> MonitorTrend {
        let (versions, rubric) = (self.versions(version, judge), self.rubrics.get(version));
        let decisions: Vec<&DecisionTally> =
            self.decisions.iter().filter(|decision| versions.contains(&decision.version)).collect();
        let tallies: Vec<&ScoreTally> =
            self.of(version, judge).filter(|tally| tally.criterion == criterion).collect();
        let mut populations: BTreeMap<String, f64> = BTreeMap::new();
        let mut points = Vec::new();
        let days: BTreeSet<Time> = decisions.iter().filter_map(|decision| decision.day).collect();
        for day in days {
            let own = decisions.iter().copied().filter(|decision| decision.day == Some(day));
            let tallies = tallies.iter().copied().filter(|tally| tally.day == Some(day));
            let StratumSums { units, .. } = sum_by_stratum(own, &tallies.collect::<Vec<_>>());
            for it in units.iter().filter(|sums| 0 < sums.n_seen) {
                *populations.entry(it.name.clone()).or_default() += it.population;
            }
            let mean_estimate = estimate_traffic_mean(&units).ok();
            points.push(MonitorTrendPoint {
                day: day.to_string(),
                n_seen: units.iter().map(|sums| sums.n_seen).sum(),
                n: units.iter().map(|sums| sums.scores.n).sum(),
                mean: mean_estimate.as_ref().map(|traffic| traffic.mean),
                interval: mean_estimate.as_ref().map(|traffic| traffic.interval),
                sequence: sequence
                    .and_then(|sequence| sequence.get(&day)?.end.sequence.interval(&populations)),
            });
        }
        MonitorTrend {
            rubric_version: version.to_string(),
            judge: judge.to_owned(),
            criterion: Some(criterion.to_owned()).filter(|text| !text.is_empty()),
            scale: rubric.and_then(|rubric| own_score_scale(rubric, criterion)).map(ScoreScale::from),
            points,
        }
    }

    /// The total of the scores of each day; 0 for days with decisions only.
    fn totals_by_day(
        &self,
        (version, judge, criterion): (&RubricVersionId, &str, &str),
    ) -> BTreeMap<Time, ScoreTotal> {
        let empty = |decision: &DecisionTally| Some((decision.day?, ScoreTotal::default()));
        let mut days: BTreeMap<Time, ScoreTotal> = self.decisions.iter().filter_map(empty).collect();
        for tally in self.of(version, judge).filter(|tally| tally.criterion == criterion) {
            if let Some(total) = tally.day.and_then(|day| days.get_mut(&day)) {
                *total = total.plus(ScoreTotal { n: tally.units.n, sum: tally.units.x });
            }
        }
        days
    }

    fn criteria(&self, version: &RubricVersionId, judge: &str) -> BTreeSet<String> {
        self.of(version, judge).map(|tally| tally.criterion.clone()).collect()
    }

    pub(super) fn of(&self, version: &RubricVersionId, judge: &str) -> impl Iterator<Item = &ScoreTally> {
        self.scores.iter().filter(move |tally| tally.rubric_version == *version && tally.judge == judge)
    }

    /// Monitor versions with this rubric version and judge.
    fn versions(&self, version: &RubricVersionId, judge: &str) -> BTreeSet<MonitorVersionId> {
        let selected_judges: BTreeSet<&Vec<String>> =
            self.of(version, judge).filter_map(|tally| self.judges.get(&tally.version)).collect();
        let same = self
            .decisions
            .iter()
            .filter(|decision| decision.rubric_version == *version)
            .map(|decision| decision.version);
        same.filter(|monitor_version_id| {
            self.judges.get(monitor_version_id).is_some_and(|judge| selected_judges.contains(judge))
        })
        .collect()
    }

    pub(super) fn sums(
        &self,
        (version, judge, criterion): (&RubricVersionId, &str, &str),
        only: TallySelection<'_>,
    ) -> StratumSums {
        let versions = self.versions(version, judge);
        let is_meant =
            |decision_tally: &&DecisionTally| only.holds(decision_tally.day, decision_tally.agent.as_deref());
        let decisions =
            self.decisions.iter().filter(|decision| versions.contains(&decision.version)).filter(is_meant);
        let scores = self.of(version, judge).filter(|tally| tally.criterion == criterion);
        let scores = scores.filter(|tally| only.holds(tally.day, tally.agent.as_deref()));
        sum_by_stratum(decisions, &scores.collect::<Vec<_>>())
    }
}

fn n_judges(series: &JudgeSeries) -> usize {
    series.judge.split(PANEL).count()
}

/// Separator between the names of a panel's judges.
pub(crate) const PANEL: &str = " + ";

/// Joins the numbers of traces with the scores of the sampled ones.
pub(super) fn sum_by_stratum<'a>(
    decisions: impl Iterator<Item = &'a DecisionTally>,
    scores: &[&ScoreTally],
) -> StratumSums {
    let named = |trace_stratum: TraceStratum| TrafficSums {
        name: trace_stratum.as_str().to_owned(),
        ..TrafficSums::default()
    };
    let mut strata: BTreeMap<TraceStratum, (TrafficSums, usize)> = TraceStratum::ALL
        .into_iter()
        .map(|trace_stratum| (trace_stratum, (named(trace_stratum), 0)))
        .collect();
    for it in decisions.filter(|decision| decision.state.is_counted()) {
        let Some((sums, n_sampled)) = strata.get_mut(&it.stratum) else { continue };
        let n = usize::try_from(it.n).unwrap_or(usize::MAX);
        sums.n_seen += n;
        sums.population += it.population;
        sums.population_variance += it.population_variance;
        if it.state != DecisionState::SampledOut {
            *n_sampled += n;
        }
    }
    let mut passes = Vec::new();
    let mut units = Vec::new();
    for (stratum, (mut sums, n_sampled)) in strata {
        let own = || scores.iter().filter(|tally| tally.stratum == stratum);
        sums.n_errors = own().map(|tally| usize::try_from(tally.n_errors).unwrap_or(usize::MAX)).sum();
        sums.scores = own().fold(WeightedScoreSums::default(), |sum, tally| sum.plus(tally.units));
        sums.n_unjudged = n_sampled.saturating_sub(sums.scores.n + sums.n_errors);
        passes.push(TrafficSums {
            scores: own().fold(WeightedScoreSums::default(), |sum, tally| sum.plus(tally.passes)),
            ..sums.clone()
        });
        units.push(sums);
    }
    StratumSums { units, passes }
}
