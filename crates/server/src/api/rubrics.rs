//! Rubrics by name, and their versions, which never change.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jurist_core::rubric::presets::{self, Preset};
use jurist_core::rubric::{RubricEdit, diff_rubrics};
use jurist_store::rubrics::{NewRubricVersion, RubricHead, RubricVersion};
use jurist_store::{RubricId, RubricVersionId, clock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::file_checks::load_single_rubric;
use super::path_parameters::{RUBRIC_ID, RUBRIC_VERSION_ID};
use super::{Json, Path, Query};
use crate::annotate::parse_stored_rubric;
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_in_place;
use crate::error::{ApiError, Problem};

pub fn build_rubric_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_rubrics, create_rubric))
        .routes(routes!(get_rubric, set_rubric_archived))
        .routes(routes!(list_rubric_versions, add_version))
        .routes(routes!(get_rubric_version))
        .routes(routes!(diff_rubric_versions))
        .routes(routes!(list_presets))
}

#[derive(Debug, Serialize, ToSchema)]
struct RubricSummary {
    /// Id of the rubric.
    #[schema(example = "rub_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the rubric.
    name: String,
    /// The version that was last put.
    newest: Option<String>,
    /// When the rubric was created, in UTC (RFC 3339).
    created: String,
    /// When it was archived.
    archived: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RubricVersionView {
    /// Id of the version.
    #[schema(example = "rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Id of the rubric.
    rubric: String,
    /// Hash of its canonical form: equal rubrics have equal hashes.
    hash: String,
    /// Canonical form of the rubric, from which its hash is computed.
    #[schema(value_type = Object)]
    canonical: serde_json::Value,
    /// As it was written.
    source: Option<String>,
    /// When the version was created, in UTC (RFC 3339).
    created: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRubric {
    /// Name of the rubric, unique in the project.
    #[schema(min_length = 1, max_length = 100, example = "greeting")]
    name: String,
    /// A file with one rubric, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets.}]")]
    source: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewVersion {
    /// A file with one rubric, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets by name.}]")]
    source: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RubricChange {
    /// Whether the rubric is archived: hidden in lists, and kept for its grades.
    archived: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct VersionDiffQuery {
    /// The version that it is compared with.
    from: String,
}

/// What changed from one version to another
#[derive(Debug, Serialize, ToSchema)]
struct VersionDiff {
    /// Id of the earlier version.
    from: String,
    /// Id of the later version.
    to: String,
    /// From the top of the rubric to its end; empty if both are the same.
    changes: Vec<RubricDifference>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RubricDifference {
    /// What was done: `added`, `removed`, `changed` or `reordered`.
    kind: DifferenceKind,
    /// Such as: criterion `kind` weight.
    what: String,
    /// Old and new value of a change; null means the default.
    from: Option<String>,
    /// New value of a change; `null` means the default.
    to: Option<String>,
    /// All of it in words, as `jurist diff` prints it.
    sentence: String,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum DifferenceKind {
    Added,
    Removed,
    Changed,
    Reordered,
}

/// A rubric to begin with
#[derive(Debug, Serialize, ToSchema)]
struct PresetShown {
    /// Name of the preset.
    #[schema(example = "safety")]
    name: String,
    /// What the preset is for.
    description: String,
    /// As one would have written it.
    source: String,
}

/// Rubrics by name
#[utoipa::path(get, path = "/rubrics", tag = "rubrics", responses(
    (status = 200, body = Vec<RubricSummary>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn list_rubrics(
    State(app): State<App>,
    caller: Principal,
) -> Result<Json<Vec<RubricSummary>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let all = app.store.rubrics(caller.project).await?;
    Ok(Json(all.into_iter().map(RubricSummary::from).collect()))
}

/// A new rubric with its first version
#[utoipa::path(post, path = "/rubrics", tag = "rubrics", request_body = NewRubric, responses(
    (status = 200, body = RubricSummary, headers(("etag" = String))), (status = 400, body = Problem),
    (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "The name is already used"), (status = 413, body = Problem),
    (status = 415, body = Problem), (status = 422, body = Problem, description = "The file is not valid")
))]
async fn create_rubric(
    State(app): State<App>,
    caller: Principal,
    Json(new): Json<NewRubric>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Write)?;
    let name = super::validate_name("a rubric", &new.name)?;
    let version = parse_rubric_version(&app, &caller, &new.source)?;
    let now = clock::current_time();
    let rubric = app.store.add_rubric_with_version(caller.project, name, &version, now).await?;
    record_audit_entry(&app, &caller, "rubric.add", &rubric.id, Value::Null).await?;
    respond_with_rubric(rubric)
}

/// A rubric
#[utoipa::path(get, path = "/rubrics/{id}", tag = "rubrics",
    params(("id" = String, Path, description = RUBRIC_ID)), responses(
    (status = 200, body = RubricSummary, headers(("etag" = String))), (status = 400, body = Problem),
    (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_rubric(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    respond_with_rubric(app.store.rubric(caller.project, id.parse()?).await?)
}

/// Archive or restore a rubric
#[utoipa::path(patch, path = "/rubrics/{id}", tag = "rubrics", request_body = RubricChange,
    params(
        ("id" = String, Path, description = RUBRIC_ID),
        ("if-match" = Option<String>, Header, description = "The ETag of the version to change")
    ),
    responses(
        (status = 200, body = RubricSummary, headers(("etag" = String))), (status = 400, body = Problem),
        (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 412, body = Problem, description = "Changed in the meantime"), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn set_rubric_archived(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(change): Json<RubricChange>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (rubric, is_told) = load_unchanged_rubric(&app, &caller, id.parse()?, &headers).await?;
    let since = change.archived.then(clock::current_time);
    app.store.archive_rubric(caller.project, rubric.id, since, is_told.then_some(&rubric)).await?;
    let action = if change.archived { "rubric.archive" } else { "rubric.restore" };
    record_audit_entry(&app, &caller, action, &rubric.id, Value::Null).await?;
    respond_with_rubric(app.store.rubric(caller.project, rubric.id).await?)
}

/// Versions of a rubric, the newest first
#[utoipa::path(get, path = "/rubrics/{id}/versions", tag = "rubrics",
    params(("id" = String, Path, description = RUBRIC_ID)), responses(
    (status = 200, body = Vec<RubricVersionView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_rubric_versions(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<Vec<RubricVersionView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let rubric = app.store.rubric(caller.project, id.parse()?).await?;
    let all = app.store.rubric_versions(caller.project, rubric.id).await?;
    Ok(Json(all.into_iter().map(RubricVersionView::from).collect()))
}

/// A version of a rubric; the same content is the same version
#[utoipa::path(post, path = "/rubrics/{id}/versions", tag = "rubrics", request_body = NewVersion,
    params(
        ("id" = String, Path, description = RUBRIC_ID),
        ("if-match" = Option<String>, Header, description = "The ETag of the version to change")
    ),
    responses(
        (status = 200, body = RubricVersionView, headers(("etag" = String))), (status = 400, body = Problem),
        (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 412, body = Problem, description = "Changed in the meantime"), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem, description = "The file is not valid")
))]
async fn add_version(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(new): Json<NewVersion>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Write)?;
    let version = parse_rubric_version(&app, &caller, &new.source)?;
    let (rubric, is_told) = load_unchanged_rubric(&app, &caller, id.parse()?, &headers).await?;
    let seen = is_told.then_some(&rubric);
    let version = app
        .store
        .put_rubric_version(caller.project, rubric.id, &version, seen, clock::current_time())
        .await?;
    record_audit_entry(&app, &caller, "rubric.version", &version.id, Value::Null).await?;
    let rubric = app.store.rubric(caller.project, rubric.id).await?;
    Ok(([(header::ETAG, rubric_etag(&rubric))], Json(RubricVersionView::from(version))).into_response())
}

/// A version, which never changes
#[utoipa::path(get, path = "/rubric-versions/{id}", tag = "rubrics",
    params(("id" = String, Path, description = RUBRIC_VERSION_ID)), responses(
    (status = 200, body = RubricVersionView), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_rubric_version(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<RubricVersionView>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id: RubricVersionId = id.parse()?;
    Ok(Json(app.store.rubric_version(caller.project, &id).await?.into()))
}

/// Differences from another version to this one
#[utoipa::path(get, path = "/rubric-versions/{id}/diff", tag = "rubrics",
    params(("id" = String, Path, description = RUBRIC_VERSION_ID), VersionDiffQuery), responses(
        (status = 200, body = VersionDiff), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn diff_rubric_versions(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(since): Query<VersionDiffQuery>,
) -> Result<Json<VersionDiff>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let to: RubricVersionId = id.parse()?;
    let from: RubricVersionId = since.from.parse().map_err(ApiError::bad)?;
    let old = app.store.rubric_version(caller.project, &from).await?;
    let new = app.store.rubric_version(caller.project, &to).await?;
    // Their patterns are compiled again.
    let changes = block_in_place(|| {
        Ok::<_, ApiError>(diff_rubrics(&parse_stored_rubric(&old)?, &parse_stored_rubric(&new)?))
    })?;
    let changes = changes.into_iter().map(RubricDifference::from).collect();
    Ok(Json(VersionDiff { from: from.to_string(), to: to.to_string(), changes }))
}

/// List the built-in rubrics
#[utoipa::path(get, path = "/presets", tag = "rubrics", responses(
    (status = 200, body = Vec<PresetShown>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn list_presets(caller: Principal) -> Result<Json<Vec<PresetShown>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let view = |preset: &Preset| PresetShown {
        name: preset.name.to_owned(),
        description: preset.description().to_owned(),
        source: preset.text.to_owned(),
    };
    Ok(Json(presets::ALL.iter().map(view).collect()))
}

/// The one rubric of a text.
fn parse_rubric_version(app: &App, caller: &Principal, source: &str) -> Result<NewRubricVersion, ApiError> {
    let source = super::redact_source(&app.settings.redactor, source).into_owned();
    let rubric = load_single_rubric(&source, None)?.rubric;
    Ok(NewRubricVersion {
        region: app.settings.region.clone(),
        hash: rubric.version().clone(),
        canonical: rubric.to_json(),
        source: Some(source),
        author: caller.account(),
    })
}

/// Loads the rubric if `If-Match` allows it; the flag says whether the request named a version.
async fn load_unchanged_rubric(
    app: &App,
    caller: &Principal,
    id: RubricId,
    headers: &HeaderMap,
) -> Result<(RubricHead, bool), ApiError> {
    let rubric = app.store.rubric(caller.project, id).await?;
    let matches = |wanted: &HeaderValue| {
        let mut tags = wanted.to_str().unwrap_or_default().split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.as_bytes() == rubric_etag(&rubric).as_bytes())
    };
    match headers.get(header::IF_MATCH) {
        Some(wanted) if !matches(wanted) => {
            Err(ApiError::Changed("the rubric was changed in the meantime; read it again".to_owned()))
        }
        // Anything will do for `*`.
        wanted => Ok((rubric, wanted.is_some_and(|header_value| header_value != "*"))),
    }
}

fn rubric_etag(rubric: &RubricHead) -> HeaderValue {
    let newest = rubric.newest.as_ref().map(ToString::to_string).unwrap_or_default();
    let archived = if rubric.archived.is_some() { "-archived" } else { "" };
    HeaderValue::from_str(&format!("\"{newest}{archived}\"")).expect("ids are plain letters")
}

fn respond_with_rubric(rubric: RubricHead) -> Result<Response, ApiError> {
    Ok(([(header::ETAG, rubric_etag(&rubric))], Json(RubricSummary::from(rubric))).into_response())
}

impl From<RubricEdit> for RubricDifference {
    fn from(change: RubricEdit) -> Self {
        let sentence = change.to_string();
        let (kind, what, from, to) = match change {
            RubricEdit::Added { what } => (DifferenceKind::Added, what, None, None),
            RubricEdit::Removed { what } => (DifferenceKind::Removed, what, None, None),
            RubricEdit::Reordered { what } => (DifferenceKind::Reordered, what, None, None),
            RubricEdit::Changed { what, from, to } => (DifferenceKind::Changed, what, from, to),
        };
        Self { kind, what, from, to, sentence }
    }
}

impl From<RubricHead> for RubricSummary {
    fn from(it: RubricHead) -> Self {
        Self {
            id: it.id.to_string(),
            name: it.name,
            newest: it.newest.map(|rubric_version_id| rubric_version_id.to_string()),
            created: it.created.to_string(),
            archived: it.archived.map(|time| time.to_string()),
        }
    }
}

impl From<RubricVersion> for RubricVersionView {
    fn from(it: RubricVersion) -> Self {
        Self {
            id: it.id.to_string(),
            rubric: it.rubric.to_string(),
            hash: it.hash.as_str().to_owned(),
            canonical: it.canonical,
            source: it.source,
            created: it.created.to_string(),
        }
    }
}
