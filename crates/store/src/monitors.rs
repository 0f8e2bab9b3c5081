//! Monitors, which grade live traces against a rubric, and their immutable versions.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::{AccountId, MonitorId, MonitorVersionId, ProjectId, RubricVersionId, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredMonitor {
    pub id: MonitorId,
    pub name: String,
    /// Reason of the pause; sampled traces wait meanwhile.
    pub paused: Option<String>,
    /// Time at which the monitor was removed; it considers no traces since then.
    pub removed: Option<Time>,
    pub created: Time,
    /// `None` before the first.
    pub newest: Option<MonitorVersion>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MonitorVersion {
    pub id: MonitorVersionId,
    pub monitor: MonitorId,
    pub rubric_version: RubricVersionId,
    /// `None` if the monitor covers several agents.
    pub agent: Option<String>,
    /// Sampling, judges and budget.
    pub settings: Json,
    pub author: Option<AccountId>,
    pub created: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewMonitorVersion {
    pub rubric_version: RubricVersionId,
    pub agent: Option<String>,
    pub settings: Json,
    pub author: Option<AccountId>,
}

statements! {
    ADD = "INSERT INTO monitors (id, project, name, is_enabled, created) VALUES ($1, $2, $3, 1, $4)";
    GET = "SELECT monitors.*, v.id AS v_id, v.monitor, v.rubric_version, v.agent, v.settings, v.author,
        v.created AS v_created FROM monitors LEFT JOIN monitor_versions v ON v.id = monitors.newest
        WHERE monitors.project = $1 AND monitors.id = $2";
    BY_NAME = "SELECT monitors.*, v.id AS v_id, v.monitor, v.rubric_version, v.agent, v.settings, v.author,
        v.created AS v_created FROM monitors LEFT JOIN monitor_versions v ON v.id = monitors.newest
        WHERE monitors.project = $1 AND monitors.name = $2";
    LIST = "SELECT monitors.*, v.id AS v_id, v.monitor, v.rubric_version, v.agent, v.settings, v.author,
        v.created AS v_created FROM monitors LEFT JOIN monitor_versions v ON v.id = monitors.newest
        WHERE monitors.project = $1 AND (monitors.removed IS NULL OR $2 = 1) ORDER BY monitors.name";
    PAUSE = "UPDATE monitors SET is_enabled = CASE WHEN CAST($3 AS TEXT) IS NULL THEN 1 ELSE 0 END, paused = $3
        WHERE project = $1 AND id = $2";
    REMOVE = "UPDATE monitors SET removed = $3 WHERE project = $1 AND id = $2";
    ADD_VERSION = "INSERT INTO monitor_versions (id, project, monitor, rubric_version, agent, settings, author, created)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    SET_NEWEST = "UPDATE monitors SET newest = $3, removed = NULL WHERE project = $1 AND id = $2";
    VERSION = "SELECT id AS v_id, monitor, rubric_version, agent, settings, author, created AS v_created
        FROM monitor_versions WHERE project = $1 AND id = $2";
    VERSIONS = "SELECT id AS v_id, monitor, rubric_version, agent, settings, author, created AS v_created
        FROM monitor_versions WHERE project = $1 AND monitor = $2 ORDER BY created DESC, id DESC";
}

impl Store {
    /// Adds a monitor without a version; names are unique within a project.
    pub async fn add_monitor(
        &self,
        project: ProjectId,
        name: &str,
        now: Time,
    ) -> Result<StoredMonitor, StoreError> {
        let id = MonitorId::at(now);
        let added = self.db.execute(ADD, args![id, project, name, now]).await;
        added.map_err(|error| error.into_taken("monitor", name))?;
        self.monitor(project, id).await
    }

    pub async fn monitor(&self, project: ProjectId, id: MonitorId) -> Result<StoredMonitor, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_monitor_row(&row.ok_or_else(|| StoreError::unknown("monitor", &id))?)
    }

    /// Also one that was removed.
    pub async fn monitor_named(
        &self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<StoredMonitor>, StoreError> {
        self.db.optional(BY_NAME, args![project, name]).await?.as_ref().map(read_monitor_row).transpose()
    }

    /// By name.
    pub async fn monitors(&self, project: ProjectId) -> Result<Vec<StoredMonitor>, StoreError> {
        self.db.fetch(LIST, args![project, false]).await?.iter().map(read_monitor_row).collect()
    }

    /// With those that were removed, by name.
    pub async fn all_monitors(&self, project: ProjectId) -> Result<Vec<StoredMonitor>, StoreError> {
        self.db.fetch(LIST, args![project, true]).await?.iter().map(read_monitor_row).collect()
    }

    /// Pauses a monitor with a reason; `None` resumes it.
    pub async fn pause_monitor(
        &self,
        project: ProjectId,
        id: MonitorId,
        why: Option<&str>,
    ) -> Result<(), StoreError> {
        match self.db.execute(PAUSE, args![project, id, why]).await? {
            0 => Err(StoreError::unknown("monitor", &id)),
            _ => Ok(()),
        }
    }

    /// Removes a monitor; its results stay. A new version restores it.
    pub async fn remove_monitor(
        &self,
        project: ProjectId,
        id: MonitorId,
        now: Time,
    ) -> Result<(), StoreError> {
        match self.db.execute(REMOVE, args![project, id, now]).await? {
            0 => Err(StoreError::unknown("monitor", &id)),
            _ => Ok(()),
        }
    }

    /// Adds a version, which applies to future traces; earlier decisions stay.
    pub async fn put_monitor_version(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        new: &NewMonitorVersion,
        now: Time,
    ) -> Result<MonitorVersionId, StoreError> {
        let id = MonitorVersionId::at(now);
        let mut tx = self.db.begin().await?;
        if tx.execute(SET_NEWEST, args![project, monitor, id]).await? == 0 {
            return Err(StoreError::unknown("monitor", &monitor));
        }
        let (agent, author) = (new.agent.as_deref(), new.author);
        let args = args![id, project, monitor, &new.rubric_version, agent, &new.settings, author, now];
        tx.execute(ADD_VERSION, args).await?;
        tx.commit().await?;
        Ok(id)
    }

    pub async fn monitor_version(
        &self,
        project: ProjectId,
        id: MonitorVersionId,
    ) -> Result<MonitorVersion, StoreError> {
        let row = self.db.optional(VERSION, args![project, id]).await?;
        read_monitor_version_row(&row.ok_or_else(|| StoreError::unknown("monitor version", &id))?)
    }

    /// The newest first.
    pub async fn monitor_versions(
        &self,
        project: ProjectId,
        monitor: MonitorId,
    ) -> Result<Vec<MonitorVersion>, StoreError> {
        self.db.fetch(VERSIONS, args![project, monitor]).await?.iter().map(read_monitor_version_row).collect()
    }
}

fn read_monitor_row(row: &DbRow) -> Result<StoredMonitor, StoreError> {
    let is_there = row.get::<Option<String>>("v_id")?.is_some();
    Ok(StoredMonitor {
        id: row.parse("id")?,
        name: row.get("name")?,
        paused: row.get("paused")?,
        removed: row.maybe_time("removed")?,
        created: row.time("created")?,
        newest: is_there.then(|| read_monitor_version_row(row)).transpose()?,
    })
}

fn read_monitor_version_row(row: &DbRow) -> Result<MonitorVersion, StoreError> {
    Ok(MonitorVersion {
        id: row.parse("v_id")?,
        monitor: row.parse("monitor")?,
        rubric_version: row.parse("rubric_version")?,
        agent: row.get("agent")?,
        settings: row.json("settings")?,
        author: row.maybe_parse("author")?,
        created: row.time("v_created")?,
    })
}
