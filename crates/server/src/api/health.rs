//! Whether the server runs, and whether it can write to its database.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::ApiError;

pub fn build_health_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(get_health)).routes(routes!(get_readiness)).routes(routes!(get_metrics))
}

/// Liveness check
#[utoipa::path(get, path = "/health", tag = "health", security(()), responses((status = 200, body = String)))]
async fn get_health() -> &'static str {
    "ok\n"
}

/// Readiness check: the database answers, and the disk has space
#[utoipa::path(get, path = "/ready", tag = "health", security(()), responses(
    (status = 200, body = String), (status = 503, body = crate::error::Problem)
))]
async fn get_readiness(State(app): State<App>) -> Result<&'static str, ApiError> {
    app.store.ping().await.map_err(|_| ApiError::Unavailable)?;
    app.store.check_writable().await.map_err(|_| ApiError::Unavailable)?;
    Ok("ready\n")
}

/// Metrics of the server, for Prometheus
///
/// On a server with accounts, a token with the scope `read` is needed.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, content_type = "text/plain", body = String), (status = 401, body = crate::error::Problem),
    (status = 403, body = crate::error::Problem), (status = 404, body = crate::error::Problem),
    (status = 503, body = crate::error::Problem)
))]
async fn get_metrics(State(app): State<App>, caller: Principal) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let queue = app.store.job_counts(None).await?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics.text(&queue)).into_response())
}
