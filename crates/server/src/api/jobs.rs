//! Work that waits, is done, or failed too often.

use axum::extract::State;
use jurist_store::jobs::Job;
use jurist_store::{JobId, clock};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::JOB_ID;
use super::{Json, Paging, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_job_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(count_jobs))
        .routes(routes!(list_dead_jobs))
        .routes(routes!(revive_job))
        .routes(routes!(discard_job))
}

#[derive(Debug, Serialize, ToSchema)]
struct JobCountView {
    /// Kind of the jobs.
    kind: String,
    /// waiting, leased or dead.
    state: String,
    /// Number of jobs.
    n: u64,
    /// When the first of them may start.
    oldest: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct DeadJob {
    /// Id of the job.
    #[schema(example = "job_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Kind of the job.
    kind: String,
    /// Number of attempts that failed.
    attempts: u64,
    /// Why it failed the last time.
    error: Option<String>,
    /// When the job was created, in UTC (RFC 3339).
    created: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct DeadJobs {
    /// Jobs that failed too often and are not tried again.
    items: Vec<DeadJob>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

/// Count the jobs in the queue
#[utoipa::path(get, path = "/jobs", tag = "jobs", responses(
    (status = 200, body = Vec<JobCountView>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn count_jobs(State(app): State<App>, caller: Principal) -> Result<Json<Vec<JobCountView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let count = |job_count: jurist_store::jobs::JobCount| JobCountView {
        kind: job_count.kind,
        state: job_count.state.as_str().to_owned(),
        n: job_count.n,
        oldest: job_count.oldest.to_string(),
    };
    Ok(Json(app.store.job_counts(Some(caller.project)).await?.into_iter().map(count).collect()))
}

/// Jobs of the project that failed too often, the newest first
#[utoipa::path(get, path = "/jobs/dead", tag = "jobs", params(Paging), responses(
    (status = 200, body = DeadJobs), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_dead_jobs(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<Paging>,
) -> Result<Json<DeadJobs>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let page = app.store.dead_jobs(Some(caller.project), after.as_ref(), super::limit(which.limit)?).await?;
    let items = page.items.into_iter().map(DeadJob::from).collect();
    Ok(Json(DeadJobs { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Retry a dead job
#[utoipa::path(post, path = "/jobs/{id}/revive", tag = "jobs",
    params(("id" = String, Path, description = JOB_ID)), responses(
    (status = 200), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn revive_job(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<(), ApiError> {
    let job = load_dead_job(&app, &caller, &id).await?;
    app.store.revive_job(job.id, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "job.revive", &job.id, json!({ "kind": job.kind })).await
}

/// Delete a dead job
#[utoipa::path(delete, path = "/jobs/{id}", tag = "jobs",
    params(("id" = String, Path, description = JOB_ID)), responses(
    (status = 200), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn discard_job(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<(), ApiError> {
    let job = load_dead_job(&app, &caller, &id).await?;
    app.store.discard_job(job.id).await?;
    record_audit_entry(&app, &caller, "job.discard", &job.id, json!({ "kind": job.kind })).await
}

/// A dead job of the caller's project.
async fn load_dead_job(app: &App, caller: &Principal, id: &str) -> Result<Job, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let id: JobId = id.parse()?;
    let job = app.store.job(id).await?.filter(|job| job.project == Some(caller.project));
    let job = job.filter(|job| job.state == jurist_store::jobs::JobState::Dead);
    job.ok_or_else(|| ApiError::Unknown(format!("there is no dead job `{id}`")))
}

impl From<Job> for DeadJob {
    fn from(it: Job) -> Self {
        Self {
            id: it.id.to_string(),
            kind: it.kind,
            attempts: it.attempts,
            error: it.error,
            created: it.created.to_string(),
        }
    }
}
