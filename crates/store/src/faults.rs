//! Fault injection between the store and SQLite: a test can let a call fail before or after its effect, delay it, or
//! end the process after it. Without the feature `testing`, calls are passed on unchanged.

#[cfg(feature = "testing")]
use std::sync::Arc;

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{SqlSafeStr, Sqlite, SqlitePool, Transaction};

use crate::StoreError;
use crate::arg::{Arg, lite};
#[cfg(feature = "testing")]
use crate::testing::{DatabaseCall, FaultInjector};

/// Kind of a database call, from its caller's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "only tests look at a step"))]
pub enum DatabaseStep {
    Read,
    /// A statement that is a transaction by itself.
    Write,
    Begin,
    /// A statement inside of a transaction.
    Statement,
    Commit,
}

/// Faults of one process; none unless a test injects some.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    #[cfg(feature = "testing")]
    pub injector: Option<Arc<dyn FaultInjector>>,
}

/// The write lock. Real processes wait for it in SQLite and its pool; simulated processes share one connection and
/// wait here.
#[derive(Debug)]
pub(crate) struct WriterTurn {
    #[cfg(feature = "testing")]
    _turn: Option<tokio::sync::OwnedMutexGuard<()>>,
}

/// A transaction of the writer.
pub(crate) struct WriterTransaction {
    /// `None` after commit or drop.
    transaction: Option<Transaction<'static, Sqlite>>,
    faults: Faults,
    _turn: WriterTurn,
}

impl Faults {
    /// Makes a call with its statement and arguments, subject to injected faults.
    pub async fn call<'q, T, F: Future<Output = Result<T, sqlx::Error>>>(
        &self,
        step: DatabaseStep,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
        call: impl FnOnce(Query<'q, Sqlite, SqliteArguments>) -> F,
    ) -> Result<T, StoreError> {
        let sql = sql.into_sql_str();
        #[cfg(feature = "testing")]
        if let Some(injector) = &self.injector {
            injector.before(&DatabaseCall::new(step, sql.as_str(), &args)).await?;
            let broken = injector.rewrite(sql.as_str());
            let sql = broken.map_or(sql, |broken| sqlx::AssertSqlSafe(broken).into_sql_str());
            let done = injector.block_on_database(call(lite(sql, args)))?;
            injector.after(step).await?;
            return Ok(done);
        }
        let _ = step;
        Ok(call(lite(sql, args)).await?)
    }

    pub async fn wait_for_turn(&self) -> Result<WriterTurn, StoreError> {
        #[cfg(feature = "testing")]
        if let Some(injector) = &self.injector {
            return Ok(WriterTurn { _turn: Some(injector.wait_for_writer().await?) });
        }
        Ok(WriterTurn {
            #[cfg(feature = "testing")]
            _turn: None,
        })
    }

    pub async fn begin(&self, writer: &SqlitePool) -> Result<WriterTransaction, StoreError> {
        let turn = self.wait_for_turn().await?;
        #[cfg(feature = "testing")]
        if let Some(injector) = &self.injector {
            injector.before(&DatabaseCall::new(DatabaseStep::Begin, "", &[])).await?;
            let begun = injector.block_on_database(begin_immediate(writer))?;
            let transaction =
                WriterTransaction { transaction: Some(begun), faults: self.clone(), _turn: turn };
            injector.after(DatabaseStep::Begin).await?;
            return Ok(transaction);
        }
        let transaction = Some(begin_immediate(writer).await?);
        Ok(WriterTransaction { transaction, faults: self.clone(), _turn: turn })
    }
}

async fn begin_immediate(writer: &SqlitePool) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
    match writer.begin_with("BEGIN IMMEDIATE").await {
        // On a full disk SQLite ends a transaction by itself, but sqlx still counts it as open on this connection.
        Err(sqlx::Error::InvalidSavePointStatement) => {
            writer.acquire().await?.close().await?;
            writer.begin_with("BEGIN IMMEDIATE").await
        }
        begun => begun,
    }
}

impl WriterTransaction {
    pub async fn call<'t, T, F: Future<Output = Result<T, sqlx::Error>>>(
        &'t mut self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
        call: impl FnOnce(&'t mut Transaction<'static, Sqlite>, Query<'t, Sqlite, SqliteArguments>) -> F,
    ) -> Result<T, StoreError> {
        let transaction = self.transaction.as_mut().expect("it is neither committed nor dropped");
        self.faults.call(DatabaseStep::Statement, sql, args, |query| call(transaction, query)).await
    }

    pub fn inner(&mut self) -> &mut Transaction<'static, Sqlite> {
        self.transaction.as_mut().expect("it is neither committed nor dropped")
    }

    pub async fn commit(mut self) -> Result<(), StoreError> {
        #[cfg(feature = "testing")]
        if let Some(injector) = self.faults.injector.clone() {
            injector.before(&DatabaseCall::new(DatabaseStep::Commit, "", &[])).await?;
            let transaction = self.transaction.take().expect("it is neither committed nor dropped");
            injector.block_on_database(transaction.commit())?;
            return injector.after(DatabaseStep::Commit).await;
        }
        let transaction = self.transaction.take().expect("it is neither committed nor dropped");
        Ok(transaction.commit().await?)
    }
}

impl Drop for WriterTransaction {
    fn drop(&mut self) {
        // A task returns the connection to its pool; it has to run on the database's own runtime.
        #[cfg(feature = "testing")]
        let _inside = self.faults.injector.as_ref().map(|injector| injector.database().enter());
        drop(self.transaction.take());
    }
}
