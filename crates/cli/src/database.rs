//! The database of a project, and projects by their names.

use std::path::Path;

use anyhow::Context;
use jurist_core::money::Rates;
use jurist_engine::load;
use jurist_store::{ProjectId, SCHEMA, Store, StoreOptions, Sync, clock, make_private};

use crate::render;

/// Where a project keeps its own.
const OWN: &str = ".jurist/jurist.db";

/// Which database; the same for every command that opens one.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DatabaseArgs {
    /// Database: a file, or postgres://USER@HOST/NAME [default: JURIST_STORE, or .jurist/jurist.db of the
    /// project]
    #[arg(long, value_name = "PLACE", global = true)]
    store: Option<String>,
}

impl DatabaseArgs {
    pub fn url(&self) -> String {
        let own = || {
            let root = std::path::absolute(".").map(|here| load::root_of(&here)).unwrap_or_default();
            root.join(OWN).display().to_string()
        };
        self.store.clone().or_else(|| load::variable("JURIST_STORE")).unwrap_or_else(own)
    }

    /// Whether the database exists; a database on a server is assumed to exist.
    pub fn exists(&self) -> bool {
        let url = self.url();
        url.contains("://") || Path::new(&url).exists()
    }

    /// Opens the database as it is; `None` if it does not exist or needs a migration.
    pub async fn open_if_current(&self) -> anyhow::Result<Option<Store>> {
        if !self.exists() {
            return Ok(None);
        }
        let store = Store::connect(&self.url(), StoreOptions::default()).await?;
        Ok((store.schema_version().await? == Some(SCHEMA)).then_some(store))
    }

    /// Opens it, and brings it up to date.
    pub async fn open(&self) -> anyhow::Result<Store> {
        self.open_with(StoreOptions::default()).await
    }

    /// For what could be done again: a killed process loses nothing, a power failure at most the last moments.
    pub async fn open_quickly(&self) -> anyhow::Result<Store> {
        self.open_with(StoreOptions { sync: Sync::Normal, ..StoreOptions::default() }).await
    }

    async fn open_with(&self, options: StoreOptions) -> anyhow::Result<Store> {
        let url = self.url();
        if url.ends_with(OWN)
            && let Some(folder) = Path::new(&url).parent()
        {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        if make_private(&url) {
            render::print_warning(&format!(
                "other users of this machine could read `{url}`; its mode is now 0600"
            ));
        }
        Ok(Store::open_with(&url, options).await?)
    }
}

/// A project by its name or id; otherwise the one that all have.
pub async fn project_of(store: &Store, name: Option<&str>) -> anyhow::Result<ProjectId> {
    let Some(name) = name else {
        return Ok(store.default_project(&Rates::default(), clock::current_time()).await?);
    };
    if let Ok(id) = name.parse() {
        return Ok(store.project(id).await?.id);
    }
    if let Some(existing) = store.project_named(name).await? {
        return Ok(existing.id);
    }
    let names: Vec<String> = store.projects().await?.into_iter().map(|project| project.name).collect();
    anyhow::bail!("there is no project `{name}`; there are {}", names.join(", "))
}
