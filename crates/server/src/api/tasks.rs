//! Annotation tasks: made and watched by their owners, joined by those who answer.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use jurist_core::annotate::{Draft, Item, Quote, Rating, Scheme, Settings, disagreement, said, unit_of};
use jurist_core::grade::{GraderKind, Outcome, Value};
use jurist_core::run::RunId;
use jurist_core::stats::{Level, Measure, Ratings, agreement, align};
use jurist_engine::bundle::Bundle;
use jurist_store::accounts::{Account, NewAccount, Role};
use jurist_store::adjudications::{Adjudication, NewAdjudication};
use jurist_store::annotate::{ItemRole, Task, TaskState};
use jurist_store::grades::GradeFilter;
use jurist_store::labels::NewLabel;
use jurist_store::rubrics::RubricVersion;
use jurist_store::{AccountId, ItemId, ProjectId, RubricVersionId, TaskId, clock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::assignments::OwnProgress;
use super::audit::note;
use super::session::begin_with;
use super::traces::Which;
use super::{Json, Path, Query};
use crate::annotate::{
    Added, Answered, Asked, Kind, Subject, add_rows, add_traces, answers, exported, from_annotation,
    from_rubric, hidden, judged, names, people_of, settings_of, settle, task_link, titles, verification,
};
use crate::app::{Access, App};
use crate::auth::{Caller, Scope, Who, fingerprint, signed_in};
use crate::error::{ApiError, Problem};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(show, change))
        .routes(routes!(add_items))
        .routes(routes!(remove_item))
        .routes(routes!(link))
        .routes(routes!(join))
        .routes(routes!(people))
        .routes(routes!(disputes))
        .routes(routes!(item_answers))
        .routes(routes!(decide))
        .routes(routes!(agreed))
        .routes(routes!(export))
}

