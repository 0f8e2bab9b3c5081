//! Schema migrations: forward only, each in one transaction.

use jurist_core::grade::Time;

use crate::db::{Db, Tx, args, statements};
use crate::{Store, StoreError, plans};

struct Migration {
    schema: &'static str,
    /// Append-only tables: rows are never changed or deleted.
    append_only: &'static [&'static str],
    /// Tables whose rows can be deleted but never changed.
    unchanging: &'static [&'static str],
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        schema: include_str!("../migrations/0001.sql"),
        append_only: &[
            "rubric_versions",
            "grades",
            "verdicts",
            "spend_ledger",
            "monitor_versions",
            "decision_events",
            "annotations",
            "labels",
            "audit",
        ],
        // Retention deletes texts and leaves the numbers.
        unchanging: &["grade_details", "trace_contents", "exchanges"],
    },
    Migration {
        schema: include_str!("../migrations/0002.sql"),
        append_only: &[],
        unchanging: &["submissions"],
    },
    Migration {
        schema: include_str!("../migrations/0003.sql"),
        append_only: &["rescores", "contests"],
        unchanging: &[],
    },
    Migration { schema: include_str!("../migrations/0004.sql"), append_only: &[], unchanging: &[] },
    Migration {
        schema: include_str!("../migrations/0005.sql"),
        append_only: &["annotation_task_versions", "adjudications"],
        unchanging: &[],
    },
    Migration { schema: include_str!("../migrations/0006.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0007.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0008.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0009.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0010.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0011.sql"), append_only: &[], unchanging: &["run_tags"] },
    Migration { schema: include_str!("../migrations/0012.sql"), append_only: &[], unchanging: &[] },
    Migration {
        schema: include_str!("../migrations/0013.sql"),
        append_only: &["dataset_versions"],
        unchanging: &[],
    },
    Migration { schema: include_str!("../migrations/0014.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0015.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0016.sql"), append_only: &[], unchanging: &[] },
    Migration { schema: include_str!("../migrations/0017.sql"), append_only: &[], unchanging: &[] },
];

/// The newest schema that this version knows.
pub const SCHEMA: i64 = MIGRATIONS.len() as i64;

/// Key of the PostgreSQL advisory lock for processes that start at the same time: "jurist" in ASCII.
const LOCK: i64 = 0x6a75_7269_7374;

/// A hash of everything that defines the tables.
#[cfg(feature = "testing")]
pub(crate) fn schema_fingerprint() -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(include_bytes!("migrate.rs"));
    MIGRATIONS.iter().for_each(|migration| {
        hasher.update(migration.schema.as_bytes());
    });
    hasher.finalize().to_hex()[..16].to_owned()
}

statements! {
    APPLIED = "SELECT COALESCE(MAX(version), 0) AS version FROM jurist_schema";
    APPLY = "INSERT INTO jurist_schema (version, applied) VALUES ($1, $2)";
}

const SCHEMA_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS jurist_schema (version BIGINT NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)";

impl Store {
    /// Migrates the database to the newest schema, and returns the version it had before.
    ///
    /// Any number of processes may call this at the same time; one migrates and the others wait.
    pub async fn migrate(&self, now: Time) -> Result<i64, StoreError> {
        if let Some(version) = self.schema_version().await? {
            self.refuse_newer(version)?;
            if version == SCHEMA {
                return Ok(version);
            }
        }
        let mut tx = self.db.begin().await?;
        if self.db.is_pg() {
            tx.fetch("SELECT CAST(pg_advisory_xact_lock($1) AS TEXT)", args![LOCK]).await?;
        }
        tx.execute(SCHEMA_TABLE, Vec::new()).await?;
        let version: i64 = match tx.optional(APPLIED, Vec::new()).await? {
            Some(row) => row.get("version")?,
            None => 0,
        };
        self.refuse_newer(version)?;
        let pending = MIGRATIONS.iter().zip(1_i64..).filter(|(_, number)| version < *number);
        for (migration, number) in pending {
            migration.apply(&mut tx, &self.db).await?;
            tx.execute(APPLY, args![number, now]).await?;
        }
        if !self.db.is_pg() {
            plans::write_index_statistics(&mut tx).await?;
        }
        tx.commit().await?;
        // A SQLite connection caches the schema that it has read; this query makes it read the new one.
        self.schema_version().await?;
        Ok(version)
    }

    /// `None` if the database has no tables of Jurist yet.
    pub async fn schema_version(&self) -> Result<Option<i64>, StoreError> {
        let exists = match &self.db {
            Db::Lite { .. } => {
                "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM sqlite_master WHERE type = 'table' AND name = 'jurist_schema'"
            }
            Db::Pg(_) => {
                "SELECT CASE WHEN to_regclass('jurist_schema') IS NULL THEN 0::bigint ELSE 1::bigint END AS n"
            }
        };
        if self.db.one(exists, Vec::new()).await?.count("n")? == 0 {
            return Ok(None);
        }
        self.db.one(APPLIED, Vec::new()).await?.get("version").map(Some)
    }

    fn refuse_newer(&self, found: i64) -> Result<(), StoreError> {
        if found <= SCHEMA {
            return Ok(());
        }
        Err(StoreError::Newer { place: self.place.clone(), found, known: SCHEMA })
    }
}

impl Migration {
    async fn apply(&self, tx: &mut Tx, db: &Db) -> Result<(), StoreError> {
        let schema = match db {
            Db::Lite { .. } => {
                let types = self.schema.replace("BIGINT", "INTEGER").replace("DOUBLE PRECISION", "REAL");
                types.replace("BYTEA", "BLOB").replace("\n);", "\n) STRICT;")
            }
            // Texts are compared by their bytes, as in SQLite, independent of the cluster's locale.
            Db::Pg(_) => self.schema.replace(" TEXT", " TEXT COLLATE \"C\""),
        };
        tx.script(schema).await?;
        if db.is_pg() {
            tx.script(PG_GUARD.to_owned()).await?;
        }
        for table in self.append_only {
            tx.script(guard(db, table, &["UPDATE", "DELETE"])).await?;
        }
        for table in self.unchanging {
            tx.script(guard(db, table, &["UPDATE"])).await?;
        }
        Ok(())
    }
}

const PG_GUARD: &str = "
CREATE OR REPLACE FUNCTION jurist_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME;
END $$;
";

fn guard(db: &Db, table: &str, actions: &[&str]) -> String {
    let guard = |action: &&str| match db {
        Db::Lite { .. } => format!(
            "CREATE TRIGGER {table}_keep_{action} BEFORE {action} ON {table}
             BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed'); END;"
        ),
        Db::Pg(_) => format!(
            "CREATE TRIGGER {table}_keep_{action} BEFORE {action} ON {table}
             FOR EACH ROW EXECUTE FUNCTION jurist_keep();"
        ),
    };
    let mut all: Vec<String> = actions.iter().map(guard).collect();
    if db.is_pg() && actions.contains(&"DELETE") {
        all.push(format!(
            "CREATE TRIGGER {table}_keep_TRUNCATE BEFORE TRUNCATE ON {table}
             FOR EACH STATEMENT EXECUTE FUNCTION jurist_keep();"
        ));
    }
    all.join("\n")
}
