//! API tokens: shown once, stored as a hash.

use axum::extract::State;
use jurist_core::grade::Time;
use jurist_store::tokens::{NewAccessToken, TokenListing};
use jurist_store::{AccountId, TokenId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::TOKEN_ID;
use super::{Json, Path};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::credential::{AccessSecret, TOKEN, hash_secret};
use crate::error::{ApiError, Problem};

pub fn build_token_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_project_tokens, create_token)).routes(routes!(revoke_token))
}

#[derive(Debug, Serialize, ToSchema)]
struct TokenView {
    /// Id of the token.
    #[schema(example = "tok_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the token.
    name: String,
    /// Scopes; limited by the current role of its owner at each use.
    scopes: Vec<String>,
    /// Absent if the token was created before the server had accounts; such a token has no access.
    made_by: Option<TokenMaker>,
    /// When the token was created, in UTC (RFC 3339).
    created: String,
    /// When the token expires, in UTC (RFC 3339); `null` if it does not.
    expires: Option<String>,
    /// When it was last seen, to the minute.
    used: Option<String>,
    /// When the token was revoked, in UTC (RFC 3339); `null` if it is valid.
    revoked: Option<String>,
}

/// Whose token it is, also if it was made with another token of theirs.
#[derive(Debug, Serialize, ToSchema)]
struct TokenMaker {
    /// Id of the account.
    #[schema(example = "acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    account: String,
    /// Name of the account.
    name: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewTokenRequest {
    /// Name of the token, for lists and the audit log.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// Any of `ingest`, `read`, `annotate`, `write`, `manage`.
    #[schema(min_items = 1)]
    scopes: Vec<String>,
    /// Days until the token expires; it does not expire by default.
    #[schema(minimum = 1, maximum = 3650)]
    days: Option<u32>,
}

/// A token with its secret, which is not shown again.
#[derive(Serialize, ToSchema)]
struct CreatedToken {
    #[serde(flatten)]
    token: TokenView,
    /// The token. It is shown once.
    secret: String,
}

/// The project's tokens, without their secrets
#[utoipa::path(get, path = "/tokens", tag = "tokens", responses(
    (status = 200, body = Vec<TokenView>), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list_project_tokens(
    State(app): State<App>,
    caller: Principal,
) -> Result<Json<Vec<TokenView>>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let all = app.store.tokens(caller.project).await?;
    Ok(Json(all.into_iter().map(TokenView::from).collect()))
}

/// A new token; its secret is in this answer and nowhere else
#[utoipa::path(post, path = "/tokens", tag = "tokens", request_body = NewTokenRequest, responses(
    (status = 200, body = CreatedToken), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 409, body = Problem)
))]
async fn create_token(
    State(app): State<App>,
    caller: Principal,
    Json(new): Json<NewTokenRequest>,
) -> Result<Json<CreatedToken>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let (name, now) = (super::validate_name("a token", &new.name)?, clock::current_time());
    if new.scopes.is_empty() {
        return Err(ApiError::bad("a token needs at least one scope"));
    }
    for scope in &new.scopes {
        // A token cannot have more scopes than its author.
        caller.needs(scope.parse().map_err(ApiError::Bad)?)?;
    }
    if new.days.is_some_and(|day| day == 0 || 3650 < day) {
        return Err(ApiError::bad("`days` is from 1 to 3650"));
    }
    let expires = new.days.map(|day| Time::from_micros(now.micros() + i64::from(day) * 24 * 3_600_000_000));
    let secret = AccessSecret::new(TOKEN);
    let stored = NewAccessToken {
        name: name.to_owned(),
        hash: hash_secret(secret.text()),
        scopes: new.scopes,
        author: caller.owner,
        expires,
    };
    let token = app.store.add_token(caller.project, &stored, now).await?;
    let owner_name = match token.author {
        Some(account) => Some(app.store.account(account).await?.name),
        None => None,
    };
    record_audit_entry(
        &app,
        &caller,
        "token.add",
        &token.id,
        json!({ "name": token.name, "scopes": token.scopes }),
    )
    .await?;
    Ok(Json(CreatedToken {
        token: TokenListing { token, owner_name }.into(),
        secret: secret.text().to_owned(),
    }))
}

/// Revoke a token
#[utoipa::path(delete, path = "/tokens/{id}", tag = "tokens",
    params(("id" = String, Path, description = TOKEN_ID)), responses(
    (status = 200), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn revoke_token(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<(), ApiError> {
    caller.needs(AccessScope::Manage)?;
    let (id, now): (TokenId, Time) = (id.parse()?, clock::current_time());
    app.store.revoke_token(caller.project, id, now).await?;
    let all = app.store.tokens(caller.project).await?;
    if let Some(listed) = all.iter().find(|listed| listed.token.id == id) {
        record_audit_entry(&app, &caller, "token.revoke", &id, json!({ "name": listed.token.name })).await?;
    }
    Ok(())
}

impl From<TokenListing> for TokenView {
    fn from(listing: TokenListing) -> Self {
        let TokenListing { token, owner_name } = listing;
        let time = |time: Option<Time>| time.map(|time| time.to_string());
        let maker = |(account, name): (AccountId, String)| TokenMaker { account: account.to_string(), name };
        Self {
            id: token.id.to_string(),
            name: token.name,
            scopes: token.scopes,
            made_by: token.author.zip(owner_name).map(maker),
            created: token.created.to_string(),
            expires: time(token.expires),
            used: time(token.used),
            revoked: time(token.revoked),
        }
    }
}