/// A task
#[derive(Debug, Serialize, ToSchema)]
struct TaskLine {
    #[schema(example = "ant_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    name: String,
    description: Option<String>,
    /// `open` or `closed`.
    state: String,
    created: String,
    progress: TaskProgress,
    mine: OwnProgress,
    may: MayDo,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskProgress {
    n_items: u64,
    n_done: u64,
    n_wanted: u64,
    n_submitted: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct MayDo {
    annotate: bool,
    manage: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskLines {
    items: Vec<TaskLine>,
}

/// A task with what it asks
#[derive(Debug, Serialize, ToSchema)]
struct TaskInFull {
    #[serde(flatten)]
    line: TaskLine,
    /// As `annotation.schema.json` describes them.
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Scheme>,
    /// As `annotation.schema.json` describes them.
    #[schema(value_type = Object)]
    settings: Settings,
    /// Its version, which grows when something else is asked.
    version: u64,
}

/// A task from a file, from a rubric over traces, or of a judge's answers
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TaskMade {
    /// The path of an annotation file; one of `files`.
    config: Option<String>,
    /// Texts by their path.
    #[serde(default)]
    files: BTreeMap<String, String>,
    name: Option<String>,
    /// The name of a rubric, or the id of a version.
    rubric: Option<String>,
    /// Which traces, as `GET /traces` takes it.
    #[schema(value_type = Option<Object>)]
    traces: Option<Which>,
    verify: Option<JudgedBy>,
    /// As `annotation.schema.json` describes them.
    #[schema(value_type = Option<Object>)]
    settings: Option<Settings>,
}

/// Whose answers are confirmed or corrected
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JudgedBy {
    run: Option<String>,
    monitor: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TaskChange {
    /// `open` or `closed`.
    state: Option<String>,
    /// Instead of those that hold.
    #[schema(value_type = Option<Object>)]
    settings: Option<Settings>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoreItems {
    #[schema(value_type = Option<Vec<Object>>)]
    rows: Option<Vec<Map<String, serde_json::Value>>>,
    /// Which traces, as `GET /traces` takes it.
    #[schema(value_type = Option<Object>)]
    traces: Option<Which>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ItemsAdded {
    n_new: usize,
    n_there: usize,
}

/// Ways in for those who answer
#[derive(Debug, Serialize, ToSchema)]
struct TaskLinks {
    /// For people, who say their names.
    url: String,
    /// For platforms, which fill in who comes.
    crowd_url: String,
}

/// Who joins, and how
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JoinTask {
    /// What stands after `#task=` in a link.
    token: Option<String>,
    task: Option<String>,
    #[schema(max_length = 100)]
    name: Option<String>,
    crowd: Option<CrowdId>,
}

/// An id that a platform put into the address
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CrowdId {
    /// Such as `PROLIFIC_PID`.
    #[schema(max_length = 50)]
    key: String,
    #[schema(min_length = 1, max_length = 100)]
    id: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct JoinedTask {
    project: String,
    task: String,
    account: String,
    name: String,
}

/// How people work
#[derive(Debug, Serialize, ToSchema)]
struct PeopleAtWork {
    items: Vec<PersonAtWork>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PersonAtWork {
    account: String,
    name: String,
    n_done: usize,
    median_seconds: Option<f64>,
    too_fast: usize,
    gold: RightOfAll,
    attention: RightOfAll,
    training: RightOfAll,
    last: Option<String>,
    drift: Option<RatingDrift>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RightOfAll {
    right: usize,
    all: usize,
}

/// The mean of somebody's ratings on 0 to 1, in the first and in the second half of their work
#[derive(Debug, Serialize, ToSchema)]
struct RatingDrift {
    first: f64,
    second: f64,
}

/// Where people differ, the worst first
#[derive(Debug, Serialize, ToSchema)]
struct Disputes {
    items: Vec<Dispute>,
    /// Send it as `after`; absent at the end.
    next: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Dispute {
    item: String,
    candidate: String,
    /// Its first words.
    title: String,
    scheme: String,
    criterion: String,
    label: String,
    /// From 0 to 1.
    disagreement: f64,
    ratings: Vec<GivenRating>,
    /// The scale, lowest first.
    #[schema(value_type = Vec<Object>)]
    points: Vec<jurist_core::annotate::ScalePoint>,
    decided: Option<Decided>,
}

#[derive(Debug, Serialize, ToSchema)]
struct GivenRating {
    account: String,
    name: String,
    #[schema(value_type = Object)]
    rating: Rating,
    comment: Option<String>,
    #[schema(value_type = Vec<Object>)]
    evidence: Vec<Quote>,
}

/// What somebody decided
#[derive(Debug, Clone, Serialize, ToSchema)]
struct Decided {
    scheme: String,
    criterion: String,
    #[schema(value_type = Object)]
    rating: serde_json::Value,
    by: Option<String>,
    time: String,
    why: Option<String>,
    cause: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewDecision {
    #[schema(value_type = Object)]
    rating: Rating,
    why: Option<String>,
    /// `guideline`, `mistake`, `ambiguous` or `other`.
    cause: Option<String>,
}

/// What everybody said about an item
#[derive(Debug, Serialize, ToSchema)]
struct ItemAnswers {
    #[schema(value_type = Object)]
    item: Item,
    candidate: String,
    task: String,
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Scheme>,
    answers: Vec<AnswerOfPerson>,
    decisions: Vec<Decided>,
}

#[derive(Debug, Serialize, ToSchema)]
struct AnswerOfPerson {
    account: String,
    name: String,
    #[schema(value_type = Object)]
    draft: Draft,
    seconds: Option<f64>,
    time: String,
}

/// How far people agree
#[derive(Debug, Serialize, ToSchema)]
struct TaskAgreement {
    criteria: Vec<CriterionAgreement>,
    pairs: Vec<PairOfPeople>,
    people: Vec<PersonApart>,
    judge: Vec<JudgeBeside>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CriterionAgreement {
    scheme: String,
    criterion: String,
    label: String,
    metric: &'static str,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    /// Why there is no value.
    undefined: Option<String>,
    n_items: usize,
    n_pairs: usize,
}

#[derive(Debug, Serialize, ToSchema)]
struct PairOfPeople {
    a: String,
    b: String,
    criterion: String,
    /// Quadratic kappa of numbers, kappa of labels.
    value: Option<f64>,
    n: usize,
    undefined: Option<String>,
}

/// What alpha is without somebody
#[derive(Debug, Serialize, ToSchema)]
struct PersonApart {
    name: String,
    criterion: String,
    leave_out: Option<f64>,
    undefined: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgeBeside {
    criterion: String,
    judge: String,
    kappa: Option<f64>,
    interval: Option<(f64, f64)>,
    undefined: Option<String>,
    confusion: Option<ConfusionCounts>,
    disagreements: Vec<JudgeApart>,
}

/// Rows are what most people say, columns what the judge says
#[derive(Debug, Serialize, ToSchema)]
struct ConfusionCounts {
    labels: Vec<String>,
    counts: Vec<Vec<usize>>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgeApart {
    item: String,
    candidate: String,
    /// Its first words.
    title: String,
    judge: String,
    people: Vec<String>,
    reason: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct FromPlace {
    after: Option<usize>,
    /// From 1 to 200; 50 unless told.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AsFile {
    /// `jsonl` or `csv`; `jsonl` unless told.
    format: Option<String>,
}

/// Tasks, the newest first
#[utoipa::path(get, path = "/tasks", tag = "tasks", responses(
    (status = 200, body = TaskLines), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Json<TaskLines>, ApiError> {
    caller.needs(Scope::Annotate).or_else(|_| caller.needs(Scope::Read))?;
    let who = person(&app, &caller, &headers).await;
    let mut items = Vec::new();
    for task in app.store.tasks(caller.project).await? {
        // Those who only answer see what there is to answer.
        if task.state == TaskState::Open || caller.needs(Scope::Read).is_ok() {
            items.push(line(&app, &caller, who, &task).await?.0);
        }
    }
    Ok(Json(TaskLines { items }))
}

async fn line(
    app: &App,
    caller: &Caller,
    who: Option<AccountId>,
    task: &Task,
) -> Result<(TaskLine, Asked), ApiError> {
    let asked = Asked::of(&app.store, caller.project, task.id, task.version).await?;
    let progress = app.store.progress(caller.project, task.id).await?;
    let settings = settings_of(task);
    let mine = match who {
        Some(who) => {
            let mine = app.store.mine(task.id, who).await?;
            let quota = settings.quota.map_or(u64::MAX, |it| u64::from(it).saturating_sub(mine.n_done));
            OwnProgress { done: mine.n_done, left: Some(mine.n_left.min(quota)) }
        }
        None => OwnProgress { done: 0, left: None },
    };
    let line = TaskLine {
        id: task.id.to_string(),
        name: task.name.clone(),
        description: asked.description.clone(),
        state: task.state.as_str().to_owned(),
        created: task.created.to_string(),
        progress: TaskProgress {
            n_items: progress.n_items,
            n_done: progress.n_done,
            n_wanted: progress.n_wanted,
            n_submitted: progress.n_submitted,
        },
        mine,
        may: MayDo {
            annotate: task.state == TaskState::Open && caller.needs(Scope::Annotate).is_ok(),
            manage: caller.needs(Scope::Write).is_ok(),
        },
    };
    Ok((line, asked))
}

/// A new task
///
/// From an annotation file with its data (`config`, `files`), from a rubric over stored traces (`name`, `rubric`,
/// `traces`), or of what judges answered, to confirm or correct it (`name`, `verify`).
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = TaskMade, responses(
    (status = 200, body = TaskLine), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 422, body = Problem, description = "The file is not in order, or there is nothing to ask about")
))]
async fn add(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<TaskMade>,
) -> Result<Json<TaskLine>, ApiError> {
    caller.needs(Scope::Write)?;
    let (project, now) = (caller.project, clock::now());
    let settings = new.settings.clone().unwrap_or_default();
    let task = if let Some(config) = &new.config {
        let annotation = annotation(config, new.files)?;
        let by = (&app.settings.region, caller.account());
        from_annotation(&app.store, project, &annotation, None, by, now).await?.0
    } else {
        let name = super::name("a task", new.name.as_deref().unwrap_or_default())?;
        match (&new.rubric, &new.verify) {
            (Some(rubric), None) => {
                let version = version_of(&app, project, rubric).await?;
                let filter = new.traces.as_ref().map(Which::filter).transpose()?.unwrap_or_default();
                let limit = new.traces.as_ref().and_then(|it| it.limit);
                let task = from_rubric(&app.store, project, name, &version, &settings, now).await?;
                add_traces(&app.store, project, &task, &filter, limit, now).await?;
                task
            }
            (None, Some(of)) => {
                let (version, subjects) = judged_by(&app, project, of).await?;
                verification(&app.store, project, name, &version, subjects, &settings, now).await?.0
            }
            _ => return Err(ApiError::bad("a task is made from `config`, from `rubric`, or from `verify`")),
        }
    };
    note(&app, &caller, "task.add", &task.id, json!({ "name": task.name })).await?;
    let task = app.store.task(project, task.id).await?;
    Ok(Json(line(&app, &caller, None, &task).await?.0))
}

/// What an annotation file says; a data file that is missing is an error here.
fn annotation(
    config: &str,
    files: BTreeMap<String, String>,
) -> Result<jurist_core::suite::Annotation, ApiError> {
    let bundle = Bundle { suite: config.to_owned(), files, ..Bundle::default() };
    let loaded = bundle.load();
    let problems = crate::work::problems(&loaded);
    let suite = loaded.suite.ok_or(ApiError::Senseless(problems))?;
    let annotation = suite.annotation.ok_or_else(|| {
        ApiError::Senseless(format!("`{config}` asks nothing of people: it has no `annotation_schemes`"))
    })?;
    let missing = annotation.data_files.iter().find(|it| {
        let beside = std::path::Path::new(config).with_file_name(it.trim_start_matches("./"));
        !bundle.files.contains_key(it.as_str()) && !bundle.files.contains_key(&*beside.to_string_lossy())
    });
    match missing {
        Some(file) => Err(ApiError::Senseless(format!("`{file}` is named in `data_files` and was not sent"))),
        None => Ok(annotation),
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

/// What judges of a run or a monitor said, and about what.
async fn judged_by(
    app: &App,
    project: ProjectId,
    of: &JudgedBy,
) -> Result<(RubricVersion, Vec<(String, Subject)>), ApiError> {
    match (&of.run, &of.monitor) {
        (None, Some(name)) => {
            let unknown = || ApiError::Unknown(format!("there is no monitor `{name}`"));
            let monitor = app.store.monitor_named(project, name).await?.ok_or_else(unknown)?;
            let newest = monitor.newest.ok_or_else(unknown)?;
            let version = app.store.rubric_version(project, &newest.rubric_version).await?;
            let subjects = judged(&app.store, project, &version).await?;
            Ok((version, subjects))
        }
        (Some(run), None) => {
            let run: RunId = run.parse()?;
            let run = app.store.load_run(project, run).await?;
            crate::annotate::of_run(&app.store, project, &app.settings.region, &run, clock::now())
                .await
                .map_err(Into::into)
        }
        _ => Err(ApiError::bad("`verify` names a `run` or a `monitor`")),
    }
}

/// A task with what it asks
#[utoipa::path(get, path = "/tasks/{task}", tag = "tasks", params(("task" = String, Path)), responses(
    (status = 200, body = TaskInFull), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn show(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<TaskInFull>, ApiError> {
    caller.needs(Scope::Annotate).or_else(|_| caller.needs(Scope::Read))?;
    let task = app.store.task(caller.project, id.parse()?).await?;
    let who = person(&app, &caller, &headers).await;
    let (line, asked) = line(&app, &caller, who, &task).await?;
    let mut settings = settings_of(&task);
    if caller.needs(Scope::Write).is_err() {
        // What would be right is for those who ask, not for those who answer.
        (settings.training, settings.gold, settings.attention) = (Vec::new(), Vec::new(), Vec::new());
        settings.completion_code = None;
    }
    Ok(Json(TaskInFull { line, schemes: asked.schemes, settings, version: task.version }))
}

/// A task opens or closes, or is given out otherwise
#[utoipa::path(patch, path = "/tasks/{task}", tag = "tasks", params(("task" = String, Path)),
    request_body = TaskChange, responses(
    (status = 200, body = TaskLine), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(change): Json<TaskChange>,
) -> Result<Json<TaskLine>, ApiError> {
    caller.needs(Scope::Write)?;
    let (project, now) = (caller.project, clock::now());
    let task = app.store.task(project, id.parse()?).await?;
    if let Some(state) = &change.state {
        let state: TaskState = state.parse().map_err(ApiError::Bad)?;
        app.store.set_task_state(project, task.id, state, now).await?;
    }
    if let Some(settings) = &change.settings {
        settle(&app.store, project, &task, &task.name, settings, now).await?;
    }
    note(
        &app,
        &caller,
        "task.change",
        &task.id,
        json!({ "state": change.state, "settings": change.settings }),
    )
    .await?;
    let task = app.store.task(project, task.id).await?;
    Ok(Json(line(&app, &caller, None, &task).await?.0))
}

/// More to answer about; what is there already is left alone
#[utoipa::path(post, path = "/tasks/{task}/items", tag = "tasks", params(("task" = String, Path)),
    request_body = MoreItems, responses(
    (status = 200, body = ItemsAdded), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn add_items(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(more): Json<MoreItems>,
) -> Result<Json<ItemsAdded>, ApiError> {
    caller.needs(Scope::Write)?;
    let (project, now) = (caller.project, clock::now());
    let task = app.store.task(project, id.parse()?).await?;
    let added: Added = match (&more.rows, &more.traces) {
        (Some(rows), None) => {
            let asked = Asked::of(&app.store, project, task.id, task.version).await?;
            add_rows(&app.store, project, &task, &asked.shape, rows, now).await?
        }
        (None, Some(which)) => {
            add_traces(&app.store, project, &task, &which.filter()?, which.limit, now).await?
        }
        _ => return Err(ApiError::bad("send `rows` or `traces`")),
    };
    note(&app, &caller, "task.items", &task.id, json!({ "n_new": added.n_new })).await?;
    Ok(Json(ItemsAdded { n_new: added.n_new, n_there: added.n_there }))
}

/// Nobody is asked about an item any more; what was answered stays
#[utoipa::path(delete, path = "/tasks/{task}/items/{item}", tag = "tasks",
    params(("task" = String, Path), ("item" = String, Path)), responses(
    (status = 200), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn remove_item(
    State(app): State<App>,
    caller: Caller,
    Path((task, item)): Path<(String, String)>,
) -> Result<(), ApiError> {
    caller.needs(Scope::Write)?;
    let (task, item): (TaskId, ItemId) = (task.parse()?, item.parse()?);
    if app.store.item(caller.project, item).await?.task != task {
        return Err(ApiError::Unknown(format!("there is no item `{item}` in the task")));
    }
    app.store.remove_item(caller.project, item, clock::now()).await?;
    note(&app, &caller, "task.item.remove", &item, serde_json::Value::Null).await
}

/// Ways in for those who answer, without accounts
#[utoipa::path(post, path = "/tasks/{task}/links", tag = "tasks", params(("task" = String, Path)), responses(
    (status = 200, body = TaskLinks), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn link(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<TaskLinks>, ApiError> {
    caller.needs(Scope::Write)?;
    let (project, now) = (caller.project, clock::now());
    let task = app.store.task(project, id.parse()?).await?;
    let settings = Settings { crowd: true, ..settings_of(&task) };
    app.store.set_task_settings(project, task.id, &task.name, &json!(settings), now).await?;
    let secret = task_link(&app.store, project, &task, caller.account(), now).await?;
    note(&app, &caller, "task.link", &task.id, serde_json::Value::Null).await?;
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or("localhost");
    let address = app.settings.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
    Ok(Json(TaskLinks {
        url: format!("{address}/join#task={secret}"),
        crowd_url: format!("{address}/annotate/{}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}", task.id),
    }))
}

/// Join a task by a link, by an id from a platform, or on an open server by a name
///
/// Whoever comes again with the same id, or on an open server with the same name, is the same person.
#[utoipa::path(post, path = "/join/task", tag = "tasks", security(()), request_body = JoinTask, responses(
    (status = 200, body = JoinedTask), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
))]
async fn join(
    State(app): State<App>,
    headers: HeaderMap,
    Json(given): Json<JoinTask>,
) -> Result<Response, ApiError> {
    let now = clock::now();
    let (project, task) = joined(&app, &given).await?;
    let (kind, id, name) = match (&given.crowd, &given.name) {
        (Some(crowd), _) => {
            let id = super::name("somebody from a platform", &crowd.id)?;
            (super::name("a platform", &crowd.key)?, id, id)
        }
        (None, Some(name)) => {
            let name = super::name("somebody who annotates", name)?;
            ("name", name, name)
        }
        (None, None) => return Err(ApiError::bad("say who you are: `name`, or `crowd` with `key` and `id`")),
    };
    let account = annotator_account(&app, project, kind, id, name).await?;
    // On an open server a name is all there is; elsewhere it would let in whoever has the link and knows a name.
    let is_guess = app.settings.access == Access::Accounts && kind == "name" && account.created < now;
    if is_guess && signed_in(&app, &headers).await.ok().map(|it| it.id) != Some(account.id) {
        let why = "somebody joined by this name: say another one, or go on in the browser in which you began";
        return Err(ApiError::Conflict(why.to_owned()));
    }
    let answer = Json(JoinedTask {
        project: project.to_string(),
        task: task.id.to_string(),
        account: account.id.to_string(),
        name: account.name.clone(),
    });
    begin_with(&app, account, &headers, now, answer.into_response()).await
}

/// Which task somebody may join.
async fn joined(app: &App, given: &JoinTask) -> Result<(ProjectId, Task), ApiError> {
    let closed = || ApiError::SignIn("the link has expired, was taken back, or never was".to_owned());
    if let Some(token) = &given.token {
        let token = app.store.token(&fingerprint(token), clock::now()).await?.ok_or_else(closed)?;
        let task = token.scopes.iter().find_map(|it| it.strip_prefix("task:")?.parse::<TaskId>().ok());
        let task = app.store.task(token.project, task.ok_or_else(closed)?).await?;
        return Ok((token.project, task));
    }
    let id: TaskId = given.task.as_deref().ok_or_else(|| ApiError::bad("send `token` or `task`"))?.parse()?;
    let is_open = app.settings.access == Access::Open;
    for project in app.store.projects().await? {
        match app.store.task(project.id, id).await {
            Ok(task) if is_open || (given.crowd.is_some() && settings_of(&task).crowd) => {
                return Ok((project.id, task));
            }
            Ok(_) | Err(jurist_store::StoreError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Whether it is there is nobody's business who has no link to it.
    Err(closed())
}

/// The account of somebody without e-mail and password: the same for the same name or id.
async fn annotator_account(
    app: &App,
    project: ProjectId,
    kind: &str,
    id: &str,
    name: &str,
) -> Result<Account, ApiError> {
    let now = clock::now();
    let hash = fingerprint(&format!("{project}\n{kind}\n{}", id.to_lowercase()));
    let email = format!("{}@annotators.invalid", &hash[..24]);
    let account = match app.store.account_by_email(&email).await? {
        Some(account) => account,
        None => {
            let new =
                NewAccount { email: email.clone(), name: name.to_owned(), password: None, is_admin: false };
            match app.store.add_account(&new, now).await {
                // Somebody was faster with the same name.
                Err(jurist_store::StoreError::Taken { .. }) => {
                    app.store.account_by_email(&email).await?.ok_or(ApiError::Broken)?
                }
                added => added?,
            }
        }
    };
    match app.store.role(project, account.id).await? {
        None => app.store.set_role(project, account.id, Role::Annotator, now).await?,
        Some(Role::Annotator) => {}
        // A link does not open more than annotating.
        Some(_) => return Err(ApiError::Forbidden("this one has another role by now; sign in".to_owned())),
    }
    if account.disabled.is_some() {
        return Err(ApiError::Forbidden("this account may no longer come in".to_owned()));
    }
    Ok(account)
}

/// Whose eyes see it: the account of the caller, or on an open server of the browser.
async fn person(app: &App, caller: &Caller, headers: &HeaderMap) -> Option<AccountId> {
    match &caller.who {
        Who::Account(id) => Some(*id),
        Who::Anyone => signed_in(app, headers).await.ok().map(|it| it.id),
        Who::Token(_) => None,
    }
}

/// How people work: how many, how fast, how right
#[utoipa::path(get, path = "/tasks/{task}/people", tag = "tasks", params(("task" = String, Path)), responses(
    (status = 200, body = PeopleAtWork), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn people(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<PeopleAtWork>, ApiError> {
    caller.needs(Scope::Write)?;
    let task = app.store.task(caller.project, id.parse()?).await?;
    let answers = answers(&app.store, caller.project, &task).await?;
    let of = |(right, all): (usize, usize)| RightOfAll { right, all };
    let items = people_of(&task, &answers).into_iter().map(|(account, it)| PersonAtWork {
        account: account.to_string(),
        name: it.name,
        n_done: it.n_done,
        median_seconds: it.median_seconds,
        too_fast: it.n_too_fast,
        gold: of(it.gold),
        attention: of(it.attention),
        training: of(it.training),
        last: it.last.map(|it| it.to_string()),
        drift: it.halves.map(|(first, second)| RatingDrift { first, second }),
        warnings: it.warnings,
    });
    Ok(Json(PeopleAtWork { items: items.collect() }))
}

/// What one question about one item got.
struct Asking<'a> {
    item: ItemId,
    candidate: &'a str,
    label: String,
    points: Vec<jurist_core::annotate::ScalePoint>,
    ratings: Vec<GivenRating>,
}

type Questions<'a> = BTreeMap<(ItemId, String, String), Asking<'a>>;

/// Every question that somebody answered, by item; of ordinary items.
fn questions<'a>(answers: &'a [Answered], hidden: &BTreeSet<ItemId>) -> Questions<'a> {
    let mut found: Questions<'a> = BTreeMap::new();
    for answer in answers {
        let annotation = &answer.annotation;
        if annotation.role != ItemRole::Item || hidden.contains(&annotation.item) {
            continue;
        }
        for it in said(&answer.schemes, &answer.draft) {
            let key = (annotation.item, it.scheme.to_owned(), it.criterion.clone());
            let asking = found.entry(key).or_insert_with(|| Asking {
                item: annotation.item,
                candidate: &annotation.candidate,
                label: it.label.clone(),
                points: it.points.to_vec(),
                ratings: Vec::new(),
            });
            asking.ratings.push(GivenRating {
                account: annotation.account.to_string(),
                name: answer.name.clone(),
                rating: it.rating,
                comment: it.comment.map(str::to_owned),
                evidence: it.evidence.to_vec(),
            });
        }
    }
    found
}

/// Where people differ, the worst first
#[utoipa::path(get, path = "/tasks/{task}/disputes", tag = "tasks", params(("task" = String, Path), FromPlace),
    responses(
    (status = 200, body = Disputes), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn disputes(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(which): Query<FromPlace>,
) -> Result<Json<Disputes>, ApiError> {
    caller.needs(Scope::Write)?;
    let project = caller.project;
    let task = app.store.task(project, id.parse()?).await?;
    let who = person(&app, &caller, &headers).await;
    let hidden = hidden(&app.store, project, &task, who).await?;
    let answers = answers(&app.store, project, &task).await?;
    let mut decided = decisions(&app, project, app.store.adjudications(project, task.id).await?).await?;
    let differ = |((_, scheme, criterion), it): ((ItemId, String, String), Asking<'_>)| {
        let ratings: Vec<&Rating> = it.ratings.iter().map(|it| &it.rating).collect();
        let disagreement = disagreement(&ratings, &it.points).filter(|it| 0.0 < *it)?;
        Some(Dispute {
            decided: decided.remove(&(it.item, scheme.clone(), criterion.clone())),
            item: it.item.to_string(),
            candidate: it.candidate.to_owned(),
            title: String::new(),
            scheme,
            criterion,
            label: it.label,
            disagreement,
            ratings: it.ratings,
            points: it.points,
        })
    };
    let mut items: Vec<Dispute> = questions(&answers, &hidden).into_iter().filter_map(differ).collect();
    // What is decided is done; of the rest, the worst first, and what more people said before what few did.
    items.sort_by(|a, b| {
        let open = a.decided.is_some().cmp(&b.decided.is_some());
        open.then(b.disagreement.total_cmp(&a.disagreement)).then(b.ratings.len().cmp(&a.ratings.len()))
    });
    let (after, limit) = (which.after.unwrap_or(0), super::limit(which.limit)?);
    let next = (after + limit < items.len()).then_some(after + limit);
    let mut items: Vec<Dispute> = items.into_iter().skip(after).take(limit).collect();
    let asked = Asked::of(&app.store, project, task.id, task.version).await?;
    let shown = items.iter().filter_map(|it| it.item.parse().ok()).collect();
    let titles = titles(&app.store, project, &asked, &shown).await?;
    for it in &mut items {
        it.title = titled(&titles, &it.item, &it.candidate);
    }
    Ok(Json(Disputes { items, next }))
}

fn titled(titles: &BTreeMap<ItemId, String>, item: &str, candidate: &str) -> String {
    let found = item.parse().ok().and_then(|it: ItemId| titles.get(&it));
    found.map_or(candidate, String::as_str).to_owned()
}

type DecidedBy = BTreeMap<(ItemId, String, String), Decided>;

/// The newest decision about each question.
async fn decisions(app: &App, project: ProjectId, all: Vec<Adjudication>) -> Result<DecidedBy, ApiError> {
    let names = names(&app.store, project).await?;
    let one = |it: Adjudication| {
        let text = |key: &str| it.body[key].as_str().map(str::to_owned);
        let decided = Decided {
            scheme: it.scheme.clone(),
            criterion: it.criterion.clone(),
            rating: it.body["rating"].clone(),
            by: it.author.map(|it| names.get(&it).cloned().unwrap_or_else(|| it.to_string())),
            time: it.time.to_string(),
            why: text("why"),
            cause: text("cause"),
        };
        ((it.item, it.scheme, it.criterion), decided)
    };
    Ok(all.into_iter().map(one).collect())
}

/// What everybody said about an item; not for those who still have to answer it
#[utoipa::path(get, path = "/items/{item}/answers", tag = "tasks", params(("item" = String, Path)), responses(
    (status = 200, body = ItemAnswers), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn item_answers(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ItemAnswers>, ApiError> {
    caller.needs(Scope::Write)?;
    let project = caller.project;
    let item = app.store.item(project, id.parse()?).await?;
    let task = app.store.task(project, item.task).await?;
    let who = person(&app, &caller, &headers).await;
    if hidden(&app.store, project, &task, who).await?.contains(&item.id) {
        return Err(ApiError::Forbidden(
            "you have not answered this one yet; others come after you".to_owned(),
        ));
    }
    let asked = Asked::of(&app.store, project, task.id, task.version).await?;
    let (shown, schemes) = asked.about(&app.store, project, &item, None).await?;
    let names = names(&app.store, project).await?;
    let mut newest = BTreeMap::new();
    for it in app.store.annotations_of(project, item.id).await? {
        newest.insert(it.account, it);
    }
    let answers = newest.into_values().map(|it| AnswerOfPerson {
        account: it.account.to_string(),
        name: names.get(&it.account).unwrap_or(&it.name).clone(),
        draft: serde_json::from_value(it.body).unwrap_or_default(),
        seconds: it.seconds,
        time: it.time.to_string(),
    });
    let decided = decisions(&app, project, app.store.adjudications_of(project, item.id).await?).await?;
    Ok(Json(ItemAnswers {
        item: shown,
        candidate: item.candidate.clone(),
        task: task.id.to_string(),
        schemes,
        answers: answers.collect(),
        decisions: decided.into_values().collect(),
    }))
}

/// Decide what holds where people differ; it becomes the label
#[utoipa::path(put, path = "/items/{item}/decisions/{scheme}/{criterion}", tag = "tasks",
    params(("item" = String, Path), ("scheme" = String, Path), ("criterion" = String, Path)),
    request_body = NewDecision, responses(
    (status = 200, body = Decided), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn decide(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path((item, scheme, criterion)): Path<(String, String, String)>,
    Json(new): Json<NewDecision>,
) -> Result<Json<Decided>, ApiError> {
    caller.needs(Scope::Write)?;
    let (project, now) = (caller.project, clock::now());
    let item = app.store.item(project, item.parse()?).await?;
    let task = app.store.task(project, item.task).await?;
    let who = person(&app, &caller, &headers).await;
    if hidden(&app.store, project, &task, who).await?.contains(&item.id) {
        return Err(ApiError::Forbidden("you have not answered this one yet; decide afterwards".to_owned()));
    }
    if let Some(cause) = &new.cause
        && !["guideline", "mistake", "ambiguous", "other"].contains(&cause.as_str())
    {
        return Err(ApiError::bad("`cause` is one of guideline, mistake, ambiguous, other"));
    }
    let asked = Asked::of(&app.store, project, task.id, task.version).await?;
    let (_, schemes) = asked.about(&app.store, project, &item, None).await?;
    let points = points_of(&schemes, &scheme, &criterion)
        .ok_or_else(|| ApiError::Unknown(format!("nothing is asked as `{criterion}` in `{scheme}`")))?;
    if let Rating::Scored { value } = &new.rating
        && !points.is_empty()
        && jurist_core::annotate::point_of(&points, value).is_none()
    {
        return Err(ApiError::Senseless(format!("{} is not on the scale", json!(value))));
    }
    let body = json!({ "rating": new.rating, "why": new.why, "cause": new.cause });
    let adjudication = NewAdjudication {
        task: task.id,
        item: item.id,
        scheme: scheme.clone(),
        criterion: criterion.clone(),
        body,
        author: who,
    };
    let label = match (&new.rating, asked.rubrics.get(&scheme)) {
        (Rating::Scored { value }, Some(graded)) => Some(NewLabel {
            candidate: item.candidate.clone(),
            rubric_version: graded.id.clone(),
            criterion: criterion.clone(),
            value: value.clone(),
            unit: unit_of(&points, &new.rating),
            origin: "adjudicated".to_owned(),
            author: who,
        }),
        _ => None,
    };
    let kept = app.store.adjudicate(project, &adjudication, label.as_ref(), now).await?;
    note(&app, &caller, "task.decide", &item.id, json!({ "scheme": scheme, "criterion": criterion })).await?;
    let decided = decisions(&app, project, vec![kept]).await?;
    decided.into_values().next().map(Json).ok_or(ApiError::Broken)
}

/// The scale of a question; empty where answers have no order, nothing where it is not asked.
fn points_of(
    schemes: &[Scheme],
    scheme: &str,
    criterion: &str,
) -> Option<Vec<jurist_core::annotate::ScalePoint>> {
    use jurist_core::annotate::SchemeKind;
    let found = schemes.iter().find(|it| it.name == scheme)?;
    match &found.kind {
        SchemeKind::Rubric { criteria, overall, .. } => {
            criteria.iter().chain(overall).find(|it| it.name == criterion).map(|it| it.points.clone())
        }
        SchemeKind::Verify { claims } => {
            claims.iter().find(|it| it.id == criterion).map(|it| it.points.clone())
        }
        SchemeKind::Trajectory { steps, .. } => {
            steps.iter().any(|it| it.to_string() == criterion).then(Vec::new)
        }
        _ => (criterion == scheme).then(Vec::new),
    }
}

/// How far people agree, with each other and with judges
#[utoipa::path(get, path = "/tasks/{task}/agreement", tag = "tasks", params(("task" = String, Path)), responses(
    (status = 200, body = TaskAgreement), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn agreed(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<TaskAgreement>, ApiError> {
    caller.needs(Scope::Write)?;
    let project = caller.project;
    let task = app.store.task(project, id.parse()?).await?;
    let who = person(&app, &caller, &headers).await;
    let hidden = hidden(&app.store, project, &task, who).await?;
    let answers = answers(&app.store, project, &task).await?;
    let asked = Asked::of(&app.store, project, task.id, task.version).await?;
    let judges = judges_of(&app, project, &asked).await?;
    let told = tokio::task::spawn_blocking(move || told(&answers, &hidden, &judges)).await;
    let mut told: TaskAgreement = told.map_err(|_| ApiError::Broken)?;
    let mut apart: Vec<&mut JudgeApart> =
        told.judge.iter_mut().flat_map(|it| &mut it.disagreements).collect();
    let shown = apart.iter().filter_map(|it| it.item.parse().ok()).collect();
    let titles = titles(&app.store, project, &asked, &shown).await?;
    for it in &mut apart {
        it.title = titled(&titles, &it.item, &it.candidate);
    }
    Ok(Json(told))
}

/// What judges said: by scheme and criterion, who said what about which candidate, and why.
type Judged = BTreeMap<(String, String), Vec<(String, String, Value, String)>>;

async fn judges_of(app: &App, project: ProjectId, asked: &Asked) -> Result<Judged, ApiError> {
    let mut found = Judged::new();
    for (scheme, graded) in &asked.rubrics {
        let filter = GradeFilter {
            rubric_version: Some(graded.id.clone()),
            grader_kind: Some(GraderKind::Judge),
            ..GradeFilter::default()
        };
        let (mut after, mut n) = (None, 0);
        loop {
            let page = app.store.whole_grades(project, &filter, after.as_ref(), 500).await?;
            n += page.items.len();
            for grade in page.items.into_iter().filter_map(|it| it.1) {
                if let Outcome::Scored { value, .. } = grade.outcome {
                    let said = (grade.grader.name, grade.candidate, value, grade.reason.as_str().to_owned());
                    found.entry((scheme.clone(), grade.criterion)).or_default().push(said);
                }
            }
            after = page.next;
            if after.is_none() || 50_000 <= n {
                break;
            }
        }
    }
    Ok(found)
}

/// Seeds what is resampled, so that the same answers give the same interval.
const SEED: u64 = 1;

fn told(answers: &[Answered], hidden: &BTreeSet<ItemId>, judges: &Judged) -> TaskAgreement {
    let mut told =
        TaskAgreement { criteria: Vec::new(), pairs: Vec::new(), people: Vec::new(), judge: Vec::new() };
    type Entry<'a> = (String, &'a str, Value);
    let all = questions(answers, hidden);
    let mut by_criterion: BTreeMap<(&str, &str), (String, Vec<Entry<'_>>)> = BTreeMap::new();
    let mut items: BTreeMap<&str, ItemId> = BTreeMap::new();
    for ((item, scheme, criterion), asking) in &all {
        items.insert(asking.candidate, *item);
        let of =
            by_criterion.entry((scheme, criterion)).or_insert_with(|| (asking.label.clone(), Vec::new()));
        for rating in &asking.ratings {
            if let Rating::Scored { value } = &rating.rating {
                of.1.push((rating.name.clone(), asking.candidate, value.clone()));
            }
        }
    }
    for ((scheme, criterion), (label, entries)) in &by_criterion {
        let is_ordered = entries.iter().all(|it| matches!(it.2, Value::Number(_)));
        let level = if is_ordered { Level::Ordinal } else { Level::Nominal };
        let rated = Ratings::of_entries(entries.iter().map(|it| (it.0.as_str(), it.1, it.2.clone())));
        let Ok(ratings) = rated else { continue };
        let found = agreement(&ratings, level, SEED);
        let undefined = |it: &Measure| match it {
            Measure::Undefined { undefined } => Some(undefined.clone()),
            Measure::Known(_) => None,
        };
        let alpha = &found.krippendorff_alpha;
        told.criteria.push(CriterionAgreement {
            scheme: (*scheme).to_owned(),
            criterion: (*criterion).to_owned(),
            label: label.clone(),
            metric: "alpha",
            value: alpha.value(),
            interval: alpha.interval(),
            undefined: undefined(alpha),
            n_items: found.n_items,
            n_pairs: found.pairs.len(),
        });
        for pair in &found.pairs {
            let kappa = if is_ordered { &pair.measures.kappa_quadratic } else { &pair.measures.kappa };
            let n = if let Measure::Known(it) = &pair.measures.percent { it.n } else { 0 };
            told.pairs.push(PairOfPeople {
                a: pair.raters.0.clone(),
                b: pair.raters.1.clone(),
                criterion: (*criterion).to_owned(),
                value: kappa.value(),
                n,
                undefined: undefined(kappa),
            });
        }
        told.people.extend(found.without.iter().map(|it| PersonApart {
            name: it.rater.clone(),
            criterion: (*criterion).to_owned(),
            leave_out: it.krippendorff_alpha.value(),
            undefined: undefined(&it.krippendorff_alpha),
        }));
        let judged = judges.get(&((*scheme).to_owned(), (*criterion).to_owned()));
        let names: BTreeSet<&str> = judged.into_iter().flatten().map(|it| it.0.as_str()).collect();
        for name in names {
            let theirs: Vec<_> = judged.into_iter().flatten().filter(|it| it.0 == name).collect();
            told.judge.push(beside(criterion, name, entries, &theirs, level, &items));
        }
    }
    told
}

/// A judge beside people.
fn beside(
    criterion: &str,
    judge: &str,
    people: &[(String, &str, Value)],
    judged: &[&(String, String, Value, String)],
    level: Level,
    items: &BTreeMap<&str, ItemId>,
) -> JudgeBeside {
    // Nobody who answers can be called so.
    let rater = format!("\0{judge}");
    let said = judged.iter().map(|it| (rater.as_str(), it.1.as_str(), it.2.clone()));
    let entries = people.iter().map(|it| (it.0.as_str(), it.1, it.2.clone())).chain(said);
    let aligned = Ratings::of_entries(entries).and_then(|ratings| {
        let humans: Vec<usize> =
            (0..ratings.n_raters()).filter(|it| ratings.raters()[*it] != rater).collect();
        let judge = ratings.rater(&rater).unwrap_or(0);
        align(&ratings, judge, &humans, level, SEED)
    });
    let mut told = JudgeBeside {
        criterion: criterion.to_owned(),
        judge: judge.to_owned(),
        kappa: None,
        interval: None,
        undefined: None,
        confusion: None,
        disagreements: Vec::new(),
    };
    match aligned {
        Err(error) => told.undefined = Some(error.0),
        Ok(found) => {
            let with = &found.with_consensus;
            let kappa = if level == Level::Nominal { &with.kappa } else { &with.kappa_quadratic };
            (told.kappa, told.interval) = (kappa.value(), kappa.interval());
            if let Measure::Undefined { undefined } = kappa {
                told.undefined = Some(undefined.clone());
            }
            let counts = found.confusion;
            told.confusion = Some(ConfusionCounts { labels: counts.labels, counts: counts.counts });
            let apart = found.disagreements.into_iter().take(50).map(|it| JudgeApart {
                item: items.get(it.item.as_str()).map(ToString::to_string).unwrap_or_default(),
                reason: judged.iter().find(|said| said.1 == it.item).map(|said| said.3.clone()),
                candidate: it.item,
                title: String::new(),
                judge: it.judge,
                people: it.humans,
            });
            told.disagreements = apart.collect();
        }
    }
    told
}

/// Every answer that counts, one row each
#[utoipa::path(get, path = "/tasks/{task}/export", tag = "tasks", params(("task" = String, Path), AsFile), responses(
    (status = 200, description = "In the format that was asked for", content(
        (String = "application/x-ndjson"), (String = "text/csv")
    )),
    (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn export(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(wanted): Query<AsFile>,
) -> Result<Response, ApiError> {
    caller.needs(Scope::Read)?;
    let (kind, of) = match wanted.format.as_deref().unwrap_or("jsonl") {
        "jsonl" => (Kind::Jsonl, "application/x-ndjson"),
        "csv" => (Kind::Csv, "text/csv; charset=utf-8"),
        other => return Err(ApiError::Bad(format!("`{other}` is no format; there are jsonl and csv"))),
    };
    let task = app.store.task(caller.project, id.parse()?).await?;
    let who = person(&app, &caller, &headers).await;
    let hidden = hidden(&app.store, caller.project, &task, who).await?;
    let text = exported(&app.store, caller.project, &task, kind, None, |it| hidden.contains(&it)).await?;
    Ok(([(header::CONTENT_TYPE, of)], text).into_response())
}
