//! Authentication and permissions.
//!
//! People have accounts and sessions, programs have tokens. The database holds only hashes (argon2id of passwords,
//! BLAKE3 of cookies and tokens), so that a stolen copy gives no access.

mod password;
mod scope;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use jurist_core::grade::Time;
use jurist_store::accounts::{ProjectRole, StoredAccount};
use jurist_store::tokens::{AccessToken, NewAccessToken, TokenInUse, TokenOwner};
use jurist_store::{AccountId, ProjectId, StoreError, TaskId, TokenId, clock};

pub use password::{hash_password, verify_password};
pub use scope::{AccessScope, role_scopes};

use crate::app::{Access, App};
use crate::credential::{AccessSecret, JOIN, hash_secret};
use crate::error::ApiError;

/// The cookie that holds a session.
pub const COOKIE: &str = "jurist_session";

/// Header with the name or id of a project, for clients whose token does not determine it.
pub const PROJECT: &str = "jurist-project";

/// An authenticated client and its project.
#[derive(Debug, Clone)]
pub struct Principal {
    pub who: Who,
    /// The person who sees the response: the account, or on an open server that of the browser.
    pub person: Option<AccountId>,
    /// The account, or the owner of the token; owns what the client creates.
    pub owner: Option<AccountId>,
    pub project: ProjectId,
    pub(crate) scopes: Vec<AccessScope>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Any client of a server without accounts.
    Anyone,
    Account(AccountId),
    Token(TokenId),
}

impl Principal {
    /// Fails if the client does not have the scope.
    pub fn needs(&self, scope: AccessScope) -> Result<(), ApiError> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let why = match self.who {
            Who::Token(_) => {
                format!("the token has no scope `{scope}`, or its owner's role no longer includes it")
            }
            Who::Account(_) | Who::Anyone => format!("this needs a role with `{scope}`"),
        };
        Err(ApiError::Forbidden(why))
    }

    /// Key of the rate limit: token, account, or address.
    pub fn sender(&self, address: std::net::SocketAddr) -> String {
        match self.who {
            Who::Anyone => address.ip().to_string(),
            Who::Account(_) | Who::Token(_) => self.who.to_string(),
        }
    }

    /// Whether the client is an administrator; a token never is.
    pub async fn is_admin(&self, app: &App) -> Result<bool, StoreError> {
        match self.who {
            Who::Anyone => Ok(true),
            Who::Token(_) => Ok(false),
            Who::Account(id) => Ok(app.store.account(id).await?.is_admin),
        }
    }

    /// The person in whose name something is decided or labelled: of a token, its owner. Absent on a server without
    /// accounts if the browser has joined no task.
    pub fn responsible_person(&self) -> Option<AccountId> {
        self.person.or(self.owner)
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

impl FromRequestParts<App> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Self::identify(app, &parts.headers, parts.uri.query()).await
    }
}

impl Principal {
    /// Identifies the client by its headers, with its current permissions.
    pub async fn identify(app: &App, headers: &HeaderMap, query: Option<&str>) -> Result<Self, ApiError> {
        let wanted = named_project(headers, query);
        if let Some(secret) = bearer(headers) {
            return principal_from_token(app, &secret, wanted.as_deref()).await;
        }
        if app.settings.access == Access::Open {
            let project = resolve_project(app, wanted.as_deref()).await?;
            let person = match session_account(app, headers).await {
                Ok(account) => Some(account.id),
                Err(ApiError::SignIn(_)) => None,
                Err(error) => return Err(error),
            };
            return Ok(Self {
                who: Who::Anyone,
                person,
                owner: None,
                project,
                scopes: AccessScope::ALL.to_vec(),
            });
        }
        let account = session_account(app, headers).await?;
        let project = resolve_project(app, wanted.as_deref()).await?;
        let role = if account.is_admin {
            Some(ProjectRole::Owner)
        } else {
            app.store.role(project, account.id).await?
        };
        // Non-members get the same answer as for a project that does not exist.
        let role = role.ok_or_else(|| ApiError::Unknown("there is no such project".to_owned()))?;
        let (who, person) = (Who::Account(account.id), Some(account.id));
        Ok(Self { who, person, owner: person, project, scopes: role_scopes(role).to_vec() })
    }
}

