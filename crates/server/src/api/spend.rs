//! Money: what a project spends, and its monthly cap.

use axum::extract::State;
use jurist_core::grade::Time;
use jurist_store::clock;
use serde::Deserialize;
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::{Json, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::money::{CapShown, SpendShown, load_month_spend, set_cap_of};

pub fn build_spend_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(get_spend)).routes(routes!(set_cap, remove_spend_cap))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SpendQuery {
    /// Month such as `2026-03` [default: the current month].
    #[param(pattern = r"^\d{4}-(0[1-9]|1[0-2])$")]
    month: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewCap {
    /// Monthly cap.
    #[schema(minimum = 0)]
    amount: f64,
    /// Currency code [default: GBP].
    #[schema(example = "GBP")]
    currency: Option<String>,
    /// Exchange rate to USD [default: the server's].
    rate: Option<f64>,
}

/// Spend of a month: total, projection and breakdown
#[utoipa::path(get, path = "/spend", tag = "spend", params(SpendQuery), responses(
    (status = 200, body = SpendShown), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_spend(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<SpendQuery>,
) -> Result<Json<SpendShown>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let now = clock::current_time();
    let of = match which.month {
        None => now,
        Some(month) => Time::parse(&format!("{month}-01T00:00:00Z"))
            .map_err(|_| ApiError::Bad(format!("`month` is one such as 2026-03, not `{month}`")))?,
    };
    Ok(Json(load_month_spend(&app.store, caller.project, of, now).await?))
}

/// Set the monthly cap, from the next call on
#[utoipa::path(put, path = "/spend/cap", tag = "spend", request_body = NewCap, responses(
    (status = 200, body = CapShown), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn set_cap(
    State(app): State<App>,
    caller: Principal,
    Json(new): Json<NewCap>,
) -> Result<Json<CapShown>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let currency = new.currency.as_deref().unwrap_or("GBP").parse()?;
    let cap = app.settings.work.settings.rates.cap(new.amount, currency, new.rate)?;
    set_cap_of(&app.store, caller.project, Some(cap), clock::current_time()).await?;
    let view = CapShown::from(&cap);
    record_audit_entry(&app, &caller, "cap.set", &caller.project, json!(view)).await?;
    Ok(Json(view))
}

/// Remove the cap
#[utoipa::path(delete, path = "/spend/cap", tag = "spend", responses(
    (status = 200), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn remove_spend_cap(State(app): State<App>, caller: Principal) -> Result<(), ApiError> {
    caller.needs(AccessScope::Manage)?;
    set_cap_of(&app.store, caller.project, None, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "cap.lift", &caller.project, json!({})).await
}
