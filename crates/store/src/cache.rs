//! Cache of judge replies, so that the same question is paid for once. Failures are never stored here.

use jurist_core::grade::Time;

use crate::db::{args, statements};
use crate::pack::pack;
use crate::{ProjectId, Store, StoreError};

/// Number of cached replies and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSize {
    pub n: u64,
    pub n_bytes: u64,
}

statements! {
    GET = "SELECT body, used FROM cache WHERE project = $1 AND dedupe = $2";
    // Written at most once an hour, so that most reads cause no write.
    USED = "UPDATE cache SET used = $3 WHERE project = $1 AND dedupe = $2";
    PUT = "INSERT INTO cache (project, dedupe, body, created, used) VALUES ($1, $2, $3, $4, $4)
        ON CONFLICT (project, dedupe) DO UPDATE SET body = excluded.body, used = excluded.used";
    PRUNE = "DELETE FROM cache WHERE used < $1";
    CLEAR = "DELETE FROM cache WHERE project = $1";
    SIZE = "SELECT COUNT(*) AS n, CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) AS n_bytes FROM cache WHERE project = $1";
}

const HOUR: i64 = 3_600_000_000;

impl Store {
    /// The cached reply to a request, by a hash of everything the judge saw.
    pub async fn cached_reply(
        &self,
        project: ProjectId,
        key: &str,
        now: Time,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(row) = self.db.optional(GET, args![project, key]).await? else { return Ok(None) };
        if row.get::<i64>("used")? < now.micros() - HOUR {
            self.db.execute(USED, args![project, key, now]).await?;
        }
        row.unpack("body").map(Some)
    }

    pub async fn cache(
        &self,
        project: ProjectId,
        key: &str,
        value: &[u8],
        now: Time,
    ) -> Result<(), StoreError> {
        self.db.execute(PUT, args![project, key, pack(value), now]).await.map(drop)
    }

    /// Deletes replies that were last used before a time.
    pub async fn prune_cache(&self, before: Time) -> Result<u64, StoreError> {
        self.db.execute(PRUNE, args![before]).await
    }

    pub async fn clear_cache(&self, project: ProjectId) -> Result<u64, StoreError> {
        self.db.execute(CLEAR, args![project]).await
    }

    pub async fn cache_size(&self, project: ProjectId) -> Result<CacheSize, StoreError> {
        let row = self.db.one(SIZE, args![project]).await?;
        Ok(CacheSize { n: row.count("n")?, n_bytes: row.count("n_bytes")? })
    }
}
