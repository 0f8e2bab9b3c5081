//! Analysis of runs: comparison with other runs, factors within a run, and cases that change from trial to trial.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use jurist_core::grade::VerdictStatus;
use jurist_core::report::{self, reasons};
use jurist_core::run::{Run, RunId};
use jurist_core::stats::comparison::{Comparison, Difference, WORTH_SEEING, compare_runs};
use jurist_core::stats::summaries::{
    Estimate, FactorCell, FactorKey, FactorTable, Flaky, TaskTrials, build_factor_table, estimate_run_means,
    pass_k, summarise_trials,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::case_names::{CaseNameView, list_name_parts};
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::picture::ChartView;
use super::{Json, Path, Query, compute_json_response};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

/// More shapes than this cannot be distinguished in a chart.
const MOST_RUNS: usize = 8;

pub fn build_analysis_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(get_run_comparison))
        .routes(routes!(get_run_criteria))
        .routes(routes!(get_run_matrix))
        .routes(routes!(list_flaky_cases))
}

/// The mean of each criterion of a run
#[derive(Debug, Serialize, ToSchema)]
struct RunCriteria {
    /// In the order in which they appear in the run.
    criteria: Vec<CriterionMean>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CriterionMean {
    /// Name of the criterion.
    criterion: String,
    /// From 0 to 1.
    mean: f64,
    /// The 95 % confidence interval of the mean; absent with a single case.
    interval: Option<(f64, f64)>,
    /// Independent cases; trials of one case count once.
    n_cases: usize,
}

/// A run compared with others
#[derive(Debug, Serialize, ToSchema)]
struct RunsCompared {
    /// Id of the later run.
    after: String,
    /// One for each `before`, in their order.
    comparisons: Vec<RunComparison>,
    /// The criteria of all these runs; absent where nothing was scored.
    radar: Option<ChartView>,
}

/// Comparison of two runs, case by case, as `jurist compare --format json` prints it
#[derive(Debug, Serialize, ToSchema)]
struct RunComparison {
    /// Id of the earlier run.
    before: String,
    /// Other differences between the runs that may explain a change.
    caveats: Vec<String>,
    /// Cases that both decided with the same rubric.
    n_cases: usize,
    /// Names of cases that only the earlier run has.
    only_before: Vec<String>,
    /// Names of cases that only the later run has.
    only_after: Vec<String>,
    /// Cases that at least one of them did not decide.
    undecided: Vec<String>,
    /// Difference of the mean scores; `null` if no case has a score in both runs.
    score: Option<RunDifference>,
    /// Difference of the pass rates; `null` if no case was decided by both runs.
    pass_rate: Option<RunDifference>,
    /// Their p-values hold for all of them together.
    criteria: BTreeMap<String, RunDifference>,
    /// The worst first.
    changed: Vec<ChangedCase>,
    /// Parts of the names in this comparison, by name; a name that is as it is written in the suite is left out.
    names: BTreeMap<String, CaseNameView>,
    /// Differences with their intervals; absent where no case was decided by both.
    forest: Option<ChartView>,
}

/// The difference of two means
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunDifference {
    /// Mean of the cases in the earlier run, from 0 to 1.
    before: f64,
    /// Mean of the cases in the later run, from 0 to 1.
    after: f64,
    /// Later minus earlier, from -1 to 1.
    difference: f64,
    /// Of 95 %; absent for a single case.
    interval: Option<(f64, f64)>,
    /// p-value of a sign-flip permutation test over cases, from 0 to 1.
    p: f64,
    /// Independent cases.
    n: usize,
    /// From case to case, the standard deviation of the differences.
    spread: f64,
    /// Whether the difference is significant (95 %).
    is_shown: bool,
    /// Conclusion as a sentence.
    sentence: String,
}

/// A case whose verdict is another one now
#[derive(Debug, Serialize, ToSchema)]
struct ChangedCase {
    /// Name of the case.
    case: String,
    /// pass, fail, error or deferred.
    #[schema(value_type = String)]
    before: VerdictStatus,
    /// Verdict in the later run: pass, fail, error or deferred.
    #[schema(value_type = String)]
    after: VerdictStatus,
    /// Score in the earlier run, from 0 to 1; `null` if it has none.
    score_before: Option<f64>,
    /// Score in the later run, from 0 to 1; `null` if it has none.
    score_after: Option<f64>,
    /// Why it does not pass now, a line for each criterion.
    reasons: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Axes {
    /// One of the keys [default: the field that varies].
    rows: Option<String>,
    /// Another one of the keys [default: a second field that varies].
    columns: Option<String>,
}

/// A run in rows and columns
#[derive(Debug, Serialize, ToSchema)]
struct RunMatrix {
    /// Fields that can be an axis, the most useful first.
    keys: Vec<MatrixKey>,
    /// Absent where nothing differs.
    rows_by: Option<String>,
    /// Field of the columns; `null` if there is none.
    columns_by: Option<String>,
    /// Values of `rows_by`, in the order of the cells.
    rows: Vec<String>,
    /// Values of `columns_by`, in the order of the cells; empty if nothing differs.
    columns: Vec<String>,
    /// Row by row; null where there is no case.
    cells: Vec<Vec<Option<MatrixCell>>>,
}

#[derive(Debug, Serialize, ToSchema)]
struct MatrixKey {
    /// Name of the field, as `rows` and `columns` take it.
    key: String,
    /// Name of the field in words, such as `order type` for `order_type`.
    label: String,
    /// Number of different values of the field in this run.
    n_values: usize,
}

#[derive(Debug, Serialize, ToSchema)]
struct MatrixCell {
    /// Number of results, including those without a verdict.
    n: usize,
    /// Number of results that passed.
    passed: usize,
    /// Those that passed or failed.
    decided: usize,
    /// The mean, over those that have a score.
    score: Option<f64>,
    /// 95 % confidence interval of the mean score; `null` with fewer than two scores.
    interval: Option<(f64, f64)>,
    /// Of those that were decided.
    pass_rate: Option<f64>,
    /// 95 % confidence interval of the pass rate; `null` if nothing was decided.
    pass_interval: Option<(f64, f64)>,
}

/// Cases that were tried several times
#[derive(Debug, Serialize, ToSchema)]
struct RunTrials {
    /// Number of cases.
    n_cases: usize,
    /// The most trials of one case; 0 where nothing was tried twice.
    k: usize,
    /// Share of cases of which at least one trial passed.
    any: Option<f64>,
    /// Share of cases of which all did.
    all: Option<f64>,
    /// Flaky cases (some trials passed and some failed), sorted by how evenly they split.
    cases: Vec<FlakyCase>,
}

#[derive(Debug, Serialize, ToSchema)]
struct FlakyCase {
    /// Name of the case.
    case: String,
    /// Trials with a verdict.
    n: usize,
    /// Number of trials that passed.
    passed: usize,
    /// Share of trials that go against the majority.
    flip_rate: f64,
    /// Probability that all of k trials pass, for k from 1 to n.
    pass_k: Vec<f64>,
    /// In the order of the plan; null where a trial has none.
    scores: Vec<Option<f64>>,
}

/// Compare a run with other runs, with intervals and p-values
#[utoipa::path(get, path = "/runs/{id}/comparison", tag = "runs", params(
    ("id" = String, Path, description = "The run after"),
    ("before" = Vec<String>, Query, description = "A run to compare with; up to seven of them")
), responses(
    (status = 200, body = RunsCompared), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_run_comparison(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Json<RunsCompared>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after: RunId = id.parse()?;
    let before = query.iter().filter(|(key, _)| key == "before").map(|(_, run)| run.parse());
    let before: Vec<RunId> = before.collect::<Result<_, _>>().map_err(ApiError::bad)?;
    if before.is_empty() || MOST_RUNS <= before.len() {
        return Err(ApiError::Bad(format!("`before` names from 1 to {} runs", MOST_RUNS - 1)));
    }
    let after = app.store.load_run(caller.project, after).await?;
    let mut runs = Vec::new();
    for id in before {
        runs.push(app.store.load_run(caller.project, id).await?);
    }
    compute_json_response(move || RunsCompared::new(&after, &runs)).await
}

/// The mean of each criterion, with its confidence interval
#[utoipa::path(get, path = "/runs/{id}/criteria", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), responses(
    (status = 200, body = RunCriteria), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_run_criteria(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<RunCriteria>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let run = app.store.load_run(caller.project, id.parse()?).await?;
    compute_json_response(move || RunCriteria::new(&run)).await
}

/// Tabulate a run by two factors, such as models and prompts
#[utoipa::path(get, path = "/runs/{id}/matrix", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), Axes), responses(
    (status = 200, body = RunMatrix), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_run_matrix(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(axes): Query<Axes>,
) -> Result<Json<RunMatrix>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let run = app.store.load_run(caller.project, id.parse()?).await?;
    let table = compute_json_response(move || {
        build_factor_table(&run, axes.rows.as_deref(), axes.columns.as_deref())
    })
    .await?
    .0;
    Ok(Json(table.into()))
}

/// Cases whose trials disagree, the most undecided first
#[utoipa::path(get, path = "/runs/{id}/flaky", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), responses(
    (status = 200, body = RunTrials), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_flaky_cases(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<RunTrials>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let run = app.store.load_run(caller.project, id.parse()?).await?;
    compute_json_response(move || RunTrials::of(&run)).await
}

impl RunCriteria {
    fn new(run: &Run) -> Self {
        let (_, criteria) = estimate_run_means(run);
        let mean = |(criterion, estimate): (String, Estimate)| CriterionMean {
            criterion,
            mean: estimate.mean,
            interval: estimate.interval,
            n_cases: estimate.n,
        };
        Self { criteria: criteria.into_iter().map(mean).collect() }
    }
}

impl RunsCompared {
    fn new(after: &Run, runs: &[Run]) -> Self {
        let all: Vec<(String, &Run)> =
            runs.iter().chain([after]).map(|run| (run_chart_label(run), run)).collect();
        Self {
            after: after.id.to_string(),
            comparisons: runs.iter().map(|run| RunComparison::new(run, after)).collect(),
            radar: report::build_comparison_radar(&all).as_ref().map(ChartView::from),
        }
    }
}

/// Label of a run in a chart. The last characters of the id distinguish two runs of one suite.
fn run_chart_label(run: &Run) -> String {
    let id = run.id.to_string();
    let end = &id[id.len() - 6..];
    run.suite.as_ref().map_or_else(|| end.to_owned(), |text| format!("{text} {end}"))
}

impl RunComparison {
    fn new(before: &Run, after: &Run) -> Self {
        let compared = compare_runs(before, after, after.seed);
        let worse =
            compared.changed.iter().filter(|status_change| status_change.after != VerdictStatus::Pass);
        let mut why: BTreeMap<&str, Vec<String>> =
            worse.map(|status_change| (status_change.case.as_str(), Vec::new())).collect();
        for result in after.results.iter() {
            // A change of several trials has the name of their case.
            let is_trial = why.contains_key(result.case.as_str());
            let change = if is_trial { result.case.as_str() } else { result.base() };
            if let Some(lines) = why.get_mut(change).filter(|lines| lines.is_empty()) {
                *lines = reasons(after, &result);
            }
        }
        let changed = compared.changed.iter().map(|status_change| ChangedCase {
            case: status_change.case.clone(),
            before: status_change.before,
            after: status_change.after,
            score_before: status_change.score_before,
            score_after: status_change.score_after,
            reasons: why.remove(status_change.case.as_str()).unwrap_or_default(),
        });
        let changed = changed.collect();
        let listed = compared.changed.iter().map(|status_change| &status_change.case);
        let listed =
            listed.chain(&compared.only_before).chain(&compared.only_after).chain(&compared.undecided);
        let names: BTreeSet<&str> = listed.map(String::as_str).collect();
        let names = list_name_parts(&names, [before, after]);
        let forest = report::build_comparison_forest(&compared, after).as_ref().map(ChartView::from);
        let Comparison { caveats, n_cases, only_before, only_after, undecided, score, pass_rate, .. } =
            compared;
        let scales = report::criterion_score_scales(after);
        let describe = |id: &String, difference: &Difference| {
            RunDifference::new(id, difference, scales.get(id).copied())
        };
        let criteria =
            compared.criteria.iter().map(|(id, difference)| (id.clone(), describe(id, difference)));
        Self {
            before: before.id.to_string(),
            caveats,
            n_cases,
            only_before,
            only_after,
            undecided,
            score: score.map(|difference| {
                RunDifference::new("score", &difference, report::shared_score_scale(after))
            }),
            pass_rate: pass_rate.map(|difference| RunDifference::new("pass rate", &difference, None)),
            criteria: criteria.collect(),
            changed,
            names,
            forest,
        }
    }
}

impl RunDifference {
    /// `scale` has the ends of the author's scale, if that is not 0 to 1.
    pub(super) fn new(of: &str, it: &Difference, scale: Option<(f64, f64)>) -> Self {
        Self {
            before: it.before,
            after: it.after,
            difference: it.difference,
            interval: it.interval,
            p: it.p,
            n: it.n,
            spread: it.spread,
            is_shown: it.is_shown(),
            sentence: it.sentence(of, WORTH_SEEING, scale),
        }
    }
}

impl From<FactorTable> for RunMatrix {
    fn from(it: FactorTable) -> Self {
        let cells = it
            .cells
            .into_iter()
            .map(|row| row.into_iter().map(|factor_cell| factor_cell.map(MatrixCell::from)).collect());
        Self {
            keys: it
                .keys
                .into_iter()
                .map(|FactorKey { key, n_values }| MatrixKey { label: key.replace('_', " "), key, n_values })
                .collect(),
            rows_by: it.rows_by,
            columns_by: it.columns_by,
            rows: it.rows,
            columns: it.columns,
            cells: cells.collect(),
        }
    }
}

impl From<FactorCell> for MatrixCell {
    fn from(it: FactorCell) -> Self {
        Self {
            n: it.n,
            passed: it.passed,
            decided: it.decided,
            score: it.score.map(|estimate| estimate.mean),
            interval: it.score.and_then(|estimate| estimate.interval),
            pass_rate: it.pass_rate.map(|proportion| proportion.rate),
            pass_interval: it.pass_rate.map(|proportion| proportion.interval),
        }
    }
}

impl RunTrials {
    fn of(run: &Run) -> Self {
        let Some(trials) = summarise_trials(run) else {
            return Self { n_cases: 0, k: 0, any: None, all: None, cases: Vec::new() };
        };
        let mut scores: BTreeMap<String, Vec<Option<f64>>> =
            trials.flaky.iter().map(|flaky| (flaky.case.clone(), Vec::new())).collect();
        for result in run.results.iter() {
            if let Some(all) = scores.get_mut(result.base()) {
                all.push(result.verdict.score);
            }
        }
        let case = |flaky: &Flaky| {
            let tried = [TaskTrials { n: flaky.decided, passed: flaky.passed }];
            FlakyCase {
                case: flaky.case.clone(),
                n: flaky.decided,
                passed: flaky.passed,
                flip_rate: flaky.flip_rate(),
                pass_k: (1..=flaky.decided)
                    .filter_map(|k| pass_k(&tried, k).ok())
                    .map(|pass_k| pass_k.all)
                    .collect(),
                scores: scores.get(&flaky.case).cloned().unwrap_or_default(),
            }
        };
        let cases = trials.flaky.iter().map(case).collect();
        Self { n_cases: trials.n_cases, k: trials.k, any: Some(trials.any), all: Some(trials.all), cases }
    }
}
