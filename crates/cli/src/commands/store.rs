use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use jurist_server::{App, ServerSettings, owner_link};
use jurist_store::{SCHEMA, Store, StoreError, StoreOptions, clock};

use crate::database::DatabaseArgs;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::runtime::wait_for;

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
    #[command(after_help = "\
Examples:
  jurist store migrate
  jurist store migrate --store postgres://jurist@db/jurist")]
    Migrate,
    /// Copy the database to a file, also while it is in use
    #[command(after_help = "\
Examples:
  jurist store backup jurist-backup.db
  jurist store check --store jurist-backup.db      Check the copy")]
    Backup {
        /// File to write
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
    /// Check the database for damage
    #[command(after_help = "\
Examples:
  jurist store check
  jurist store check --store jurist-backup.db      Check a copy")]
    Check,
    /// Free the disk space of deleted rows
    #[command(after_help = "\
Examples:
  jurist store vacuum")]
    Vacuum,
    /// Print a link for an administrator, if none can sign in
    #[command(after_help = "\
Examples:
  jurist store owner-link
  jurist store owner-link --public-url https://jurist.example.org")]
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
