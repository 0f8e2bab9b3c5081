//! Annotation tasks: their owners create and follow them, and annotators join them.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jurist_core::annotate::{AnnotationSettings, Scheme};
use jurist_core::run::RunId;
use jurist_engine::bundle::Bundle;
use jurist_store::annotate::{Task, TaskState};
use jurist_store::rubrics::RubricVersion;
use jurist_store::traces::TraceListFilter;
use jurist_store::{ItemId, ProjectId, RubricVersionId, TaskId, clock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use utoipa::{IntoParams, ToSchema};

use super::assignments::OwnProgress;
use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{ITEM_ID, TASK_ID};
use super::traces::TraceListQuery;
use super::{Json, Path, Query};
use crate::annotate::{
    Added, AnnotationFormat, ItemSubject, TaskDefinition, add_rows, add_subjects, check_answer_keys,
    collect_trace_claims, export_annotations, find_traces, from_annotation, from_rubric, list_hidden_items,
    load_shown_progress, merge_task_settings, named_traces, parse_task_settings, update_task_settings,
    verification,
};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_in_place;
use crate::error::{ApiError, Problem};

pub fn build_task_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_tasks, create_task))
        .routes(routes!(get_task, update_task))
        .routes(routes!(add_items))
        .routes(routes!(remove_item))
        .routes(routes!(export_task_answers))
}

