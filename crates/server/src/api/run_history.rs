//! Runs of one suite over time, and where they changed.

use std::sync::Arc;

use axum::extract::State;
use jurist_core::stats::comparison::{
    HistoryChange, HistoryDirection, HistoryFigures, RunFigures, summarise_run_figures,
};
use jurist_engine::background::run_on_blocking_thread;
use jurist_store::runs::{RunFilter, RunHead};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::analysis::RunDifference;
use super::endpoints::{ApiRoutes, routes};
use super::runs::RunLine;
use super::{Json, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::monitor::ScoreScale;
use crate::run_comparisons::HistoryKey;

/// Names that a choice offers.
const MAX_NAMES: usize = 200;
pub fn build_run_history_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(get_run_history))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RunHistoryQuery {
    /// The suite's name [default: the suite of the newest run].
    suite: Option<String>,
    /// Only runs of this branch.
    branch: Option<String>,
    /// How many runs, the newest of them, from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Runs of a suite over time
#[derive(Debug, Serialize, ToSchema)]
struct RunHistory {
    /// Absent where there are no runs.
    suite: Option<String>,
    /// Suites that have runs, the one with the newest run first.
    suites: Vec<String>,
    /// Branches of the suite's runs, the one with the newest run first.
    branches: Vec<String>,
    /// Runs that have ended, the oldest first.
    points: Vec<HistoryPoint>,
}

/// A run with its intervals, and what changed since the one before it
#[derive(Debug, Serialize, ToSchema)]
struct HistoryPoint {
    #[serde(flatten)]
    line: RunLine,
    /// Independent cases that have a score.
    n_cases: usize,
    /// The 95 % confidence interval of the score; absent with a single case.
    score_interval: Option<(f64, f64)>,
    /// Of the results that passed or failed.
    pass_rate: Option<f64>,
    /// 95 % confidence interval of the pass rate; `null` if no case was decided.
    pass_rate_interval: Option<(f64, f64)>,
    /// Absent for the first run.
    change: Option<HistoryChangeView>,
}

/// A run compared with the run before it, paired by case
#[derive(Debug, Serialize, ToSchema)]
struct HistoryChangeView {
    /// The run before it.
    baseline: String,
    /// Cases that both decided with the same rubric.
    n_cases: usize,
    /// not_shown, worse, better, or mixed where score and pass rate differ in their direction (95 %).
    #[schema(value_type = String)]
    direction: HistoryDirection,
    /// Difference of the mean scores; `null` if no case has a score in both runs.
    score: Option<RunDifference>,
    /// The author's scale of the scores of both runs, if they share one; absent if that is 0 to 1.
    scale: Option<ScoreScale>,
    /// Difference of the pass rates; `null` if no case was decided by both runs.
    pass_rate: Option<RunDifference>,
}

/// Score and pass rate of a suite's runs over time, and where they changed
///
/// Each run is compared with the run before it in the list, case by case; a change is shown if it is significant at
/// 95 %.
#[utoipa::path(get, path = "/run-history", tag = "runs", params(RunHistoryQuery), responses(
    (status = 200, body = RunHistory), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_run_history(
    State(app): State<App>,
    caller: Principal,
    Query(query): Query<RunHistoryQuery>,
) -> Result<Json<RunHistory>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let limit = super::limit(query.limit)?;
    let suites = app.store.run_suites(caller.project, MAX_NAMES).await?;
    let Some(suite) = query.suite.or_else(|| suites.first().cloned()) else {
        return Ok(Json(RunHistory { suite: None, suites, branches: Vec::new(), points: Vec::new() }));
    };
    let branches = app.store.run_branches(caller.project, &suite, MAX_NAMES).await?;
    let filter = RunFilter {
        suite: Some(suite.clone()),
        branch: query.branch,
        is_ended: true,
        ..RunFilter::default()
    };
    let mut heads = app.store.runs(caller.project, &filter, None, limit).await?.items;
    heads.reverse();
    let points = build_history_points(&app, &caller, heads).await?;
    Ok(Json(RunHistory { suite: Some(suite), suites, branches, points }))
}

async fn build_history_points(
    app: &App,
    caller: &Principal,
    heads: Vec<RunHead>,
) -> Result<Vec<HistoryPoint>, ApiError> {
    let mut points: Vec<HistoryPoint> = Vec::with_capacity(heads.len());
    let (mut before, mut before_figures): (Option<RunHead>, Option<Arc<RunFigures>>) = (None, None);
    for head in heads {
        let key = HistoryKey::new(&head, before.as_ref());
        let (mut loaded, known) = (None, app.history.get(&key));
        let figures = match known {
            Some(figures) => figures,
            None => {
                if before_figures.is_none()
                    && let Some(before) = &before
                {
                    before_figures = Some(load_run_figures(app, caller, before).await?);
                }
                let run = load_run_figures(app, caller, &head).await?;
                loaded = Some(Arc::clone(&run));
                let earlier = before_figures.take();
                let computed =
                    run_on_blocking_thread(move || summarise_run_figures(&run, earlier.as_deref()));
                let figures = computed.await.map_err(|_| ApiError::Broken)?;
                app.history.insert(key, figures.clone());
                figures
            }
        };
        before_figures = loaded;
        points.push(HistoryPoint::new(head.clone(), figures, before.as_ref()));
        before = Some(head);
    }
    Ok(points)
}

async fn load_run_figures(
    app: &App,
    caller: &Principal,
    head: &RunHead,
) -> Result<Arc<RunFigures>, ApiError> {
    let cases = app.store.result_figures(caller.project, head.id).await?;
    let (id, seed) = (head.id, app.store.run_seed(caller.project, head.id).await?);
    let built = run_on_blocking_thread(move || Arc::new(RunFigures::new(id, seed, cases)));
    built.await.map_err(|_| ApiError::Broken)
}

impl HistoryPoint {
    fn new(head: RunHead, figures: HistoryFigures, before: Option<&RunHead>) -> Self {
        let change = figures.change.zip(before);
        let scale = head.scale.filter(|scale| before.is_none_or(|before| before.scale == Some(*scale)));
        Self {
            line: head.into(),
            n_cases: figures.score.map_or(0, |estimate| estimate.n),
            score_interval: figures.score.and_then(|estimate| estimate.interval),
            pass_rate: figures.pass_rate.map(|proportion| proportion.rate),
            pass_rate_interval: figures.pass_rate.map(|proportion| proportion.interval),
            change: change.map(|(change, before)| HistoryChangeView::new(&change, before, scale)),
        }
    }
}

impl HistoryChangeView {
    /// `scale` has the ends of the scale that the scores of both runs share.
    fn new(change: &HistoryChange, before: &RunHead, scale: Option<(f64, f64)>) -> Self {
        Self {
            baseline: before.id.to_string(),
            n_cases: change.n_cases,
            direction: change.direction,
            score: change.score.map(|difference| RunDifference::new("score", &difference, scale)),
            scale: scale.map(ScoreScale::from),
            pass_rate: change.pass_rate.map(|difference| RunDifference::new("pass rate", &difference, None)),
        }
    }
}
