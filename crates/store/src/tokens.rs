//! API tokens, invitations and task links. Only their hashes are stored.
//!
//! A token belongs to the account that created it, and never permits more than that account may do when it is used.

use jurist_core::grade::Time;

use crate::db::{DbRow, args, statements};
use crate::role::ProjectRole;
use crate::{AccountId, ProjectId, Store, StoreError, TokenId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub id: TokenId,
    pub project: ProjectId,
    pub name: String,
    /// Scopes, as the server defines them.
    pub scopes: Vec<String>,
    /// The owner; `None` for tokens that were created on the server's machine, or on a server without accounts.
    pub author: Option<AccountId>,
    pub created: Time,
    pub expires: Option<Time>,
    /// Time of the last use, to the precision of [`Store::use_token`].
    pub used: Option<Time>,
    pub revoked: Option<Time>,
}

/// A valid token (neither expired nor revoked), and the current permissions of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInUse {
    pub token: AccessToken,
    pub owner: TokenOwner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOwner {
    /// The token has no owner: see [`Token::author`].
    Nobody,
    /// The owner's account is disabled, or is not a member of the project.
    ShutOut,
    /// The owner's role in the project; administrators count as `owner` in every project.
    Has(ProjectRole),
}

/// A token with the name of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenListing {
    pub token: AccessToken,
    pub owner_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccessToken {
    pub name: String,
    pub hash: String,
    pub scopes: Vec<String>,
    pub author: Option<AccountId>,
    pub expires: Option<Time>,
}

statements! {
    ADD = "INSERT INTO tokens (id, project, name, hash, scopes, author, created, expires)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    GET = "SELECT * FROM tokens WHERE project = $1 AND id = $2";
    BY_HASH = "SELECT tokens.*, accounts.disabled AS owner_disabled, accounts.is_admin AS owner_is_admin,
        members.role AS owner_role FROM tokens
        LEFT JOIN accounts ON accounts.id = tokens.author
        LEFT JOIN members ON members.project = tokens.project AND members.account = tokens.author
        WHERE tokens.hash = $1 AND tokens.revoked IS NULL AND (tokens.expires IS NULL OR $2 < tokens.expires)";
    LIST = "SELECT tokens.*, accounts.name AS owner_name FROM tokens
        LEFT JOIN accounts ON accounts.id = tokens.author WHERE tokens.project = $1 ORDER BY tokens.id DESC";
    // Written at most once a minute, because every API request with a token runs this statement.
    USED = "UPDATE tokens SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2 - 60000000)";
    REVOKE_UNAUTHORED = "UPDATE tokens SET revoked = COALESCE(revoked, $3)
        WHERE project = $1 AND author IS NULL AND scopes = $2";
    REVOKE = "UPDATE tokens SET revoked = COALESCE(revoked, $3) WHERE project = $1 AND id = $2";
}

impl Store {
    pub async fn add_token(
        &self,
        project: ProjectId,
        new: &NewAccessToken,
        now: Time,
    ) -> Result<AccessToken, StoreError> {
        let id = TokenId::at(now);
        let scopes = serde_json::json!(new.scopes);
        let args = args![id, project, &new.name, &new.hash, &scopes, new.author, now, new.expires];
        self.db.execute(ADD, args).await.map_err(|error| error.into_taken("token", &new.name))?;
        let row = self.db.optional(GET, args![project, id]).await?;
        read_token_row(&row.ok_or_else(|| StoreError::unknown("token", &id))?)
    }

    /// The token with this hash, unless it is expired or revoked.
    pub async fn token(&self, hash: &str, now: Time) -> Result<Option<TokenInUse>, StoreError> {
        let row = self.db.optional(BY_HASH, args![hash, now]).await?;
        row.map(|row| Ok(TokenInUse { token: read_token_row(&row)?, owner: read_owner(&row)? })).transpose()
    }

    /// Records the time of use, to the minute.
    pub async fn use_token(&self, token: &AccessToken, now: Time) -> Result<(), StoreError> {
        if token.used.is_some_and(|time| now.micros() - time.micros() <= 60_000_000) {
            return Ok(());
        }
        self.db.execute(USED, args![token.id, now]).await.map(drop)
    }

    pub async fn tokens(&self, project: ProjectId) -> Result<Vec<TokenListing>, StoreError> {
        let rows = self.db.fetch(LIST, args![project]).await?;
        let listing =
            |row| Ok(TokenListing { token: read_token_row(row)?, owner_name: row.get("owner_name")? });
        rows.iter().map(listing).collect()
    }

    /// Revokes tokens without an owner, which the server itself created.
    pub async fn revoke_unauthored(
        &self,
        project: ProjectId,
        scope: &str,
        now: Time,
    ) -> Result<(), StoreError> {
        let scopes = serde_json::json!([scope]);
        self.db.execute(REVOKE_UNAUTHORED, args![project, &scopes, now]).await.map(drop)
    }

    pub async fn revoke_token(&self, project: ProjectId, id: TokenId, now: Time) -> Result<(), StoreError> {
        match self.db.execute(REVOKE, args![project, id, now]).await? {
            0 => Err(StoreError::unknown("token", &id)),
            _ => Ok(()),
        }
    }
}

fn read_owner(row: &DbRow) -> Result<TokenOwner, StoreError> {
    if row.get::<Option<String>>("author")?.is_none() {
        return Ok(TokenOwner::Nobody);
    }
    if row.maybe_time("owner_disabled")?.is_some() {
        return Ok(TokenOwner::ShutOut);
    }
    let is_admin = row.get::<Option<i64>>("owner_is_admin")? == Some(1);
    let role = if is_admin { Some(ProjectRole::Owner) } else { row.maybe_parse("owner_role")? };
    Ok(role.map_or(TokenOwner::ShutOut, TokenOwner::Has))
}

fn read_token_row(row: &DbRow) -> Result<AccessToken, StoreError> {
    let scopes = row.json("scopes")?;
    let scopes = scopes.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned));
    Ok(AccessToken {
        id: row.parse("id")?,
        project: row.parse("project")?,
        name: row.get("name")?,
        scopes: scopes.collect(),
        author: row.maybe_parse("author")?,
        created: row.time("created")?,
        expires: row.maybe_time("expires")?,
        used: row.maybe_time("used")?,
        revoked: row.maybe_time("revoked")?,
    })
}
