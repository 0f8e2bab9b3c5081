//! Errors of the database.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set when a write fails because the disk is full; cleared by the next successful write.
static DISK_IS_FULL: AtomicBool = AtomicBool::new(false);

/// Set when SQLite reports a damaged file. This process then refuses all further writes.
static FILE_IS_DAMAGED: AtomicBool = AtomicBool::new(false);

/// Why a call to the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{0}` is not a database: use a path, `sqlite:PATH` or `postgres://USER@HOST/NAME`")]
    BadUrl(String),
    #[error("cannot open the database `{place}`: {error}")]
    Unreachable { place: String, error: sqlx::Error },
    #[error(
        "the database `{0}` cannot be written; Jurist needs write permission for the file and its folder"
    )]
    ReadOnly(String),
    #[error(
        "the database `{place}` was written by a newer version of Jurist: it has schema {found}, and this version supports up to {known}"
    )]
    Newer { place: String, found: i64, known: i64 },
    #[error("there is no {what} `{id}`{hint}")]
    Unknown { what: &'static str, id: String, hint: String },
    #[error("there is already a {what} `{id}`")]
    Taken { what: &'static str, id: String },
    #[error("{what} `{id}` has been changed in the meantime")]
    Changed { what: &'static str, id: String },
    #[error("{what} `{id}` is damaged in the database: {why}")]
    Damaged { what: &'static str, id: String, why: String },
    #[error("the database `{0}` is an empty file; restore it from a backup, or delete it to begin a new one")]
    Emptied(String),
    #[error(
        "the database file is damaged, so nothing is written to it; stop Jurist and restore it from a backup: {0}"
    )]
    DamagedFile(String),
    #[error("a project keeps at least one owner; make another one first")]
    LastOwner,
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("database error: {0}")]
    Failed(#[source] sqlx::Error),
}

impl StoreError {
    pub(crate) fn unknown(what: &'static str, id: &(impl ToString + ?Sized)) -> Self {
        Self::Unknown { what, id: id.to_string(), hint: String::new() }
    }

    pub(crate) fn damaged_row(
        what: &'static str,
        id: &(impl ToString + ?Sized),
        why: &(impl ToString + ?Sized),
    ) -> Self {
        Self::Damaged { what, id: id.to_string(), why: why.to_string() }
    }

    /// Whether a retry may help: the database is unavailable, busy, or ended this transaction to resolve a deadlock.
    pub fn is_transient(&self) -> bool {
        let Self::Failed(error) = self else { return matches!(self, Self::Unreachable { .. }) };
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed
            | sqlx::Error::InvalidSavePointStatement => true,
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default();
                // PostgreSQL: serialization, deadlock, disk full, connections, shutting down.
                let of_pg = ["40001", "40P01", "53100", "53300", "57P01", "57P02", "57P03"];
                // SQLite: busy, locked, disk error, disk full, cannot open; the higher bits are extended codes.
                let of_lite = |n: i32| [5, 6, 10, 13, 14].contains(&(n & 0xff));
                // SQLite rolls back a transaction by itself when the disk is full.
                let is_over = error.message().contains("no transaction is active");
                of_pg.contains(&code.as_ref()) || code.parse().is_ok_and(of_lite) || is_over
            }
            _ => false,
        }
    }

    /// Turns a violated unique constraint into [`StoreError::Taken`].
    pub(crate) fn into_taken(self, what: &'static str, id: &str) -> Self {
        match &self {
            Self::Failed(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                Self::Taken { what, id: id.to_owned() }
            }
            _ => self,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if means_full_disk(&error) {
            DISK_IS_FULL.store(true, Ordering::Relaxed);
        }
        if means_damaged_file(&error) {
            FILE_IS_DAMAGED.store(true, Ordering::Relaxed);
            return Self::DamagedFile(error.to_string());
        }
        Self::Failed(error)
    }
}

/// SQLite's FULL, PostgreSQL's disk_full, or the operating system's error.
fn means_full_disk(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == std::io::ErrorKind::StorageFull,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            code == "53100" || code.parse().is_ok_and(|code: i32| code & 0xff == 13)
        }
        _ => false,
    }
}

/// SQLite's CORRUPT and NOTADB.
fn means_damaged_file(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    code.is_some_and(|code| matches!(code & 0xff, 11 | 26))
}

/// Whether a write failed because the disk is full, and none worked since.
pub(crate) fn is_disk_full() -> bool {
    DISK_IS_FULL.load(Ordering::Relaxed)
}

pub(crate) fn note_disk_has_room() {
    DISK_IS_FULL.store(false, Ordering::Relaxed);
}

/// Refuses to write to a file that was found to be damaged.
pub(crate) fn refuse_damaged_file() -> Result<(), StoreError> {
    match FILE_IS_DAMAGED.load(Ordering::Relaxed) {
        true => Err(StoreError::DamagedFile("it was found before".to_owned())),
        false => Ok(()),
    }
}
