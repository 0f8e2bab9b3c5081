//! What can go wrong between Jurist and its database.

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{0}` is no database: give a path, `sqlite:PATH` or `postgres://USER@HOST/NAME`")]
    BadUrl(String),
    #[error("cannot open the database `{place}`: {error}")]
    Unreachable { place: String, error: sqlx::Error },
    #[error("the database `{0}` cannot be written; Jurist needs leave to write the file and its folder")]
    ReadOnly(String),
    #[error(
        "the database `{place}` was written by a newer version of Jurist: it is at schema {found}, and this version knows up to {known}"
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
    #[error("a project keeps at least one owner; make another one first")]
    LastOwner,
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("the database did not do it: {0}")]
    Failed(#[source] sqlx::Error),
}

impl StoreError {
    pub(crate) fn unknown(what: &'static str, id: &(impl ToString + ?Sized)) -> Self {
        Self::Unknown { what, id: id.to_string(), hint: String::new() }
    }

    pub(crate) fn damaged(
        what: &'static str,
        id: &(impl ToString + ?Sized),
        why: &(impl ToString + ?Sized),
    ) -> Self {
        Self::Damaged { what, id: id.to_string(), why: why.to_string() }
    }

    /// Whether trying again later may help: the database is away, busy, or chose this transaction to give way.
    pub fn is_transient(&self) -> bool {
        let Self::Failed(error) = self else { return matches!(self, Self::Unreachable { .. }) };
        match error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => true,
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default();
                // PostgreSQL: serialization, deadlock, disk full, connections, shutting down.
                let of_pg = ["40001", "40P01", "53100", "53300", "57P01", "57P02", "57P03"];
                // SQLite: busy, locked, the disk fails, the disk is full; higher bits tell them apart further.
                let of_lite = |it: i32| [5, 6, 10, 13].contains(&(it & 0xff));
                of_pg.contains(&code.as_ref()) || code.parse().is_ok_and(of_lite)
            }
            _ => false,
        }
    }

    /// Turns a broken rule of uniqueness into the thing that is already there.
    pub(crate) fn taken(self, what: &'static str, id: &str) -> Self {
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
        Self::Failed(error)
    }
}
