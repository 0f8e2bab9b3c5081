//! Work on tasks: the next item, drafts and submitted answers. Annotators see only their own.

use axum::extract::State;
use jurist_core::annotate::{AnswerCheck, AnswerDraft, Gap, Item, Scheme, complete_draft, gaps};
use jurist_core::grade::Time;
use jurist_store::assignments::{Assignment, AssignmentState, NextAssignment, OwnAssignment, SaveOutcome};
use jurist_store::{AccountId, AssignmentId, TaskId, clock};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{ASSIGNMENT_ID, TASK_ID};
use super::{Json, Path};
use crate::annotate::{
    AssignmentPage, assignment_policy, complete_annotation, load_assignment_context, load_assignment_page,
    parse_task_settings,
};
use crate::app::App;
use crate::auth::{AccessScope, Principal, Who};
use crate::error::{ApiError, Problem};

pub fn build_assignment_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(assign_next_item))
        .routes(routes!(get_assignment))
        .routes(routes!(save_assignment_draft))
        .routes(routes!(submit_assignment))
        .routes(routes!(skip_assignment))
}

/// The item that an annotator works on
#[derive(Debug, Serialize, ToSchema)]
struct WorkShown {
    /// Id of the assignment.
    #[schema(example = "asg_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    assignment: String,
    /// The task that the item belongs to.
    task: TaskName,
    /// As `jurist schema annotation` describes it.
    #[schema(value_type = Object)]
    item: Item,
    /// Id of the row in the data of the task; `null` for traces and cases of runs, and for all items of a task with
    /// gold or attention items, because it could show which items these are.
    #[schema(example = "r1")]
    row: Option<String>,
    /// As `jurist schema annotation` describes them.
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Scheme>,
    /// Current draft, by scheme.
    #[schema(value_type = Object)]
    draft: AnswerDraft,
    /// Revision of the draft; a request that saves or submits it sends this number.
    revision: u64,
    /// `assigned` or `submitted`.
    state: &'static str,
    /// Progress of the annotator in this task.
    progress: OwnProgress,
    /// Your assignment before this one, if you may go back.
    before: Option<String>,
    /// Your assignment after this one, if you may go back; `null` if there is none.
    after: Option<String>,
    /// Your items of this task in the order in which you got them, at most the last 200; empty if you may not go back.
    own: Vec<OwnItem>,
    /// Settings of the task that change the page.
    settings: WorkSettings,
}

/// An item in your list
#[derive(Debug, Serialize, ToSchema)]
struct OwnItem {
    /// Id of the assignment.
    #[schema(example = "asg_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    assignment: String,
    /// `assigned` or `submitted`.
    state: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct TaskName {
    /// Id of the task.
    id: String,
    /// Name of the task.
    name: String,
    /// Description of the task; `null` if it has none.
    description: Option<String>,
}

/// Progress of an annotator
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OwnProgress {
    /// Number of items that the annotator has answered, gold and attention items included.
    pub(super) done: u64,
    /// How many they may still be given.
    pub(super) left: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
struct WorkSettings {
    /// Whether submitted items can be opened and changed.
    back_navigation: bool,
    /// Whether the page shows the weighted score of the answers so far.
    shows_score: bool,
    /// Whether the page shows the descriptions of criteria.
    shows_descriptions: bool,
}

/// The next item, or the reason why there is none
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "it is written at once")]
enum NextWork {
    Work(WorkShown),
    Nothing(NoWork),
}

