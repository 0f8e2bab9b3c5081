//! Labels: agreed human answers that judges are compared with. Rows are added and never changed; the newest counts.

use jurist_core::grade::{Time, Value};
use serde_json::Value as Json;

use crate::db::{Arg, Bulk, DbRow, args};
use crate::filter::SelectQuery;
use crate::{AccountId, Cursor, LabelId, ProjectId, ResultPage, RubricVersionId, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct NewLabel {
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    pub criterion: String,
    pub value: Value,
    /// The same on 0..=1.
    pub unit: Option<f64>,
    /// Such as `adjudicated`, `merged` or `imported`.
    pub origin: String,
    pub author: Option<AccountId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredLabel {
    pub id: LabelId,
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    pub criterion: String,
    pub value: Value,
    pub unit: Option<f64>,
    pub origin: String,
    pub author: Option<AccountId>,
    pub time: Time,
}

pub(crate) const ADD: Bulk = Bulk {
    into: "labels (id, project, candidate, rubric_version, criterion, value, unit, origin, author, time)",
    types: "ttttttrtti",
    tail: "",
};

/// Labels without a newer one.
const LIST: &str = "SELECT * FROM labels WHERE project = $1 AND rubric_version = $2 AND $3 < id
    AND NOT EXISTS (SELECT 1 FROM labels newer WHERE newer.project = labels.project
        AND newer.candidate = labels.candidate AND newer.rubric_version = labels.rubric_version
        AND newer.criterion = labels.criterion AND labels.id < newer.id)";

impl Store {
    pub async fn add_labels(
        &self,
        project: ProjectId,
        labels: &[NewLabel],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        tx.insert(ADD, labels.iter().map(|label| build_label_row(project, label, now)).collect()).await?;
        tx.commit().await
    }

    /// The newest of each candidate and criterion.
    pub async fn labels(
        &self,
        project: ProjectId,
        rubric_version: &RubricVersionId,
        candidate: Option<&str>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<StoredLabel>, StoreError> {
        let rows = select(project, rubric_version, candidate, after, limit).fetch(&self.db).await?;
        let labels = rows.iter().map(read_label_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(labels, limit, |stored_label: &StoredLabel| Cursor::new(0, &stored_label.id)))
    }
}

pub(crate) fn build_label_row(project: ProjectId, label: &NewLabel, now: Time) -> Vec<Arg> {
    let value = serde_json::to_value(&label.value).unwrap_or(Json::Null);
    let (version, unit) = (&label.rubric_version, label.unit);
    let (origin, author) = (&label.origin, label.author);
    let id = LabelId::at(now);
    args![id, project, &label.candidate, version, &label.criterion, &value, unit, origin, author, now]
}

pub(crate) fn select(
    project: ProjectId,
    rubric_version: &RubricVersionId,
    candidate: Option<&str>,
    after: Option<&Cursor>,
    limit: usize,
) -> SelectQuery {
    let place = after.map(|cursor| cursor.id.clone()).unwrap_or_default();
    SelectQuery::new(LIST, args![project, rubric_version, place])
        .and_maybe("candidate = ?", candidate)
        .then("ORDER BY id")
        .limit(limit + 1)
}

fn read_label_row(row: &DbRow) -> Result<StoredLabel, StoreError> {
    let value = row.json("value")?;
    let id: LabelId = row.parse("id")?;
    Ok(StoredLabel {
        id,
        candidate: row.get("candidate")?,
        rubric_version: row.parse("rubric_version")?,
        criterion: row.get("criterion")?,
        value: serde_json::from_value(value)
            .map_err(|error| StoreError::damaged_row("label", &id, &error))?,
        unit: row.get("unit")?,
        origin: row.get("origin")?,
        author: row.maybe_parse("author")?,
        time: row.time("time")?,
    })
}