/// The account of a session.
pub async fn session_account(app: &App, headers: &HeaderMap) -> Result<StoredAccount, ApiError> {
    let nobody = || ApiError::SignIn("send a token as `Authorization: Bearer …`, or sign in".to_owned());
    let secret = cookie(headers).ok_or_else(nobody)?;
    let session = app.store.session(&hash_secret(&secret), clock::current_time()).await?;
    session.map(|session| session.account).ok_or_else(nobody)
}

async fn principal_from_token(app: &App, secret: &str, wanted: Option<&str>) -> Result<Principal, ApiError> {
    let now = clock::current_time();
    let unusable = || {
        let why = "the token is not known, expired or revoked, or its owner has no access any more";
        ApiError::SignIn(why.to_owned())
    };
    let TokenInUse { token, owner } =
        app.store.token(&hash_secret(secret), now).await?.ok_or_else(unusable)?;
    let allowed = owner_scopes(app, owner).ok_or_else(unusable)?;
    let scopes: Vec<AccessScope> = token.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
    if scopes.is_empty() {
        // An invitation or a task link is not an API token.
        return Err(unusable());
    }
    if let Some(wanted) = wanted
        && resolve_project(app, Some(wanted)).await.ok() != Some(token.project)
    {
        return Err(ApiError::Unknown("there is no such project".to_owned()));
    }
    app.store.use_token(&token, now).await?;
    let scopes = scopes.into_iter().filter(|scope| allowed.contains(scope)).collect();
    let who = Who::Token(token.id);
    Ok(Principal { who, person: None, owner: token.author, project: token.project, scopes })
}

/// The current scopes of a token's owner. `None` if the owner has no access, so that the token has none either.
fn owner_scopes(app: &App, owner: TokenOwner) -> Option<&'static [AccessScope]> {
    match owner {
        TokenOwner::Has(role) => Some(role_scopes(role)),
        TokenOwner::ShutOut => None,
        // Created while the server had no accounts. It has no owner, so a server with accounts does not accept it.
        TokenOwner::Nobody => (app.settings.access == Access::Open).then_some(&AccessScope::ALL[..]),
    }
}

/// An invitation that can be accepted now.
#[derive(Debug)]
pub struct ValidInvitation {
    pub token: AccessToken,
    pub role: ProjectRole,
    /// The account that accepts it administers the server.
    pub is_admin: bool,
}

/// The invitation with this secret, unless it is used or expired, or its author may no longer invite to its role.
pub async fn find_invitation(app: &App, secret: &str) -> Result<Option<ValidInvitation>, StoreError> {
    let Some(TokenInUse { token, owner }) =
        app.store.token(&hash_secret(secret), clock::current_time()).await?
    else {
        return Ok(None);
    };
    if token.scopes.iter().any(|scope| scope == JOIN_AS_ADMIN) {
        return Ok(Some(ValidInvitation { token, role: ProjectRole::Owner, is_admin: true }));
    }
    let role = token.scopes.iter().find_map(|scope| scope.strip_prefix("join:")?.parse::<ProjectRole>().ok());
    let (Some(role), Some(allowed)) = (role, owner_scopes(app, owner)) else { return Ok(None) };
    let may_invite = allowed.contains(&AccessScope::Manage)
        && role_scopes(role).iter().all(|scope| allowed.contains(scope));
    Ok(may_invite.then_some(ValidInvitation { token, role, is_admin: false }))
}

/// The task that a link leads to.
#[derive(Debug, Clone, Copy)]
pub struct TaskLinkTarget {
    pub project: ProjectId,
    pub task: TaskId,
}

/// The target of a link, unless it is expired or its author may no longer assign work.
pub async fn find_task_link(app: &App, secret: &str) -> Result<Option<TaskLinkTarget>, StoreError> {
    let Some(TokenInUse { token, owner }) =
        app.store.token(&hash_secret(secret), clock::current_time()).await?
    else {
        return Ok(None);
    };
    let is_open = match owner {
        // `jurist start --auth` creates links without an author on the server's machine.
        TokenOwner::Nobody => true,
        TokenOwner::ShutOut => false,
        TokenOwner::Has(role) => role_scopes(role).contains(&AccessScope::Write),
    };
    let task = token.scopes.iter().find_map(|scope| scope.strip_prefix("task:")?.parse().ok());
    Ok(task.filter(|_| is_open).map(|task| TaskLinkTarget { project: token.project, task }))
}