#[derive(Debug, Serialize, ToSchema)]
struct NoWork {
    /// Always `true`: there is no item now.
    done: bool,
    /// `finished`, `quota`, `closed` or `nothing_now`.
    why: &'static str,
    /// Completion code for the crowd platform.
    code: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SentDraft {
    /// As `jurist schema annotation` describes it.
    #[schema(value_type = Object)]
    draft: AnswerDraft,
    /// The one that was last seen.
    revision: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct DraftSaved {
    /// Revision of the saved draft; the next request sends it.
    revision: u64,
    /// When the draft was saved, in UTC (RFC 3339).
    saved: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct SubmitAnswer {
    /// After training items.
    feedback: Option<TrainingFeedback>,
    /// If it was too fast.
    pace: Option<String>,
    /// Whether there may be a next item.
    next: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct TrainingFeedback {
    /// Whether all answers were correct.
    right: bool,
    /// Each answer with the expected one, as `jurist schema annotation` describes it under `AnswerCheck`.
    #[schema(value_type = Vec<Object>)]
    rows: Vec<AnswerCheck>,
    /// Explanation of the expected answers; `null` if there is none.
    why: Option<String>,
}

/// The annotator's account. On a server without accounts, joining a task creates one.
fn annotator(caller: &Principal) -> Result<AccountId, ApiError> {
    caller.needs(AccessScope::Annotate)?;
    match (caller.person, &caller.who) {
        (Some(id), _) => Ok(id),
        (None, Who::Token(_)) => Err(ApiError::Forbidden("API tokens cannot annotate; sign in".to_owned())),
        (None, _) => Err(ApiError::SignIn("join the task first: POST /join/task".to_owned())),
    }
}

/// The annotator's next item: a started one, or a new one
#[utoipa::path(post, path = "/tasks/{task}/next", tag = "assignments", security(("session" = [])),
    params(("task" = String, Path, description = TASK_ID)), responses(
    (status = 200, body = NextWork), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn assign_next_item(
    State(app): State<App>,
    caller: Principal,
    Path(task): Path<String>,
) -> Result<Json<NextWork>, ApiError> {
    let account = annotator(&caller)?;
    let (task, now): (TaskId, Time) = (task.parse()?, clock::current_time());
    let task = app.store.task(caller.project, task).await?;
    let settings = parse_task_settings(&task);
    let policy = assignment_policy(&settings, account, now);
    let why = match app.store.assign_next(caller.project, task.id, account, &policy, now).await? {
        NextAssignment::Given(it) => {
            let work = load_assignment_context(&app.store, caller.project, it.0).await?;
            let page = load_assignment_page(&app.store, work).await?;
            return Ok(Json(NextWork::Work(page.into())));
        }
        NextAssignment::Finished => "finished",
        NextAssignment::NothingNow => "nothing_now",
        NextAssignment::Quota => "quota",
        NextAssignment::Closed => "closed",
    };
    let code = settings.completion_code.filter(|_| matches!(why, "finished" | "quota"));
    Ok(Json(NextWork::Nothing(NoWork { done: true, why, code })))
}

/// Your own assignment
#[utoipa::path(get, path = "/assignments/{id}", tag = "assignments", security(("session" = [])),
    params(("id" = String, Path, description = ASSIGNMENT_ID)), responses(
    (status = 200, body = WorkShown), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_assignment(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<WorkShown>, ApiError> {
    let assignment = load_own_assignment(&app, &caller, &id).await?;
    let work = load_assignment_context(&app.store, caller.project, assignment).await?;
    if work.assignment.state == AssignmentState::Submitted && !work.settings.back_navigation {
        return Err(ApiError::Forbidden("submitted items cannot be reopened in this task".to_owned()));
    }
    app.store.open_assignment(caller.project, work.assignment.id, clock::current_time()).await?;
    let page = load_assignment_page(&app.store, work).await?;
    Ok(Json(page.into()))
}

/// Save the current draft
#[utoipa::path(put, path = "/assignments/{id}/draft", tag = "assignments", security(("session" = [])),
    params(("id" = String, Path, description = ASSIGNMENT_ID)),
    request_body = SentDraft, responses(
    (status = 200, body = DraftSaved), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "The draft was changed in the meantime; `newer` has the current one")
))]
async fn save_assignment_draft(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(sent): Json<SentDraft>,
) -> Result<Json<DraftSaved>, ApiError> {
    let assignment = load_own_assignment(&app, &caller, &id).await?;
    let task = app.store.task(caller.project, assignment.task).await?;
    let settings = parse_task_settings(&task);
    if assignment.state == AssignmentState::Submitted && !settings.back_navigation {
        return Err(ApiError::Forbidden("submitted answers cannot be changed in this task".to_owned()));
    }
    let now = clock::current_time();
    let until = assignment_policy(&settings, assignment.account, now).until;
    let draft = serde_json::to_value(&sent.draft).expect("a draft is plain data");
    let saved =
        app.store.save_draft(caller.project, assignment.id, &draft, sent.revision, now, until).await?;
    let revision = saved_revision(saved)?;
    Ok(Json(DraftSaved { revision, saved: now.to_string() }))
}

/// Submit an assignment; incomplete answers are refused with the missing parts
#[utoipa::path(post, path = "/assignments/{id}/submit", tag = "assignments", security(("session" = [])),
    params(("id" = String, Path, description = ASSIGNMENT_ID)),
    request_body = SentDraft, responses(
    (status = 200, body = SubmitAnswer), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "The draft was changed in the meantime; `newer` has the current one"),
    (status = 422, body = Problem, description = "The answers are incomplete; `missing` lists what is needed")
))]
async fn submit_assignment(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(sent): Json<SentDraft>,
) -> Result<Json<SubmitAnswer>, ApiError> {
    let (project, now) = (caller.project, clock::current_time());
    let assignment = load_own_assignment(&app, &caller, &id).await?;
    let work = load_assignment_context(&app.store, project, assignment).await?;
    let missing = gaps(&work.schemes, &sent.draft);
    if !missing.is_empty() {
        return Err(incomplete(&missing));
    }
    let draft = complete_draft(&work.schemes, sent.draft);
    let body = serde_json::to_value(&draft).expect("a draft is plain data");
    let is_submitted = work.assignment.state == AssignmentState::Submitted;
    // Sent again, since the acknowledgement was lost: what may be left to do after the answer was stored is done then.
    let is_repeated = is_submitted && work.assignment.is_saved(&body, sent.revision);
    if is_submitted && !is_repeated && !work.settings.back_navigation {
        return Err(ApiError::Forbidden("submitted answers cannot be changed in this task".to_owned()));
    }
    saved_revision(app.store.submit(project, work.assignment.id, &body, sent.revision, now).await?)?;
    let answers = app.store.annotations_of(project, work.assignment.item).await?;
    let own =
        answers.iter().filter(|submitted_annotation| submitted_annotation.account == work.assignment.account);
    let answer =
        own.max_by_key(|submitted_annotation| submitted_annotation.revision).ok_or(ApiError::Broken)?;
    let attempt = u32::try_from(answer.revision).unwrap_or(u32::MAX);
    let finished = complete_annotation(&app.store, project, &work, &draft, attempt, now).await?;
    if is_repeated {
        let account = work.assignment.account;
        app.outputs.rewrite_answers(&app.store, project, &work.task, account).await;
    } else {
        app.outputs.write_answer(&app.store, project, &work, answer).await;
    }
    let feedback = finished.feedback.map(|(rows, why)| TrainingFeedback {
        right: rows.iter().all(|answer_check| answer_check.ok),
        rows,
        why,
    });
    Ok(Json(SubmitAnswer { feedback, pace: finished.pace, next: true }))
}

/// Skip an assignment, so that it is assigned to another annotator
#[utoipa::path(post, path = "/assignments/{id}/skip", tag = "assignments", security(("session" = [])),
    params(("id" = String, Path, description = ASSIGNMENT_ID)), responses(
    (status = 200), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "It was submitted")
))]
async fn skip_assignment(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<(), ApiError> {
    let assignment = load_own_assignment(&app, &caller, &id).await?;
    match app.store.skip(caller.project, assignment.id, clock::current_time()).await? {
        true => Ok(()),
        false => Err(ApiError::Conflict("it is already submitted and cannot be skipped".to_owned())),
    }
}

/// The caller's own assignment; those of others count as missing.
async fn load_own_assignment(app: &App, caller: &Principal, id: &str) -> Result<Assignment, ApiError> {
    let account = annotator(caller)?;
    let id: AssignmentId = id.parse()?;
    let assignment = app.store.assignment(caller.project, id).await?;
    match assignment.account == account {
        true => Ok(assignment),
        false => Err(ApiError::Unknown(format!("there is no assignment `{id}`"))),
    }
}

fn saved_revision(saved: SaveOutcome) -> Result<u64, ApiError> {
    match saved {
        SaveOutcome::Done { revision } => Ok(revision),
        SaveOutcome::Newer { draft, revision } => Err(ApiError::With {
            problem: Box::new(ApiError::Conflict("the draft was changed in the meantime".to_owned())),
            more: serde_json::json!({ "newer": { "draft": draft, "revision": revision } }),
        }),
        SaveOutcome::Ended => {
            Err(ApiError::Conflict("the item was removed from the task, or skipped".to_owned()))
        }
    }
}

fn incomplete(missing: &[Gap]) -> ApiError {
    let rows: Vec<String> = missing.iter().take(5).map(|gap| format!("`{}`: {}", gap.row, gap.why)).collect();
    ApiError::With {
        problem: Box::new(ApiError::Senseless(format!("not complete yet: {}", rows.join("; ")))),
        more: serde_json::json!({ "missing": missing }),
    }
}

fn state_word(is_submitted: bool) -> &'static str {
    if is_submitted { "submitted" } else { "assigned" }
}

impl From<&OwnAssignment> for OwnItem {
    fn from(own: &OwnAssignment) -> Self {
        Self { assignment: own.id.to_string(), state: state_word(own.is_submitted) }
    }
}

impl From<AssignmentPage> for WorkShown {
    fn from(page: AssignmentPage) -> Self {
        let AssignmentPage { context: it, progress, before, after, own } = page;
        let back = it.settings.back_navigation;
        Self {
            assignment: it.assignment.id.to_string(),
            task: TaskName { id: it.task.id.to_string(), name: it.task.name, description: it.description },
            item: it.item,
            row: it.row,
            schemes: it.schemes,
            draft: it.draft,
            revision: it.assignment.revision,
            state: state_word(it.assignment.state == AssignmentState::Submitted),
            progress: OwnProgress { done: progress.n_done, left: Some(progress.n_left) },
            before: before.filter(|_| back).map(|assignment_id| assignment_id.to_string()),
            after: after.filter(|_| back).map(|assignment_id| assignment_id.to_string()),
            own: own.iter().filter(|_| back).map(OwnItem::from).collect(),
            settings: WorkSettings {
                back_navigation: back,
                shows_score: it.settings.shows_score,
                shows_descriptions: it.settings.shows_descriptions,
            },
        }
    }
}
