//! The people of a project, and how others come in.

use axum::extract::State;
use jurist_store::accounts::ProjectRole;
use jurist_store::{AccountId, clock};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::ACCOUNT_ID;
use super::{Json, Path};
use crate::app::App;
use crate::auth::{AccessScope, Principal, invitation, role_scopes};
use crate::error::{ApiError, Problem};

pub fn build_member_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_members))
        .routes(routes!(set_member_role, delete_member))
        .routes(routes!(create_invitation))
}

#[derive(Debug, Serialize, ToSchema)]
struct MemberView {
    /// Id of the member's account.
    #[schema(example = "acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    account: String,
    /// E-mail address of the member.
    email: String,
    /// Name of the member.
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
struct InvitationLink {
    /// Path and fragment of the link; the fragment after `#` is not sent to the server.
    path: String,
    /// Secret of the invitation. It is shown once.
    invitation: String,
}

/// The people of the project
#[utoipa::path(get, path = "/members", tag = "members", responses(
    (status = 200, body = Vec<MemberView>), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list_members(State(app): State<App>, caller: Principal) -> Result<Json<Vec<MemberView>>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let member = |project_member: jurist_store::accounts::ProjectMember| MemberView {
        account: project_member.account.to_string(),
        email: project_member.email,
        name: project_member.name,
        role: project_member.role.as_str().to_owned(),
    };
    Ok(Json(app.store.members(caller.project).await?.into_iter().map(member).collect()))
}

/// Give a member another role
///
/// Other people join by invitation, so that a person becomes a member only with consent; an administrator may
/// add members.
#[utoipa::path(put, path = "/members/{account}", tag = "members",
    params(("account" = String, Path, description = ACCOUNT_ID)),
    request_body = WithRole, responses(
    (status = 200), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn set_member_role(
    State(app): State<App>,
    caller: Principal,
    Path(account): Path<String>,
    Json(wanted): Json<WithRole>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Manage)?;
    let (account, role): (AccountId, ProjectRole) =
        (account.parse()?, wanted.role.parse().map_err(ApiError::Bad)?);
    require_role_scopes(&caller, role)?;
    let is_member = app.store.role(caller.project, account).await?.is_some();
    if !is_member && !caller.is_admin(&app).await? {
        let why = format!("`{account}` is not a member of the project; send an invitation");
        return Err(ApiError::Unknown(why));
    }
    app.store.account(account).await?;
    app.store.set_role(caller.project, account, role, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "member.role", &account, json!({ "role": role })).await
}

/// Remove a member from the project
#[utoipa::path(delete, path = "/members/{account}", tag = "members",
    params(("account" = String, Path, description = ACCOUNT_ID)), responses(
    (status = 200), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn delete_member(
    State(app): State<App>,
    caller: Principal,
    Path(account): Path<String>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Manage)?;
    let account: AccountId = account.parse()?;
    if !app.store.remove_member(caller.project, account, clock::current_time()).await? {
        return Err(ApiError::Unknown(format!("`{account}` is not a member of the project")));
    }
    record_audit_entry(&app, &caller, "member.remove", &account, Value::Null).await
}

/// Create an invitation link for one person, valid for a day
#[utoipa::path(post, path = "/invitations", tag = "members", request_body = WithRole, responses(
    (status = 200, body = InvitationLink), (status = 400, body = Problem), (status = 403, body = Problem)
))]
async fn create_invitation(
    State(app): State<App>,
    caller: Principal,
    Json(wanted): Json<WithRole>,
) -> Result<Json<InvitationLink>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let role: ProjectRole = wanted.role.parse().map_err(ApiError::Bad)?;
    require_role_scopes(&caller, role)?;
    let secret = invitation(&app, caller.project, role, caller.owner, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "member.invite", &"", json!({ "role": role })).await?;
    let path = format!("/join#{}", secret.text());
    Ok(Json(InvitationLink { path, invitation: secret.text().to_owned() }))
}

/// A member cannot give a role with more scopes than their own.
fn require_role_scopes(caller: &Principal, role: ProjectRole) -> Result<(), ApiError> {
    role_scopes(role).iter().try_for_each(|access_scope| caller.needs(*access_scope))
}
