#![allow(unused_qualifications, reason = "those of macros that describe the API")]
//! The API: one file per resource, routes above handlers.

mod accounts;
mod agents;
mod agreement;
mod alerts;
mod analysis;
mod assignments;
mod audit;
mod case_names;
mod datasets;
mod file_checks;
mod disputes;
mod endpoints;
mod events;
mod exchanges;
mod export;
mod grades;
mod health;
mod jobs;
mod task_joining;
mod judges;
mod members;
mod monitors;
mod notifications;
pub(crate) mod otlp;
mod path_parameters;
mod picture;
mod projects;
mod ranking;
mod results;
mod rubrics;
mod run_cases;
mod run_changes;
mod run_history;
mod run_labels;
mod run_push;
mod runs;
mod service_errors;
mod session;
mod spend;
mod tasks;
mod tokens;
mod traces;
mod rewards;
mod rubric_trials;
mod blinding;

pub use self::run_push::{EndedRun, PushedResult, PushedResults, PushedRun};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use jurist_core::redact::Redactor;
use jurist_engine::background::run_on_blocking_thread;
use jurist_store::Cursor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use self::endpoints::ApiRoutes;
use crate::app::App;
use crate::auth::COOKIE;
use crate::blocking::block_if_long;
use crate::connections::BodyShare;
use crate::error::{ApiError, Problem};
use crate::ingest::{Encoding, estimate_decoded_bytes};
use crate::pages;

/// Where the API begins.
const ROOT: &str = "/api/v1";

/// Where traces come in line by line, as many as there are.
pub const BULK: &str = "/api/v1/traces/bulk";

/// Where other traces come in; their bodies have a limit of their own, `--ingest-memory`.
pub const UPLOADS: [&str; 2] = ["/api/v1/traces", "/v1/traces"];

/// Endpoints that need no session and no token.
pub const SIGN_IN: [&str; 3] = ["/api/v1/session", "/api/v1/join", "/api/v1/join/task"];

#[derive(OpenApi)]
#[openapi(
    info(title = "Jurist", description = "Grades what AI agents and language models produce."),
    components(schemas(Problem)),
    security(("token" = []), ("session" = []))
)]
struct ApiDescription;

/// A body in JSON; a body that cannot be read is answered like any other bad request.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|header| header.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_lowercase();
        if kind != "application/json" && !kind.ends_with("+json") {
            return Err(ApiError::NotUnderstood("send `Content-Type: application/json`".to_owned()));
        }
        let share = request.extensions().get::<Arc<BodyShare>>().cloned();
        let body = Bytes::from_request(request, state).await?;
        if let Some(share) = share {
            share.admit_decoding(estimate_decoded_bytes(&body, Encoding::Json))?;
        }
        parse_json_body(&body).map(Self)
    }
}

/// Reads a body of JSON; a long one keeps no other request waiting. The error names the key, such as `pieces[0].kind`, and the line and column.
fn parse_json_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // A list would be taken for the fields in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(ApiError::bad("the body must be a JSON object"));
    }
    Ok(block_if_long(body.len(), || axum::Json::from_bytes(body))?.0)
}

impl<T: Serialize> axum::response::IntoResponse for Json<T> {
    fn into_response(self) -> axum::response::Response {
        axum::Json(self.0).into_response()
    }
}

#[derive(Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self(axum::extract::Path::from_request_parts(parts, state).await?.0))
    }
}

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self(axum::extract::Query::from_request_parts(parts, state).await?.0))
    }
}

/// All routes, added to `root`.
fn add_api_routes<R: ApiRoutes>(root: R) -> R {
    let api = R::new()
        .merge(accounts::build_account_routes())
        .merge(agents::build_agent_routes())
        .merge(alerts::build_alert_routes())
        .merge(analysis::build_analysis_routes())
        .merge(assignments::build_assignment_routes())
        .merge(audit::build_audit_routes())
        .merge(datasets::build_dataset_routes())
        .merge(file_checks::build_file_check_routes())
        .merge(events::build_run_event_routes())
        .merge(exchanges::build_exchange_routes())
        .merge(export::build_export_routes())
        .merge(grades::build_grade_routes())
        .merge(jobs::build_job_routes())
        .merge(judges::build_judge_routes())
        .merge(members::build_member_routes())
        .merge(monitors::build_monitor_routes())
        .merge(notifications::build_notification_routes())
        .merge(projects::build_project_routes())
        .merge(ranking::build_ranking_routes())
        .merge(rubrics::build_rubric_routes())
        .merge(runs::build_run_routes())
        .merge(run_cases::build_run_case_routes())
        .merge(run_changes::build_run_change_routes())
        .merge(run_history::build_run_history_routes())
        .merge(run_labels::build_run_label_routes())
        .merge(run_push::build_run_push_routes())
        .merge(session::build_session_routes())
        .merge(spend::build_spend_routes())
        .merge(tasks::build_task_routes())
        .merge(task_joining::build_task_join_routes())
        .merge(disputes::build_dispute_routes())
        .merge(agreement::build_agreement_routes())
        .merge(results::build_task_result_routes())
        .merge(tokens::build_token_routes())
        .merge(traces::build_trace_routes())
        .merge(rewards::build_reward_routes())
        .merge(rubric_trials::build_rubric_trial_routes());
    root.nest(ROOT, api).merge(health::build_health_routes()).merge(otlp::build_otlp_routes())
}

