//! What judges were asked and said, compressed. The store does not look inside.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{Arg, Bulk, args, statements};
use crate::pack::pack;
use crate::{ExchangeId, ProjectId, Store, StoreError};

statements! {
    OF_PART = "SELECT body FROM exchanges WHERE project = $1 AND owner = $2 AND part = $3 ORDER BY id";
    REMOVE = "DELETE FROM exchanges WHERE project = $1 AND owner = $2";
}

pub(crate) const ADD: Bulk =
    Bulk { into: "exchanges (project, owner, part, id, time, body)", types: "ttttib", tail: "" };

impl Store {
    /// `owner` is a run or a trace; `part` a case of the run, or the monitor that asked about the trace.
    pub async fn put_exchanges(
        &self,
        project: ProjectId,
        owner: &str,
        part: &str,
        exchanges: &[Json],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        tx.insert(ADD, rows(project, owner, part, exchanges, now).collect()).await?;
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
        rows.iter().map(|row| row.unpacked_json("body")).collect()
    }

    pub async fn remove_exchanges(&self, project: ProjectId, owner: &str) -> Result<u64, StoreError> {
        self.db.execute(REMOVE, args![project, owner]).await
    }
}

pub(crate) fn rows<'a>(
    project: ProjectId,
    owner: &'a str,
    part: &'a str,
    exchanges: &'a [Json],
    now: Time,
) -> impl Iterator<Item = Vec<Arg>> + 'a {
    // Ids of one millisecond would sort by chance; the number keeps them in order.
    let call = ExchangeId::at(now);
    exchanges.iter().enumerate().map(move |(at, exchange)| {
        let id = format!("{call}.{at:06}");
        args![project, owner, part, id, now, pack(exchange.to_string().as_bytes())]
    })
}
