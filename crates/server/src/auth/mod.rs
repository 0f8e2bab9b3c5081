//! Who is asking, and what they may do.
//!
//! People have accounts and sessions, programs have tokens. Passwords are kept as argon2id, cookies and
//! tokens as their BLAKE3: what the database holds opens nothing.

mod lock_out;
mod password;
mod scope;
mod secret;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use jurist_core::grade::Time;
use jurist_store::accounts::{Account, Role};
use jurist_store::tokens::NewToken;
use jurist_store::{AccountId, ProjectId, StoreError, TokenId, clock};

pub use lock_out::LockOut;
pub use password::{hashed, matches};
pub use scope::{Scope, of_role};
pub use secret::{JOIN, SESSION, Secret, TOKEN, fingerprint};

use crate::app::{Access, App};
use crate::error::ApiError;

/// The cookie that holds a session.
pub const COOKIE: &str = "jurist_session";

/// Names a project, by its name or id, where a token does not.
pub const PROJECT: &str = "jurist-project";

/// Somebody who may ask something of one project.
#[derive(Debug, Clone)]
pub struct Caller {
    pub who: Who,
    /// Whose eyes see the answer: the account, or on an open server that of the browser.
    pub person: Option<AccountId>,
    pub project: ProjectId,
    pub(crate) scopes: Vec<Scope>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The server is open, and asks nobody.
    Anyone,
    Account(AccountId),
    Token(TokenId),
}

impl Caller {
    /// Fails unless they may.
    pub fn needs(&self, scope: Scope) -> Result<(), ApiError> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let why = match self.who {
            Who::Token(_) => format!("the token has no scope `{scope}`"),
            Who::Account(_) | Who::Anyone => format!("this needs a role with `{scope}`"),
        };
        Err(ApiError::Forbidden(why))
    }

    /// Who is meant when somebody sends too much.
    pub fn sender(&self, address: std::net::SocketAddr) -> String {
        match self.who {
            Who::Anyone => address.ip().to_string(),
            Who::Account(_) | Who::Token(_) => self.who.to_string(),
        }
    }

    pub fn account(&self) -> Option<AccountId> {
        if let Who::Account(id) = self.who { Some(id) } else { None }
    }
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anyone => f.write_str("anyone"),
            Self::Account(id) => id.fmt(f),
            Self::Token(id) => id.fmt(f),
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let wanted = named_project(&parts.headers, parts.uri.query());
        if let Some(secret) = bearer(&parts.headers) {
            return by_token(app, &secret, wanted.as_deref()).await;
        }
        if app.settings.access == Access::Open {
            let project = found(app, wanted.as_deref()).await?;
            let person = match signed_in(app, &parts.headers).await {
                Ok(account) => Some(account.id),
                Err(ApiError::SignIn(_)) => None,
                Err(error) => return Err(error),
            };
            return Ok(Self { who: Who::Anyone, person, project, scopes: Scope::ALL.to_vec() });
        }
        let account = signed_in(app, &parts.headers).await?;
        let project = found(app, wanted.as_deref()).await?;
        let role =
            if account.is_admin { Some(Role::Owner) } else { app.store.role(project, account.id).await? };
        // A project one is no member of is as good as none.
        let role = role.ok_or_else(|| ApiError::Unknown("there is no such project".to_owned()))?;
        let (who, person) = (Who::Account(account.id), Some(account.id));
        Ok(Self { who, person, project, scopes: of_role(role).to_vec() })
    }
}

/// The account of a session.
pub async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Account, ApiError> {
    let nobody = || ApiError::SignIn("send a token as `Authorization: Bearer …`, or sign in".to_owned());
    let secret = cookie(headers).ok_or_else(nobody)?;
    let session = app.store.session(&fingerprint(&secret), clock::now()).await?;
    session.map(|it| it.account).ok_or_else(nobody)
}

async fn by_token(app: &App, secret: &str, wanted: Option<&str>) -> Result<Caller, ApiError> {
    let now = clock::now();
    let token = app.store.token(&fingerprint(secret), now).await?;
    let token =
        token.ok_or_else(|| ApiError::SignIn("the token is not known, expired or revoked".to_owned()))?;
    if let Some(wanted) = wanted
        && found(app, Some(wanted)).await.ok() != Some(token.project)
    {
        return Err(ApiError::Unknown("there is no such project".to_owned()));
    }
    app.store.use_token(&token, now).await?;
    let scopes = token.scopes.iter().filter_map(|it| it.parse().ok()).collect();
    Ok(Caller { who: Who::Token(token.id), person: None, project: token.project, scopes })
}

async fn found(app: &App, wanted: Option<&str>) -> Result<ProjectId, ApiError> {
    let Some(wanted) = wanted else { return Ok(app.default_project) };
    let unknown = || ApiError::Unknown("there is no such project".to_owned());
    match wanted.parse::<ProjectId>() {
        Ok(id) => app.store.project(id).await.map(|it| it.id).map_err(|error| match error {
            StoreError::Unknown { .. } => unknown(),
            error => error.into(),
        }),
        Err(_) => app.store.project_named(wanted).await?.map(|it| it.id).ok_or_else(unknown),
    }
}

/// The header, or `project` in the query.
fn named_project(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = headers.get(PROJECT).and_then(|it| it.to_str().ok()).map(str::to_owned);
    header.or_else(|| {
        let mut pairs = query?.split('&').filter_map(|it| it.split_once('='));
        pairs.find(|it| it.0 == "project").map(|it| it.1.replace('+', " "))
    })
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, secret) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

pub fn cookie(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    let mut pairs = all.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|it| it.0 == COOKIE).map(|it| it.1.to_owned())
}

/// A way in for the first owner while there is no account; it works once, for a day.
pub async fn join_link(app: &App, address: &str) -> Result<Option<String>, StoreError> {
    if !app.store.accounts().await?.is_empty() {
        return Ok(None);
    }
    owner_link(app, address).await.map(Some)
}

/// Another way in for an owner, and the only one: whoever has the database needs no other leave.
pub async fn owner_link(app: &App, address: &str) -> Result<String, StoreError> {
    let scope = join_scope(Role::Owner);
    app.store.revoke_unauthored(app.default_project, &scope, clock::now()).await?;
    let secret = invitation(app, app.default_project, Role::Owner, None, clock::now()).await?;
    Ok(format!("{address}/join#{}", secret.text()))
}

/// What a token carries that is an invitation.
fn join_scope(role: Role) -> String {
    format!("join:{}", role.as_str())
}

/// Days that a way in stays open.
const INVITATION_DAYS: i64 = 1;

/// A secret that makes one account, with this role.
pub async fn invitation(
    app: &App,
    project: ProjectId,
    role: Role,
    author: Option<AccountId>,
    now: Time,
) -> Result<Secret, StoreError> {
    let secret = Secret::new(JOIN);
    let expires = Time::from_micros(now.micros() + INVITATION_DAYS * 24 * 3_600_000_000);
    let name = format!("invitation {} {}", role.as_str(), &fingerprint(secret.text())[..8]);
    let scopes = vec![join_scope(role)];
    let new = NewToken { name, hash: fingerprint(secret.text()), scopes, author, expires: Some(expires) };
    app.store.add_token(project, &new, now).await?;
    Ok(secret)
}
