//! Prompts and replies of judges, compressed. The store does not parse them.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{Arg, Bulk, DbRow, args, statements};
use crate::pack::pack;
use crate::{ExchangeId, ProjectId, Store, StoreError};

/// An exchange with its time and its judge.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredExchange {
    /// A case of the run, or the rubric version that the trace was judged by.
    pub part: String,
    /// The name of the monitor whose rubric that is.
    pub monitor: Option<String>,
    pub time: Time,
    pub body: Json,
}

statements! {
    OF_OWNER = "SELECT e.part, e.time, e.body, (SELECT MIN(m.name) FROM monitor_versions v
        JOIN monitors m ON m.id = v.monitor WHERE v.project = e.project AND v.rubric_version = e.part) AS monitor
        FROM exchanges e WHERE e.project = $1 AND e.owner = $2
        AND (CAST($3 AS TEXT) IS NULL OR e.part = $3) ORDER BY e.time, e.id";
    OF_PART = "SELECT body FROM exchanges WHERE project = $1 AND owner = $2 AND part = $3 ORDER BY id";
    REMOVE = "DELETE FROM exchanges WHERE project = $1 AND owner = $2";
}

pub(crate) const ADD: Bulk =
    Bulk { into: "exchanges (project, owner, part, id, time, body)", types: "ttttib", tail: "" };

impl Store {
    /// `owner` is a run or a trace; `part` a case of the run, or the rubric version that the trace was judged by.
    pub async fn put_exchanges(
        &self,
        project: ProjectId,
        owner: &str,
        part: &str,
        exchanges: &[Json],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        tx.insert(ADD, exchange_rows(project, owner, part, exchanges, now).collect()).await?;
        tx.commit().await
    }

    /// In the order in which they happened.
    pub async fn exchanges(
        &self,
        project: ProjectId,
        owner: &str,
        part: &str,
    ) -> Result<Vec<Json>, StoreError> {
        let rows = self.db.fetch(OF_PART, args![project, owner, part]).await?;
        rows.iter().map(|row| row.unpack_json("body")).collect()
    }

    /// Exchanges with their times, of one part or of all; the oldest first.
    pub async fn stored_exchanges(
        &self,
        project: ProjectId,
        owner: &str,
        part: Option<&str>,
    ) -> Result<Vec<StoredExchange>, StoreError> {
        let read = |row: &DbRow| {
            Ok(StoredExchange {
                part: row.get("part")?,
                monitor: row.get("monitor")?,
                time: row.time("time")?,
                body: row.unpack_json("body")?,
            })
        };
        self.db.fetch(OF_OWNER, args![project, owner, part]).await?.iter().map(read).collect()
    }

    pub async fn remove_exchanges(&self, project: ProjectId, owner: &str) -> Result<u64, StoreError> {
        self.db.execute(REMOVE, args![project, owner]).await
    }
}

pub(crate) fn exchange_rows<'a>(
    project: ProjectId,
    owner: &'a str,
    part: &'a str,
    exchanges: &'a [Json],
    now: Time,
) -> impl Iterator<Item = Vec<Arg>> + 'a {
    // Ids made within one millisecond have no defined order, so the number of the exchange is stored too.
    let call = ExchangeId::at(now);
    exchanges.iter().enumerate().map(move |(at, exchange)| {
        let id = format!("{call}.{at:06}");
        args![project, owner, part, id, now, pack(exchange.to_string().as_bytes())]
    })
}
