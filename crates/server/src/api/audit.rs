//! Who changed what.

use axum::extract::State;
use jurist_store::audit::{AuditFilter, NewAuditEntry};
use jurist_store::clock;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::endpoints::{ApiRoutes, routes};
use super::{Json, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_audit_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_audit_entries))
}

/// Stores who changed what in a project.
pub(super) async fn record_audit_entry(
    app: &App,
    caller: &Principal,
    action: &str,
    target: &impl ToString,
    body: serde_json::Value,
) -> Result<(), ApiError> {
    let entry = NewAuditEntry {
        project: Some(caller.project),
        actor: caller.who.to_string(),
        action: action.to_owned(),
        target: target.to_string(),
        body,
    };
    app.store.note(&entry, clock::current_time()).await?;
    Ok(())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuditListQuery {
    /// Only entries of this actor: an account (`acc_…`), a token (`tok_…`), `anyone` or `command line`.
    actor: Option<String>,
    /// Only entries of this action, such as `run.push`.
    action: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct AuditEntryView {
    /// Id of the entry.
    id: String,
    /// When it was done, in UTC (RFC 3339).
    time: String,
    /// Account or API token that did it.
    actor: String,
    /// What was done, such as `token.add`.
    action: String,
    /// Id or name of what was changed.
    target: String,
    /// Details of the action, without secrets.
    body: serde_json::Value,
}

#[derive(Debug, Serialize, ToSchema)]
struct AuditEntryPage {
    /// Entries, newest first.
    items: Vec<AuditEntryView>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

/// Audit log of the project, newest first
#[utoipa::path(get, path = "/audit", tag = "audit", params(AuditListQuery), responses(
    (status = 200, body = AuditEntryPage), (status = 400, body = Problem), (status = 403, body = Problem)
))]
async fn list_audit_entries(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<AuditListQuery>,
) -> Result<Json<AuditEntryPage>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let limit = super::limit(which.limit)?;
    let filter = AuditFilter {
        project: Some(caller.project),
        actor: which.actor,
        action: which.action,
        ..AuditFilter::default()
    };
    let page = app.store.audit(&filter, after.as_ref(), limit).await?;
    let entry = |stored_audit_entry: jurist_store::audit::StoredAuditEntry| AuditEntryView {
        id: stored_audit_entry.id.to_string(),
        time: stored_audit_entry.time.to_string(),
        actor: stored_audit_entry.actor,
        action: stored_audit_entry.action,
        target: stored_audit_entry.target,
        body: stored_audit_entry.body,
    };
    let items = page.items.into_iter().map(entry).collect();
    Ok(Json(AuditEntryPage { items, next: page.next.map(|cursor| cursor.to_string()) }))
}
