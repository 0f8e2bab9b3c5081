//! Agents, which are named by their traces, and their settings.

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::{AgentId, ProjectId, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredAgent {
    pub id: AgentId,
    /// As its traces name it.
    pub name: String,
    /// Such as how many of its traces are sampled.
    pub settings: Json,
    pub created: Time,
    pub seen: Time,
}

statements! {
    SEE = "INSERT INTO agents (id, project, name, settings, created, seen) VALUES ($1, $2, $3, '{}', $4, $4)
        ON CONFLICT (project, name) DO UPDATE SET
        seen = CASE WHEN agents.seen < excluded.seen THEN excluded.seen ELSE agents.seen END";
    BY_NAME = "SELECT * FROM agents WHERE project = $1 AND name = $2";
    LIST = "SELECT * FROM agents WHERE project = $1 ORDER BY name";
    SET_SETTINGS = "UPDATE agents SET settings = $3 WHERE project = $1 AND id = $2";
}

impl Store {
    /// Returns the agent of this name; adds it if it is new.
    pub async fn see_agent(
        &self,
        project: ProjectId,
        name: &str,
        now: Time,
    ) -> Result<StoredAgent, StoreError> {
        self.db.execute(SEE, args![AgentId::at(now), project, name, now]).await?;
        self.agent(project, name).await?.ok_or_else(|| StoreError::unknown("agent", name))
    }

    pub async fn agent(&self, project: ProjectId, name: &str) -> Result<Option<StoredAgent>, StoreError> {
        self.db.optional(BY_NAME, args![project, name]).await?.as_ref().map(read_agent_row).transpose()
    }

    /// By name.
    pub async fn agents(&self, project: ProjectId) -> Result<Vec<StoredAgent>, StoreError> {
        self.db.fetch(LIST, args![project]).await?.iter().map(read_agent_row).collect()
    }

    pub async fn set_agent_settings(
        &self,
        project: ProjectId,
        id: AgentId,
        settings: &Json,
    ) -> Result<(), StoreError> {
        match self.db.execute(SET_SETTINGS, args![project, id, settings]).await? {
            0 => Err(StoreError::unknown("agent", &id)),
            _ => Ok(()),
        }
    }
}

fn read_agent_row(row: &DbRow) -> Result<StoredAgent, StoreError> {
    Ok(StoredAgent {
        id: row.parse("id")?,
        name: row.get("name")?,
        settings: row.json("settings")?,
        created: row.time("created")?,
        seen: row.time("seen")?,
    })
}
