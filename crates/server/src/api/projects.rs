//! Projects: everything else belongs to one.

use axum::extract::State;
use jurist_core::money::Cap;
use jurist_store::accounts::ProjectRole;
use jurist_store::clock;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Json;
use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal, Who};
use crate::error::{ApiError, Problem};

pub fn build_project_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_projects, create_project))
}

#[derive(Debug, Serialize, ToSchema)]
struct ProjectView {
    /// Id of the project.
    #[schema(example = "prj_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the project.
    name: String,
    /// When the project was created, in UTC (RFC 3339).
    created: String,
    /// Days after which the contents of traces are erased; absent means never. A setting of the server:
    /// `--retention`.
    retention_days: Option<u32>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewProject {
    /// Name of the project, unique on the server.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
}

/// List the projects that you can access
#[utoipa::path(get, path = "/projects", tag = "projects", responses(
    (status = 200, body = Vec<ProjectView>), (status = 401, body = Problem)
))]
async fn list_projects(
    State(app): State<App>,
    caller: Principal,
) -> Result<Json<Vec<ProjectView>>, ApiError> {
    let mut all = app.store.projects().await?;
    match &caller.who {
        Who::Anyone => {}
        Who::Token(_) => all.retain(|stored_project| stored_project.id == caller.project),
        Who::Account(id) if app.store.account(*id).await?.is_admin => {}
        Who::Account(id) => {
            let mine = app.store.memberships(*id).await?;
            all.retain(|stored_project| mine.iter().any(|member| member.project == stored_project.id));
        }
    }
    Ok(Json(all.into_iter().map(|stored_project| ProjectView::new(stored_project, &app)).collect()))
}

/// Create a project; the caller becomes its owner
#[utoipa::path(post, path = "/projects", tag = "projects", request_body = NewProject, responses(
    (status = 200, body = ProjectView), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 409, body = Problem, description = "The name is already used")
))]
async fn create_project(
    State(app): State<App>,
    caller: Principal,
    Json(new): Json<NewProject>,
) -> Result<Json<ProjectView>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let (name, now) = (super::validate_name("a project", &new.name)?, clock::current_time());
    let project = app.store.add_project(name, now).await?;
    let usual = Cap::usual(&app.settings.work.settings.rates);
    app.store.set_cap(project.id, Some(usual)).await?;
    if let Some(account) = caller.owner {
        app.store.set_role(project.id, account, ProjectRole::Owner, now).await?;
    }
    // Noted where the new project's owner looks.
    let caller = Principal { project: project.id, ..caller };
    record_audit_entry(&app, &caller, "project.add", &project.id, json!({ "name": name })).await?;
    Ok(Json(ProjectView::new(project, &app)))
}

impl ProjectView {
    fn new(it: jurist_store::projects::StoredProject, app: &App) -> Self {
        Self {
            id: it.id.to_string(),
            name: it.name,
            created: it.created.to_string(),
            retention_days: app.settings.retention_days,
        }
    }
}
