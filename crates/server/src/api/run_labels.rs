//! Labels of people for cases of a run.

use axum::extract::State;
use jurist_core::run::RunId;
use jurist_store::run_labels::{NewRunLabel, StoredRunLabel};
use jurist_store::{AccountId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

/// Characters of a comment; it is the reason of a grade, which is cut at 2,048 bytes.
const MAX_COMMENT: usize = 2_000;

pub fn build_run_label_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_run_labels, put_run_label))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RunLabelQuery {
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RunLabelPage {
    /// Labels, in the order of the plan.
    items: Vec<RunLabelView>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

/// Whether a case passes, as a person sees it
#[derive(Debug, Serialize, ToSchema)]
struct RunLabelView {
    /// Place of the case in the plan, from 0.
    place: usize,
    /// Name of the case.
    case: String,
    /// Name of the author; absent on a server without accounts.
    author: Option<String>,
    /// Whether the caller is the author, and may change it.
    is_own: bool,
    /// Whether the case passes.
    is_passed: bool,
    /// The author's reason; empty if there is none.
    comment: String,
    /// When the label was stored, in UTC (RFC 3339).
    time: String,
}

/// The caller's label of a case
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunLabelEntry {
    /// Place of the case in the plan, from 0.
    place: usize,
    /// Whether the case passes; without it, the caller's label is removed.
    #[serde(default)]
    is_passed: Option<bool>,
    /// Up to 2,000 characters.
    #[serde(default)]
    comment: String,
}

/// Labels of people for the cases of a run, in the order of the plan
#[utoipa::path(get, path = "/runs/{id}/labels", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), RunLabelQuery), responses(
    (status = 200, body = RunLabelPage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_labels(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(which): Query<RunLabelQuery>,
) -> Result<Json<RunLabelPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (id, limit): (RunId, usize) = (id.parse()?, super::limit(which.limit)?);
    let after = super::parse_page_cursor(which.after.as_deref())?;
    app.store.run_progress(caller.project, id).await?;
    let page = app.store.run_labels(caller.project, id, after.as_ref(), limit).await?;
    let author = caller.responsible_person();
    let items = page.items.into_iter().map(|label| RunLabelView::new(label, author)).collect();
    Ok(Json(RunLabelPage { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Label a case of a run: pass or fail, with a comment
///
/// A person has one label per case; another one replaces it. A token labels for its owner.
#[utoipa::path(put, path = "/runs/{id}/labels", tag = "runs",
    params(("id" = String, Path, description = RUN_ID)), request_body = RunLabelEntry, responses(
    (status = 200), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "The case has no result"), (status = 413, body = Problem),
    (status = 415, body = Problem)
))]
async fn put_run_label(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(entry): Json<RunLabelEntry>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Write)?;
    let id: RunId = id.parse()?;
    let (project, author) = (caller.project, caller.responsible_person());
    app.store.run_progress(project, id).await?;
    let RunLabelEntry { place, is_passed, comment } = entry;
    if MAX_COMMENT < comment.chars().count() {
        return Err(ApiError::Bad(format!("a comment has up to {MAX_COMMENT} characters")));
    }
    match is_passed {
        Some(is_passed) => {
            let comment = app.settings.redactor.text(comment.trim()).into_owned();
            let label = NewRunLabel { place, author, is_passed, comment };
            if !app.store.put_run_label(project, id, &label, clock::current_time()).await? {
                return Err(ApiError::Conflict(format!("{id} has no result at place {place}")));
            }
        }
        None => app.store.remove_run_label(project, id, place, author).await?,
    }
    let facts = json!({ "place": place, "is_passed": is_passed });
    record_audit_entry(&app, &caller, "run.label", &id, facts).await
}

impl RunLabelView {
    fn new(label: StoredRunLabel, caller: Option<AccountId>) -> Self {
        Self {
            place: label.place,
            case: label.case,
            author: label.author_name,
            is_own: label.author == caller,
            is_passed: label.is_passed,
            comment: label.comment,
            time: label.time.to_string(),
        }
    }
}
