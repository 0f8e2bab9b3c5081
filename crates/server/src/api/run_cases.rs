//! Cases of a run: their answers in short, for tables, and cases that are run again.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::HeaderMap;
use jurist_core::report::stored_answer;
use jurist_core::run::{CaseResult, RunId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::runs::{RunResultQuery, RunStartProblem, SubmittedRunView, start_run};
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::idempotent_requests::once;
use crate::work::NewRun;

/// Characters of an answer that fit into a cell of a table.
const MAX_ANSWER: usize = 1_000;

/// Cases of one request; a run of more is submitted as a suite.
const MAX_RERUN: usize = 1_000;

pub fn build_run_case_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_run_answers)).routes(routes!(rerun_cases))
}

#[derive(Debug, Serialize, ToSchema)]
struct RunAnswerPage {
    /// Answers, in the order of the plan.
    items: Vec<RunAnswer>,
    /// Send it as `after`; absent at the end.
    next: Option<usize>,
}

/// The answer of a case
#[derive(Debug, Serialize, ToSchema)]
struct RunAnswer {
    /// In the plan, from 0.
    place: usize,
    /// Its first 1,000 characters; absent if the run does not hold it.
    answer: Option<String>,
    /// Whether the answer is longer.
    is_cut: bool,
    /// Hash of the whole answer, to compare answers; absent if the run does not hold it.
    answer_hash: Option<String>,
}

/// Cases to run again
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RerunRequest {
    /// Names of cases of the run, up to 1,000.
    cases: Vec<String>,
}

/// Answers in the order of the plan, without grades
#[utoipa::path(get, path = "/runs/{id}/answers", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), RunResultQuery), responses(
    (status = 200, body = RunAnswerPage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_answers(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(which): Query<RunResultQuery>,
) -> Result<Json<RunAnswerPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (id, limit): (RunId, usize) = (id.parse()?, super::limit(which.limit)?);
    app.store.run_progress(caller.project, id).await?;
    let all = app.store.results(caller.project, id, which.after, limit).await?;
    let next = all.last().filter(|_| all.len() == limit).map(|(place, _)| *place);
    let items = all.iter().map(|(place, result)| RunAnswer::new(*place, result)).collect();
    Ok(Json(RunAnswerPage { items, next }))
}

/// Run cases again, as a new run with the submitted files and settings
///
/// Only for runs that were submitted to this server: it does not have the files of others.
#[utoipa::path(post, path = "/runs/{id}/rerun", tag = "runs", request_body = RerunRequest,
    params(
        ("id" = String, Path, description = RUN_ID),
        ("idempotency-key" = Option<String>, Header, description = "A repeated request with the same key starts nothing")
    ),
    responses(
        (status = 200, body = SubmittedRunView),
        (status = 422, body = Problem, description = "The run was graded elsewhere, or has no such case"),
        RunStartProblem
))]
async fn rerun_cases(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(request): Json<RerunRequest>,
) -> Result<Json<SubmittedRunView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let id: RunId = id.parse()?;
    if app.store.run_progress(caller.project, id).await?.n_units.is_none() {
        return Err(ApiError::Senseless(format!(
            "{id} was graded elsewhere, and this server does not have its files; use `jurist eval --only`"
        )));
    }
    if request.cases.is_empty() || MAX_RERUN < request.cases.len() {
        return Err(ApiError::Bad(format!("`cases` has from 1 to {MAX_RERUN} names")));
    }
    let figures = app.store.result_figures(caller.project, id).await?;
    let known: HashSet<&str> = figures.iter().map(|figure| figure.case.as_str()).collect();
    if let Some(unknown) = request.cases.iter().find(|name| !known.contains(name.as_str())) {
        return Err(ApiError::Senseless(format!("{id} has no case `{unknown}`")));
    }
    let submission = app.store.submission(caller.project, id).await?;
    let before: NewRun = serde_json::from_slice(&submission).map_err(|error| {
        tracing::error!(%error, run = %id, "a stored request cannot be read");
        ApiError::Broken
    })?;
    // The cases were selected before, so the selection of the first run is not needed.
    let new = NewRun { names: Some(request.cases), filter: None, tags: Vec::new(), shard: None, ..before };
    let (project, begun) = (caller.project, start_run(app.clone(), caller, new.clone()));
    Ok(Json(once(&app, project, &headers, &new, begun).await?))
}

impl RunAnswer {
    fn new(place: usize, result: &CaseResult) -> Self {
        let Some(text) = stored_answer(result) else {
            return Self { place, answer: None, is_cut: false, answer_hash: None };
        };
        let end = text.char_indices().nth(MAX_ANSWER).map(|(at, _)| at);
        let hash = blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        Self {
            place,
            answer: Some(text[..end.unwrap_or(text.len())].to_owned()),
            is_cut: end.is_some(),
            answer_hash: Some(hash),
        }
    }
}
