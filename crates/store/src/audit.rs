//! Audit log. Rows are added and never changed.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::filter::SelectQuery;
use crate::{AuditId, Cursor, ProjectId, ResultPage, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct NewAuditEntry {
    /// `None` for actions on the whole server.
    pub project: Option<ProjectId>,
    /// An account, a token, or `server`.
    pub actor: String,
    /// Such as `rubric.edit`.
    pub action: String,
    pub target: String,
    pub body: Json,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredAuditEntry {
    pub id: AuditId,
    pub project: Option<ProjectId>,
    pub actor: String,
    pub action: String,
    pub target: String,
    pub body: Json,
    pub time: Time,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuditFilter {
    pub project: Option<ProjectId>,
    pub actor: Option<String>,
    pub action: Option<String>,
    pub target: Option<String>,
}

statements! {
    ADD = "INSERT INTO audit (id, project, actor, action, target, body, time) VALUES ($1, $2, $3, $4, $5, $6, $7)";
}

const LIST: &str = "SELECT * FROM audit WHERE id < $1";

impl Store {
    pub async fn note(&self, entry: &NewAuditEntry, now: Time) -> Result<AuditId, StoreError> {
        let id = AuditId::at(now);
        let args = args![id, entry.project, &entry.actor, &entry.action, &entry.target, &entry.body, now];
        self.db.execute(ADD, args).await?;
        Ok(id)
    }

    /// The newest first.
    pub async fn audit(
        &self,
        filter: &AuditFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<StoredAuditEntry>, StoreError> {
        let rows = filter.select(after, limit).fetch(&self.db).await?;
        let entries = rows.iter().map(read_audit_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(entries, limit, |stored_audit_entry: &StoredAuditEntry| {
            Cursor::new(0, &stored_audit_entry.id)
        }))
    }
}

impl AuditFilter {
    pub(crate) fn select(&self, after: Option<&Cursor>, limit: usize) -> SelectQuery {
        SelectQuery::new(LIST, args![Cursor::top(after).id])
            .and_maybe("project = ?", self.project)
            .and_maybe("actor = ?", self.actor.as_deref())
            .and_maybe("action = ?", self.action.as_deref())
            .and_maybe("target = ?", self.target.as_deref())
            .then("ORDER BY id DESC")
            .limit(limit + 1)
    }
}

fn read_audit_row(row: &DbRow) -> Result<StoredAuditEntry, StoreError> {
    Ok(StoredAuditEntry {
        id: row.parse("id")?,
        project: row.maybe_parse("project")?,
        actor: row.get("actor")?,
        action: row.get("action")?,
        target: row.get("target")?,
        body: row.json("body")?,
        time: row.time("time")?,
    })
}
