//! Datasets: versioned sets of cases.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use jurist_core::dataset::DatasetSplit;
use jurist_store::traces::TraceKey;
use jurist_store::{Cursor, StoreError, TaskId, TraceId, clock};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{CASE_KEY, DATASET};
use super::traces::TraceListQuery;
use super::{Json, Paging, Path, Query};
use crate::annotate::list_hidden_items;
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::datasets::{
    self, CaseSources, DEFAULT_FILTERED_TRACES, DatasetCaseInFull, DatasetCasePage, DatasetDiffView,
    DatasetError, DatasetExportFormat, DatasetVersionPage, DatasetVersionReceipt, DatasetVersionView,
    DatasetView, FirstVersion, FoundVersion, MOST_ADDED_TRACES, NewDatasetRequest, NewDatasetVersion,
    clean_dataset_text, find_dataset_version, parse_trace_ids,
};
use crate::error::{ApiError, Problem};
use crate::idempotent_requests::once;

pub fn build_dataset_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_datasets, create_dataset))
        .routes(routes!(get_dataset, update_dataset, archive_dataset))
        .routes(routes!(list_dataset_versions, add_dataset_version))
        .routes(routes!(list_dataset_cases))
        .routes(routes!(get_dataset_case))
        .routes(routes!(diff_dataset_versions))
        .routes(routes!(export_dataset))
}

