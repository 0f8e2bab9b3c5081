//! Signing in and out, and joining by an invitation.

use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jurist_core::grade::Time;
use jurist_store::accounts::{NewAccount, ProjectRole, StoredAccount};
use jurist_store::audit::NewAuditEntry;
use jurist_store::projects::StoredProject;
use jurist_store::{AccountId, StoreError, clock};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use utoipa::{IntoParams, ToSchema};

use super::endpoints::{ApiRoutes, routes};
use super::{Json, Query};
use crate::app::{Access, App};
use crate::auth::{
    AccessScope, COOKIE, ValidInvitation, cookie, find_invitation, hash_password, role_scopes,
    session_account, verify_password,
};
use crate::credential::{AccessSecret, SESSION, hash_secret, sign_in_key};
use crate::error::{ApiError, Problem};

/// Days that a session lasts.
const DAYS: i64 = 14;

pub fn build_session_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(get_session, sign_in, sign_out))
        .routes(routes!(change_password))
        .routes(routes!(join_by_invitation))
        .routes(routes!(join_project))
}

/// The signed-in account and its projects.
#[derive(Debug, Serialize, ToSchema)]
struct SessionView {
    /// Absent on a server without accounts.
    account: Option<SignedInAccount>,
    /// Projects that the account may open.
    projects: Vec<OpenProject>,
}

/// A project with the caller's permissions.
#[derive(Debug, Serialize, ToSchema)]
struct OpenProject {
    /// Id of the project.
    #[schema(example = "prj_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// Name of the project.
    name: String,
    /// Any of `ingest`, `read`, `annotate`, `write`, `manage`.
    scopes: Vec<String>,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
struct SignedInAccount {
    /// Id of the account.
    #[schema(example = "acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: String,
    /// E-mail address of the account.
    email: String,
    /// Name of the account.
    name: String,
    /// May do anything, in every project.
    is_admin: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    /// E-mail address of the account.
    #[schema(max_length = 320)]
    email: String,
    /// Password of the account.
    #[schema(max_length = 1024)]
    password: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Join {
    /// The fragment after `#` in the link.
    invitation: String,
    /// E-mail address with which the person signs in.
    #[schema(max_length = 320)]
    email: String,
    /// Name that others see.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// Password of the new account.
    #[schema(min_length = 10, max_length = 1024)]
    password: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JoinProject {
    /// The fragment after `#` in the link.
    invitation: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPassword {
    /// Current password.
    #[schema(max_length = 1024)]
    old: String,
    /// New password.
    #[schema(min_length = 10, max_length = 1024)]
    new: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SignOutQuery {
    /// End the sessions in all browsers.
    #[serde(default)]
    everywhere: bool,
}

/// The signed-in account and its projects
#[utoipa::path(get, path = "/session", tag = "session", responses(
    (status = 200, body = SessionView), (status = 401, body = Problem)
))]
async fn get_session(State(app): State<App>, headers: HeaderMap) -> Result<Json<SessionView>, ApiError> {
    let all = app.store.projects().await?;
    if app.settings.access == Access::Open {
        let projects = all
            .into_iter()
            .map(|stored_project| OpenProject::new(stored_project, &AccessScope::ALL))
            .collect();
        // An annotator who joined with a name.
        let account = session_account(&app, &headers).await.ok().map(SignedInAccount::from);
        return Ok(Json(SessionView { account, projects }));
    }
    let account = session_account(&app, &headers).await?;
    let mine = app.store.memberships(account.id).await?;
    let role = |project: &StoredProject| match mine
        .iter()
        .find(|project_member| project_member.project == project.id)
    {
        _ if account.is_admin => Some(ProjectRole::Owner),
        member => member.map(|project_member| project_member.role),
    };
    let open = |stored_project: StoredProject| {
        role(&stored_project).map(|role| OpenProject::new(stored_project, role_scopes(role)))
    };
    let projects = all.into_iter().filter_map(open).collect();
    Ok(Json(SessionView { account: Some(account.into()), projects }))
}

/// Sign in; a session begins, and any that the browser had ends
#[utoipa::path(post, path = "/session", tag = "session", security(()), request_body = SignIn, responses(
    (status = 200, body = SignedInAccount), (status = 401, body = Problem), (status = 429, body = Problem)
))]
async fn sign_in(
    State(app): State<App>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Json(credentials): Json<SignIn>,
) -> Result<Response, ApiError> {
    let (now, email) = (clock::current_time(), credentials.email.trim().to_lowercase());
    let key = sign_in_key(&email, origin(&app, from, &headers));
    // Counted as wrong until the password is verified, so that concurrent guesses are counted too.
    if let Some(seconds) = app.lock_out.begin(&key, now) {
        return Err(ApiError::Busy { seconds, why: "too many wrong passwords; wait a little".to_owned() });
    }
    let account =
        app.store.account_by_email(&email).await?.filter(|stored_account| stored_account.disabled.is_none());
    let hash = account.as_ref().and_then(|account| account.password.clone());
    let is_right = verify_password(credentials.password, hash).await;
    let Some(account) = account.filter(|_| is_right) else {
        return Err(ApiError::SignIn("no account has this e-mail address and password".to_owned()));
    };
    app.lock_out.clear_attempts(&key);
    start_session(&app, account, &headers, now).await
}

