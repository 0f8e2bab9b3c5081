//! Where commands find what a project keeps: its database, or a server.

pub mod remote;

use jurist_engine::load;
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_store::{ProjectId, Store};

use self::remote::Remote;
use crate::database::{DatabaseArgs, project_of};

/// What a project keeps, in a database or behind a server; the same for every command that asks for it.
#[derive(Debug, clap::Args)]
pub struct Reach {
    #[command(flatten)]
    place: DatabaseArgs,
    /// Use the API of this server instead of opening its database
    #[arg(long, value_name = "URL", conflicts_with = "store", global = true)]
    server: Option<String>,
    /// API token of the server; prefer the variable JURIST_TOKEN, which is not visible in process lists
    #[arg(long, value_name = "TOKEN", requires = "server", global = true)]
    token: Option<String>,
    /// Project name or id [default: the token's project, or `default`]
    #[arg(long, value_name = "NAME", global = true)]
    project: Option<String>,
}

/// The place of the data.
pub enum Reached {
    Store(Store, ProjectId),
    Server(Remote),
}

impl Reach {
    /// The address of the database, where no server is named and the database does not exist yet.
    pub fn missing_database(&self) -> Option<String> {
        (self.server.is_none() && !self.place.exists()).then(|| self.place.url())
    }

    pub async fn open(&self) -> anyhow::Result<Reached> {
        if let Some(url) = &self.server {
            let token = choose_token(self.token.as_ref());
            let client = client(&NetworkOptions::default())?;
            return Ok(Reached::Server(Remote::new(url, token, self.project.clone(), client)?));
        }
        let store = self.place.open().await?;
        let project = project_of(&store, self.project.as_deref()).await?;
        Ok(Reached::Store(store, project))
    }
}

/// The API token for a server: of the flag, or of the environment.
pub fn choose_token(flag: Option<&String>) -> Option<String> {
    flag.cloned().or_else(|| load::variable("JURIST_TOKEN"))
}
