//! Accounts of all projects, for administrators.

use axum::extract::State;
use jurist_store::accounts::StoredAccount;
use jurist_store::{AccountId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::ACCOUNT_ID;
use super::{Json, Path};
use crate::app::App;
use crate::auth::Principal;
use crate::error::{ApiError, Problem};

pub fn build_account_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_accounts)).routes(routes!(set_account_disabled))
}

#[derive(Debug, Serialize, ToSchema)]
struct AccountView {
    /// Id of the account.
    #[schema(example = "acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// E-mail address with which the person signs in.
    email: String,
    /// Name that others see.
    name: String,
    /// May do anything, in every project.
    is_admin: bool,
    /// When the account was created, in UTC (RFC 3339).
    created: String,
    /// When the account was disabled.
    disabled: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AccountChange {
    /// Whether the account is disabled: its sessions end, and its tokens and invitations stop working.
    disabled: bool,
}

/// List all accounts
#[utoipa::path(get, path = "/accounts", tag = "accounts", responses(
    (status = 200, body = Vec<AccountView>), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list_accounts(
    State(app): State<App>,
    caller: Principal,
) -> Result<Json<Vec<AccountView>>, ApiError> {
    only_admins(&app, &caller).await?;
    Ok(Json(app.store.accounts().await?.into_iter().map(AccountView::from).collect()))
}

/// Disable or enable an account
#[utoipa::path(patch, path = "/accounts/{id}", tag = "accounts",
    params(("id" = String, Path, description = ACCOUNT_ID)),
    request_body = AccountChange, responses(
    (status = 200, body = AccountView), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem),
    (status = 409, body = Problem, description = "It is your own account")
))]
async fn set_account_disabled(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Json(change): Json<AccountChange>,
) -> Result<Json<AccountView>, ApiError> {
    only_admins(&app, &caller).await?;
    let id: AccountId = id.parse()?;
    if change.disabled && caller.account() == Some(id) {
        return Err(ApiError::Conflict("you cannot disable your own account".to_owned()));
    }
    app.store.account(id).await?;
    app.store.disable_account(id, change.disabled.then(clock::current_time)).await?;
    record_audit_entry(&app, &caller, "account.change", &id, json!({ "disabled": change.disabled })).await?;
    Ok(Json(app.store.account(id).await?.into()))
}

async fn only_admins(app: &App, caller: &Principal) -> Result<(), ApiError> {
    if caller.is_admin(app).await? {
        return Ok(());
    }
    Err(ApiError::Forbidden("this needs an administrator".to_owned()))
}

impl From<StoredAccount> for AccountView {
    fn from(it: StoredAccount) -> Self {
        Self {
            id: it.id.to_string(),
            email: it.email,
            name: it.name,
            is_admin: it.is_admin,
            created: it.created.to_string(),
            disabled: it.disabled.map(|time| time.to_string()),
        }
    }
}
