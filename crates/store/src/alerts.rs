//! Alerts: raised once per cause, resolved when the cause is gone, sent, acknowledged, and snoozed.

use jurist_core::alert::AlertKind;
use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::jobs::NewJob;
use crate::{AccountId, AlertId, Cursor, ProjectId, ResultPage, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct NewAlert {
    pub kind: AlertKind,
    /// The subject; there is at most one open alert per kind and subject.
    pub subject: String,
    pub message: String,
    pub facts: Json,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    pub id: AlertId,
    pub project: ProjectId,
    pub kind: AlertKind,
    pub subject: String,
    pub message: String,
    pub facts: Json,
    pub raised: Time,
    /// When it was resolved.
    pub resolved: Option<Time>,
    /// When the first notification was sent.
    pub sent: Option<Time>,
    pub seen: Option<Time>,
    pub seen_by: Option<AccountId>,
    /// Until then nothing is sent.
    pub snoozed_until: Option<Time>,
}

statements! {
    RAISE = "INSERT INTO alerts (id, project, kind, subject, message, facts, raised, snoozed_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT MAX(before.snoozed_until) FROM alerts AS before
            WHERE before.project = $2 AND before.kind = $3 AND before.subject = $4 AND before.snoozed_until > $7))
        ON CONFLICT DO NOTHING";
    REFRESH = "UPDATE alerts SET message = $3, facts = $4 WHERE project = $1 AND id = $2 AND resolved IS NULL";
    RESOLVE = "UPDATE alerts SET resolved = $4 WHERE project = $1 AND kind = $2 AND subject = $3
        AND resolved IS NULL RETURNING *";
    OPEN = "SELECT * FROM alerts WHERE project = $1 AND kind = $2 AND subject = $3 AND resolved IS NULL";
    GET = "SELECT * FROM alerts WHERE project = $1 AND id = $2";
    LIST = "SELECT * FROM alerts WHERE project = $1 AND id < $2 AND ($4 = 1 OR resolved IS NULL)
        ORDER BY id DESC LIMIT $3";
    SENT = "UPDATE alerts SET sent = COALESCE(sent, $3) WHERE project = $1 AND id = $2";
    SNOOZE = "UPDATE alerts SET snoozed_until = $3 WHERE project = $1 AND id = $2 AND resolved IS NULL";
    SEEN = "UPDATE alerts SET seen = $4, seen_by = $3 WHERE project = $1 AND id = $2 AND seen IS NULL";
}

/// Which alerts of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertSelection {
    All,
    /// Those whose cause still holds.
    Open,
}

impl Store {
    /// Raises an alert and adds the notification job in the same transaction. `None` if it is open already.
    pub async fn raise_alert(
        &self,
        project: ProjectId,
        new: &NewAlert,
        tell: impl FnOnce(AlertId) -> NewJob,
        now: Time,
    ) -> Result<Option<AlertId>, StoreError> {
        let id = AlertId::at(now);
        let args = args![id, project, new.kind.as_str(), &new.subject, &new.message, &new.facts, now];
        let mut tx = self.db.begin().await?;
        if tx.execute(RAISE, args).await? == 0 {
            return Ok(None);
        }
        let added = self.add_jobs_in(&mut tx, &[tell(id)], now).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(Some(id))
    }

    /// Gives an open alert the figures of a newer check. Nothing is sent.
    pub async fn refresh_alert(
        &self,
        project: ProjectId,
        id: AlertId,
        message: &str,
        facts: &Json,
    ) -> Result<(), StoreError> {
        self.db.execute(REFRESH, args![project, id, message, facts]).await.map(drop)
    }

    /// Resolves an alert and adds the notification job in the same transaction. `None` if none was open.
    pub async fn resolve_alert(
        &self,
        project: ProjectId,
        kind: AlertKind,
        subject: &str,
        tell: impl FnOnce(AlertId) -> NewJob,
        now: Time,
    ) -> Result<Option<AlertId>, StoreError> {
        let mut tx = self.db.begin().await?;
        let Some(row) = tx.optional(RESOLVE, args![project, kind.as_str(), subject, now]).await? else {
            return Ok(None);
        };
        let id = row.parse("id")?;
        let added = self.add_jobs_in(&mut tx, &[tell(id)], now).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(Some(id))
    }

    /// The open alert of this kind and subject, if any.
    pub async fn open_alert(
        &self,
        project: ProjectId,
        kind: AlertKind,
        subject: &str,
    ) -> Result<Option<Alert>, StoreError> {
        let row = self.db.optional(OPEN, args![project, kind.as_str(), subject]).await?;
        row.as_ref().map(read_alert_row).transpose()
    }

    pub async fn alert(&self, project: ProjectId, id: AlertId) -> Result<Alert, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_alert_row(&row.ok_or_else(|| StoreError::unknown("alert", &id))?)
    }

    /// The newest first.
    pub async fn alerts(
        &self,
        project: ProjectId,
        which: AlertSelection,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<Alert>, StoreError> {
        let all = i64::from(which == AlertSelection::All);
        let rows = self.db.fetch(LIST, args![project, Cursor::top(after).id, limit + 1, all]).await?;
        let alerts = rows.iter().map(read_alert_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(alerts, limit, |alert: &Alert| Cursor::new(0, &alert.id)))
    }

    pub async fn alert_sent(&self, project: ProjectId, id: AlertId, now: Time) -> Result<(), StoreError> {
        self.db.execute(SENT, args![project, id, now]).await.map(drop)
    }

    /// Acknowledges an alert. `false` if it was acknowledged before.
    pub async fn alert_seen(
        &self,
        project: ProjectId,
        id: AlertId,
        by: Option<AccountId>,
        now: Time,
    ) -> Result<bool, StoreError> {
        Ok(self.db.execute(SEEN, args![project, id, by, now]).await? == 1)
    }

    /// Sends nothing about an open alert until then, and adds the job that reminds of it, if any. `false` if it is
    /// resolved.
    pub async fn snooze_alert(
        &self,
        project: ProjectId,
        id: AlertId,
        until: Time,
        reminder: Option<NewJob>,
        now: Time,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db.begin().await?;
        if tx.execute(SNOOZE, args![project, id, until]).await? == 0 {
            return Ok(false);
        }
        self.add_jobs_in(&mut tx, reminder.as_slice(), now).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn read_alert_row(row: &DbRow) -> Result<Alert, StoreError> {
    Ok(Alert {
        id: row.parse("id")?,
        project: row.parse("project")?,
        kind: row.parse("kind")?,
        subject: row.get("subject")?,
        message: row.get("message")?,
        facts: row.json("facts")?,
        raised: row.time("raised")?,
        resolved: row.maybe_time("resolved")?,
        sent: row.maybe_time("sent")?,
        seen: row.maybe_time("seen")?,
        seen_by: row.maybe_parse("seen_by")?,
        snoozed_until: row.maybe_time("snoozed_until")?,
    })
}
