//! Runs: submitted here, graded by workers, looked at while they go and afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jurist_core::grade::Time;
use jurist_core::redact::Redactor;
use jurist_core::report::{ReportFormat, declared_score_scale, render_report};
use jurist_core::run::{NotGraded, RunId};
use jurist_core::stats::summaries::estimate_pass_rate;
use jurist_engine::background::run_on_blocking_thread;
use jurist_store::runs::{RunFilter, RunHead};
use jurist_store::submissions::RunProgress;
use jurist_store::{clock, random};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::{self, ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_if_long;
use crate::datasets::provide_run_datasets;
use crate::error::{ApiError, Problem};
use crate::idempotent_requests::once;
use crate::monitor::ScoreScale;
use crate::work::{NewRun, RUN, RunProvenanceView, build_run_jobs, run_job_prefix};

pub fn build_run_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_runs, create_run))
        .routes(routes!(get_run, delete_run))
        .routes(routes!(list_run_results))
        .routes(routes!(get_run_report))
}

/// Takes secrets out of variables before they are stored, and names those that had any. Workers have secrets in their
/// own environment.
fn redact_variables(redactor: &Redactor, variables: &mut BTreeMap<String, String>) -> Vec<String> {
    let mut redacted = Vec::new();
    for (name, text) in variables {
        // As a shell would set it, so that `SHOP_TOKEN` is secret by its name.
        let line = format!("export {name}={text}");
        if redactor.text(&line) != line {
            *text = "(redacted)".to_owned();
            redacted.push(format!("env.{name}"));
        }
    }
    redacted
}

/// A run without its results
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunLine {
    /// Id of the run.
    #[schema(example = "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the suite; `null` if it has none.
    suite: Option<String>,
    /// Where the run comes from: branch, commit, author and tags.
    provenance: RunProvenanceView,
    /// When the run started, in UTC (RFC 3339).
    started: String,
    /// Absent while the run is in progress.
    ended: Option<String>,
    /// Number of cases that passed.
    n_pass: u64,
    /// Number of cases that failed.
    n_fail: u64,
    /// Number of cases that could not be graded. They are never scores.
    n_error: u64,
    /// Number of cases that are not graded yet.
    n_deferred: u64,
    /// Mean over the results that have a score, from 0 to 1.
    score: Option<f64>,
    /// Scale of the author for the score, if all rubrics of the run share one. Lists have none for runs of earlier
    /// versions.
    scale: Option<ScoreScale>,
    /// Dollars, of results whose cost is known.
    cost: f64,
}