async fn resolve_project(app: &App, wanted: Option<&str>) -> Result<ProjectId, ApiError> {
    let Some(wanted) = wanted else { return Ok(app.default_project) };
    let unknown = || ApiError::Unknown("there is no such project".to_owned());
    match wanted.parse::<ProjectId>() {
        Ok(id) => app.store.project(id).await.map(|project| project.id).map_err(|error| match error {
            StoreError::Unknown { .. } => unknown(),
            error => error.into(),
        }),
        Err(_) => {
            app.store.project_named(wanted).await?.map(|stored_project| stored_project.id).ok_or_else(unknown)
        }
    }
}

/// The header, or `project` in the query.
fn named_project(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = headers.get(PROJECT).and_then(|header| header.to_str().ok()).map(str::to_owned);
    header.or_else(|| {
        let mut pairs = query?.split('&').filter_map(|part| part.split_once('='));
        pairs.find(|(name, _)| *name == "project").map(|(_, project)| project.replace('+', " "))
    })
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, secret) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

pub fn cookie(headers: &HeaderMap) -> Option<String> {
    let all =
        headers.get_all(header::COOKIE).into_iter().filter_map(|header_value| header_value.to_str().ok());
    let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|text| text.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned())
}

/// A link for the first administrator while the server has none; valid once, for a day.
pub async fn join_link(app: &App, address: &str) -> Result<Option<String>, StoreError> {
    if app.store.has_admin().await? {
        return Ok(None);
    }
    owner_link(app, address).await.map(Some)
}

/// Creates an invitation link for an administrator of the server, and revokes earlier ones. It needs no further
/// permission: the command that creates it already has access to the database.
pub async fn owner_link(app: &App, address: &str) -> Result<String, StoreError> {
    let (project, now) = (app.default_project, clock::current_time());
    app.store.revoke_unauthored(project, JOIN_AS_ADMIN, now).await?;
    let secret = add_invitation(app, project, JOIN_AS_ADMIN, None, now).await?;
    Ok(format!("{address}/join#{}", secret.text()))
}

/// The scope of an invitation that only commands on the server's machine create.
const JOIN_AS_ADMIN: &str = "join:administrator";

/// Days that an invitation is valid.
const INVITATION_DAYS: i64 = 1;

/// Creates an invitation to a project with this role; it belongs to its author.
pub async fn invitation(
    app: &App,
    project: ProjectId,
    role: ProjectRole,
    maker: Option<AccountId>,
    now: Time,
) -> Result<AccessSecret, StoreError> {
    add_invitation(app, project, &format!("join:{}", role.as_str()), maker, now).await
}

fn invitation_expiry(now: Time) -> Time {
    Time::from_micros(now.micros() + INVITATION_DAYS * 24 * 3_600_000_000)
}

async fn add_invitation(
    app: &App,
    project: ProjectId,
    scope: &str,
    author: Option<AccountId>,
    now: Time,
) -> Result<AccessSecret, StoreError> {
    let secret = AccessSecret::new(JOIN);
    let expires = invitation_expiry(now);
    let role = scope.trim_start_matches("join:");
    let name = format!("invitation {role} {}", &hash_secret(secret.text())[..8]);
    let scopes = vec![scope.to_owned()];
    let new =
        NewAccessToken { name, hash: hash_secret(secret.text()), scopes, author, expires: Some(expires) };
    app.store.add_token(project, &new, now).await?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Time {
        Time::from_micros(1_772_366_400_000_000)
    }

    #[test]
    fn the_rate_limit_counts_by_token_account_or_address() {
        let principal = |who| Principal {
            who,
            person: None,
            owner: None,
            project: ProjectId::at(now()),
            scopes: Vec::new(),
        };
        let address = "203.0.113.7:4711".parse().unwrap();
        let (account, token) = (AccountId::at(now()), TokenId::at(now()));
        assert_eq!(principal(Who::Anyone).sender(address), "203.0.113.7");
        assert_eq!(principal(Who::Account(account)).sender(address), account.to_string());
        assert_eq!(principal(Who::Token(token)).sender(address), token.to_string());
        assert_eq!(Who::Anyone.to_string(), "anyone");
    }

    #[test]
    fn an_invitation_lasts_a_day() {
        assert_eq!(invitation_expiry(now()).micros() - now().micros(), 86_400_000_000);
    }
}
