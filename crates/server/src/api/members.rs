//! The people of a project, and how others come in.

use axum::extract::State;
use jurist_store::accounts::Role;
use jurist_store::{AccountId, clock};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit::note;
use super::{Json, Path};
use crate::app::App;
use crate::auth::{Caller, Scope, invitation, of_role};
use crate::error::{ApiError, Problem};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(set, remove)).routes(routes!(invite))
}

#[derive(Debug, Serialize, ToSchema)]
struct Member {
    #[schema(example = "acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    account: String,
    email: String,
    name: String,
    /// `owner`, `member`, `viewer` or `annotator`.
    role: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WithRole {
    /// `owner`, `member`, `viewer` or `annotator`.
    role: String,
}

/// A way in that works once.
#[derive(Serialize, ToSchema)]
struct Invitation {
    /// Goes after the server's address; what stands after `#` is not sent to it.
    path: String,
    invitation: String,
}

/// The people of the project
#[utoipa::path(get, path = "/members", tag = "members", responses(
    (status = 200, body = Vec<Member>), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list(State(app): State<App>, caller: Caller) -> Result<Json<Vec<Member>>, ApiError> {
    caller.needs(Scope::Manage)?;
    let member = |it: jurist_store::accounts::Member| Member {
        account: it.account.to_string(),
        email: it.email,
        name: it.name,
        role: it.role.as_str().to_owned(),
    };
    Ok(Json(app.store.members(caller.project).await?.into_iter().map(member).collect()))
}

/// Give a member another role
///
/// Others join by an invitation: nobody is taken into a project without having agreed. An administrator may.
#[utoipa::path(put, path = "/members/{account}", tag = "members", params(("account" = String, Path)),
    request_body = WithRole, responses(
    (status = 200), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn set(
    State(app): State<App>,
    caller: Caller,
    Path(account): Path<String>,
    Json(wanted): Json<WithRole>,
) -> Result<(), ApiError> {
    caller.needs(Scope::Manage)?;
    let (account, role): (AccountId, Role) = (account.parse()?, wanted.role.parse().map_err(ApiError::Bad)?);
    refuse_more(&caller, role)?;
    let is_member = app.store.role(caller.project, account).await?.is_some();
    if !is_member && !caller.is_admin(&app).await? {
        let why = format!("`{account}` is no member of the project; an invitation lets somebody join");
        return Err(ApiError::Unknown(why));
    }
    app.store.account(account).await?;
    app.store.set_role(caller.project, account, role, clock::now()).await?;
    note(&app, &caller, "member.role", &account, json!({ "role": role })).await
}

/// Take somebody out of the project
#[utoipa::path(delete, path = "/members/{account}", tag = "members", params(("account" = String, Path)), responses(
    (status = 200), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn remove(State(app): State<App>, caller: Caller, Path(account): Path<String>) -> Result<(), ApiError> {
    caller.needs(Scope::Manage)?;
    let account: AccountId = account.parse()?;
    if !app.store.remove_member(caller.project, account, clock::now()).await? {
        return Err(ApiError::Unknown(format!("`{account}` is no member of the project")));
    }
    note(&app, &caller, "member.remove", &account, Value::Null).await
}

/// A link by which one person joins, within a day
#[utoipa::path(post, path = "/invitations", tag = "members", request_body = WithRole, responses(
    (status = 200, body = Invitation), (status = 400, body = Problem), (status = 403, body = Problem)
))]
async fn invite(
    State(app): State<App>,
    caller: Caller,
    Json(wanted): Json<WithRole>,
) -> Result<Json<Invitation>, ApiError> {
    caller.needs(Scope::Manage)?;
    let role: Role = wanted.role.parse().map_err(ApiError::Bad)?;
    refuse_more(&caller, role)?;
    let secret = invitation(&app, caller.project, role, caller.owner, clock::now()).await?;
    note(&app, &caller, "member.invite", &"", json!({ "role": role })).await?;
    let path = format!("/join#{}", secret.text());
    Ok(Json(Invitation { path, invitation: secret.text().to_owned() }))
}

/// Nobody hands on more than they have.
fn refuse_more(caller: &Caller, role: Role) -> Result<(), ApiError> {
    of_role(role).iter().try_for_each(|it| caller.needs(*it))
}
