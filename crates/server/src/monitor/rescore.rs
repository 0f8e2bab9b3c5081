//! Re-scoring: judges traces of earlier versions again under a newer one. Earlier scores stay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jurist_core::candidate::{Candidate, JudgeInput, Usage};
use jurist_core::grade::{Time, Usd};
use jurist_core::judge::Prompter;
use jurist_core::plan::hash_position;
use jurist_core::rubric::{Criterion, CriterionKind, Rubric};
use jurist_core::stats::monitoring::estimate_traffic_mean;
use jurist_core::stats::sampling::stratified_weighted_mean;
use jurist_store::decisions::{DecisionState, MonitorDecision, TallyGrouping};
use jurist_store::jobs::{JobsLeft, NewJob, PostponedJobs};
use jurist_store::monitors::{MonitorVersion, StoredMonitor};
use jurist_store::rescores::{Rescorable, Rescore};
use jurist_store::scores::ScoreFilter;
use jurist_store::tallies::TallyFilter;
use jurist_store::{
    AccountId, Probability, ProjectId, RescoreId, RubricVersionId, Store, StoreError, TraceId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LoadedMonitorVersion;
use super::estimates::{ScoreScale, StratumSums, own_score_scale, sum_by_stratum};
use super::judgement_costs::load_judgement_costs;
use super::pace::{MonitorBudgetView, MonthlyBudget, load_monthly_budgets, monitor_budget_cap};
use super::pause::hasten_unfunded_jobs;
use super::traffic::TrafficView;
use crate::blocking::block_in_place;
use crate::job::{MONITOR, MonitorTask, ResolvedJudges, Work, WorkRefusal, build_monitor_judges};

/// Traces of one re-scoring, at most.
const MOST: usize = 1_000_000;
/// Traces from whose length the price is estimated.
const LOOKED_AT: usize = 20;
/// Decisions whose jobs are added per transaction.
const PAGE: usize = 500;
/// Judged traces from which the cost of further ones is known.
const FEWEST_JUDGED: u64 = 5;
/// Estimated output tokens of a judge.
const TOKENS_OUT: u64 = 400;

#[derive(Debug, thiserror::Error)]
pub enum NotRescored {
    #[error("the monitor cannot be read: {0}")]
    Monitor(String),
    #[error(
        "no trace{} was sampled under an earlier version of the rubric, so there is nothing to do",
        format_since(*.0)
    )]
    Nothing(Time),
    #[error(
        "no judge failed on a trace{} under the current version, so there is nothing to repeat",
        format_since(*.0)
    )]
    NoErrors(Time),
    #[error(
        "no trace{} was over budget under the current version, so there is nothing to judge",
        format_since(*.0)
    )]
    NoneOverBudget(Time),
    #[error(transparent)]
    Judge(#[from] WorkRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Requests without a time mean all traces.
fn format_since(since: Time) -> String {
    if since.micros() <= 0 { String::new() } else { format!(" since {since}") }
}

/// Which traces to re-score
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRescore {
    /// Traces decided since that day [default: all stored traces].
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2026-03-01T00:00:00Z")]
    pub since: Option<Time>,
    /// Size of a random sample of them, to compare two versions.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub overlap: Option<usize>,
    /// Traces on which the judge failed under the current version, instead of traces of earlier versions.
    #[serde(default)]
    pub errors: bool,
    /// Those for which there was no money, by the version in use, instead of those of earlier versions.
    #[serde(default)]
    pub over_budget: bool,
    /// Without it, only the projected cost is returned.
    #[serde(default)]
    pub confirmed: bool,
}

impl NewRescore {
    /// The state of the decisions that are re-scored; `None` for a re-scoring of earlier versions.
    fn state(&self) -> Option<DecisionState> {
        match (self.errors, self.over_budget) {
            (true, _) => Some(DecisionState::JudgeError),
            (false, true) => Some(DecisionState::OverBudget),
            (false, false) => None,
        }
    }

    /// Start of the day, because sums are stored per day.
    fn begin(&self) -> Time {
        let day = |time: Time| Time::from_micros(time.micros().div_euclid(86_400_000_000) * 86_400_000_000);
        self.since.map_or(Time::from_micros(0), day)
    }
}

/// Number of traces and projected cost of re-scoring
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RescorePlan {
    /// The version that judges.
    pub rubric_version: String,
    /// Traces that are re-scored.
    pub n_traces: usize,
    /// Number of traces that could be re-scored.
    pub n_of: usize,
    /// Calls of judges, at least.
    pub n_calls: usize,
    /// Dollars, about; absent where a judge's price is not known.
    pub price: Option<f64>,
    /// Dollars that are left of the budget of this month: the project's cap or the monitor's own budget, whichever has
    /// less left. Absent without a budget.
    #[serde(default)]
    pub budget_left: Option<f64>,
    /// The monitor's own monthly budget, with its exchange rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<MonitorBudgetView>,
    /// Whether the re-score has started.
    pub is_begun: bool,
    /// The re-scoring, once started; absent if failed calls are only repeated.
    pub id: Option<String>,
}

/// A re-scoring and its results
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RescoreView {
    /// Id of the re-score.
    pub id: String,
    /// Id of the rubric version that judges.
    pub rubric_version: String,
    /// Beginning of the time range, in UTC (RFC 3339).
    pub since: String,
    /// End of the time range, in UTC (RFC 3339).
    pub until: String,
    /// Sampled share of traces.
    pub share: f64,
    /// Number of traces that are re-scored.
    pub n_traces: u64,
    /// Of them, how many have been judged.
    pub n_scored: usize,
    /// Number of traces that the judge could not grade.
    pub n_errors: u64,
    /// Of them, how many are still to be judged.
    pub n_waiting: u64,
    /// Why those wait, or why some will not be judged.
    pub note: Option<String>,
    /// When it was started, in UTC (RFC 3339).
    pub created: String,
    /// Estimate of the newer version for that time range.
    pub score: Option<TrafficView>,
    /// The author's scale for that estimate, which is from 0 to 1; absent if that is the only scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
    /// Difference from each earlier version, on the same traces.
    pub offsets: Vec<Offset>,
}

/// Newer minus older, on 0 to 1
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Offset {
    /// Id of the earlier rubric version.
    pub from_version: String,
    /// Name of the judge.
    pub judge: String,
    /// Absent for the overall score.
    pub criterion: Option<String>,
    /// Number of traces with a score from both versions.
    pub n: usize,
    /// Mean of newer score minus earlier score, from -1 to 1.
    pub mean: f64,
    /// 95 % confidence interval of the mean difference.
    pub interval: (f64, f64),
    /// The author's scale of the scores that are compared, if both versions have the same; absent if that is 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
}

/// Computes the number of traces and the projected cost.
pub async fn plan_rescore(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    request: &NewRescore,
    work: &Work,
    now: Time,
) -> Result<RescorePlan, NotRescored> {
    let (version, watched) = newest_monitor_version(monitor)?;
    let all: Vec<TraceId> = if let Some(state) = request.state() {
        let unjudged = find_unjudged(store, project, monitor, &version, (request, state), now).await?;
        unjudged.into_iter().map(|decision| decision.trace).collect()
    } else {
        let traces = find_rescorable_traces(store, project, monitor, &version, request, now).await?;
        traces.into_iter().map(|rescorable| rescorable.trace).collect()
    };
    let judges = build_monitor_judges(&watched.monitor, work)?;
    let n_traces = request.overlap.map_or(all.len(), |n| n.min(all.len()));
    let price = match load_mean_trace_cost(store, project, &watched, judges.len()).await? {
        None => estimate_trace_price(store, project, &watched, &judges, &all).await?,
        known => known,
    };
    let own = monitor_budget_cap(&watched.monitor, &work.settings.rates);
    let budgets = load_monthly_budgets(store, project, &watched, &work.settings.rates, now).await?;
    let left = |budget: &MonthlyBudget| (budget.cap.nanos() - budget.spent.nanos()).max(0) as f64 / 1e9;
    Ok(RescorePlan {
        budget_left: budgets.iter().map(left).reduce(f64::min),
        budget: MonitorBudgetView::of(&watched.monitor)
            .map(|budget| MonitorBudgetView { rate: own.map(|cap| cap.rate()), ..budget }),
        rubric_version: version.rubric_version.to_string(),
        n_traces,
        n_of: all.len(),
        n_calls: n_traces * judges.len(),
        price: price.map(|price| price * n_traces as f64),
        is_begun: false,
        id: None,
    })
}

/// Starts a re-scoring.
pub async fn start_rescore(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    request: &NewRescore,
    work: &Work,
    author: Option<AccountId>,
    now: Time,
) -> Result<RescorePlan, NotRescored> {
    let plan = plan_rescore(store, project, monitor, request, work, now).await?;
    let (version, _) = newest_monitor_version(monitor)?;
    if let Some(state) = request.state() {
        let unjudged = find_unjudged(store, project, monitor, &version, (request, state), now).await?;
        let mut n_traces = 0;
        for some in unjudged.chunks(PAGE) {
            // Under the version that sampled it, so that it stays in that version's sample.
            let job = |decision: &MonitorDecision| MonitorTask::again(decision).job(project, now);
            n_traces += store.ask_again(project, some, job, now).await?;
        }
        // A failed trace has a job already, which waits for budget.
        hasten_unfunded_jobs(store, project, monitor.id, now).await?;
        return Ok(RescorePlan { n_traces, is_begun: true, ..plan });
    }
    let mut all = find_rescorable_traces(store, project, monitor, &version, request, now).await?;
    let id = RescoreId::at(now);
    let share = plan.n_traces as f64 / all.len() as f64;
    // Derived from the id: reproducible, and not under a user's control.
    let salt = id.to_string();
    all.sort_by(|a, b| {
        hash_position(&salt, a.trace.as_str()).total_cmp(&hash_position(&salt, b.trace.as_str()))
    });
    all.truncate(plan.n_traces);
    let task = |rescorable: &Rescorable| NewJob {
        priority: -1,
        ..MonitorTask {
            rescore: Some(id),
            ..MonitorTask::live(monitor.id, version.id, rescorable.trace.clone(), 0)
        }
        .job(project, now)
    };
    let jobs: Vec<NewJob> = all.iter().map(task).collect();
    let rescore = Rescore {
        id,
        monitor: monitor.id,
        monitor_version: version.id,
        rubric_version: version.rubric_version.clone(),
        since: request.begin(),
        until: now,
        share: Probability::new(share).unwrap_or_default(),
        n_traces: plan.n_traces as u64,
        author,
        created: now,
    };
    store.add_rescore(project, &rescore, &jobs).await?;
    Ok(RescorePlan { is_begun: true, id: Some(id.to_string()), ..plan })
}

fn newest_monitor_version(
    monitor: &StoredMonitor,
) -> Result<(MonitorVersion, LoadedMonitorVersion), NotRescored> {
    let version = monitor.newest.clone();
    let version = version.ok_or_else(|| NotRescored::Monitor("it has no version".to_owned()))?;
    let watched = LoadedMonitorVersion::read(&version).map_err(NotRescored::Monitor)?;
    Ok((version, watched))
}

/// Traces without a score because of a judge error or an exhausted budget.
async fn find_unjudged(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    version: &MonitorVersion,
    (request, state): (&NewRescore, DecisionState),
    now: Time,
) -> Result<Vec<MonitorDecision>, NotRescored> {
    let since = request.begin();
    let window = (since, now);
    let all =
        store.unjudged_decisions(project, monitor.id, &version.rubric_version, state, window, MOST).await?;
    match state {
        _ if !all.is_empty() => Ok(all),
        DecisionState::OverBudget => Err(NotRescored::NoneOverBudget(since)),
        _ => Err(NotRescored::NoErrors(since)),
    }
}

/// Traces of earlier versions.
async fn find_rescorable_traces(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    version: &MonitorVersion,
    request: &NewRescore,
    now: Time,
) -> Result<Vec<Rescorable>, NotRescored> {
    let since = request.begin();
    let all = store.rescorable(project, monitor.id, &version.rubric_version, (since, now), MOST).await?;
    if all.is_empty() {
        return Err(NotRescored::Nothing(since));
    }
    Ok(all)
}

/// Mean cost of one trace in dollars under the newest version with the same judge under which enough traces are judged.
/// With several judges, what one verdict cost is not what a trace costs.
async fn load_mean_trace_cost(
    store: &Store,
    project: ProjectId,
    watched: &LoadedMonitorVersion,
    n_judges: usize,
) -> Result<Option<f64>, StoreError> {
    if n_judges != 1 {
        return Ok(None);
    }
    let mut known = BTreeSet::new();
    for version in store.monitor_versions(project, watched.monitor_id).await? {
        let has_same_judge = LoadedMonitorVersion::read(&version)
            .is_ok_and(|earlier| earlier.monitor.judges == watched.monitor.judges);
        if !has_same_judge || !known.insert(version.rubric_version.clone()) {
            continue;
        }
        let filter = TallyFilter { rubric_version: Some(version.rubric_version), ..TallyFilter::default() };
        let mean = load_judgement_costs(store, project, &filter).await?.mean(FEWEST_JUDGED);
        if mean.is_some() {
            return Ok(mean);
        }
    }
    Ok(None)
}

/// Estimated cost of one trace in dollars, from the length of some traces; `None` if a judge has no price.
async fn estimate_trace_price(
    store: &Store,
    project: ProjectId,
    watched: &LoadedMonitorVersion,
    judges: &[ResolvedJudges],
    all: &[TraceId],
) -> Result<Option<f64>, StoreError> {
    let rubric = &watched.monitor.rubric;
    let plain: Vec<&Criterion> = rubric
        .criteria
        .iter()
        .filter(|criterion| matches!(criterion.ask, CriterionKind::Question(_)))
        .collect();
    let (mut bytes, mut n) = (0, 0);
    let step = all.len().div_ceil(LOOKED_AT).max(1);
    for it in all.iter().step_by(step) {
        let Some(trace) = store.trace_content(project, it).await? else { continue };
        let material = JudgeInput::new(&Candidate::default(), Some(trace));
        let prompter = Prompter::for_rubric(&material, None, rubric, 0);
        let Ok(criteria_prompt) = prompter.criteria(rubric, &plain) else { continue };
        let prompt = &criteria_prompt.prompt;
        bytes += prompt.system.len() + prompt.shared.len() + prompt.question.len();
        n += 1;
    }
    // About four bytes per token.
    let input = (bytes / n.max(1) / 4) as u64;
    let usage = Usage { input, output: TOKENS_OUT, cached: 0 };
    let prices: Option<Vec<Usd>> = judges
        .iter()
        .map(|resolved_judges| resolved_judges.members.first()?.line.price.map(|price| price.of(usage)))
        .collect();
    Ok(prices.map(|usds| usds.iter().map(|usd| usd.nanos() as f64 / 1e9).sum()))
}

/// The reason why remaining traces wait or will not be judged.
fn explain_unjudged_traces(monitor: &StoredMonitor, left: &JobsLeft, n_left: u64) -> Option<String> {
    if let (Some(why), 1..) = (&monitor.paused, left.n_waiting) {
        return Some(format!("the monitor is paused: {why}"));
    }
    if 0 < left.n_dead {
        let why = left.error.as_deref().unwrap_or("no reason is known");
        return Some(format!("{} failed for good: {why}", left.n_dead));
    }
    if let Some(PostponedJobs { n, why }) = &left.put_off {
        return Some(format!("{n} wait: {why}"));
    }
    let n_gone = n_left.saturating_sub(left.n_waiting);
    (0 < n_gone)
        .then(|| format!("{n_gone} could not be judged: the trace was erased, or no criterion applies"))
}

/// Every re-scoring of a monitor, the newest first.
pub async fn list_rescores(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
) -> Result<Vec<RescoreView>, StoreError> {
    let rescores = store.rescores(project, monitor.id).await?;
    if rescores.is_empty() {
        return Ok(Vec::new());
    }
    let rubrics = load_monitor_rubrics(store, project, monitor).await?;
    let mut all = Vec::new();
    for it in &rescores {
        all.push(build_rescore_view(store, project, monitor, &rubrics, it).await?);
    }
    Ok(all)
}

/// The rubrics of all versions of a monitor. One that cannot be read is only less to show.
async fn load_monitor_rubrics(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
) -> Result<BTreeMap<RubricVersionId, Arc<Rubric>>, StoreError> {
    let versions = store.monitor_versions(project, monitor.id).await?;
    Ok(block_in_place(|| {
        let mut rubrics = BTreeMap::new();
        for version in &versions {
            // Many versions may have one rubric: those that change only a budget or a sample rate.
            if rubrics.contains_key(&version.rubric_version) {
                continue;
            }
            if let Ok(loaded) = LoadedMonitorVersion::read(version) {
                rubrics.insert(loaded.rubric_version, Arc::clone(&loaded.monitor.rubric));
            }
        }
        rubrics
    }))
}

async fn build_rescore_view(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    rubrics: &BTreeMap<RubricVersionId, Arc<Rubric>>,
    it: &Rescore,
) -> Result<RescoreView, StoreError> {
    let scale_in = |version: &RubricVersionId, criterion: &str| {
        rubrics.get(version).and_then(|rubric| own_score_scale(rubric, criterion)).map(ScoreScale::from)
    };
    let window = (it.since, it.until);
    let filter =
        ScoreFilter { agent: None, rubric_version: None, criterion: None, from: it.since, until: it.until };
    let scores = store.tally_scores(project, monitor.id, &filter, TallyGrouping::All).await?;
    let decisions = store.tally_decisions(project, monitor.id, None, window, TallyGrouping::All).await?;
    let own: Vec<_> = scores.iter().filter(|score| score.rescore == Some(it.id)).collect();
    // The panel's name joins its members' names, so it is the longest.
    let judge =
        own.iter().map(|tally| tally.judge.as_str()).max_by_key(|text| text.len()).unwrap_or_default();
    let whole: Vec<_> =
        own.iter().filter(|tally| tally.judge == judge && tally.criterion.is_empty()).copied().collect();
    let earlier = decisions.iter().filter(|one| one.rubric_version != it.rubric_version);
    let StratumSums { mut units, .. } = sum_by_stratum(earlier, &whole);
    // Traces outside of the sample are already covered by the sampling probability.
    units.iter_mut().for_each(|sums| sums.n_unjudged = 0);
    let mut offsets = Vec::new();
    let before: BTreeSet<_> = scores
        .iter()
        .filter(|one| one.rescore.is_none() && one.rubric_version != it.rubric_version)
        .map(|tally| (&tally.rubric_version, tally.judge.as_str()))
        .collect();
    for (version, judge_before) in
        before.iter().filter(|(version, other)| *other == judge || !before.contains(&(*version, judge)))
    {
        let pairs = store.score_pairs(project, monitor.id, (it.id, judge), (version, judge_before)).await?;
        let criteria: BTreeSet<&str> = pairs.iter().map(|pair| pair.criterion.as_str()).collect();
        for criterion in criteria {
            let own = || pairs.iter().filter(|pair| pair.criterion == criterion);
            let values: Vec<f64> = own().map(|score_pair| score_pair.after - score_pair.before).collect();
            let weights: Vec<f64> = own().map(|score_pair| 1.0 / score_pair.probability.get()).collect();
            let n = values.len();
            let Ok(mean) = stratified_weighted_mean(&values, &weights, &vec![0; n], &vec![0.0; n], 0.05)
            else {
                continue;
            };
            offsets.push(Offset {
                from_version: version.to_string(),
                judge: judge.to_owned(),
                criterion: Some(criterion.to_owned()).filter(|text| !text.is_empty()),
                n,
                mean: mean.mean,
                interval: mean.interval,
                // Offsets of answers on different scales have a meaning from 0 to 1 only.
                scale: scale_in(&it.rubric_version, criterion)
                    .filter(|scale| scale_in(version, criterion) == Some(*scale)),
            });
        }
    }
    let (n_scored, n_errors) = (
        whole.iter().map(|tally| tally.units.n).sum::<usize>(),
        whole.iter().map(|tally| tally.n_errors).sum::<u64>(),
    );
    let left = store.jobs_left(project, MONITOR, &MonitorTask::prefix_of(monitor.id, it.id)).await?;
    Ok(RescoreView {
        id: it.id.to_string(),
        rubric_version: it.rubric_version.to_string(),
        since: it.since.to_string(),
        until: it.until.to_string(),
        share: it.share.get(),
        n_traces: it.n_traces,
        n_scored,
        n_errors,
        n_waiting: left.n_waiting,
        note: explain_unjudged_traces(monitor, &left, it.n_traces.saturating_sub(n_scored as u64 + n_errors)),
        created: it.created.to_string(),
        score: estimate_traffic_mean(&units).ok().map(TrafficView::from),
        scale: scale_in(&it.rubric_version, ""),
        offsets,
    })
}