/// A task
#[derive(Debug, Serialize, ToSchema)]
struct TaskLine {
    /// Id of the task.
    #[schema(example = "ant_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the task.
    name: String,
    /// Description of the task; `null` if it has none.
    description: Option<String>,
    /// `open` or `closed`.
    state: String,
    /// When the task was created, in UTC (RFC 3339).
    created: String,
    /// Progress of all annotators.
    progress: TaskProgress,
    /// Progress of the caller.
    mine: OwnProgress,
    /// What the caller may do with the task.
    may: TaskPermissions,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskProgress {
    /// Number of items, without training, gold and attention items.
    n_items: u64,
    /// Number of items that have the answers that they need.
    n_done: u64,
    /// Number of answers that the items need; an item that every annotator answers needs one.
    n_wanted: u64,
    /// Number of submitted answers to these items.
    n_submitted: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskPermissions {
    /// Whether the caller may answer items.
    annotate: bool,
    /// Whether the caller may see answers and change the task.
    manage: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskLines {
    /// Tasks that the caller may see.
    items: Vec<TaskLine>,
}

/// A task with its questions
#[derive(Debug, Serialize, ToSchema)]
struct TaskInFull {
    #[serde(flatten)]
    line: TaskLine,
    /// As `jurist schema annotation` describes them.
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Scheme>,
    /// As `jurist schema annotation` describes them.
    #[schema(value_type = Object)]
    settings: AnnotationSettings,
    /// Its version, which increases when questions change.
    version: u64,
}

/// A task from a file, from a rubric over traces, or to verify a judge's answers
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewTaskRequest {
    /// The path of an annotation file; one of `files`.
    config: Option<String>,
    /// Texts by their path.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Name of the task; that of the file by default.
    name: Option<String>,
    /// The name of a rubric, or the id of a version.
    rubric: Option<String>,
    /// Stored traces to annotate with `rubric`.
    traces: Option<TaskTraces>,
    /// Run or monitor whose judge's answers people confirm or correct.
    verify: Option<VerificationSource>,
    /// As `jurist schema annotation` describes them.
    #[schema(value_type = Option<Object>)]
    settings: Option<AnnotationSettings>,
}

/// Which traces
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "`traces` are ids of traces, or what `GET /traces` takes")]
enum TaskTraces {
    /// By their ids.
    Named(Vec<String>),
    /// As `GET /traces` takes it.
    Which(BTreeMap<String, serde_json::Value>),
}

/// Whose answers are confirmed or corrected
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct VerificationSource {
    /// Id of a run.
    run: Option<String>,
    /// Name of a monitor.
    monitor: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TaskChange {
    /// `open` or `closed`.
    state: Option<String>,
    /// Settings to change; others stay unchanged. `null` resets a setting to its default.
    #[schema(value_type = Option<Object>)]
    settings: Option<Map<String, serde_json::Value>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoreItems {
    /// Rows of data, as in the data files of an annotation task.
    #[schema(value_type = Option<Vec<Object>>)]
    rows: Option<Vec<Map<String, serde_json::Value>>>,
    /// Stored traces.
    traces: Option<TaskTraces>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ItemsAdded {
    /// Number of items that were added.
    n_new: usize,
    /// Number of items that the task already had. They are not changed.
    n_there: usize,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TaskExportQuery {
    /// `jsonl`, `csv` or `parquet` [default: `jsonl`].
    format: Option<String>,
}

/// Tasks, the newest first
#[utoipa::path(get, path = "/tasks", tag = "tasks", responses(
    (status = 200, body = TaskLines), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list_tasks(State(app): State<App>, caller: Principal) -> Result<Json<TaskLines>, ApiError> {
    caller.needs(AccessScope::Annotate).or_else(|_| caller.needs(AccessScope::Read))?;
    let mut items = Vec::new();
    for task in app.store.tasks(caller.project).await? {
        // Annotators see open tasks only.
        if task.state == TaskState::Open || caller.needs(AccessScope::Read).is_ok() {
            items.push(load_task_line(&app, &caller, &task).await?.0);
        }
    }
    Ok(Json(TaskLines { items }))
}

async fn load_task_line(
    app: &App,
    caller: &Principal,
    task: &Task,
) -> Result<(TaskLine, TaskDefinition), ApiError> {
    let definition = TaskDefinition::of(&app.store, caller.project, task.id, task.version).await?;
    let progress = app.store.progress(caller.project, task.id).await?;
    let settings = parse_task_settings(task);
    let mine = match caller.person {
        Some(who) => {
            let mine = load_shown_progress(&app.store, task.id, who, &settings).await?;
            OwnProgress { done: mine.n_done, left: Some(mine.n_left) }
        }
        None => OwnProgress { done: 0, left: None },
    };
    let line = TaskLine {
        id: task.id.to_string(),
        name: task.name.clone(),
        description: definition.description.clone(),
        state: task.state.as_str().to_owned(),
        created: task.created.to_string(),
        progress: TaskProgress {
            n_items: progress.n_items,
            n_done: progress.n_done,
            n_wanted: progress.n_wanted,
            n_submitted: progress.n_submitted,
        },
        mine,
        may: TaskPermissions {
            annotate: task.state == TaskState::Open && caller.needs(AccessScope::Annotate).is_ok(),
            manage: caller.needs(AccessScope::Write).is_ok(),
        },
    };
    Ok((line, definition))
}

/// A new task
///
/// From an annotation file with its data (`config`, `files`), from a rubric over stored traces (`name`,
/// `rubric`, `traces`), or to verify judge answers (`name`, `verify`).
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = NewTaskRequest, responses(
    (status = 200, body = TaskLine), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 422, body = Problem, description = "The file is not valid, or there is nothing to ask about")
))]
async fn create_task(
    State(app): State<App>,
    caller: Principal,
    Json(new): Json<NewTaskRequest>,
) -> Result<Json<TaskLine>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, now) = (caller.project, clock::current_time());
    let settings = new.settings.clone().unwrap_or_default();
    let task = if let Some(config) = &new.config {
        if new.rubric.is_some() || new.traces.is_some() || new.verify.is_some() || new.settings.is_some() {
            return Err(ApiError::bad(
                "a task of a file (`config`) has no `rubric`, `traces`, `verify` or `settings`: the file has its \
                 settings",
            ));
        }
        let mut files = new.files;
        super::redact_files(&app.settings.redactor, &mut files);
        let mut annotation = load_task_annotation(config, files)?;
        if let Some(name) = &new.name {
            annotation.name = Some(super::validate_name("a task", name)?.to_owned());
        }
        let by = (&app.settings.region, caller.account());
        from_annotation(&app.store, project, &annotation, None, by, now).await?.0
    } else {
        let name = super::validate_name("a task", new.name.as_deref().unwrap_or_default())?;
        match (&new.rubric, &new.verify) {
            (Some(rubric), None) => {
                let version = version_of(&app, project, rubric).await?;
                let subjects = load_chosen_traces(&app, project, new.traces.as_ref()).await?;
                from_rubric(&app.store, project, name, &version, subjects, &settings, now).await?.0
            }
            (None, Some(of)) => {
                let (version, subjects) = load_judged_subjects(&app, project, of).await?;
                verification(&app.store, project, name, &version, subjects, &settings, now).await?.0
            }
            _ => return Err(ApiError::bad("a task is made from `config`, from `rubric`, or from `verify`")),
        }
    };
    record_audit_entry(&app, &caller, "task.add", &task.id, json!({ "name": task.name })).await?;
    let task = app.store.task(project, task.id).await?;
    Ok(Json(load_task_line(&app, &caller, &task).await?.0))
}

