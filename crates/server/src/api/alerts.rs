//! Alerts: list, acknowledge, snooze.

use axum::extract::State;
use jurist_store::alerts::AlertSelection;
use jurist_store::{AlertId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::ALERT_ID;
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::money::{AlertShown, load_alerts};
use crate::notify::{self, LONGEST_SNOOZE};

pub fn build_alert_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_alerts)).routes(routes!(acknowledge_alert)).routes(routes!(snooze_alert))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AlertListQuery {
    /// Include resolved alerts.
    #[serde(default)]
    all: bool,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Alerts {
    /// Alerts, newest first.
    items: Vec<AlertShown>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
    /// When this server last checked all monitors, in UTC (RFC 3339); absent if it has not done so since it started.
    last_check: Option<String>,
    /// When this server checks all monitors next; absent before its first check.
    next_check: Option<String>,
}

/// List active alerts, the newest first
#[utoipa::path(get, path = "/alerts", tag = "alerts", params(AlertListQuery), responses(
    (status = 200, body = Alerts), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_alerts(
    State(app): State<App>,
    caller: Principal,
    Query(query): Query<AlertListQuery>,
) -> Result<Json<Alerts>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let which = if query.all { AlertSelection::All } else { AlertSelection::Open };
    let (after, limit) = (super::parse_page_cursor(query.after.as_deref())?, super::limit(query.limit)?);
    let (items, next) = load_alerts(&app.store, caller.project, which, after.as_ref(), limit).await?;
    let checks = *app.alert_checks.borrow();
    let [last_check, next_check] = [checks.last, checks.next].map(|time| time.map(|time| time.to_string()));
    Ok(Json(Alerts { items, next, last_check, next_check }))
}

/// Acknowledge an alert; the first acknowledgement is stored
#[utoipa::path(post, path = "/alerts/{id}/acknowledge", tag = "alerts",
    params(("id" = String, Path, description = ALERT_ID)), responses(
    (status = 200, body = AlertShown), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn acknowledge_alert(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<AlertShown>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let id: AlertId = id.parse()?;
    app.store.alert(caller.project, id).await?;
    if app.store.alert_seen(caller.project, id, caller.account(), clock::current_time()).await? {
        record_audit_entry(&app, &caller, "alert.acknowledge", &id, json!({})).await?;
    }
    Ok(Json(app.store.alert(caller.project, id).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AlertSnooze {
    /// Hours from now, at most 2160 (90 days); 0 ends a snooze.
    #[schema(example = 24, maximum = 2160)]
    hours: u32,
}

/// Snooze an alert: no notification until then, and a reminder if the cause still holds
#[utoipa::path(post, path = "/alerts/{id}/snooze", tag = "alerts",
    params(("id" = String, Path, description = ALERT_ID)),
    request_body = AlertSnooze, responses(
    (status = 200, body = AlertShown), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
))]
async fn snooze_alert(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(snooze): Json<AlertSnooze>,
) -> Result<Json<AlertShown>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let id: AlertId = id.parse()?;
    if LONGEST_SNOOZE < snooze.hours {
        return Err(ApiError::bad(format!("`hours` must be at most {LONGEST_SNOOZE}, which is 90 days")));
    }
    let now = clock::current_time();
    app.store.alert(caller.project, id).await?;
    if !notify::snooze_alert_for_hours(&app.store, caller.project, id, snooze.hours, now).await? {
        return Err(ApiError::Conflict("the alert is resolved; there is nothing to snooze".to_owned()));
    }
    record_audit_entry(&app, &caller, "alert.snooze", &id, json!({ "hours": snooze.hours })).await?;
    Ok(Json(app.store.alert(caller.project, id).await?.into()))
}
