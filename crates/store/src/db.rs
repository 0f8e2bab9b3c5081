//! One interface for both engines: the same statements, arguments and rows for SQLite and PostgreSQL.
//!
//! Other files ask for the engine only where the engines have different features.

use std::sync::Arc;

use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, Decode, Postgres, Row as _, SqlSafeStr, Sqlite, Transaction, Type};

pub(crate) use crate::arg::Arg;

use crate::StoreError;
use crate::arg::pg;
use crate::error::refuse_damaged_file;
use crate::faults::{DatabaseStep, Faults, WriterTransaction};
use crate::wal::Wal;

/// SQLite allows one writer at a time, so its pool has one connection that writes. Readers do not wait for it.
#[derive(Debug, Clone)]
pub(crate) enum Db {
    Lite {
        writer: SqlitePool,
        readers: SqlitePool,
        /// The log that a commit syncs; `None` if commits do not wait for the disk.
        wal: Option<Arc<Wal>>,
        faults: Faults,
    },
    Pg(PgPool),
}

/// A transaction. Dropping it rolls it back.
pub(crate) enum Tx {
    Lite(WriterTransaction, Option<Arc<Wal>>),
    Pg(Transaction<'static, Postgres>),
}

pub(crate) enum DbRow {
    Lite(SqliteRow),
    Pg(PgRow),
}

/// An insert of many rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bulk {
    /// `pieces (project, trace, id)`.
    pub into: &'static str,
    /// Type of each column, one letter each: text, int, real, bytes.
    pub types: &'static str,
    /// `ON CONFLICT DO NOTHING RETURNING id`.
    pub tail: &'static str,
}

/// Constants of one file, and a list of them that a test prepares on both engines.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* const $name: &str = $sql;)*
        #[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "read by tests"))]
        pub(crate) const STATEMENTS: &[(&str, &str)] = &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}
pub(crate) use statements;

macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::db::Arg::from($value)),*] };
}
pub(crate) use args;

impl Db {
    /// Reads.
    pub async fn fetch(&self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<Vec<DbRow>, StoreError> {
        Ok(match self {
            Self::Lite { readers, faults, .. } => {
                let rows =
                    faults.call(DatabaseStep::Read, sql, args, |query| query.fetch_all(readers)).await?;
                rows.into_iter().map(DbRow::Lite).collect()
            }
            Self::Pg(pool) => pg(sql, args).fetch_all(pool).await?.into_iter().map(DbRow::Pg).collect(),
        })
    }

    pub async fn optional(&self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<Option<DbRow>, StoreError> {
        Ok(match self {
            Self::Lite { readers, faults, .. } => {
                let row =
                    faults.call(DatabaseStep::Read, sql, args, |query| query.fetch_optional(readers)).await?;
                row.map(DbRow::Lite)
            }
            Self::Pg(pool) => pg(sql, args).fetch_optional(pool).await?.map(DbRow::Pg),
        })
    }

    pub async fn one(&self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<DbRow, StoreError> {
        self.optional(sql, args).await?.ok_or(StoreError::Failed(sqlx::Error::RowNotFound))
    }

    /// Writes in a separate transaction, and returns the number of changed rows.
    pub async fn execute(&self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Lite { writer, wal, faults, .. } => {
                refuse_damaged_file()?;
                let _turn = faults.wait_for_turn().await?;
                let done = faults.call(DatabaseStep::Write, sql, args, |query| query.execute(writer)).await?;
                sync_wal(wal.as_deref()).await?;
                done.rows_affected()
            }
            Self::Pg(pool) => pg(sql, args).execute(pool).await?.rows_affected(),
        })
    }

    pub async fn begin(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            // The write lock is taken at the start: a transaction that reads first and then fails to get the lock would
            // have to be repeated.
            Self::Lite { writer, wal, faults, .. } => {
                refuse_damaged_file()?;
                Tx::Lite(faults.begin(writer).await?, wal.clone())
            }
            Self::Pg(pool) => Tx::Pg(pool.begin().await?),
        })
    }

    pub fn is_pg(&self) -> bool {
        matches!(self, Self::Pg(_))
    }
}