/// Address of the client; behind a proxy, the address that the proxy sends.
fn origin(app: &App, from: SocketAddr, headers: &HeaderMap) -> IpAddr {
    let peer = from.ip();
    if !app.settings.behind_proxy {
        return peer;
    }
    // Only the last entry is written by the proxy; a client can forge the others.
    let forwarded = headers
        .get_all("x-forwarded-for")
        .iter()
        .next_back()
        .and_then(|header_value| header_value.to_str().ok());
    forwarded.and_then(|forwarded| forwarded.rsplit(',').next()?.trim().parse().ok()).unwrap_or(peer)
}

/// Sign out
#[utoipa::path(delete, path = "/session", tag = "session", security(()), params(SignOutQuery), responses(
    (status = 200), (status = 400, body = Problem), (status = 401, body = Problem)
))]
async fn sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    Query(which): Query<SignOutQuery>,
) -> Result<Response, ApiError> {
    if which.everywhere {
        app.store.sign_out_everywhere(session_account(&app, &headers).await?.id).await?;
    } else if let Some(secret) = cookie(&headers) {
        app.store.sign_out(&hash_secret(&secret)).await?;
    }
    Ok(with_cookie(&app, "", 0, ().into_response()))
}

/// Change the password; all other sessions end
#[utoipa::path(put, path = "/session/password", tag = "session", security(("session" = [])), request_body = NewPassword, responses(
    (status = 200, body = SignedInAccount), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 429, body = Problem)
))]
async fn change_password(
    State(app): State<App>,
    headers: HeaderMap,
    Json(passwords): Json<NewPassword>,
) -> Result<Response, ApiError> {
    let (now, account) = (clock::current_time(), session_account(&app, &headers).await?);
    // Attempts are limited here too, for the case of a browser that was left signed in.
    let key = format!("session {}", account.id);
    if let Some(seconds) = app.lock_out.begin(&key, now) {
        return Err(ApiError::Busy { seconds, why: "too many wrong passwords; wait a little".to_owned() });
    }
    if !verify_password(passwords.old, account.password.clone()).await {
        return Err(ApiError::SignIn("the current password is wrong".to_owned()));
    }
    app.lock_out.clear_attempts(&key);
    app.store.set_password(account.id, Some(&hash_password(passwords.new).await?)).await?;
    record_account_action(&app, account.id, "account.password", now).await?;
    start_session(&app, account, &headers, now).await
}

/// Create an account from an invitation, and sign in
#[utoipa::path(post, path = "/join", tag = "session", security(()), request_body = Join, responses(
    (status = 200, body = SignedInAccount), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 409, body = Problem, description = "The address already has an account")
))]
async fn join_by_invitation(
    State(app): State<App>,
    headers: HeaderMap,
    Json(join): Json<Join>,
) -> Result<Response, ApiError> {
    let now = clock::current_time();
    let invitation = find_invitation(&app, &join.invitation).await?.ok_or_else(invalid_invitation_error)?;
    let (email, name) =
        (join.email.trim().to_lowercase(), super::validate_name("an account", &join.name)?.to_owned());
    let is_address = email.split_once('@').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    if !is_address || 320 < email.len() || email.chars().any(|letter| letter.is_control() || letter == ' ') {
        return Err(ApiError::bad("an e-mail address looks like ada@example.org"));
    }
    let password = Some(hash_password(join.password).await?);
    let new = NewAccount { email, name, password, is_admin: invitation.is_admin };
    let joined = app.store.join(&invitation.token, &new, invitation.role, now).await?;
    let account = joined.ok_or_else(invalid_invitation_error)?;
    record_account_action(&app, account.id, "account.join", now).await?;
    start_session(&app, account, &headers, now).await
}

