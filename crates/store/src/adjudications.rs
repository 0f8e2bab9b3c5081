//! Adjudications: decisions about disputed items. Rows are added and never changed; the newest one is the label.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::labels::{self, NewLabel};
use crate::{AccountId, AdjudicationId, ItemId, ProjectId, Store, StoreError, TaskId};

#[derive(Debug, Clone, PartialEq)]
pub struct NewAdjudication {
    pub task: TaskId,
    pub item: ItemId,
    pub scheme: String,
    pub criterion: String,
    /// The decision and its reason.
    pub body: Json,
    pub author: Option<AccountId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Adjudication {
    pub id: AdjudicationId,
    pub task: TaskId,
    pub item: ItemId,
    pub scheme: String,
    pub criterion: String,
    pub body: Json,
    pub author: Option<AccountId>,
    pub time: Time,
}

statements! {
    DECIDE = "INSERT INTO adjudications (id, project, task, item, scheme, criterion, body, author, time)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    OF_TASK = "SELECT * FROM adjudications WHERE project = $1 AND task = $2 ORDER BY id";
    OF_ITEM = "SELECT * FROM adjudications WHERE project = $1 AND item = $2 ORDER BY id";
}

impl Store {
    /// Stores a decision together with the label that follows from it, if any.
    pub async fn adjudicate(
        &self,
        project: ProjectId,
        new: &NewAdjudication,
        label: Option<&NewLabel>,
        now: Time,
    ) -> Result<Adjudication, StoreError> {
        let id = AdjudicationId::at(now);
        let mut tx = self.db.begin().await?;
        let NewAdjudication { task, item, scheme, criterion, body, author } = new;
        tx.execute(DECIDE, args![id, project, *task, *item, scheme, criterion, body, *author, now]).await?;
        tx.insert(
            labels::ADD,
            label.into_iter().map(|label| labels::build_label_row(project, label, now)).collect(),
        )
        .await?;
        tx.commit().await?;
        Ok(Adjudication {
            id,
            task: *task,
            item: *item,
            scheme: scheme.clone(),
            criterion: criterion.clone(),
            body: body.clone(),
            author: *author,
            time: now,
        })
    }

    /// The oldest first.
    pub async fn adjudications(
        &self,
        project: ProjectId,
        task: TaskId,
    ) -> Result<Vec<Adjudication>, StoreError> {
        self.db.fetch(OF_TASK, args![project, task]).await?.iter().map(read_adjudication_row).collect()
    }

    /// The oldest first.
    pub async fn adjudications_of(
        &self,
        project: ProjectId,
        item: ItemId,
    ) -> Result<Vec<Adjudication>, StoreError> {
        self.db.fetch(OF_ITEM, args![project, item]).await?.iter().map(read_adjudication_row).collect()
    }
}

fn read_adjudication_row(row: &DbRow) -> Result<Adjudication, StoreError> {
    Ok(Adjudication {
        id: row.parse("id")?,
        task: row.parse("task")?,
        item: row.parse("item")?,
        scheme: row.get("scheme")?,
        criterion: row.get("criterion")?,
        body: row.json("body")?,
        author: row.maybe_parse("author")?,
        time: row.time("time")?,
    })
}