impl Tx {
    pub async fn fetch(&mut self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<Vec<DbRow>, StoreError> {
        Ok(match self {
            Self::Lite(tx, _) => {
                let rows = tx.call(sql, args, |tx, query| query.fetch_all(&mut **tx)).await?;
                rows.into_iter().map(DbRow::Lite).collect()
            }
            Self::Pg(tx) => pg(sql, args).fetch_all(&mut **tx).await?.into_iter().map(DbRow::Pg).collect(),
        })
    }

    pub async fn optional(
        &mut self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> Result<Option<DbRow>, StoreError> {
        Ok(self.fetch(sql, args).await?.into_iter().next())
    }

    pub async fn execute(&mut self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Lite(tx, _) => {
                tx.call(sql, args, |tx, query| query.execute(&mut **tx)).await?.rows_affected()
            }
            Self::Pg(tx) => pg(sql, args).execute(&mut **tx).await?.rows_affected(),
        })
    }

    /// Several statements without arguments.
    pub async fn script(&mut self, sql: String) -> Result<(), StoreError> {
        let script = sqlx::raw_sql(AssertSqlSafe(sql));
        match self {
            Self::Lite(tx, _) => script.execute(&mut **tx.inner()).await.map(drop)?,
            Self::Pg(tx) => script.execute(&mut **tx).await.map(drop)?,
        }
        Ok(())
    }

    /// Inserts rows in batches that suit the engine, and returns the rows of the tail's `RETURNING`.
    pub async fn insert(&mut self, bulk: Bulk, rows: Vec<Vec<Arg>>) -> Result<Vec<DbRow>, StoreError> {
        let mut returned = Vec::new();
        let mut rest = rows.into_iter();
        while rest.len() != 0 {
            let n = match self {
                // Three batch sizes only, so that few statements are prepared.
                Self::Lite(..) => [128, 16, 1].into_iter().find(|n| *n <= rest.len()).unwrap_or(1),
                Self::Pg(_) => rest.len().min(8192),
            };
            let chunk: Vec<Vec<Arg>> = rest.by_ref().take(n).collect();
            returned.extend(match self {
                Self::Lite(..) => {
                    self.fetch(AssertSqlSafe(bulk.values(n)), chunk.into_iter().flatten().collect()).await?
                }
                Self::Pg(tx) => {
                    let rows = bulk.unnest_query(chunk).fetch_all(&mut **tx).await?;
                    rows.into_iter().map(DbRow::Pg).collect()
                }
            });
        }
        Ok(returned)
    }

    /// Commits, and returns after the commit is on disk.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Lite(tx, wal) => {
                tx.commit().await?;
                sync_wal(wal.as_deref()).await?;
            }
            Self::Pg(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// Commits without waiting for the disk. A killed process loses nothing, but a power failure shortly afterwards can
    /// lose the commit. Use it for work that is then simply repeated; any later commit syncs it as well.
    pub async fn commit_soon(self) -> Result<(), StoreError> {
        match self {
            Self::Lite(tx, _) => tx.commit().await?,
            Self::Pg(mut tx) => {
                sqlx::query("SET LOCAL synchronous_commit = off").execute(&mut *tx).await?;
                tx.commit().await?;
            }
        }
        Ok(())
    }
}

async fn sync_wal(wal: Option<&Wal>) -> Result<(), StoreError> {
    if let Some(wal) = wal { wal.keep().await } else { Ok(()) }
}

impl Bulk {
    /// For SQLite: a list of rows.
    pub fn values(&self, n_rows: usize) -> String {
        let n_columns = self.types.len();
        let row = |row: usize| {
            let columns: Vec<String> = (1..=n_columns).map(|n| format!("${}", row * n_columns + n)).collect();
            format!("({})", columns.join(", "))
        };
        let rows: Vec<String> = (0..n_rows).map(row).collect();
        format!("INSERT INTO {} VALUES {} {}", self.into, rows.join(", "), self.tail)
    }