/// Join another project by an invitation
#[utoipa::path(post, path = "/session/projects", tag = "session", security(("session" = [])), request_body = JoinProject, responses(
    (status = 200, body = OpenProject), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 409, body = Problem, description = "They are already a member")
))]
async fn join_project(
    State(app): State<App>,
    headers: HeaderMap,
    Json(request): Json<JoinProject>,
) -> Result<Json<OpenProject>, ApiError> {
    let (account, now) = (session_account(&app, &headers).await?, clock::current_time());
    let invitation =
        find_invitation(&app, &request.invitation).await?.ok_or_else(invalid_invitation_error)?;
    let ValidInvitation { token, role, is_admin } = invitation;
    let project = token.project;
    if !is_admin && app.store.role(project, account.id).await?.is_some() {
        return Err(ApiError::Conflict("you are already a member of this project".to_owned()));
    }
    if !app.store.join_project(&token, account.id, role, is_admin, now).await? {
        return Err(invalid_invitation_error());
    }
    record_account_action(&app, account.id, "project.join", now).await?;
    Ok(Json(OpenProject::new(app.store.project(project).await?, role_scopes(role))))
}

fn invalid_invitation_error() -> ApiError {
    ApiError::SignIn(
        "the invitation was used, has expired, or its creator may no longer invite people".to_owned(),
    )
}

/// Starts a new session. An existing session cookie is never reused, which prevents session fixation.
async fn start_session(
    app: &App,
    account: StoredAccount,
    headers: &HeaderMap,
    now: Time,
) -> Result<Response, ApiError> {
    let answer = Json(SignedInAccount::from(account.clone())).into_response();
    start_session_with(app, account, headers, now, answer).await
}

/// A session with this answer.
pub(super) async fn start_session_with(
    app: &App,
    account: StoredAccount,
    headers: &HeaderMap,
    now: Time,
    answer: Response,
) -> Result<Response, ApiError> {
    if let Some(old) = cookie(headers) {
        app.store.sign_out(&hash_secret(&old)).await?;
    }
    let secret = AccessSecret::new(SESSION);
    let expires = Time::from_micros(now.micros() + DAYS * 24 * 3_600_000_000);
    app.store.sign_in(&hash_secret(secret.text()), account.id, now, expires).await?;
    record_account_action(app, account.id, "session.begin", now).await?;
    Ok(with_cookie(app, secret.text(), DAYS * 24 * 3600, answer))
}

async fn record_account_action(
    app: &App,
    account: AccountId,
    action: &str,
    now: Time,
) -> Result<(), StoreError> {
    let entry = NewAuditEntry {
        project: None,
        actor: account.to_string(),
        action: action.to_owned(),
        target: account.to_string(),
        body: serde_json::json!({}),
    };
    app.store.note(&entry, now).await.map(drop)
}

fn with_cookie(app: &App, value: &str, seconds: i64, mut response: Response) -> Response {
    let is_https =
        app.settings.public_url.as_deref().is_some_and(|public_url| public_url.starts_with("https:"));
    let secure = if is_https { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let cookie = HeaderValue::from_str(&cookie).expect("secrets are plain letters");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

impl OpenProject {
    fn new(project: StoredProject, scopes: &[AccessScope]) -> Self {
        let scopes = scopes.iter().map(ToString::to_string).collect();
        Self { id: project.id.to_string(), name: project.name, scopes }
    }
}

impl From<StoredAccount> for SignedInAccount {
    fn from(it: StoredAccount) -> Self {
        Self { id: it.id.to_string(), email: it.email, name: it.name, is_admin: it.is_admin }
    }
}