/// Reads an annotation file; a missing data file is an error here.
fn load_task_annotation(
    config: &str,
    files: BTreeMap<String, String>,
) -> Result<jurist_core::suite::AnnotationTask, ApiError> {
    let bundle = Bundle { suite: config.to_owned(), files, ..Bundle::default() };
    let loaded = block_in_place(|| bundle.load());
    let problems = crate::job::format_load_errors(&loaded);
    let suite = loaded.suite.ok_or(ApiError::Senseless(problems))?;
    let annotation = suite.annotation.ok_or_else(|| {
        ApiError::Senseless(format!(
            "`{config}` asks nothing of people: it has no `annotation_schemes`; a rubric is asked about stored traces, \
             with `rubric` and `traces` in place of `config`"
        ))
    })?;
    let missing = annotation.data_files.iter().find(|data_file| {
        let beside_config = std::path::Path::new(config).with_file_name(data_file.trim_start_matches("./"));
        !bundle.files.contains_key(data_file.as_str())
            && !bundle.files.contains_key(&*beside_config.to_string_lossy())
    });
    match missing {
        Some(file) => Err(ApiError::Senseless(format!("`{file}` is named in `data_files` and was not sent"))),
        None => Ok(annotation),
    }
}

/// Stored traces as what items are about; all traces if none are named.
async fn load_chosen_traces(
    app: &App,
    project: ProjectId,
    chosen: Option<&TaskTraces>,
) -> Result<Vec<(String, ItemSubject)>, ApiError> {
    match chosen {
        None => Ok(find_traces(&app.store, project, &TraceListFilter::default(), None).await?),
        Some(TaskTraces::Which(which)) => {
            let which: TraceListQuery = serde_json::from_value(json!(which)).map_err(ApiError::bad)?;
            Ok(find_traces(&app.store, project, &which.filter()?, which.limit).await?)
        }
        Some(TaskTraces::Named(ids)) => Ok(named_traces(&app.store, project, ids).await?),
    }
}

async fn version_of(app: &App, project: ProjectId, named: &str) -> Result<RubricVersion, ApiError> {
    if let Ok(id) = named.parse::<RubricVersionId>() {
        return Ok(app.store.rubric_version(project, &id).await?);
    }
    let unknown = || ApiError::Unknown(format!("there is no rubric `{named}`"));
    let head = app.store.rubric_named(project, named).await?.ok_or_else(unknown)?;
    Ok(app.store.rubric_version(project, &head.newest.ok_or_else(unknown)?).await?)
}

/// Judge results of a run or a monitor, with the judged candidates.
async fn load_judged_subjects(
    app: &App,
    project: ProjectId,
    of: &VerificationSource,
) -> Result<(RubricVersion, Vec<(String, ItemSubject)>), ApiError> {
    match (&of.run, &of.monitor) {
        (None, Some(name)) => {
            let unknown = || ApiError::Unknown(format!("there is no monitor `{name}`"));
            let monitor = app.store.monitor_named(project, name).await?.ok_or_else(unknown)?;
            let newest = monitor.newest.ok_or_else(unknown)?;
            let version = app.store.rubric_version(project, &newest.rubric_version).await?;
            let subjects = collect_trace_claims(&app.store, project, &version).await?;
            Ok((version, subjects))
        }
        (Some(run), None) => {
            let run: RunId = run.parse().map_err(ApiError::bad)?;
            let run = app.store.load_run(project, run).await?;
            crate::annotate::collect_run_claims(
                &app.store,
                project,
                &app.settings.region,
                &run,
                clock::current_time(),
            )
            .await
            .map_err(Into::into)
        }
        _ => Err(ApiError::bad("`verify` names a `run` or a `monitor`")),
    }
}