/// Keys of a filter of traces: what `GET /traces` takes, except the page.
const TRACE_FILTER_KEYS: [&str; 15] = [
    "agent",
    "session",
    "state",
    "status",
    "failed",
    "from",
    "until",
    "min_cost",
    "min_duration_ms",
    "verdict",
    "scored",
    "id_prefix",
    "search",
    "sort",
    "limit",
];

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DatasetListQuery {
    /// Include archived datasets.
    archived: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DatasetUpdate {
    /// What the dataset is for; `null` removes it.
    #[schema(value_type = Option<String>)]
    #[serde(default, deserialize_with = "read_nullable_text")]
    description: Option<Option<String>>,
    /// `true` archives the dataset, `false` restores it.
    archived: Option<bool>,
}

/// Distinguishes `null` from a field that is absent.
fn read_nullable_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DatasetCaseQuery {
    /// Number of the version [default: the newest].
    version: Option<u64>,
    /// `dev` or `test` [default: both].
    #[param(value_type = Option<String>)]
    split: Option<DatasetSplit>,
    /// Text in the key, task, title or trace id; not case-sensitive for A to Z.
    #[param(max_length = 200)]
    search: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DatasetVersionQuery {
    /// Number of the version [default: the newest].
    version: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DatasetDiffQuery {
    /// The old version; 0 is the empty one before the first [default: the one before `to`].
    from: Option<u64>,
    /// The new version [default: the newest].
    to: Option<u64>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DatasetExportQuery {
    /// Number of the version [default: the newest].
    version: Option<u64>,
    /// `dev` or `test` [default: both].
    #[param(value_type = Option<String>)]
    split: Option<DatasetSplit>,
    /// `jsonl`, `parquet` or `suite` [default: `jsonl`].
    #[param(inline)]
    format: Option<DatasetExportFormat>,
}

/// Datasets by name
#[utoipa::path(get, path = "/datasets", tag = "datasets", params(DatasetListQuery), responses(
    (status = 200, body = Vec<DatasetView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_datasets(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<DatasetListQuery>,
) -> Result<Json<Vec<DatasetView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let all = app.store.datasets(caller.project, which.archived == Some(true)).await?;
    Ok(Json(all.into_iter().map(DatasetView::from).collect()))
}

/// Create a dataset without cases
#[utoipa::path(post, path = "/datasets", tag = "datasets", request_body = NewDatasetRequest,
    params(("idempotency-key" = Option<String>, Header, description = "A repeated request with the same key creates nothing")),
    responses(
        (status = 200, body = DatasetView), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The name is already used"), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn create_dataset(
    State(app): State<App>,
    caller: Principal,
    headers: HeaderMap,
    Json(new): Json<NewDatasetRequest>,
) -> Result<Json<DatasetView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, made) = (caller.project, make_requested_dataset(app.clone(), caller, new.clone()));
    Ok(Json(once(&app, project, &headers, &new, made).await?))
}

async fn make_requested_dataset(
    app: App,
    caller: Principal,
    new: NewDatasetRequest,
) -> Result<DatasetView, ApiError> {
    let (redactor, author, now) = (&app.settings.redactor, caller.account(), clock::current_time());
    let dataset =
        datasets::make_named_dataset(&app.store, caller.project, &new, redactor, author, now).await?;
    record_audit_entry(&app, &caller, "dataset.add", &dataset.id, json!({ "name": dataset.name })).await?;
    Ok(dataset.into())
}

/// A dataset
#[utoipa::path(get, path = "/datasets/{name}", tag = "datasets",
    params(("name" = String, Path, description = DATASET)), responses(
    (status = 200, body = DatasetView), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_dataset(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<DatasetView>, ApiError> {
    caller.needs(AccessScope::Read)?;
    Ok(Json(app.store.dataset(caller.project, &name).await?.into()))
}

/// Change the description of a dataset, archive it or restore it
#[utoipa::path(patch, path = "/datasets/{name}", tag = "datasets", request_body = DatasetUpdate,
    params(("name" = String, Path, description = DATASET)), responses(
        (status = 200, body = DatasetView), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn update_dataset(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Json(change): Json<DatasetUpdate>,
) -> Result<Json<DatasetView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let dataset = app.store.dataset(caller.project, &name).await?;
    if let Some(description) = &change.description {
        let description = clean_dataset_text("description", description.as_deref(), &app.settings.redactor)?;
        app.store.describe_dataset(caller.project, dataset.id, description.as_deref()).await?;
        record_audit_entry(&app, &caller, "dataset.describe", &dataset.id, json!({})).await?;
    }
    if let Some(is_archived) = change.archived {
        let since = is_archived.then(clock::current_time);
        app.store.archive_dataset(caller.project, dataset.id, since).await?;
        let action = if is_archived { "dataset.archive" } else { "dataset.restore" };
        record_audit_entry(&app, &caller, action, &dataset.id, json!({})).await?;
    }
    Ok(Json(app.store.dataset(caller.project, &name).await?.into()))
}

/// Archive a dataset; its versions stay readable
#[utoipa::path(delete, path = "/datasets/{name}", tag = "datasets",
    params(("name" = String, Path, description = DATASET)), responses(
    (status = 200, body = DatasetView), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn archive_dataset(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<DatasetView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let dataset = app.store.dataset(caller.project, &name).await?;
    app.store.archive_dataset(caller.project, dataset.id, Some(clock::current_time())).await?;
    record_audit_entry(&app, &caller, "dataset.archive", &dataset.id, json!({})).await?;
    Ok(Json(app.store.dataset(caller.project, &name).await?.into()))
}

/// Versions of a dataset, the newest first
#[utoipa::path(get, path = "/datasets/{name}/versions", tag = "datasets",
    params(("name" = String, Path, description = DATASET), Paging), responses(
    (status = 200, body = DatasetVersionPage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_dataset_versions(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<DatasetVersionPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let dataset = app.store.dataset(caller.project, &name).await?;
    let (after, limit) = (super::parse_page_cursor(paging.after.as_deref())?, super::limit(paging.limit)?);
    let page = app.store.dataset_versions(dataset.id, after.as_ref(), limit).await?;
    let items = page.items.into_iter().map(DatasetVersionView::from).collect();
    Ok(Json(DatasetVersionPage { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Add, change or remove cases: all changes of a request make one version
///
/// Cases come from `records`, from `traces` by id or by `trace_filter`, and from an annotation task. The key of a case is
/// the `id` of its record; a case with the key of another one replaces it. Cases with the same task are in the same
/// split. Nothing is written if a case cannot be taken; with `create`, no dataset is created then. More cases than a
/// body holds (32 MiB by default) are sent in several requests, each with the version of the one before as `base`.
#[utoipa::path(post, path = "/datasets/{name}/versions", tag = "datasets", request_body = NewDatasetVersion,
    params(
        ("name" = String, Path, description = DATASET),
        ("idempotency-key" = Option<String>, Header, description = "A repeated request with the same key writes nothing")
    ),
    responses(
        (status = 200, body = DatasetVersionReceipt), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "There is a newer version than `base`, or the dataset is archived"),
        (status = 413, body = Problem, description = "Too many cases, or a case is too large"),
        (status = 415, body = Problem), (status = 422, body = Problem)
))]
async fn add_dataset_version(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(new): Json<NewDatasetVersion>,
) -> Result<Json<DatasetVersionReceipt>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let request = json!({ "dataset": name, "version": new });
    let (project, written) = (caller.project, write_requested_version(app.clone(), caller, name, new));
    Ok(Json(once(&app, project, &headers, &request, written).await?))
}

async fn write_requested_version(
    app: App,
    caller: Principal,
    name: String,
    new: NewDatasetVersion,
) -> Result<DatasetVersionReceipt, ApiError> {
    let (store, project) = (&app.store, caller.project);
    let dataset = match store.dataset(project, &name).await {
        Err(StoreError::Unknown { .. }) if new.create => None,
        found => Some(found?),
    };
    let traces = parse_trace_ids(&new.traces)?;
    let found_traces = find_filtered_traces(&app, &caller, &new).await?;
    let task = match &new.annotation_task {
        Some(id) => Some(store.task(project, id.parse::<TaskId>().map_err(ApiError::bad)?).await?),
        None => None,
    };
    let hidden = match &task {
        Some(task) => list_hidden_items(store, project, task, caller.person).await?,
        None => Default::default(),
    };
    let all_traces = traces.iter().chain(&found_traces).map(TraceId::as_str);
    let withheld = find_withheld_candidates(&app, &caller, all_traces).await?;
    let sources = CaseSources {
        base: new.base,
        note: new.note,
        author: caller.account(),
        records: new.records,
        traces,
        found_traces,
        task,
        rubric: new.rubric,
        remove: new.remove,
        is_complete: new.replace,
        withheld,
        hidden,
    };
    let (redactor, now) = (&app.settings.redactor, clock::current_time());
    let FirstVersion { dataset, receipt } = match dataset {
        Some(dataset) => {
            let receipt =
                datasets::write_dataset_version(store, project, &dataset, sources, redactor, now).await?;
            FirstVersion { dataset, receipt }
        }
        None => {
            let request = NewDatasetRequest { name, ..NewDatasetRequest::default() };
            let new = datasets::read_new_dataset(&request, redactor, caller.account())?;
            let made = datasets::write_first_version(store, project, &new, sources, redactor, now).await?;
            let (id, name) = (&made.dataset.id, &made.dataset.name);
            record_audit_entry(&app, &caller, "dataset.add", id, json!({ "name": name })).await?;
            made
        }
    };
    if receipt.is_new {
        let body = json!({ "version": receipt.version, "n_added": receipt.n_added,
            "n_changed": receipt.n_changed, "n_removed": receipt.n_removed });
        record_audit_entry(&app, &caller, "dataset.version", &dataset.id, body).await?;
    }
    Ok(receipt)
}

/// The traces of the request's filter.
async fn find_filtered_traces(
    app: &App,
    caller: &Principal,
    new: &NewDatasetVersion,
) -> Result<Vec<TraceId>, ApiError> {
    let Some(filter_json) = &new.trace_filter else { return Ok(Vec::new()) };
    if let Some(key) = filter_json.keys().find(|key| !TRACE_FILTER_KEYS.contains(&key.as_str())) {
        return Err(ApiError::Bad(format!(
            "`trace_filter` has no `{key}`; there are {}",
            TRACE_FILTER_KEYS.join(", ")
        )));
    }
    let which: TraceListQuery = serde_json::from_value(json!(filter_json)).map_err(ApiError::bad)?;
    let filter = which.filter()?;
    let limit = which.limit.unwrap_or(DEFAULT_FILTERED_TRACES);
    if !(1..=MOST_ADDED_TRACES).contains(&limit) {
        return Err(ApiError::Bad(format!(
            "`trace_filter.limit` is from 1 to {MOST_ADDED_TRACES}, not {limit}"
        )));
    }
    let mut ids = datasets::list_filtered_traces(&app.store, caller.project, &filter, limit).await?;
    // A case of a verdict that is hidden from the caller would reveal it.
    if filter.verdict.is_some() || filter.order.by == TraceKey::Score {
        let withheld = find_withheld_candidates(app, caller, ids.iter().map(TraceId::as_str)).await?;
        ids.retain(|id| !withheld.contains(id.as_str()));
    }
    if ids.is_empty() {
        return Err(ApiError::Senseless("no trace matches `trace_filter`".to_owned()));
    }
    Ok(ids)
}

/// Cases of a version, in the order in which they were added
#[utoipa::path(get, path = "/datasets/{name}/cases", tag = "datasets",
    params(("name" = String, Path, description = DATASET), DatasetCaseQuery), responses(
    (status = 200, body = DatasetCasePage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_dataset_cases(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(which): Query<DatasetCaseQuery>,
) -> Result<Json<DatasetCasePage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let dataset_version = find_dataset_version(&app.store, caller.project, &name, which.version).await?;
    let search = super::parse_search(which.search.as_deref())?;
    let (after, limit) = (super::parse_page_cursor(which.after.as_deref())?, super::limit(which.limit)?);
    let page =
        datasets::load_case_page(&app.store, &dataset_version, which.split, search, after.as_ref(), limit)
            .await?;
    Ok(Json(page))
}

/// A case of a version, with its record
#[utoipa::path(get, path = "/datasets/{name}/cases/{key}", tag = "datasets",
    params(
        ("name" = String, Path, description = DATASET),
        ("key" = String, Path, description = CASE_KEY),
        DatasetVersionQuery
    ),
    responses(
        (status = 200, body = DatasetCaseInFull), (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem)
))]
async fn get_dataset_case(
    State(app): State<App>,
    caller: Principal,
    Path((name, key)): Path<(String, String)>,
    Query(which): Query<DatasetVersionQuery>,
) -> Result<Json<DatasetCaseInFull>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let dataset_version = find_dataset_version(&app.store, caller.project, &name, which.version).await?;
    Ok(Json(datasets::load_dataset_case(&app.store, &dataset_version, &key).await?))
}

/// Differences between two versions
#[utoipa::path(get, path = "/datasets/{name}/diff", tag = "datasets",
    params(("name" = String, Path, description = DATASET), DatasetDiffQuery), responses(
    (status = 200, body = DatasetDiffView), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn diff_dataset_versions(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(which): Query<DatasetDiffQuery>,
) -> Result<Json<DatasetDiffView>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (after, limit) = (super::parse_page_cursor(which.after.as_deref())?, super::limit(which.limit)?);
    let range = (which.from, which.to);
    let diff =
        datasets::compare_dataset_versions(&app.store, caller.project, &name, range, after.as_ref(), limit)
            .await?;
    Ok(Json(diff))
}

/// Export a version as JSON lines, as a Parquet table, or as a suite with the rubrics of its cases
#[utoipa::path(get, path = "/datasets/{name}/export", tag = "datasets",
    params(("name" = String, Path, description = DATASET), DatasetExportQuery), responses(
    (status = 200, description = "In the requested format", content(
        (String = "application/x-ndjson"), (String = "application/vnd.apache.parquet"),
        (String = "application/json")
    )),
    (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 413, body = Problem),
    (status = 422, body = Problem, description = "A case has no rubric for a suite")
))]
async fn export_dataset(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(wanted): Query<DatasetExportQuery>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (split, project) = (wanted.split, caller.project);
    let dataset_version = find_dataset_version(&app.store, project, &name, wanted.version).await?;
    let format = wanted.format.unwrap_or(DatasetExportFormat::Jsonl);
    let file = datasets::export_file_name(&dataset_version.reference(split), format);
    let body = match format {
        DatasetExportFormat::Jsonl => {
            let first = DatasetExportPager { app, dataset_version, split, after: None };
            let pages = stream::try_unfold(Some(first), |place| async move {
                let Some(place) = place else { return Ok(None) };
                place.next().await.map(Some)
            });
            Body::from_stream(pages)
        }
        DatasetExportFormat::Parquet => {
            Body::from(datasets::write_dataset_table(&app.store, &dataset_version, split).await?)
        }
        DatasetExportFormat::Suite => {
            Body::from(datasets::write_dataset_suite(&app.store, project, &dataset_version, split).await?)
        }
    };
    let disposition = format!("attachment; filename=\"{file}\"");
    let disposition = HeaderValue::from_str(&disposition).expect("the name of the file has plain letters");
    let kind = HeaderValue::from_static(format.content_type());
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}

/// How far an export has come.
struct DatasetExportPager {
    app: App,
    dataset_version: FoundVersion,
    split: Option<DatasetSplit>,
    after: Option<Cursor>,
}

impl DatasetExportPager {
    async fn next(mut self) -> Result<(Bytes, Option<Self>), StoreError> {
        let page = datasets::format_export_page(
            &self.app.store,
            &self.dataset_version,
            self.split,
            self.after.as_ref(),
        );
        let (text, next) = page.await?;
        self.after = next;
        let rest = self.after.is_some().then_some(self);
        Ok((Bytes::from(text), rest))
    }
}

impl From<DatasetError> for ApiError {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Store(error) => error.into(),
            DatasetError::Bad(why) => Self::Bad(why),
            DatasetError::Unknown(why) => Self::Unknown(why),
            DatasetError::Conflict(why) => Self::Conflict(why),
            DatasetError::TooLarge(why) => Self::TooLarge(why),
            DatasetError::Senseless(why) => Self::Senseless(why),
        }
    }
}
