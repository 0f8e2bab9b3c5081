//! Idempotency keys: a request that is sent twice is executed once.

use jurist_core::grade::Time;

use crate::db::{args, statements};
use crate::pack::{pack, unpack};
use crate::{ProjectId, Store, StoreError};

/// State of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyClaim {
    /// The key is new: do the work, then call [`Store::answer`].
    New,
    /// Another request with this key is in progress.
    Underway,
    Answered {
        status: u16,
        response: Vec<u8>,
    },
    /// It was used for another request.
    Mismatch,
}

statements! {
    // A claim that was abandoned can be taken again.
    CLAIM = "INSERT INTO idempotency (project, dedupe, request, created) VALUES ($1, $2, $3, $4)
        ON CONFLICT (project, dedupe) DO UPDATE SET created = excluded.created
        WHERE idempotency.status IS NULL AND idempotency.created < $5 AND idempotency.request = excluded.request";
    GET = "SELECT request, status, response FROM idempotency WHERE project = $1 AND dedupe = $2";
    ANSWER = "UPDATE idempotency SET status = $3, response = $4 WHERE project = $1 AND dedupe = $2";
    RELEASE = "DELETE FROM idempotency WHERE project = $1 AND dedupe = $2 AND status IS NULL";
    DROP_OLD = "DELETE FROM idempotency WHERE created < $1";
}

impl Store {
    /// Claims a key. `request` is a hash of the request; an unanswered claim from before `stale` counts as abandoned.
    pub async fn claim(
        &self,
        project: ProjectId,
        key: &str,
        request: &str,
        now: Time,
        stale: Time,
    ) -> Result<IdempotencyClaim, StoreError> {
        let mut tx = self.db.begin().await?;
        let is_new = tx.execute(CLAIM, args![project, key, request, now, stale]).await? == 1;
        let row = tx.optional(GET, args![project, key]).await?;
        tx.commit().await?;
        let Some(row) = row.filter(|_| !is_new) else { return Ok(IdempotencyClaim::New) };
        if row.get::<String>("request")? != request {
            return Ok(IdempotencyClaim::Mismatch);
        }
        let (status, response): (Option<i64>, Option<Vec<u8>>) = (row.get("status")?, row.get("response")?);
        let Some((status, response)) = status.zip(response) else { return Ok(IdempotencyClaim::Underway) };
        let response = unpack(&response).map_err(|why| StoreError::damaged_row("response", key, &why))?;
        Ok(IdempotencyClaim::Answered { status: u16::try_from(status).unwrap_or_default(), response })
    }

    pub async fn answer(
        &self,
        project: ProjectId,
        key: &str,
        status: u16,
        response: &[u8],
    ) -> Result<(), StoreError> {
        self.db.execute(ANSWER, args![project, key, i64::from(status), pack(response)]).await.map(drop)
    }

    /// Releases a key after a failure that a retry may fix.
    pub async fn release_claim(&self, project: ProjectId, key: &str) -> Result<(), StoreError> {
        self.db.execute(RELEASE, args![project, key]).await.map(drop)
    }

    pub async fn drop_old_claims(&self, before: Time) -> Result<u64, StoreError> {
        self.db.execute(DROP_OLD, args![before]).await
    }
}
