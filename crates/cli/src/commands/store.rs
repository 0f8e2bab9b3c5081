use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use jurist_core::money::Rates;
use jurist_engine::load;
use jurist_server::{App, ServerSettings, owner_link};
use jurist_store::{ProjectId, SCHEMA, Store, StoreError, StoreOptions, Sync, clock, make_private};

use super::CommandOutcome;
use super::judging::wait_for;
use crate::render;

/// Where a project keeps its own.
const OWN: &str = ".jurist/jurist.db";

/// Which database; the same for every command that opens one.
#[derive(Debug, Default, clap::Args)]
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

    /// Opens it, and brings it up to date.
    pub async fn open(&self) -> anyhow::Result<Store> {
        self.open_with(StoreOptions::default()).await
    }

    /// For what could be done again: a killed process loses nothing, a power failure perhaps the last moments.
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
    if let Some(found) = store.project_named(name).await? {
        return Ok(found.id);
    }
    let names: Vec<String> = store.projects().await?.into_iter().map(|project| project.name).collect();
    anyhow::bail!("there is no project `{name}`; there are {}", names.join(", "))
}

/// Migrate, back up and check the database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist store backup jurist-backup.db
  jurist store check --store postgres://jurist@db/jurist
  jurist store owner-link --public-url https://jurist.example.org")]
pub struct StoreArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(subcommand)]
    what: StoreSubcommand,
}

#[derive(Debug, Subcommand)]
enum StoreSubcommand {
    /// Apply schema migrations; opening the database does so too
    Migrate,
    /// Copy the database to a file, also while it is in use
    Backup {
        /// File to write
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
    /// Check the database for damage
    Check,
    /// Free the disk space of deleted rows
    Vacuum,
    /// Print a link that creates an owner, if no owner can sign in
    OwnerLink {
        /// Public URL of the server
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8000")]
        public_url: String,
    },
}

pub fn run_store_command(args: &StoreArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let mut out = render::stdout();
        anyhow::ensure!(
            args.place.exists() || matches!(args.what, StoreSubcommand::Migrate),
            "there is no database at `{}`",
            args.place.url()
        );
        match &args.what {
            StoreSubcommand::Migrate => {
                let store = Store::connect(&args.place.url(), StoreOptions::default()).await?;
                let before = store.schema_version().await?;
                store.migrate(clock::current_time()).await?;
                match before {
                    Some(SCHEMA) => writeln!(out, "the database is up to date (schema {SCHEMA})")?,
                    Some(before) => writeln!(out, "migrated the database from schema {before} to {SCHEMA}")?,
                    None => writeln!(out, "created a database with schema {SCHEMA}")?,
                }
            }
            StoreSubcommand::Backup { to } => {
                args.place.open().await?.backup(to).await?;
                writeln!(out, "copied to {}", to.display())?;
            }
            StoreSubcommand::Check => {
                let problems = args.place.open().await?.check().await?;
                for it in &problems {
                    writeln!(out, "{} {}: {}", it.what, it.which, it.why)?;
                }
                if !problems.is_empty() {
                    return Ok(CommandOutcome::Failed);
                }
                writeln!(out, "nothing is wrong")?;
            }
            StoreSubcommand::OwnerLink { public_url } => {
                let app = App::new(args.place.open().await?, ServerSettings::default()).await?;
                writeln!(out, "{}", owner_link(&app, public_url.trim_end_matches('/')).await?)?;
            }
            StoreSubcommand::Vacuum => {
                args.place.open().await?.vacuum().await?;
                writeln!(out, "done")?;
            }
        }
        Ok::<_, StoreError>(CommandOutcome::Passed).map_err(Into::into)
    })
}
