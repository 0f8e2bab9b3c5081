use jurist_engine::load;
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_store::{ProjectId, Store};

use super::remote::Remote;
use super::store::{DatabaseArgs, project_of};

/// What a project keeps, in a database or behind a server; the same for every command that asks for it.
#[derive(Debug, clap::Args)]
pub struct Reach {
    #[command(flatten)]
    place: DatabaseArgs,
    /// Ask a server instead of opening its database
    #[arg(long, value_name = "URL", conflicts_with = "store", global = true)]
    server: Option<String>,
    /// A token of the server; better in JURIST_TOKEN, where no one sees it
    #[arg(long, value_name = "TOKEN", requires = "server", global = true)]
    token: Option<String>,
    /// The project, by its name or id; `default` unless told, and with a token the token's
    #[arg(long, value_name = "NAME", global = true)]
    project: Option<String>,
}

/// Who is asked.
pub enum Reached {
    Store(Store, ProjectId),
    Server(Remote),
}

impl Reach {
    pub async fn open(&self) -> anyhow::Result<Reached> {
        if let Some(url) = &self.server {
            let token = self.token.clone().or_else(|| load::variable("JURIST_TOKEN"));
            let client = client(&NetworkOptions::default())?;
            return Ok(Reached::Server(Remote::new(url, token, self.project.clone(), client)?));
        }
        let store = self.place.open().await?;
        let project = project_of(&store, self.project.as_deref()).await?;
        Ok(Reached::Store(store, project))
    }
}