/// A task with its questions
#[utoipa::path(get, path = "/tasks/{task}", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)), responses(
    (status = 200, body = TaskInFull), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_task(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<TaskInFull>, ApiError> {
    caller.needs(AccessScope::Annotate).or_else(|_| caller.needs(AccessScope::Read))?;
    let task = app.store.task(caller.project, id.parse()?).await?;
    let (line, definition) = load_task_line(&app, &caller, &task).await?;
    let mut settings = parse_task_settings(&task);
    if caller.needs(AccessScope::Write).is_err() {
        // Annotators must not see the answer keys, nor the list of excluded annotators.
        (settings.training, settings.gold, settings.attention) = (Vec::new(), Vec::new(), Vec::new());
        (settings.completion_code, settings.excluded) = (None, Vec::new());
    }
    Ok(Json(TaskInFull { line, schemes: definition.schemes, settings, version: task.version }))
}

/// Open, close or change a task
#[utoipa::path(patch, path = "/tasks/{task}", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)),
    request_body = TaskChange, responses(
    (status = 200, body = TaskLine), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn update_task(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(change): Json<TaskChange>,
) -> Result<Json<TaskLine>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, now) = (caller.project, clock::current_time());
    let task = app.store.task(project, id.parse()?).await?;
    // A request that is refused changes nothing.
    let state = change.state.as_deref().map(str::parse::<TaskState>).transpose().map_err(ApiError::Bad)?;
    if let Some(changes) = &change.settings {
        let settings = merge_task_settings(&task, changes).map_err(ApiError::bad)?;
        if ["training", "gold", "attention"].iter().any(|key| changes.contains_key(*key)) {
            check_answer_keys(&app.store, project, &task, &settings).await?;
        }
        update_task_settings(&app.store, project, &task, &task.name, &settings, now).await?;
    }
    if let Some(state) = state {
        app.store.set_task_state(project, task.id, state, now).await?;
    }
    record_audit_entry(
        &app,
        &caller,
        "task.change",
        &task.id,
        json!({ "state": change.state, "settings": change.settings }),
    )
    .await?;
    let task = app.store.task(project, task.id).await?;
    Ok(Json(load_task_line(&app, &caller, &task).await?.0))
}

/// Add items to a task; existing items stay unchanged
#[utoipa::path(post, path = "/tasks/{task}/items", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)),
    request_body = MoreItems, responses(
    (status = 200, body = ItemsAdded), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn add_items(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(mut more): Json<MoreItems>,
) -> Result<Json<ItemsAdded>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, now) = (caller.project, clock::current_time());
    let task = app.store.task(project, id.parse()?).await?;
    block_in_place(|| {
        for row in more.rows.iter_mut().flatten() {
            let mut value = serde_json::Value::Object(std::mem::take(row));
            app.settings.redactor.data(&mut value);
            if let serde_json::Value::Object(clean) = value {
                *row = clean;
            }
        }
    });
    let added: Added = match (&more.rows, &more.traces) {
        (Some(rows), None) => {
            let definition = TaskDefinition::of(&app.store, project, task.id, task.version).await?;
            add_rows(&app.store, project, &task, &definition.shape, rows, now).await?
        }
        (None, Some(which)) => {
            let subjects = load_chosen_traces(&app, project, Some(which)).await?;
            add_subjects(&app.store, project, &task, subjects, now).await?
        }
        _ => return Err(ApiError::bad("send `rows` or `traces`")),
    };
    record_audit_entry(&app, &caller, "task.items", &task.id, json!({ "n_new": added.n_new })).await?;
    Ok(Json(ItemsAdded { n_new: added.n_new, n_there: added.n_there }))
}

/// Remove an item from a task; its annotations stay stored
#[utoipa::path(delete, path = "/tasks/{task}/items/{item}", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID), ("item" = String, Path, description = ITEM_ID)), responses(
    (status = 200), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn remove_item(
    State(app): State<App>,
    caller: Principal,
    Path((task, item)): Path<(String, String)>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Write)?;
    let (task, item): (TaskId, ItemId) = (task.parse()?, item.parse()?);
    if app.store.item(caller.project, item).await?.task != task {
        return Err(ApiError::Unknown(format!("there is no item `{item}` in the task")));
    }
    app.store.remove_item(caller.project, item, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "task.item.remove", &item, serde_json::Value::Null).await
}

/// Export all answers, one row each; `excluded` marks those of excluded annotators
#[utoipa::path(get, path = "/tasks/{task}/export", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID), TaskExportQuery), responses(
    (status = 200, description = "In the requested format", content(
        (String = "application/x-ndjson"), (String = "text/csv"), (String = "application/vnd.apache.parquet")
    )),
    (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn export_task_answers(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(wanted): Query<TaskExportQuery>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (kind, of) = match wanted.format.as_deref().unwrap_or("jsonl") {
        "jsonl" => (AnnotationFormat::Jsonl, "application/x-ndjson"),
        "csv" => (AnnotationFormat::Csv, "text/csv; charset=utf-8"),
        #[cfg(feature = "parquet")]
        "parquet" => (AnnotationFormat::Parquet, "application/vnd.apache.parquet"),
        other => {
            return Err(ApiError::Bad(format!(
                "`{other}` is not a format; there are jsonl, csv and parquet"
            )));
        }
    };
    let task = app.store.task(caller.project, id.parse()?).await?;
    let hidden = list_hidden_items(&app.store, caller.project, &task, caller.person).await?;
    let file = export_annotations(&app.store, caller.project, &task, kind, None, |item_id| {
        hidden.contains(&item_id)
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, of)], file).into_response())
}
