//! Comparison of two agents, or two versions of an agent, on the tasks that both have done.

use std::collections::BTreeMap;

use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::grade::Time;
use jurist_core::plan::hash_position;
use jurist_core::stats::basics::pass_rate;
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::jobs::NewJob;
use jurist_store::monitors::StoredMonitor;
use jurist_store::traces::{TraceListFilter, TraceState};
use jurist_store::{ProjectId, SeriesId, Store, StoreError, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::LoadedMonitorVersion;
use crate::job::{CONTEST, ContestTask};

/// Newest traces of each side that are searched for common tasks.
const LOOKED_AT: usize = 2_000;
const PAGE: usize = 200;
/// Default number of pairs.
const PAIRS: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    #[error("{0} and {1} have no finished traces of the same task; a comparison needs tasks that both did")]
    NoPairs(String, String),
    #[error("the monitor cannot be read: {0}")]
    Monitor(String),
    #[error("{0} cannot be compared with itself")]
    Same(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One side of a comparison: an agent, or those of its traces whose metadata say so
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Name of the agent.
    #[schema(example = "support")]
    pub agent: String,
    /// Such as the version of the agent.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Json>,
}

/// Which sides are compared
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewComparison {
    /// First candidate.
    pub a: Side,
    /// Second candidate.
    pub b: Side,
    /// Only traces that began then or later.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub since: Option<Time>,
    /// Maximum number of pairs [default: 100].
    #[serde(default)]
    #[schema(minimum = 1)]
    pub n: Option<usize>,
    /// Without it, only the projected cost is returned.
    #[serde(default)]
    pub confirmed: bool,
}

/// Number of pairs and projected cost of a comparison
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ComparisonPlan {
    /// Pairs of traces of the same task.
    pub n_pairs: usize,
    /// Calls of judges, at least.
    pub n_calls: usize,
    /// The series, once it has begun.
    pub id: Option<String>,
}

/// A comparison and its results, by judge
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ComparisonView {
    /// Id of the comparison.
    pub id: String,
    /// First candidate: an agent, with metadata where it has some.
    pub a: String,
    /// Second candidate: an agent, with metadata where it has some.
    pub b: String,
    /// Name of the judge.
    pub judge: String,
    /// Id of the rubric version.
    pub rubric_version: String,
    /// Number of pairs that `a` won.
    pub n_a: usize,
    /// Number of pairs that `b` won.
    pub n_b: usize,
    /// Number of ties.
    pub n_ties: usize,
    /// Number of pairs that the judge could not decide because of an error.
    pub n_errors: usize,
    /// Pairs that are still to be judged.
    pub n_waiting: u64,
    /// How often a wins where one does, with its interval.
    pub rate: Option<f64>,
    /// 95 % confidence interval of `rate`; `null` if no pair is decided.
    pub interval: Option<(f64, f64)>,
    /// Share of decided pairs that the first position wins; 0.5 without position bias.
    pub first_rate: Option<f64>,
    /// 95 % confidence interval of `first_rate`; `null` if no pair is decided.
    pub first_interval: Option<(f64, f64)>,
}

impl Side {
    fn name(&self) -> String {
        let metadata: Vec<String> =
            self.metadata.iter().map(|(key, value)| format!("{key}={}", metadata_text(value))).collect();
        if metadata.is_empty() {
            self.agent.clone()
        } else {
            format!("{} {}", self.agent, metadata.join(" "))
        }
    }
}

fn metadata_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Finds pairs, and begins if that is confirmed.
pub async fn plan_or_start_comparison(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    request: &NewComparison,
    now: Time,
) -> Result<ComparisonPlan, NotCompared> {
    let version = monitor.newest.clone();
    let version = version.ok_or_else(|| NotCompared::Monitor("it has no version".to_owned()))?;
    let watched = LoadedMonitorVersion::read(&version).map_err(NotCompared::Monitor)?;
    let sides = (request.a.name(), request.b.name());
    if request.a == request.b {
        return Err(NotCompared::Same(request.a.name()));
    }
    let series = SeriesId::at(now);
    let (first, second) = (
        find_traces_by_task(store, project, &request.a, request.since).await?,
        find_traces_by_task(store, project, &request.b, request.since).await?,
    );
    let mut pairs: Vec<(TraceId, TraceId)> = Vec::new();
    for (task, left) in &first {
        let right = second.get(task).into_iter().flatten();
        pairs.extend(left.iter().zip(right).map(|(a, b)| (a.clone(), b.clone())));
    }
    if pairs.is_empty() {
        return Err(NotCompared::NoPairs(request.a.name(), request.b.name()));
    }
    let salt = series.to_string();
    let chance = |(a, b): &(TraceId, TraceId)| hash_position(&salt, &format!("{a} {b}"));
    pairs.sort_by(|a, b| chance(a).total_cmp(&chance(b)));
    pairs.truncate(request.n.unwrap_or(PAIRS));
    let n_judges = watched.monitor.judges.len().max(1);
    let plan = ComparisonPlan { n_pairs: pairs.len(), n_calls: pairs.len() * n_judges, id: None };
    if !request.confirmed {
        return Ok(plan);
    }
    let task = |traces| {
        let (monitor, version, sides) = (monitor.id, version.id, sides.clone());
        ContestTask { monitor, version, series, sides, traces, begun: now }.job(project)
    };
    let jobs: Vec<NewJob> = pairs.into_iter().map(task).collect();
    store.add_jobs(&jobs, now).await?;
    Ok(ComparisonPlan { id: Some(salt), ..plan })
}

/// The newest traces of a side by their task.
async fn find_traces_by_task(
    store: &Store,
    project: ProjectId,
    side: &Side,
    since: Option<Time>,
) -> Result<BTreeMap<String, Vec<TraceId>>, StoreError> {
    let filter = TraceListFilter {
        agent: Some(side.agent.clone()),
        state: Some(TraceState::Finished),
        from: since,
        ..TraceListFilter::default()
    };
    let (mut all, mut after, mut n): (BTreeMap<String, Vec<TraceId>>, _, usize) = (BTreeMap::new(), None, 0);
    while n < LOOKED_AT {
        let page = store.traces(project, &filter, after.as_ref(), PAGE).await?;
        n += page.items.len();
        let is_meant = |it: &Json| side.metadata.iter().all(|(key, value)| it.get(key) == Some(value));
        for head in page.items.iter().filter(|head| is_meant(&head.metadata)) {
            let Some(trace) = store.trace_content(project, &head.id).await? else { continue };
            let task = JudgeInput::new(&Candidate::default(), Some(trace)).task.trim().to_owned();
            if !task.is_empty() {
                all.entry(task).or_default().push(head.id.clone());
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(all)
}

/// Comparisons that were asked for, the newest first.
pub async fn list_comparisons(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
) -> Result<Vec<ComparisonView>, StoreError> {
    let mut all = Vec::new();
    for series in store.contest_series(project, monitor.id).await? {
        let contests = store.contests(project, monitor.id, series).await?;
        let mut by_judge: BTreeMap<&str, Vec<&StoredContest>> = BTreeMap::new();
        for it in &contests {
            by_judge.entry(&it.judge).or_default().push(it);
        }
        let left = store.jobs_left(project, CONTEST, &ContestTask::prefix(monitor.id, series)).await?;
        all.extend(by_judge.into_values().map(|contests| build_comparison_view(&contests, left.n_waiting)));
    }
    Ok(all)
}

fn build_comparison_view(contests: &[&StoredContest], n_waiting: u64) -> ComparisonView {
    let n = |outcome: Contested| contests.iter().filter(|contest| contest.outcome == outcome).count();
    let (n_a, n_b) = (n(Contested::A), n(Contested::B));
    let won_first = |contest: &&&StoredContest| {
        let (a, b) = &contest.traces;
        match contest.outcome {
            Contested::A => contest.first == *a,
            Contested::B => contest.first == *b,
            Contested::Tie | Contested::Error => false,
        }
    };
    let rate = pass_rate(n_a, n_a + n_b).ok();
    let first = pass_rate(contests.iter().filter(won_first).count(), n_a + n_b).ok();
    let any = contests[0];
    ComparisonView {
        id: any.series.to_string(),
        a: any.sides.0.clone(),
        b: any.sides.1.clone(),
        judge: any.judge.clone(),
        rubric_version: any.rubric_version.to_string(),
        n_a,
        n_b,
        n_ties: n(Contested::Tie),
        n_errors: n(Contested::Error),
        n_waiting,
        rate: rate.as_ref().map(|proportion| proportion.rate),
        interval: rate.as_ref().map(|proportion| proportion.interval),
        first_rate: first.as_ref().map(|proportion| proportion.rate),
        first_interval: first.as_ref().map(|proportion| proportion.interval),
    }
}
