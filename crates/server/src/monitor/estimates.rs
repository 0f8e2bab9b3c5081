//! What a monitor's sample says of all traffic: the store sums up, `core` estimates, this joins them.
//!
//! A figure belongs to one rubric version and one judge; neither is ever averaged with another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jurist_core::alert::Seen;
use jurist_core::grade::Time;
use jurist_core::plan::Stratum;
use jurist_core::rubric::Rubric;
use jurist_core::stats::{
    CorrectedTraffic, LabelledTrace, Sums, Traffic, TrafficSequence, TrafficSums, Undefined,
    corrected_traffic, traffic,
};
use jurist_store::decisions::{DecisionState, DecisionTally};
use jurist_store::monitors::Monitor;
use jurist_store::scores::{ScoreFilter, ScoreTally};
use jurist_store::{MonitorVersionId, ProjectId, RubricVersionId, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Watched;
use super::labelled::Labelled;

/// Scores that a sequence is made of, at most.
const LONGEST_SEQUENCE: usize = 100_000;

const ALPHA: f64 = 0.05;

/// Which traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    pub agent: Option<String>,
    pub from: Time,
    pub until: Time,
}

/// A day of UTC in microseconds.
pub(super) const DAY: i64 = 86_400_000_000;

/// Traffic of so many days is looked at unless told.
const DAYS: i64 = 30;

impl Look {
    /// Whole days, since sums are kept by day; the last thirty unless told.
    pub fn new(agent: Option<String>, from: Option<Time>, until: Option<Time>, now: Time) -> Self {
        let until = until.unwrap_or(Time::from_micros(now.micros() + 1));
        let end = (until.micros() + DAY - 1).div_euclid(DAY) * DAY;
        let from = from.map_or(end - DAYS * DAY, |it| it.micros().div_euclid(DAY) * DAY);
        Self { agent, from: Time::from_micros(from), until: Time::from_micros(end) }
    }
}

