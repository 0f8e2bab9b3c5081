//! Projects: everything else belongs to one.

use jurist_core::grade::Time;
use jurist_core::money::{Cap, Currency, Rates};
use serde_json::Value as Json;

use crate::db::{DbRow, args, statements};
use crate::{ProjectId, Store, StoreError};

/// Name of the project that is used if a client names none.
const DEFAULT: &str = "default";

#[derive(Debug, Clone, PartialEq)]
pub struct StoredProject {
    pub id: ProjectId,
    pub name: String,
    pub settings: Json,
    /// Monthly cap of judge costs; `None` is no limit.
    pub cap: Option<Cap>,
    pub created: Time,
    pub archived: Option<Time>,
}

statements! {
    ADD = "INSERT INTO projects (id, name, settings, created, cap, monthly_cap)
        VALUES ($1, $2, '{}', $3, $4, $5)";
    GET = "SELECT * FROM projects WHERE id = $1";
    BY_NAME = "SELECT * FROM projects WHERE name = $1";
    LIST = "SELECT * FROM projects ORDER BY name";
    SET_SETTINGS = "UPDATE projects SET settings = $2 WHERE id = $1";
    // Locks the row until the transaction ends.
    LOCK = "UPDATE projects SET settings = settings WHERE id = $1 RETURNING settings";
    SET_CAP = "UPDATE projects SET cap = $2, monthly_cap = $3 WHERE id = $1";
    RENAME = "UPDATE projects SET name = $2 WHERE id = $1";
    ARCHIVE = "UPDATE projects SET archived = COALESCE(archived, $2) WHERE id = $1";
}

impl Store {
    /// A new project with the usual cap; names are unique.
    pub async fn add_project(&self, name: &str, now: Time) -> Result<StoredProject, StoreError> {
        let (id, cap) = (ProjectId::at(now), Cap::usual(&Rates::default()));
        let added = self.db.execute(ADD, args![id, name, now, &cap_to_json(&cap), cap.usd().nanos()]).await;
        added.map_err(|error| error.into_taken("project", name))?;
        self.project(id).await
    }

    /// The default project; created with the default cap on first use.
    pub async fn default_project(&self, rates: &Rates, now: Time) -> Result<ProjectId, StoreError> {
        if let Some(project) = self.project_named(DEFAULT).await? {
            return Ok(project.id);
        }
        match self.add_project(DEFAULT, now).await {
            // Another process created it in the meantime.
            Err(StoreError::Taken { .. }) => {
                let found = self.project_named(DEFAULT).await?;
                found
                    .map(|stored_project| stored_project.id)
                    .ok_or_else(|| StoreError::unknown("project", DEFAULT))
            }
            added => {
                let id = added?.id;
                self.set_cap(id, Some(Cap::usual(rates))).await?;
                Ok(id)
            }
        }
    }

    pub async fn project(&self, id: ProjectId) -> Result<StoredProject, StoreError> {
        let row = self.db.optional(GET, args![id]).await?;
        read_project_row(&row.ok_or_else(|| StoreError::unknown("project", &id))?)
    }

    pub async fn project_named(&self, name: &str) -> Result<Option<StoredProject>, StoreError> {
        self.db.optional(BY_NAME, args![name]).await?.as_ref().map(read_project_row).transpose()
    }

    /// By name; there are few.
    pub async fn projects(&self) -> Result<Vec<StoredProject>, StoreError> {
        self.db.fetch(LIST, Vec::new()).await?.iter().map(read_project_row).collect()
    }

    pub async fn set_project_settings(&self, id: ProjectId, settings: &Json) -> Result<(), StoreError> {
        self.touch_project(id, SET_SETTINGS, args![id, settings]).await
    }

    /// Sets one key of the settings and leaves the others unchanged; `null` removes the key.
    pub async fn set_project_setting(
        &self,
        id: ProjectId,
        key: &str,
        value: &Json,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        let row = tx.optional(LOCK, args![id]).await?.ok_or_else(|| StoreError::unknown("project", &id))?;
        let mut settings = row.json("settings")?;
        match settings.as_object_mut() {
            Some(map) if value.is_null() => drop(map.remove(key)),
            Some(map) => drop(map.insert(key.to_owned(), value.clone())),
            None => settings = serde_json::json!({ key: value }),
        }
        tx.execute(SET_SETTINGS, args![id, &settings]).await?;
        tx.commit().await
    }

    /// Sets the cap, which applies from the next reservation on.
    pub async fn set_cap(&self, id: ProjectId, cap: Option<Cap>) -> Result<(), StoreError> {
        let text = cap.as_ref().map(|cap| cap_to_json(cap).to_string());
        self.touch_project(id, SET_CAP, args![id, text, cap.map(|cap| cap.usd().nanos())]).await
    }

    pub async fn rename_project(&self, id: ProjectId, name: &str) -> Result<(), StoreError> {
        let renamed = self.touch_project(id, RENAME, args![id, name]).await;
        renamed.map_err(|error| error.into_taken("project", name))
    }

    /// Archives a project: lists leave it out, and its history stays.
    pub async fn archive_project(&self, id: ProjectId, now: Time) -> Result<(), StoreError> {
        self.touch_project(id, ARCHIVE, args![id, now]).await
    }

    async fn touch_project(
        &self,
        id: ProjectId,
        sql: &'static str,
        args: Vec<crate::db::Arg>,
    ) -> Result<(), StoreError> {
        match self.db.execute(sql, args).await? {
            0 => Err(StoreError::unknown("project", &id)),
            _ => Ok(()),
        }
    }
}

fn cap_to_json(cap: &Cap) -> Json {
    serde_json::to_value(cap).expect("a cap is plain data")
}

fn cap(row: &DbRow) -> Result<Option<Cap>, StoreError> {
    let text: Option<String> = row.get("cap")?;
    // Projects of older versions have a cap in dollars only.
    let dollars = row.maybe_usd("monthly_cap")?.map(|usd| usd.nanos() as f64 / 1e9);
    let cap = text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(cap.or_else(|| Cap::new(dollars?, Currency::USD, 1.0).ok()))
}

fn read_project_row(row: &DbRow) -> Result<StoredProject, StoreError> {
    Ok(StoredProject {
        id: row.parse("id")?,
        name: row.get("name")?,
        settings: row.json("settings")?,
        cap: cap(row)?,
        created: row.time("created")?,
        archived: row.maybe_time("archived")?,
    })
}