pub fn build_api_router(app: App) -> Router {
    add_api_routes(Router::<App>::new()).fallback(pages::serve_page).with_state(app)
}

/// The API in OpenAPI's words. Only tests call it: the program leaves it out.
pub fn description() -> String {
    let described = add_api_routes(OpenApiRouter::<App>::with_openapi(ApiDescription::openapi()));
    let (_, mut description) = described.split_for_parts();
    let components = description.components.get_or_insert_default();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    let cookie = ApiKey::Cookie(ApiKeyValue::new(COOKIE));
    components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    let mut description = serde_json::to_value(&description).expect("a description is plain data");
    let paths =
        description["paths"].as_object_mut().into_iter().flat_map(|object_mut| object_mut.values_mut());
    let operations =
        paths.filter_map(serde_json::Value::as_object_mut).flat_map(|object| object.values_mut());
    for operation in operations {
        operation["responses"].as_object_mut().into_iter().for_each(with_problems);
    }
    serde_json::to_string_pretty(&description).expect("a description is plain data") + "\n"
}

/// Describes all errors as problems (RFC 9457), also those without a description of their own.
fn with_problems(responses: &mut serde_json::Map<String, serde_json::Value>) {
    const KIND: &str = "application/problem+json";
    let problem = json!({ "$ref": "#/components/schemas/Problem" });
    for response in responses.values_mut() {
        if response["content"]["application/json"]["schema"] == problem {
            response["content"] = json!({ KIND: { "schema": problem } });
        }
    }
    let other = json!({ "description": "What was wrong", "content": { KIND: { "schema": problem } } });
    responses.entry("default").or_insert(other);
}

/// Which part of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Paging {
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// How many rows of a list; all of them at once is not to be had.
fn limit(wanted: Option<usize>) -> Result<usize, ApiError> {
    match wanted {
        None => Ok(50),
        Some(it @ 1..=200) => Ok(it),
        Some(it) => Err(ApiError::Bad(format!("`limit` is from 1 to 200, not {it}"))),
    }
}

/// A search text without the spaces around it; none if it is empty.
fn parse_search(search_text: Option<&str>) -> Result<Option<&str>, ApiError> {
    let search = search_text.map(str::trim).filter(|text| !text.is_empty());
    if search.is_some_and(|search| 200 < search.chars().count()) {
        return Err(ApiError::bad("`search` is a text of up to 200 characters"));
    }
    Ok(search)
}

/// A name for something new, on one line.
fn validate_name<'a>(of: &str, text: &'a str) -> Result<&'a str, ApiError> {
    let name = text.trim();
    if name.is_empty() || 100 < name.chars().count() || name.chars().any(char::is_control) {
        return Err(ApiError::Bad(format!("{of} has a name of up to 100 letters, on one line")));
    }
    Ok(name)
}

/// Computes a slow response on a blocking thread, so that other requests need not wait for it.
async fn compute_json_response<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Json<T>, ApiError> {
    run_on_blocking_thread(work).await.map(Json).map_err(|_| ApiError::Broken)
}

/// Parses the cursor that the page before returned.
fn parse_page_cursor(after: Option<&str>) -> Result<Option<Cursor>, ApiError> {
    Ok(after.map(str::parse).transpose()?)
}

/// Takes secrets out of files before they are stored, and names the files that had any.
fn redact_files(redactor: &Redactor, files: &mut BTreeMap<String, String>) -> Vec<String> {
    let n_bytes = files.values().map(String::len).sum();
    block_if_long(n_bytes, || {
        let mut redacted = Vec::new();
        for (name, text) in files {
            if let Cow::Owned(clean) = redact_source(redactor, text) {
                *text = clean;
                redacted.push(name.clone());
            }
        }
        redacted
    })
}

/// The text of a file without secrets. They are replaced by `(redacted)`: brackets would begin a list in YAML.
fn redact_source<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    match redactor.text(text) {
        Cow::Owned(clean) if clean != text => Cow::Owned(clean.replace("[redacted]", "(redacted)")),
        _ => Cow::Borrowed(text),
    }
}