/// What a monitor says of all traffic
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Estimates {
    pub monitor: String,
    pub from: String,
    pub until: String,
    /// What became of every finished trace.
    pub states: Vec<StateCount>,
    /// By rubric version, the newest first, and judge.
    pub judges: Vec<JudgeEstimates>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StateCount {
    pub state: String,
    pub n: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JudgeEstimates {
    pub rubric_version: String,
    /// Whether the monitor works with this version now.
    pub is_current: bool,
    /// One model, or several, whose scores are averaged.
    pub judge: String,
    pub criteria: Vec<CriterionEstimate>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CriterionEstimate {
    /// Absent for the whole rubric.
    pub criterion: Option<String>,
    /// The mean score on 0 to 1, post-stratified, with its interval, strata and errors.
    #[schema(value_type = Option<Object>)]
    pub score: Option<Traffic>,
    /// The share that passes.
    #[schema(value_type = Option<Object>)]
    pub pass_rate: Option<Traffic>,
    /// Why there are none.
    pub not_estimable: Option<String>,
    /// The mean score, moved by how wrong the judge is where people labelled as well (PPI++).
    #[schema(value_type = Option<Object>)]
    pub corrected: Option<CorrectedTraffic>,
    /// The same of the share that passes.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub corrected_pass_rate: Option<CorrectedTraffic>,
}

/// One judge's figures day by day, under one rubric version
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Trend {
    pub rubric_version: String,
    pub judge: String,
    pub criterion: Option<String>,
    pub points: Vec<TrendPoint>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TrendPoint {
    /// Its first moment, in UTC.
    pub day: String,
    /// Finished traces that were watched.
    pub n_seen: usize,
    /// Scores.
    pub n: usize,
    /// Of this day alone; absent where it cannot be estimated.
    pub mean: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// Where the mean of all days so far lies, however often one looks.
    pub sequence: Option<(f64, f64)>,
}

/// Everything that the estimates are made of.
struct Gathered {
    decisions: Vec<DecisionTally>,
    scores: Vec<ScoreTally>,
    /// The judges of each version, as they are written.
    judges: BTreeMap<MonitorVersionId, Vec<String>>,
    rubrics: BTreeMap<RubricVersionId, Arc<Rubric>>,
}

/// One judge under one rubric version.
pub(super) type Series = (RubricVersionId, String);

pub async fn estimates(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    look: &Look,
) -> Result<Estimates, StoreError> {
    let gathered = gather(store, project, monitor, look, false).await?;
    let labelled = Labelled::read(store, project, monitor, look, &gathered.rubrics).await?;
    let mut judges = Vec::new();
    for series in gathered.series() {
        let (version, judge) = &series;
        let criteria = gathered.criteria(version, judge).into_iter().map(|criterion| {
            let (units, passes) = gathered.sums(version, judge, &criterion, None);
            let (score, pass_rate) = (traffic(&units), traffic(&passes));
            let rubric = gathered.rubrics.get(version);
            let labels = rubric.map(|it| labelled.pairs(it, &series, &criterion)).unwrap_or_default();
            let moved = |raw: &Result<Traffic, Undefined>, labels: &[LabelledTrace]| {
                raw.as_ref().ok().and_then(|it| corrected_traffic(it, labels).ok())
            };
            CriterionEstimate {
                corrected: moved(&score, &labels.0),
                corrected_pass_rate: moved(&pass_rate, &labels.1),
                criterion: Some(criterion).filter(|it| !it.is_empty()),
                not_estimable: score.as_ref().err().map(ToString::to_string),
                score: score.ok(),
                pass_rate: pass_rate.ok(),
            }
        });
        let is_current = monitor.newest.as_ref().is_some_and(|it| it.rubric_version == *version);
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
        from: look.from.to_string(),
        until: look.until.to_string(),
        states: states.into_iter().map(count).collect(),
        judges,
    })
}

/// Day by day; a version begins anew.
pub async fn trend(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    look: &Look,
    criterion: Option<&str>,
) -> Result<Vec<Trend>, StoreError> {
    let gathered = gather(store, project, monitor, look, true).await?;
    let criterion = criterion.unwrap_or_default();
    let mut trends = Vec::new();
    for (version, judge) in gathered.series() {
        let series = (&version, judge.as_str(), criterion);
        let window = (look.from, look.until);
        let scores = store.scores_in_order(project, monitor.id, series, window, LONGEST_SEQUENCE).await?;
        let mut scores = scores.into_iter().peekable();
        let mut sequence = TrafficSequence::new(Stratum::ALL.len(), ALPHA);
        let mut populations: BTreeMap<String, f64> = BTreeMap::new();
        let mut points = Vec::new();
        for day in gathered.days(&version, &judge) {
            let (units, _) = gathered.sums(&version, &judge, criterion, Some(day));
            for it in units.iter().filter(|it| 0 < it.n_seen) {
                *populations.entry(it.name.clone()).or_default() += it.population;
            }
            let end = day.micros() + DAY;
            while let Some((stratum, unit, _)) = scores.next_if(|it| it.2.micros() < end) {
                // What is stored is on the scale.
                let _ = sequence.push(stratum.as_str(), unit);
            }
            let found = traffic(&units).ok();
            points.push(TrendPoint {
                day: day.to_string(),
                n_seen: units.iter().map(|it| it.n_seen).sum(),
                n: units.iter().map(|it| it.scores.n).sum(),
                mean: found.as_ref().map(|it| it.mean),
                interval: found.as_ref().map(|it| it.interval),
                sequence: sequence.interval(&populations),
            });
        }
        let criterion = Some(criterion.to_owned()).filter(|it| !it.is_empty());
        trends.push(Trend { rubric_version: version.to_string(), judge, criterion, points });
    }
    Ok(trends)
}

/// The series of the version in use that has most scores, of several judges their average.
pub(super) async fn main_series(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    look: &Look,
) -> Result<Option<Series>, StoreError> {
    let Some(version) = monitor.newest.as_ref().map(|it| &it.rubric_version) else { return Ok(None) };
    let gathered = gather(store, project, monitor, look, false).await?;
    let own = gathered.series().into_iter().filter(|it| it.0 == *version);
    let n = |it: &Series| gathered.of(&it.0, &it.1).map(|it| it.units.n).sum::<usize>();
    Ok(own.max_by_key(|it| (n_judges(it), n(it))))
}

/// Where the mean of a series over some traffic lies, however often one looks.
pub(super) async fn seen(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    look: &Look,
    (version, judge): &Series,
    alpha: f64,
) -> Result<Option<Seen>, StoreError> {
    let gathered = gather(store, project, monitor, look, false).await?;
    let window = (look.from, look.until);
    let scores =
        store.scores_in_order(project, monitor.id, (version, judge, ""), window, LONGEST_SEQUENCE).await?;
    let mut sequence = TrafficSequence::new(Stratum::ALL.len(), alpha);
    for (stratum, unit, _) in &scores {
        // What is stored is on the scale.
        let _ = sequence.push(stratum.as_str(), *unit);
    }
    let (units, _) = gathered.sums(version, judge, "", None);
    let populations = units.into_iter().filter(|it| 0 < it.n_seen).map(|it| (it.name, it.population));
    let interval = sequence.interval(&populations.collect());
    Ok(interval.map(|interval| Seen { interval, n: scores.len() }))
}

async fn gather(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    look: &Look,
    by_day: bool,
) -> Result<Gathered, StoreError> {
    let (agent, window) = (look.agent.as_deref(), (look.from, look.until));
    let decisions = store.tally_decisions(project, monitor.id, agent, window, by_day).await?;
    let filter =
        ScoreFilter { agent: look.agent.clone(), rubric_version: None, from: look.from, until: look.until };
    let mut scores = store.tally_scores(project, monitor.id, &filter, by_day).await?;
    // Those that were judged again are counted with their re-scoring.
    scores.retain(|it| it.rescore.is_none());
    let versions = store.monitor_versions(project, monitor.id).await?;
    let (mut judges, mut rubrics) = (BTreeMap::new(), BTreeMap::new());
    for watched in versions.iter().filter_map(|it| Watched::read(it).ok()) {
        judges.insert(watched.id, watched.monitor.judges.clone());
        rubrics.insert(watched.rubric_version, Arc::clone(&watched.monitor.rubric));
    }
    Ok(Gathered { decisions, scores, judges, rubrics })
}

impl Gathered {
    /// The newest version first; of several judges their average first.
    fn series(&self) -> Vec<Series> {
        let all: BTreeSet<Series> =
            self.scores.iter().map(|it| (it.rubric_version.clone(), it.judge.clone())).collect();
        let mut all: Vec<Series> = all.into_iter().collect();
        all.sort_by(|a, b| (&b.0, n_judges(b), &a.1).cmp(&(&a.0, n_judges(a), &b.1)));
        all
    }

    fn criteria(&self, version: &RubricVersionId, judge: &str) -> BTreeSet<String> {
        self.of(version, judge).map(|it| it.criterion.clone()).collect()
    }

    fn of(&self, version: &RubricVersionId, judge: &str) -> impl Iterator<Item = &ScoreTally> {
        self.scores.iter().filter(move |it| it.rubric_version == *version && it.judge == judge)
    }

    /// Versions of the monitor whose traces this judge was to judge by this rubric.
    fn versions(&self, version: &RubricVersionId, judge: &str) -> BTreeSet<MonitorVersionId> {
        let asked: BTreeSet<&Vec<String>> =
            self.of(version, judge).filter_map(|it| self.judges.get(&it.version)).collect();
        let same = self.decisions.iter().filter(|it| it.rubric_version == *version).map(|it| it.version);
        same.filter(|it| self.judges.get(it).is_some_and(|it| asked.contains(it))).collect()
    }

    fn days(&self, version: &RubricVersionId, judge: &str) -> BTreeSet<Time> {
        let versions = self.versions(version, judge);
        self.decisions.iter().filter(|it| versions.contains(&it.version)).filter_map(|it| it.day).collect()
    }

    /// Of scores and of passes, stratum by stratum.
    fn sums(
        &self,
        version: &RubricVersionId,
        judge: &str,
        criterion: &str,
        day: Option<Time>,
    ) -> (Vec<TrafficSums>, Vec<TrafficSums>) {
        let versions = self.versions(version, judge);
        let decisions = || self.decisions.iter().filter(|it| versions.contains(&it.version) && it.day == day);
        let scores = self.of(version, judge).filter(|it| it.criterion == criterion && it.day == day);
        by_stratum(decisions(), &scores.collect::<Vec<_>>())
    }
}

fn n_judges(series: &Series) -> usize {
    series.1.split(PANEL).count()
}

/// What stands between judges whose scores are averaged.
pub(crate) const PANEL: &str = " + ";

/// Joins how many traces there were with what those sampled scored.
pub(super) fn by_stratum<'a>(
    decisions: impl Iterator<Item = &'a DecisionTally>,
    scores: &[&ScoreTally],
) -> (Vec<TrafficSums>, Vec<TrafficSums>) {
    let named = |it: Stratum| TrafficSums { name: it.as_str().to_owned(), ..TrafficSums::default() };
    let mut strata: BTreeMap<Stratum, (TrafficSums, usize)> =
        Stratum::ALL.into_iter().map(|it| (it, (named(it), 0))).collect();
    for it in decisions.filter(|it| it.state != DecisionState::Filtered) {
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
        let own = || scores.iter().filter(|it| it.stratum == stratum);
        sums.n_errors = own().map(|it| usize::try_from(it.n_errors).unwrap_or(usize::MAX)).sum();
        sums.scores = own().fold(Sums::default(), |sum, it| sum.plus(it.units));
        sums.n_unjudged = n_sampled.saturating_sub(sums.scores.n + sums.n_errors);
        passes.push(TrafficSums {
            scores: own().fold(Sums::default(), |sum, it| sum.plus(it.passes)),
            ..sums.clone()
        });
        units.push(sums);
    }
    (units, passes)
}
