//! Rubrics by name, and their immutable versions.

use jurist_core::grade::{RubricHash, Time};
use serde_json::Value as Json;

use crate::db::{DbRow, Tx, args, statements};
use crate::{AccountId, ProjectId, Region, RubricId, RubricVersionId, Store, StoreError, random};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RubricHead {
    pub id: RubricId,
    pub name: String,
    /// The newest version; `None` before the first.
    pub newest: Option<RubricVersionId>,
    pub created: Time,
    pub archived: Option<Time>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RubricVersion {
    pub id: RubricVersionId,
    pub rubric: RubricId,
    /// Hash of the canonical form.
    pub hash: RubricHash,
    pub canonical: Json,
    /// The text as its author wrote it.
    pub source: Option<String>,
    pub author: Option<AccountId>,
    pub created: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewRubricVersion {
    pub region: Region,
    pub hash: RubricHash,
    pub canonical: Json,
    pub source: Option<String>,
    pub author: Option<AccountId>,
}

statements! {
    ADD = "INSERT INTO rubrics (id, project, name, created) VALUES ($1, $2, $3, $4)";
    GET = "SELECT * FROM rubrics WHERE project = $1 AND id = $2";
    BY_NAME = "SELECT * FROM rubrics WHERE project = $1 AND name = $2";
    LIST = "SELECT * FROM rubrics WHERE project = $1 ORDER BY name";
    ARCHIVE = "UPDATE rubrics SET archived = $3 WHERE project = $1 AND id = $2";
    ADD_VERSION = "INSERT INTO rubric_versions (id, project, rubric, hash, canonical, source, author, created)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (rubric, hash) DO NOTHING";
    BY_HASH = "SELECT * FROM rubric_versions WHERE rubric = $1 AND hash = $2";
    WITH_HASH = "SELECT * FROM rubric_versions WHERE project = $1 AND hash = $2 ORDER BY id";
    HOLD = "UPDATE rubrics SET newest = newest WHERE project = $1 AND id = $2 RETURNING *";
    SET_NEWEST = "UPDATE rubrics SET newest = $3 WHERE project = $1 AND id = $2";
    VERSION = "SELECT * FROM rubric_versions WHERE project = $1 AND id = $2";
    VERSIONS = "SELECT * FROM rubric_versions WHERE project = $1 AND rubric = $2 ORDER BY created DESC, id DESC";
}

impl Store {
    /// A rubric without versions yet; names are unique within a project.
    pub async fn add_rubric(
        &self,
        project: ProjectId,
        name: &str,
        now: Time,
    ) -> Result<RubricHead, StoreError> {
        let id = RubricId::at(now);
        let added = self.db.execute(ADD, args![id, project, name, now]).await;
        added.map_err(|error| error.into_taken("rubric", name))?;
        self.rubric(project, id).await
    }

    pub async fn rubric(&self, project: ProjectId, id: RubricId) -> Result<RubricHead, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_rubric_row(&row.ok_or_else(|| StoreError::unknown("rubric", &id))?)
    }

    pub async fn rubric_named(
        &self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<RubricHead>, StoreError> {
        self.db.optional(BY_NAME, args![project, name]).await?.as_ref().map(read_rubric_row).transpose()
    }

    /// By name.
    pub async fn rubrics(&self, project: ProjectId) -> Result<Vec<RubricHead>, StoreError> {
        self.db.fetch(LIST, args![project]).await?.iter().map(read_rubric_row).collect()
    }

    /// Archives a rubric; `None` restores it. Fails if the rubric has changed since the client read `seen`.
    pub async fn archive_rubric(
        &self,
        project: ProjectId,
        id: RubricId,
        since: Option<Time>,
        seen: Option<&RubricHead>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        lock_rubric(&mut tx, project, id, seen).await?;
        tx.execute(ARCHIVE, args![project, id, since]).await?;
        tx.commit().await
    }

    /// Makes the version with this content the newest, and adds it if it is new. Fails if the rubric has changed since
    /// the client read `seen`.
    pub async fn put_rubric_version(
        &self,
        project: ProjectId,
        rubric: RubricId,
        new: &NewRubricVersion,
        seen: Option<&RubricHead>,
        now: Time,
    ) -> Result<RubricVersion, StoreError> {
        let mut tx = self.db.begin().await?;
        lock_rubric(&mut tx, project, rubric, seen).await?;
        let version = insert_version(&mut tx, project, rubric, new, now).await?;
        tx.commit().await?;
        Ok(version)
    }

    /// Adds a rubric and its first version in one transaction.
    pub async fn add_rubric_with_version(
        &self,
        project: ProjectId,
        name: &str,
        new: &NewRubricVersion,
        now: Time,
    ) -> Result<RubricHead, StoreError> {
        let id = RubricId::at(now);
        let mut tx = self.db.begin().await?;
        let added = tx.execute(ADD, args![id, project, name, now]).await;
        added.map_err(|error| error.into_taken("rubric", name))?;
        insert_version(&mut tx, project, id, new, now).await?;
        tx.commit().await?;
        self.rubric(project, id).await
    }

    pub async fn rubric_version(
        &self,
        project: ProjectId,
        id: &RubricVersionId,
    ) -> Result<RubricVersion, StoreError> {
        let row = self.db.optional(VERSION, args![project, id]).await?;
        read_rubric_version_row(&row.ok_or_else(|| StoreError::unknown("rubric version", id))?)
    }

    /// Versions of any rubric with this content.
    pub async fn versions_with_hash(
        &self,
        project: ProjectId,
        hash: &RubricHash,
    ) -> Result<Vec<RubricVersion>, StoreError> {
        self.db
            .fetch(WITH_HASH, args![project, hash.as_str()])
            .await?
            .iter()
            .map(read_rubric_version_row)
            .collect()
    }

    /// The newest first.
    pub async fn rubric_versions(
        &self,
        project: ProjectId,
        rubric: RubricId,
    ) -> Result<Vec<RubricVersion>, StoreError> {
        self.db.fetch(VERSIONS, args![project, rubric]).await?.iter().map(read_rubric_version_row).collect()
    }
}

/// Makes a version the newest of its rubric. Versions with the same content are stored once.
async fn insert_version(
    tx: &mut Tx,
    project: ProjectId,
    rubric: RubricId,
    new: &NewRubricVersion,
    now: Time,
) -> Result<RubricVersion, StoreError> {
    let id = RubricVersionId::new(new.region.clone(), now, random());
    let (hash, source) = (new.hash.as_str(), new.source.as_deref());
    tx.execute(ADD_VERSION, args![id, project, rubric, hash, &new.canonical, source, new.author, now])
        .await?;
    let row = tx.optional(BY_HASH, args![rubric, hash]).await?;
    let version = read_rubric_version_row(&row.ok_or_else(|| StoreError::unknown("rubric version", hash))?)?;
    tx.execute(SET_NEWEST, args![project, rubric, &version.id]).await?;
    Ok(version)
}

/// Locks the rubric until the transaction ends. Fails if it differs from `seen`.
async fn lock_rubric(
    tx: &mut Tx,
    project: ProjectId,
    id: RubricId,
    seen: Option<&RubricHead>,
) -> Result<(), StoreError> {
    let row = tx.optional(HOLD, args![project, id]).await?;
    let current = read_rubric_row(&row.ok_or_else(|| StoreError::unknown("rubric", &id))?)?;
    match seen {
        Some(seen) if *seen != current => Err(StoreError::Changed { what: "rubric", id: id.to_string() }),
        _ => Ok(()),
    }
}

fn read_rubric_row(row: &DbRow) -> Result<RubricHead, StoreError> {
    Ok(RubricHead {
        id: row.parse("id")?,
        name: row.get("name")?,
        newest: row.maybe_parse("newest")?,
        created: row.time("created")?,
        archived: row.maybe_time("archived")?,
    })
}

fn read_rubric_version_row(row: &DbRow) -> Result<RubricVersion, StoreError> {
    let hash: String = row.get("hash")?;
    let version = serde_json::from_value(Json::String(hash.clone()));
    Ok(RubricVersion {
        id: row.parse("id")?,
        rubric: row.parse("rubric")?,
        hash: version.map_err(|error| StoreError::damaged_row("rubric version", &hash, &error))?,
        canonical: row.json("canonical")?,
        source: row.get("source")?,
        author: row.maybe_parse("author")?,
        created: row.time("created")?,
    })
}
