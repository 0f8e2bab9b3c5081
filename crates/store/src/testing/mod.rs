//! Both engines for tests: a fresh SQLite file, and a database in a PostgreSQL that the tests start themselves.
//!
//! The server listens on a free port of this machine, in a temporary folder. All test processes that run at the
//! same time share one; it ends soon after the last of them.

mod invariants;
mod server;
mod shared_server;
mod simulation;
mod statements;

use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};
use tempfile::TempDir;

use crate::db::{Bulk, Db};
use crate::{Store, StoreError};

pub use invariants::{LeaseHolder, WatchedDatabase, WatchedScene};
pub use server::{Fsync, Server};
use shared_server::SharedServer;
pub use simulation::{
    DatabaseCall, DatabaseStep, FaultInjector, SeededRandom, SimulatedWorld, injected_fault,
};
pub(crate) use simulation::{fill_from_seed, simulated_time};
use statements::{BULKS, STATEMENTS, grown_statements};

/// A separate database for one test.
#[derive(Debug)]
pub struct Scene {
    pub store: Store,
    /// To open it once more, or from another process.
    pub url: String,
    _folder: Option<TempDir>,
    _server: Option<Arc<Server>>,
}

/// Runs a test on SQLite and then on PostgreSQL; says so where the second is missing.
///
/// It is given behind an `Arc`, since an `async move` block would take only the fields that it names, and
/// the server would be gone with the others.
///
/// # Panics
///
/// Where a database that is there cannot be opened: a test that cannot go on fails.
pub fn for_each_engine<F: Future<Output = ()>>(test: impl Fn(Arc<Scene>) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        test(Arc::new(Scene::sqlite().await)).await;
        match Scene::postgres().await {
            Some(scene) => test(Arc::new(scene)).await,
            None => say("SKIPPED on PostgreSQL: initdb and postgres are absent\n"),
        }
    });
}

impl Scene {
    /// # Panics
    ///
    /// Where the database cannot be opened.
    pub async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a temporary folder");
        let url = folder.path().join("jurist.db").display().to_string();
        let store = Store::open(&url).await.expect("a new file opens");
        Self { store, url, _folder: Some(folder), _server: None }
    }

    /// `None` where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// Where it is installed and does not start.
    pub async fn postgres() -> Option<Self> {
        let url = SharedServer::get()?.database().await;
        let store = Store::open(&url).await.expect("a new database opens");
        Some(Self { store, url, _folder: None, _server: None })
    }

    /// On a server that no other test uses, so that it can be restarted. `None` where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// Where it is installed and does not start.
    pub async fn alone() -> Option<Self> {
        let server = Arc::new(Server::start(Fsync::On)?);
        let url = server.database().await;
        let store = Store::open(&url).await.expect("a new database opens");
        Some(Self { store, url, _folder: None, _server: Some(server) })
    }

    /// Ends the server as a crash would, and starts it again.
    pub fn restart(&self) {
        if let Some(server) = &self._server {
            server.restart();
        }
    }

    /// Runs a statement past all rules of the store.
    pub async fn execute(&self, sql: &str) -> Result<u64, StoreError> {
        self.store.db.execute(AssertSqlSafe(sql.to_owned()), Vec::new()).await
    }

    /// The number that a query returns.
    pub async fn number(&self, sql: &str) -> Result<i64, StoreError> {
        let sql = format!("SELECT CAST(({sql}) AS BIGINT) AS n");
        self.store.db.one(AssertSqlSafe(sql), Vec::new()).await?.get("n")
    }

    /// Prepares every statement that there is, and names those that the engine does not take.
    pub async fn bad_statements(&self) -> Vec<String> {
        let fixed = STATEMENTS
            .iter()
            .flat_map(|statement| statement.iter())
            .map(|it| (it.0.to_owned(), it.1.to_owned()));
        let bulk = BULKS.iter().map(|bulk| (bulk.into.to_owned(), self.bulk(bulk)));
        let grown = grown_statements(&self.store.db)
            .into_iter()
            .map(|grown_statement| (grown_statement.clone(), grown_statement));
        let mut bad = Vec::new();
        for (name, sql) in fixed.chain(bulk).chain(grown) {
            let sql = AssertSqlSafe(sql).into_sql_str();
            let prepared = match &self.store.db {
                Db::Lite { writer, .. } => writer.prepare(sql).await.map(drop),
                Db::Pg(pool) => pool.prepare(sql).await.map(drop),
            };
            if let Err(error) = prepared {
                bad.push(format!("{name}: {error}"));
            }
        }
        bad
    }

    /// How SQLite goes about a statement, such as `scores::THERE`.
    ///
    /// # Panics
    ///
    /// Where there is none of this name.
    pub async fn plan(&self, name: &str) -> Result<String, StoreError> {
        let all = STATEMENTS.iter().flat_map(|statement| statement.iter());
        let named = all.into_iter().find(|it| it.0.ends_with(&format!("::{name}")));
        let sql = format!("EXPLAIN QUERY PLAN {}", named.expect("a statement").1);
        let rows = self.store.db.fetch(AssertSqlSafe(sql), Vec::new()).await?;
        let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect::<Result<_, _>>()?;
        Ok(steps.join("; "))
    }

    fn bulk(&self, bulk: &Bulk) -> String {
        if self.store.db.is_pg() { bulk.unnest() } else { bulk.values(2) }
    }
}

fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