#[derive(Debug, Serialize, ToSchema)]
struct RunLines {
    /// Runs, newest first.
    items: Vec<RunLine>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RunInFull {
    #[serde(flatten)]
    line: RunLine,
    /// How many results there will be; absent for runs that were not submitted.
    n_units: Option<u64>,
    /// Number of results so far.
    n_results: u64,
    /// Cases that were not graded, with reason and remedy; absent if all were graded.
    not_graded: Option<String>,
    /// 95 % confidence interval of the pass rate; absent if no case was decided.
    pass_rate_interval: Option<(f64, f64)>,
    /// Version of the format of stored results.
    format: u32,
    /// Random seed of the run.
    seed: u64,
    /// The canonical form of every rubric used, by version.
    #[schema(value_type = std::collections::BTreeMap<String, Object>)]
    rubrics: serde_json::Value,
}

/// Cases that are read to say why some were not graded; most have the same reason.
const MOST_REASONS: usize = 50;

/// A run that has just begun
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SubmittedRunView {
    /// Id of the run.
    #[schema(example = "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub id: String,
    /// Number of results that the run will have.
    n_units: usize,
    /// Files and variables (`env.NAME`) in which secrets were replaced by `(redacted)` before anything was stored or
    /// graded.
    #[serde(default)]
    redacted: Vec<String>,
}

/// Responses that all requests which start a run have in common.
pub(super) enum RunStartProblem {}

impl IntoResponses for RunStartProblem {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let all = [
            ("400", ""),
            ("401", ""),
            ("403", ""),
            ("404", ""),
            ("409", "The same request is still running"),
            ("413", ""),
            ("415", ""),
        ];
        let problem = |(status, description): (&str, &str)| {
            let schema = Ref::from_schema_name("Problem");
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let response = ResponseBuilder::new().description(description);
            let response = response.content("application/json", content).build();
            (status.to_owned(), RefOr::T(response))
        };
        all.into_iter().map(problem).collect()
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RunResultQuery {
    /// The place of the last result that is known.
    pub after: Option<usize>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RunResultPage {
    /// Results in the order of the plan.
    items: Vec<PlacedResult>,
    /// Send it as `after`; absent at the end.
    next: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PlacedResult {
    /// In the plan, from 0.
    place: usize,
    /// As `run.schema.json` describes it.
    #[schema(value_type = Object)]
    result: jurist_core::run::CaseResult,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ReportQuery {
    /// json, ndjson, junit, md, tap, csv, html, sarif, gitlab, github, pr-comment or otel [default: json].
    format: Option<String>,
}

/// Which runs; absent fields accept all.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RunListQuery {
    /// Name of the suite.
    suite: Option<String>,
    /// Name of the branch.
    branch: Option<String>,
    /// The beginning of a commit's hash.
    commit: Option<String>,
    /// Name of the author.
    author: Option<String>,
    /// A tag of the run.
    tag: Option<String>,
    /// Words; each must be part of the id, suite, branch, commit, author or a tag. Not case-sensitive for A to Z.
    #[param(max_length = 200)]
    search: Option<String>,
    /// Started at this time or later, as RFC 3339.
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// Started before this time.
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Runs, the newest first
#[utoipa::path(get, path = "/runs", tag = "runs", params(RunListQuery), responses(
    (status = 200, body = RunLines), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_runs(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<RunListQuery>,
) -> Result<Json<RunLines>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let limit = super::limit(which.limit)?;
    let search = super::parse_search(which.search.as_deref())?;
    let filter = RunFilter {
        suite: which.suite,
        branch: which.branch,
        commit: which.commit,
        author: which.author,
        tags: which.tag.into_iter().collect(),
        search: search.unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
        from: which.from,
        until: which.until,
        ..RunFilter::default()
    };
    let page = app.store.runs(caller.project, &filter, after.as_ref(), limit).await?;
    let items = page.items.into_iter().map(RunLine::from).collect();
    Ok(Json(RunLines { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Submit a suite to the workers
///
/// API keys are those of the workers. Files must not start programs or name servers, unless the server allows
/// it.
#[utoipa::path(post, path = "/runs", tag = "runs", request_body = NewRun,
    params(("idempotency-key" = Option<String>, Header, description = "A repeated request with the same key starts nothing")),
    responses(
        (status = 200, body = SubmittedRunView),
        (status = 422, body = Problem, description = "The suite is not valid"),
        RunStartProblem
))]
async fn create_run(
    State(app): State<App>,
    caller: Principal,
    headers: HeaderMap,
    Json(new): Json<NewRun>,
) -> Result<Json<SubmittedRunView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, begun) = (caller.project, start_run(app.clone(), caller, new.clone()));
    Ok(Json(once(&app, project, &headers, &new, begun).await?))
}

pub(super) async fn start_run(
    app: App,
    caller: Principal,
    mut new: NewRun,
) -> Result<SubmittedRunView, ApiError> {
    let mut redacted = super::redact_files(&app.settings.redactor, &mut new.files);
    redacted.extend(redact_variables(&app.settings.redactor, &mut new.variables));
    provide_run_datasets(&app.store, caller.project, &mut new).await?;
    let n_bytes = new.files.values().map(String::len).sum();
    let submission = block_if_long(n_bytes, || serde_json::to_vec(&new)).expect("a request is plain data");
    let prepared = Arc::new(app.worker_context.prepare(new).await?);
    let now = clock::current_time();
    let (project, id) = (caller.project, RunId::new(now, random()));
    let (run, n_units) = (prepared.run(id, now), prepared.jobs.len());
    let jobs = build_run_jobs(&prepared, project, id, now);
    app.worker_context.keep(id, Arc::clone(&prepared));
    app.store.submit_run(project, &run, n_units, &submission, &jobs, now).await?;
    record_audit_entry(&app, &caller, "run.submit", &id, Value::Null).await?;
    Ok(SubmittedRunView { id: id.to_string(), n_units, redacted })
}

/// A run without its results
#[utoipa::path(get, path = "/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), responses(
    (status = 200, body = RunInFull), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_run(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<RunInFull>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id: RunId = id.parse()?;
    let run = app.store.run(caller.project, id).await?;
    let RunProgress { n_units, n_results, .. } = app.store.run_progress(caller.project, id).await?;
    let head = app.store.run_head(caller.project, id).await?;
    let deferred = match head.n_deferred {
        0 => Vec::new(),
        _ => app.store.deferred_results(caller.project, id, MOST_REASONS).await?,
    };
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let not_graded = NotGraded::of_some(deferred.into_iter(), count(head.n_deferred), count(n_results));
    let figures = app.store.result_figures(caller.project, id).await?;
    let pass_rate = estimate_pass_rate(figures.iter().map(|figure| (figure.base.as_str(), figure.status)));
    let mut line = RunLine::from(head);
    line.scale = line.scale.or_else(|| declared_score_scale(&run.rubrics).map(ScoreScale::from));
    Ok(Json(RunInFull {
        line,
        n_units,
        n_results,
        not_graded: not_graded.map(|not_graded| not_graded.statement),
        pass_rate_interval: pass_rate.map(|proportion| proportion.interval),
        format: run.format,
        seed: run.seed,
        rubrics: serde_json::to_value(&run.rubrics).expect("rubrics are plain data"),
    }))
}

/// Results in the order of the plan
#[utoipa::path(get, path = "/runs/{id}/results", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), RunResultQuery), responses(
    (status = 200, body = RunResultPage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_results(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(which): Query<RunResultQuery>,
) -> Result<Json<RunResultPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (id, limit): (RunId, usize) = (id.parse()?, super::limit(which.limit)?);
    app.store.run_progress(caller.project, id).await?;
    let all = app.store.results(caller.project, id, which.after, limit).await?;
    let next = all.last().filter(|_| all.len() == limit).map(|(place, _)| *place);
    let items = all.into_iter().map(|(place, result)| PlacedResult { place, result }).collect();
    Ok(Json(RunResultPage { items, next }))
}

/// Report of the results so far
#[utoipa::path(get, path = "/runs/{id}/report", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), ReportQuery), responses(
    (status = 200, description = "In the requested format", content(
        (String = "application/json"), (String = "application/xml"), (String = "text/plain"),
        (String = "text/html"), (String = "text/csv"), (String = "text/markdown"), (String = "application/x-ndjson")
    )),
    (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_run_report(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(wanted): Query<ReportQuery>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let name = wanted.format.as_deref().unwrap_or("json");
    let known = || {
        ApiError::bad(format!("`format` is one of {}", ReportFormat::ALL.map(|(name, _)| name).join(", ")))
    };
    let listed_format =
        ReportFormat::ALL.iter().find(|(listed, _)| *listed == name).map(|(_, format)| *format);
    let format = listed_format.ok_or_else(known)?;
    let run = app.store.load_run(caller.project, id.parse()?).await?;
    let text = run_on_blocking_thread(move || render_report(format, &run)).await;
    let text = text.map_err(|_| ApiError::Broken)?;
    let mut response = ([(header::CONTENT_TYPE, report_content_type(format))], text).into_response();
    if format == ReportFormat::Html {
        let policy = HeaderValue::from_static(PAGE_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// The page brings its own styles and script; it uses no cookies and no network.
const PAGE_POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; \
                           script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'self'";

fn report_content_type(format: ReportFormat) -> HeaderValue {
    HeaderValue::from_static(match format {
        ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Gitlab | ReportFormat::Otel => {
            "application/json"
        }
        ReportFormat::Ndjson => "application/x-ndjson",
        ReportFormat::Junit => "application/xml",
        ReportFormat::Markdown | ReportFormat::PrComment => "text/markdown; charset=utf-8",
        ReportFormat::Csv => "text/csv; charset=utf-8",
        ReportFormat::Html => "text/html; charset=utf-8",
        ReportFormat::Tap | ReportFormat::Github => "text/plain; charset=utf-8",
    })
}

/// Delete a run with its results; waiting cases are not started
#[utoipa::path(delete, path = "/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), responses(
    (status = 200), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn delete_run(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Write)?;
    let id: RunId = id.parse()?;
    app.store.run_progress(caller.project, id).await?;
    app.store.discard_jobs(caller.project, RUN, &run_job_prefix(id)).await?;
    app.store.remove_run(caller.project, id).await?;
    record_audit_entry(&app, &caller, "run.remove", &id, Value::Null).await
}

impl From<RunHead> for RunLine {
    fn from(it: RunHead) -> Self {
        Self {
            id: it.id.to_string(),
            suite: it.suite,
            provenance: it.provenance.into(),
            started: it.started.to_string(),
            ended: it.ended.map(|time| time.to_string()),
            n_pass: it.n_pass,
            n_fail: it.n_fail,
            n_error: it.n_error,
            n_deferred: it.n_deferred,
            score: it.score,
            scale: it.scale.map(ScoreScale::from),
            cost: it.cost.nanos() as f64 / 1e9,
        }
    }
}