    /// For PostgreSQL: an array for each column, so that the statement is the same for any number of rows.
    pub fn unnest(&self) -> String {
        let column = |(at, kind): (usize, u8)| {
            let kind = match kind {
                b't' => "text",
                b'i' => "bigint",
                b'r' => "double precision",
                _ => "bytea",
            };
            format!("${}::{kind}[]", at + 1)
        };
        let columns: Vec<String> = self.types.bytes().enumerate().map(column).collect();
        format!("INSERT INTO {} SELECT * FROM UNNEST({}) {}", self.into, columns.join(", "), self.tail)
    }

    fn unnest_query<'q>(&self, rows: Vec<Vec<Arg>>) -> sqlx::query::Query<'q, Postgres, PgArguments> {
        let mut columns: Vec<Vec<Arg>> = self.types.bytes().map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            for (column, arg) in columns.iter_mut().zip(row) {
                column.push(arg);
            }
        }
        let mut query = sqlx::query(AssertSqlSafe(self.unnest()));
        for (column, kind) in columns.into_iter().zip(self.types.bytes()) {
            let column = column.into_iter();
            query = match kind {
                b't' => query.bind(column.map(Arg::into_text).collect::<Vec<_>>()),
                b'i' => query.bind(column.map(Arg::into_int).collect::<Vec<_>>()),
                b'r' => query.bind(column.map(Arg::into_real).collect::<Vec<_>>()),
                _ => query.bind(column.map(Arg::into_bytes).collect::<Vec<_>>()),
            };
        }
        query
    }
}

impl DbRow {
    pub fn get<T>(&self, column: &str) -> Result<T, StoreError>
    where
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>,
    {
        Ok(match self {
            Self::Lite(row) => row.try_get(column)?,
            Self::Pg(row) => row.try_get(column)?,
        })
    }

    /// A text column that is parsed, such as an id.
    pub fn parse<T: std::str::FromStr<Err: ToString>>(&self, column: &'static str) -> Result<T, StoreError> {
        let text: String = self.get(column)?;
        text.parse().map_err(|error: T::Err| StoreError::damaged_row(column, &text, &error))
    }

    pub fn maybe_parse<T: std::str::FromStr<Err: ToString>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.get(column)?;
        let Some(text) = text else { return Ok(None) };
        text.parse().map(Some).map_err(|error: T::Err| StoreError::damaged_row(column, &text, &error))
    }

    pub fn time(&self, column: &str) -> Result<jurist_core::grade::Time, StoreError> {
        self.get(column).map(jurist_core::grade::Time::from_micros)
    }

    pub fn maybe_time(&self, column: &str) -> Result<Option<jurist_core::grade::Time>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(jurist_core::grade::Time::from_micros))
    }

    pub fn maybe_usd(&self, column: &str) -> Result<Option<jurist_core::grade::Usd>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(jurist_core::grade::Usd::from_nanos))
    }

    pub fn probability(&self) -> Result<crate::Probability, StoreError> {
        let value: f64 = self.get("probability")?;
        crate::Probability::new(value)
            .ok_or_else(|| StoreError::damaged_row("probability", &value, "it is more than 0 and at most 1"))
    }

    /// A count, which is never negative.
    pub fn count(&self, column: &str) -> Result<u64, StoreError> {
        self.get(column).map(|n: i64| u64::try_from(n).unwrap_or(0))
    }

    pub fn flag(&self, column: &str) -> Result<bool, StoreError> {
        self.get(column).map(|n: i64| n != 0)
    }

    pub fn json(&self, column: &'static str) -> Result<serde_json::Value, StoreError> {
        self.parse(column)
    }

    /// A column that [`crate::pack`] compressed.
    pub fn unpack(&self, column: &'static str) -> Result<Vec<u8>, StoreError> {
        let packed: Vec<u8> = self.get(column)?;
        crate::pack::unpack(&packed).map_err(|why| StoreError::damaged_row("a row", column, &why))
    }

    pub fn unpack_json<T: serde::de::DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        let packed: Vec<u8> = self.get(column)?;
        crate::pack::unpack_json(&packed).map_err(|why| StoreError::damaged_row("a row", column, &why))
    }
}
