//! Joining a task: links, names, and ids of crowd platforms.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use jurist_store::accounts::{NewAccount, ProjectRole, StoredAccount};
use jurist_store::annotate::Task;
use jurist_store::{ProjectId, TaskId, clock};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::TASK_ID;
use super::session::start_session_with;
use super::{Json, Path};
use crate::annotate::{parse_task_settings, task_link};
use crate::app::{Access, App};
use crate::auth::{AccessScope, Principal, TaskLinkTarget, find_task_link, session_account};
use crate::credential::hash_secret;
use crate::error::{ApiError, Problem};

pub fn build_task_join_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(create_join_link)).routes(routes!(join_task))
}

/// Invitation links for annotators
#[derive(Debug, Serialize, ToSchema)]
struct TaskLinks {
    /// Link for people, who enter their name.
    url: String,
    /// Link for crowd platforms, which fill in the id; `null` if the setting `crowd` of the task is off.
    crowd_url: Option<String>,
}

/// Name or crowd id of the person who joins
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JoinTask {
    /// The text after `#task=` in a link.
    token: Option<String>,
    /// Id of the task; on a server with accounts, a link's `token` is needed instead.
    task: Option<String>,
    /// Name of the annotator, unique in the project.
    #[schema(max_length = 100)]
    name: Option<String>,
    /// Id on a crowd platform, which replaces the name.
    crowd: Option<CrowdId>,
}

/// An id that a platform put into the address
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CrowdId {
    /// Such as `PROLIFIC_PID`.
    #[schema(max_length = 50)]
    key: String,
    /// Id of the person on the crowd platform.
    #[schema(min_length = 1, max_length = 100)]
    id: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct JoinedTask {
    /// Id of the project.
    project: String,
    /// Id of the task.
    task: String,
    /// Id of the annotator's account.
    account: String,
    /// Name of the annotator.
    name: String,
}

/// Create invitation links for annotators without accounts
///
/// The settings of the task are not changed. With the setting `crowd`, the response also has a link for crowd platforms.
#[utoipa::path(post, path = "/tasks/{task}/links", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)), responses(
    (status = 200, body = TaskLinks), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn create_join_link(
    State(app): State<App>,
    caller: Principal,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<TaskLinks>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, now) = (caller.project, clock::current_time());
    let task = app.store.task(project, id.parse()?).await?;
    let fragment = task_link(&app.store, project, &task, caller.owner, now).await?;
    record_audit_entry(&app, &caller, "task.link", &task.id, serde_json::Value::Null).await?;
    let host = headers.get(header::HOST).and_then(|header| header.to_str().ok()).unwrap_or("localhost");
    let address = app.settings.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
    Ok(Json(TaskLinks {
        url: format!("{address}/join#{fragment}"),
        crowd_url: parse_task_settings(&task)
            .crowd
            .then(|| format!("{address}/annotate/{}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}", task.id)),
    }))
}

/// Join a task by a link, by an id from a platform, or on an open server by a name
///
/// The same id, or on a server without accounts the same name, is the same person. On a server with accounts, a name
/// that is used in the project, also in another task, needs the session cookie of its first join.
#[utoipa::path(post, path = "/join/task", tag = "tasks", security(()), request_body = JoinTask, responses(
    (status = 200, body = JoinedTask), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
))]
async fn join_task(
    State(app): State<App>,
    headers: HeaderMap,
    Json(request): Json<JoinTask>,
) -> Result<Response, ApiError> {
    let now = clock::current_time();
    let (project, task) = find_joinable_task(&app, &request).await?;
    let (kind, id, name) = match (&request.crowd, &request.name) {
        (Some(crowd), _) => {
            let id = super::validate_name("the participant id", &crowd.id)?;
            (super::validate_name("a platform", &crowd.key)?, id, id)
        }
        (None, Some(name)) => {
            let name = super::validate_name("the name of the annotator", name)?;
            ("name", name, name)
        }
        (None, None) => return Err(ApiError::bad("send `name`, or `crowd` with `key` and `id`")),
    };
    let account = annotator_account(&app, project, kind, id, name).await?;
    // On a server without accounts the name identifies a person. On other servers, anyone with the link could use the
    // name of another annotator.
    let is_guess = app.settings.access == Access::Accounts && kind == "name" && account.created < now;
    if is_guess
        && session_account(&app, &headers).await.ok().map(|stored_account| stored_account.id)
            != Some(account.id)
    {
        let why = "this name is already used in the project: choose another one, or continue in the browser where \
            you started (over the API, send the cookie of the first join)";
        return Err(ApiError::Conflict(why.to_owned()));
    }
    let answer = Json(JoinedTask {
        project: project.to_string(),
        task: task.id.to_string(),
        account: account.id.to_string(),
        name: account.name.clone(),
    });
    start_session_with(&app, account, &headers, now, answer.into_response()).await
}

/// The task that a person may join.
async fn find_joinable_task(app: &App, request: &JoinTask) -> Result<(ProjectId, Task), ApiError> {
    let closed = || ApiError::SignIn("the link is invalid, expired or revoked".to_owned());
    if let Some(token) = &request.token {
        let TaskLinkTarget { project, task } = find_task_link(app, token).await?.ok_or_else(closed)?;
        return Ok((project, app.store.task(project, task).await?));
    }
    let id = request.task.as_deref().ok_or_else(|| ApiError::bad("send `token` or `task`"))?;
    let id: TaskId = id.parse().map_err(ApiError::bad)?;
    let is_open = app.settings.access == Access::Open;
    for project in app.store.projects().await? {
        match app.store.task(project.id, id).await {
            Ok(task) if is_open || (request.crowd.is_some() && parse_task_settings(&task).crowd) => {
                return Ok((project.id, task));
            }
            Ok(_) | Err(jurist_store::StoreError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Clients without a link must not learn whether the task exists.
    Err(closed())
}

/// The account of a person without e-mail and password: the same for the same name or id.
async fn annotator_account(
    app: &App,
    project: ProjectId,
    kind: &str,
    id: &str,
    name: &str,
) -> Result<StoredAccount, ApiError> {
    let now = clock::current_time();
    let hash = hash_secret(&format!("{project}\n{kind}\n{}", id.to_lowercase()));
    let email = format!("{}@annotators.invalid", &hash[..24]);
    let account = match app.store.account_by_email(&email).await? {
        Some(account) => account,
        None => {
            let new =
                NewAccount { email: email.clone(), name: name.to_owned(), password: None, is_admin: false };
            match app.store.add_member_account(project, &new, ProjectRole::Annotator, now).await {
                // Another request created the account in the meantime.
                Err(jurist_store::StoreError::Taken { .. }) => {
                    app.store.account_by_email(&email).await?.ok_or(ApiError::Broken)?
                }
                added => added?,
            }
        }
    };
    match app.store.role(project, account.id).await? {
        Some(ProjectRole::Annotator) => {}
        // A task link gives no more than the annotator role.
        Some(_) => return Err(ApiError::Forbidden("this account has another role now; sign in".to_owned())),
        // The account was created as a member and has been removed since; a link does not restore it.
        None => return Err(ApiError::Forbidden("this account was removed from the project".to_owned())),
    }
    if account.disabled.is_some() {
        return Err(ApiError::Forbidden("this account is disabled".to_owned()));
    }
    Ok(account)
}
