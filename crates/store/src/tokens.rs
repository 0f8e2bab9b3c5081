//! Tokens of programs, invitations and links to tasks. Only their hash is kept.
//!
//! Each belongs to the person who made it, and opens no more than that person may do at the moment of its use.

use jurist_core::grade::Time;

use crate::accounts::ProjectRole;
use crate::db::{DbRow, args, statements};
use crate::{AccountId, ProjectId, Store, StoreError, TokenId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub id: TokenId,
    pub project: ProjectId,
    pub name: String,
    /// What it may be used for, in the words of the server.
    pub scopes: Vec<String>,
    /// Whose it is; `None` for what was made on the machine itself, or while the server asked nobody who they are.
    pub author: Option<AccountId>,
    pub created: Time,
    pub expires: Option<Time>,
    /// When it was last seen, within the precision of [`Store::use_token`].
    pub used: Option<Time>,
    pub revoked: Option<Time>,
}

/// A token that is neither expired nor revoked, and what its owner may do at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInUse {
    pub token: AccessToken,
    pub owner: TokenOwner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOwner {
    /// It has none: see [`Token::author`].
    Nobody,
    /// Their account is disabled, or they are no member of the project.
    ShutOut,
    /// Their role in the project; that of an administrator is owner, everywhere.
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
    // Written at most once a minute, since every request of a program comes by here.
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

    /// Notes that it was seen, to the minute.
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

    /// Revokes what nobody has made, which is what a server made by itself.
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
