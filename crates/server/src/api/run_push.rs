//! Runs that were graded elsewhere, on a laptop or in CI, and are sent here: the header, the results in parts, the end.
//!
//! Each of the three requests may be repeated. A verdict that has arrived is never replaced.

use std::collections::BTreeMap;

use axum::extract::State;
use jurist_core::grade::{FORMAT, RubricHash, Spend, Time, VerdictStatus};
use jurist_core::redact::Redactor;
use jurist_core::run::{CaseResult, Run, RunId, RunResults};
use jurist_engine::execute::{locate_quotes_again, redact_case_result};
use jurist_store::runs::NewRunResult;
use jurist_store::{StoreError, clock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::{Json, Path, compute_json_response};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_in_place;
use crate::error::{ApiError, Problem};
use crate::work::RunProvenanceView;

/// Results of one request; a request is also limited in bytes, like every other.
const MAX_PART: usize = 500;
/// Results of one run.
const MAX_PLACE: usize = 1_000_000;
/// Letters of the name of a suite, case or candidate.
const MAX_NAME: usize = 2_000;
/// Clocks of laptops may be wrong by this much. A run from the future would stay the newest.
const MAX_AHEAD_MILLIS: i64 = 24 * 60 * 60 * 1_000;

pub fn build_run_push_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(push_run)).routes(routes!(push_run_results)).routes(routes!(end_pushed_run))
}

/// A run that was graded elsewhere, without its results
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PushedRun {
    /// Version of `run.schema.json`.
    pub format: u32,
    /// Name of the suite; `null` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Where the run comes from: branch, commit, author and tags.
    #[serde(default, skip_serializing_if = "RunProvenanceView::is_empty")]
    pub provenance: RunProvenanceView,
    /// When the run started, in UTC (RFC 3339).
    #[schema(value_type = String)]
    pub started: Time,
    /// Random seed of the run.
    pub seed: u64,
    /// The canonical form of every rubric used, by version.
    #[schema(value_type = BTreeMap<String, Object>)]
    pub rubrics: BTreeMap<RubricHash, Value>,
}

/// Results of a run that was graded elsewhere
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PushedResults {
    /// Up to 500.
    pub items: Vec<PushedResult>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PushedResult {
    /// In the plan, from 0.
    pub place: usize,
    /// As `run.schema.json` describes it.
    #[schema(value_type = Object)]
    pub result: CaseResult,
}

/// The end of a run that was graded elsewhere
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndedRun {
    /// When the run ended, in UTC (RFC 3339).
    #[schema(value_type = String)]
    pub ended: Time,
    /// How many results the run has; refused if others have arrived.
    pub n_results: u64,
}

/// How much of a run has arrived
#[derive(Debug, Serialize, ToSchema)]
struct PushProgress {
    /// Id of the run.
    id: String,
    /// Number of results that the server has.
    n_results: u64,
    /// Whether it has arrived as a whole.
    is_ended: bool,
    /// How many of the results of this request had secrets, which were replaced.
    n_redacted: usize,
}

/// Begin a run that was graded elsewhere
///
/// Results follow in parts, then the end. The same header may be sent again.
#[utoipa::path(put, path = "/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "Id of the run, `run_…`; the client chooses it")),
    request_body = PushedRun, responses(
    (status = 200, body = PushProgress), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "Another run has this id"), (status = 413, body = Problem),
    (status = 415, body = Problem), (status = 422, body = Problem)
))]
async fn push_run(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(pushed): Json<PushedRun>,
) -> Result<Json<PushProgress>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (id, now) = (id.parse()?, clock::current_time());
    // Rubrics may be megabytes, which are redacted.
    let run = block_in_place(|| pushed.into_run(id, &app.settings.redactor, now))?;
    match app.store.begin_run(caller.project, &run).await {
        Ok(()) => record_audit_entry(&app, &caller, "run.push", &run.id, Value::Null).await?,
        Err(StoreError::Taken { .. }) => {
            // Unknown if the id belongs to another project.
            let stored = app.store.run(caller.project, run.id).await?;
            let is_same = Run { ended: None, ..stored } == run;
            if !is_same || is_submitted(&app, &caller, run.id).await? {
                return Err(ApiError::Conflict(format!("{} is here already, and is another run", run.id)));
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Json(read_push_progress(&app, &caller, run.id, 0).await?))
}

/// Results of a run that was graded elsewhere
///
/// In parts of up to 500, in any order. A part may be sent again; a verdict that has arrived is not replaced.
#[utoipa::path(put, path = "/runs/{id}/results", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), request_body = PushedResults,
    responses(
        (status = 200, body = PushProgress), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The run has ended, or is graded by this server"),
        (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)
))]
async fn push_run_results(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(pushed): Json<PushedResults>,
) -> Result<Json<PushProgress>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let run = app.store.run(caller.project, id.parse()?).await?;
    refuse_submitted(&app, &caller, run.id).await?;
    if run.ended.is_some() {
        return Err(ApiError::Conflict(format!("{} has ended; delete it to send it again", run.id)));
    }
    if MAX_PART < pushed.items.len() {
        return Err(ApiError::bad(format!("a request has up to {MAX_PART} results")));
    }
    for item in &pushed.items {
        check_pushed_result(&run, item)?;
    }
    let redactor = app.settings.redactor.clone();
    let mut items = pushed.items;
    let cleaned = compute_json_response(move || {
        let mut n_redacted = 0;
        for PushedResult { result, .. } in &mut items {
            n_redacted += usize::from(redact_case_result(result, &redactor));
            // Reports cut texts at these positions.
            locate_quotes_again(result);
        }
        (items, n_redacted)
    });
    let (items, n_redacted) = cleaned.await?.0;
    let results: Vec<NewRunResult<'_>> = items
        .iter()
        .map(|PushedResult { place, result }| NewRunResult { place: *place, result, exchanges: &[] })
        .collect();
    app.store.put_results(caller.project, run.id, &results, clock::current_time()).await?;
    Ok(Json(read_push_progress(&app, &caller, run.id, n_redacted).await?))
}

