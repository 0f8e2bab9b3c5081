//! Tokens of programs. Only their hash is kept.

use jurist_core::grade::Time;

use crate::db::{Row, args, statements};
use crate::{AccountId, ProjectId, Store, StoreError, TokenId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub project: ProjectId,
    pub name: String,
    /// What it may be used for, in the words of the server.
    pub scopes: Vec<String>,
    pub author: Option<AccountId>,
    pub created: Time,
    pub expires: Option<Time>,
    /// When it was last seen, within the precision of [`Store::use_token`].
    pub used: Option<Time>,
    pub revoked: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
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
    BY_HASH = "SELECT * FROM tokens WHERE hash = $1 AND revoked IS NULL AND (expires IS NULL OR $2 < expires)";
    LIST = "SELECT * FROM tokens WHERE project = $1 ORDER BY id DESC";
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
        new: &NewToken,
        now: Time,
    ) -> Result<Token, StoreError> {
        let id = TokenId::at(now);
        let scopes = serde_json::json!(new.scopes);
        let args = args![id, project, &new.name, &new.hash, &scopes, new.author, now, new.expires];
        self.db.execute(ADD, args).await.map_err(|error| error.taken("token", &new.name))?;
        let row = self.db.optional(GET, args![project, id]).await?;
        read(&row.ok_or_else(|| StoreError::unknown("token", &id))?)
    }

    /// The token with this hash, if it still opens anything.
    pub async fn token(&self, hash: &str, now: Time) -> Result<Option<Token>, StoreError> {
        self.db.optional(BY_HASH, args![hash, now]).await?.as_ref().map(read).transpose()
    }

    /// Notes that it was seen, to the minute.
    pub async fn use_token(&self, token: &Token, now: Time) -> Result<(), StoreError> {
        if token.used.is_some_and(|it| now.micros() - it.micros() <= 60_000_000) {
            return Ok(());
        }
        self.db.execute(USED, args![token.id, now]).await.map(drop)
    }

    pub async fn tokens(&self, project: ProjectId) -> Result<Vec<Token>, StoreError> {
        self.db.fetch(LIST, args![project]).await?.iter().map(read).collect()
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

fn read(row: &Row) -> Result<Token, StoreError> {
    let scopes = row.json("scopes")?;
    let scopes = scopes.as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned));
    Ok(Token {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        name: row.get("name")?,
        scopes: scopes.collect(),
        author: row.maybe_parsed("author")?,
        created: row.time("created")?,
        expires: row.maybe_time("expires")?,
        used: row.maybe_time("used")?,
        revoked: row.maybe_time("revoked")?,
    })
}