/// End a run that was graded elsewhere
///
/// Refused if results are missing, so that a run never counts with a part of its cases.
#[utoipa::path(post, path = "/runs/{id}/end", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), request_body = EndedRun, responses(
    (status = 200, body = PushProgress), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "Results are missing, or the run is graded by this server"),
    (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem)
))]
async fn end_pushed_run(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(end): Json<EndedRun>,
) -> Result<Json<PushProgress>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let run = app.store.run(caller.project, id.parse()?).await?;
    refuse_submitted(&app, &caller, run.id).await?;
    let progress = read_push_progress(&app, &caller, run.id, 0).await?;
    if progress.n_results != end.n_results {
        let (here, all) = (progress.n_results, end.n_results);
        return Err(ApiError::Conflict(format!(
            "{here} of {all} results have arrived; send the others first"
        )));
    }
    if end.ended < run.started {
        return Err(ApiError::Senseless("`ended` is before `started`".to_owned()));
    }
    if run.ended.is_none() {
        app.store.end_run(caller.project, run.id, end.ended).await?;
    }
    Ok(Json(PushProgress { is_ended: true, ..progress }))
}

impl PushedRun {
    fn into_run(self, id: RunId, redactor: &Redactor, now: Time) -> Result<Run, ApiError> {
        if self.format != FORMAT {
            return Err(ApiError::Senseless(format!(
                "`format` is {}, and this server reads {FORMAT}; use the same version of Jurist on both sides",
                self.format
            )));
        }
        let latest = now.micros() / 1_000 + MAX_AHEAD_MILLIS;
        if latest < id.millis() || latest < self.started.micros() / 1_000 {
            return Err(ApiError::Senseless(format!(
                "{id} started in the future; set the clock of the machine that made it"
            )));
        }
        let suite = self.suite.map(|suite| redactor.text(&suite).into_owned());
        if let Some(suite) = &suite {
            check_name_length("suite", suite)?;
        }
        let mut rubrics = self.rubrics;
        if rubrics.values().any(|rubric| !rubric.is_object()) {
            return Err(ApiError::Senseless("`rubrics` holds an object for each version".to_owned()));
        }
        for rubric in rubrics.values_mut() {
            redactor.json(rubric);
        }
        Ok(Run {
            format: self.format,
            id,
            suite,
            provenance: self.provenance.clean(redactor),
            started: self.started,
            ended: None,
            seed: self.seed,
            rubrics,
            results: RunResults::default(),
            spend: Spend::default(),
            summary: None,
        })
    }
}

/// Refuses results that no grader of Jurist writes: they would make figures of the run wrong.
fn check_pushed_result(run: &Run, item: &PushedResult) -> Result<(), ApiError> {
    let PushedResult { place, result } = item;
    check_name_length("case", &result.case)?;
    check_name_length("candidate", &result.candidate)?;
    let refuse =
        |why: &str| Err(ApiError::Senseless(format!("result {place} (`{}`): {why}", cut_name(&result.case))));
    if MAX_PLACE <= *place {
        return refuse("a run has up to a million results");
    }
    let parts = result.parts.iter().flat_map(|parts| std::iter::once(&parts.written).chain(&parts.variant));
    if parts.chain(&result.base).any(|name| MAX_NAME < name.chars().count()) {
        return refuse("a name in `base` or `parts` is too long");
    }
    if !run.rubrics.contains_key(&result.rubric) {
        return refuse("`rubric` is none of the run's `rubrics`");
    }
    let score = result.verdict.score;
    if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return refuse("`score` is from 0 to 1");
    }
    let has_verdict = matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
    if !has_verdict && score.is_some() {
        return refuse("a result without a verdict has no score");
    }
    Ok(())
}

fn check_name_length(what: &str, name: &str) -> Result<(), ApiError> {
    match name.is_empty() || MAX_NAME < name.chars().count() {
        true => Err(ApiError::Senseless(format!("`{what}` has 1 to {MAX_NAME} letters"))),
        false => Ok(()),
    }
}

fn cut_name(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(80).collect()
}

async fn is_submitted(app: &App, caller: &Principal, run: RunId) -> Result<bool, ApiError> {
    Ok(app.store.run_progress(caller.project, run).await?.n_units.is_some())
}

async fn refuse_submitted(app: &App, caller: &Principal, run: RunId) -> Result<(), ApiError> {
    match is_submitted(app, caller, run).await? {
        true => Err(ApiError::Conflict(format!("{run} is graded by the workers of this server"))),
        false => Ok(()),
    }
}

async fn read_push_progress(
    app: &App,
    caller: &Principal,
    run: RunId,
    n_redacted: usize,
) -> Result<PushProgress, ApiError> {
    let progress = app.store.run_progress(caller.project, run).await?;
    Ok(PushProgress {
        id: run.to_string(),
        n_results: progress.n_results,
        is_ended: progress.ended.is_some(),
        n_redacted,
    })
}
