//! Opens a database: a SQLite file or a PostgreSQL server.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::db::{Db, args, statements};
use crate::error::{is_disk_full, note_disk_has_room, refuse_damaged_file};
use crate::faults::Faults;
use crate::piece_batches::Ingest;
use crate::wake::Wake;
use crate::wal::Wal;
use crate::{StoreError, clock};

statements! {
    PROBE = "INSERT INTO cache (project, dedupe, body, created, used) VALUES ('', 'room on the disk', $1, 0, 0)
        ON CONFLICT DO NOTHING";
    UNPROBE = "DELETE FROM cache WHERE project = '' AND dedupe = 'room on the disk'";
}

/// Size of the write that tests for a full disk. It is larger than the free space of any existing page, so that the
/// file has to grow.
const PROBE_BYTES: usize = 64 << 10;

/// An open database. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) db: Db,
    /// Path or URL for messages, without the password.
    pub(crate) place: String,
    pub(crate) wake: Arc<Wake>,
    pub(crate) ingest: Arc<Ingest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Connections for reading; with PostgreSQL, for reading and writing.
    pub connections: u32,
    pub sync: Sync,
    /// How long to wait for another process that writes, or for a free connection.
    pub patience: Duration,
    /// Largest number of pages (4 KiB each) of a SQLite file; writes beyond it fail as on a full disk.
    pub max_pages: Option<u32>,
}

/// Whether a commit to SQLite waits for the disk. PostgreSQL has its own setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Each commit waits, so that a power failure loses no acknowledged data.
    Full,
    /// Commits do not wait: a killed process loses nothing, a power failure may lose the last commits.
    Normal,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { connections: 8, sync: Sync::Full, patience: Duration::from_secs(15), max_pages: None }
    }
}

/// The version of the SQLite that is compiled in.
pub async fn read_sqlite_version() -> Result<String, StoreError> {
    let mut connection = SqliteConnectOptions::new().in_memory(true).connect().await?;
    Ok(sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut connection).await?)
}

impl Store {
    /// Opens a path, `sqlite:PATH` or `postgres://…`, and migrates it to the newest schema.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, StoreOptions::default()).await
    }

    pub async fn open_with(url: &str, options: StoreOptions) -> Result<Self, StoreError> {
        let store = Self::connect(url, options).await?;
        store.refuse_read_only().await?;
        store.migrate(clock::current_time()).await?;
        Ok(store)
    }

    /// Opens without migrating, to inspect the schema or to migrate by hand.
    pub async fn connect(url: &str, options: StoreOptions) -> Result<Self, StoreError> {
        let is_pg = url.starts_with("postgres://") || url.starts_with("postgresql://");
        let opened = if is_pg { postgres(url, options).await? } else { sqlite(url, options).await? };
        let OpenedDatabase { db, place } = opened;
        Ok(Self { wake: Arc::new(Wake::new()), ingest: Arc::default(), db, place })
    }

    /// `sqlite` or `postgres`.
    pub fn engine(&self) -> &'static str {
        if self.db.is_pg() { "postgres" } else { "sqlite" }
    }

    /// Path or URL for messages, without the password.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.db.one("SELECT CAST(1 AS BIGINT) AS n", Vec::new()).await.map(drop)
    }

    /// Checks whether the database accepts writes. It writes a probe only if an earlier write has failed.
    pub async fn check_writable(&self) -> Result<(), StoreError> {
        refuse_damaged_file()?;
        if !is_disk_full() {
            return Ok(());
        }
        let mut tx = self.db.begin().await?;
        tx.execute(PROBE, args![vec![0_u8; PROBE_BYTES]]).await?;
        tx.execute(UNPROBE, Vec::new()).await?;
        tx.commit().await?;
        note_disk_has_room();
        Ok(())
    }

    /// Closes all connections after the running statements have ended.
    pub async fn close(&self) {
        match &self.db {
            Db::Lite { writer, readers, .. } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Pg(pool) => pool.close().await,
        }
    }

    /// Refuses a read-only file now; SQLite opens it without an error and fails at the first write.
    async fn refuse_read_only(&self) -> Result<(), StoreError> {
        let read_only = StoreError::ReadOnly(self.place.clone());
        if !self.db.is_pg() {
            let Err(StoreError::Failed(error)) = self.db.begin().await.map(drop) else { return Ok(()) };
            return Err(if is_read_only(&error) { read_only } else { unreachable_error(&self.place, error) });
        }
        let setting = "SELECT current_setting('transaction_read_only') AS setting";
        let setting: String = self.db.one(setting, Vec::new()).await?.get("setting")?;
        if setting == "on" { Err(read_only) } else { Ok(()) }
    }
}

/// A database, and where it is, without a password.
struct OpenedDatabase {
    db: Db,
    place: String,
}

async fn postgres(url: &str, options: StoreOptions) -> Result<OpenedDatabase, StoreError> {
    let connect = PgConnectOptions::from_str(url).map_err(|_| StoreError::BadUrl(without_password(url)))?;
    let connect = connect.application_name("jurist").statement_cache_capacity(512);
    let place = format!(
        "postgres://{}@{}:{}/{}",
        connect.get_username(),
        connect.get_host(),
        connect.get_port(),
        connect.get_database().unwrap_or(connect.get_username())
    );
    // A single connection first, because its error has the cause. The pool retries until its timeout and reports
    // only the timeout.
    let first = tokio::time::timeout(options.patience, sqlx::ConnectOptions::connect(&connect)).await;
    let first = first.map_err(|_| unreachable_error(&place, sqlx::Error::PoolTimedOut))?;
    sqlx::Connection::close(first.map_err(|error| unreachable_error(&place, error))?).await?;
    let pool = PgPoolOptions::new()
        .max_connections(options.connections)
        .acquire_timeout(options.patience)
        .connect_lazy_with(connect);
    Ok(OpenedDatabase { db: Db::Pg(pool), place })
}

/// Page caches of SQLite in kibibytes, as it writes them. A cache belongs to one connection and fills up to its size as
/// the database grows, so these decide the memory of a server on a large database: 32 MiB for the writer and 8 MiB for
/// each of its 8 readers. With SQLite's default of 2 MiB, random inserts into large indexes read their pages again and
/// again; the pages of readers are in the cache of the operating system as well.
const WRITER_CACHE: &str = "-32768";
const READER_CACHE: &str = "-8192";

async fn sqlite(url: &str, options: StoreOptions) -> Result<OpenedDatabase, StoreError> {
    let path = sqlite_path(url);
    if path.is_empty() || path.contains(":memory:") || path.contains("://") {
        return Err(StoreError::BadUrl(without_password(url)));
    }
    refuse_emptied_file(path).await?;
    create_private(Path::new(path)).map_err(|error| unreachable_error(path, error.into()))?;
    let connect = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // SQLite's commits do not wait for the disk; `Wal` waits instead.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(options.patience)
        .statement_cache_capacity(512)
        .pragma("temp_store", "MEMORY");
    let opened = |error: sqlx::Error| {
        if is_read_only(&error) {
            StoreError::ReadOnly(path.to_owned())
        } else {
            unreachable_error(path, error)
        }
    };
    let writer = SqlitePoolOptions::new().max_connections(1).acquire_timeout(2 * options.patience);
    // Above this number of pages in the log, the writer itself moves them into the file. Regular maintenance does it
    // earlier (see `Store::checkpoint`).
    let mut writing = connect.clone().pragma("wal_autocheckpoint", "8192").pragma("cache_size", WRITER_CACHE);
    if let Some(max_pages) = options.max_pages {
        writing = writing.pragma("max_page_count", max_pages.to_string());
    }
    let writer = writer.idle_timeout(None).max_lifetime(None).connect_with(writing).await.map_err(opened)?;
    refuse_damaged_pages(&writer, path).await?;
    let wal = match options.sync {
        Sync::Full => Some(Wal::of(Path::new(path)).map_err(|error| opened(error.into()))?),
        Sync::Normal => None,
    };
    let readers = SqlitePoolOptions::new()
        .max_connections(options.connections)
        .acquire_timeout(2 * options.patience)
        .connect_lazy_with(connect.pragma("query_only", "ON").pragma("cache_size", READER_CACHE));
    let db = Db::Lite { writer, readers, wal: wal.map(Arc::new), faults: Faults::default() };
    Ok(OpenedDatabase { db, place: path.to_owned() })
}

fn sqlite_path(url: &str) -> &str {
    url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url)
}

/// Refuses an existing empty file. It may be a truncated database, and creating a new one in it would hide the loss.
async fn refuse_emptied_file(path: &str) -> Result<(), StoreError> {
    let is_empty = || std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
    // Another process may be creating the file at this moment; it writes the first page soon.
    for _ in 0..100 {
        if !is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(StoreError::Emptied(path.to_owned()))
}

/// Larger files are not checked at the start, because the check reads the whole file. Damage in them is found when
/// a damaged page is read.
const CHECKED_BYTES: u64 = 32 << 20;

/// Refuses a file that SQLite itself finds damaged, before anything is written to it.
async fn refuse_damaged_pages(writer: &sqlx::SqlitePool, path: &str) -> Result<(), StoreError> {
    if std::fs::metadata(path).is_ok_and(|file| CHECKED_BYTES < file.len()) {
        return Ok(());
    }
    let message: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(writer).await?;
    if message == "ok" { Ok(()) } else { Err(StoreError::DamagedFile(message.replace('\n', " "))) }
}

/// Creates a file that only its owner can read, because it will hold private data. SQLite gives its log the same
/// mode.
pub(crate) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        opened => opened.map(drop),
    }
}

/// Removes the permissions of all other users from a SQLite file, its log and its shared-memory file, if the file is
/// readable for all users. Returns whether it changed the mode.
///
/// Earlier versions created files that all users could read. A file that is readable for its group only was shared on
/// purpose and is not changed, and neither is a read-only file or a file of another owner.
pub fn make_private(url: &str) -> bool {
    let is_narrowed = make_file_private(sqlite_path(url));
    if is_narrowed {
        for ending in ["-wal", "-shm"] {
            make_file_private(&format!("{}{ending}", sqlite_path(url)));
        }
    }
    is_narrowed
}

#[cfg(unix)]
fn make_file_private(path: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let Ok(file) = std::fs::metadata(path) else { return false };
    let mode = file.permissions().mode();
    let is_ours_to_narrow = file.is_file() && mode & 0o007 != 0 && mode & 0o200 != 0;
    is_ours_to_narrow && std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).is_ok()
}

#[cfg(not(unix))]
fn make_file_private(_path: &str) -> bool {
    false
}

fn unreachable_error(place: &str, error: sqlx::Error) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), error }
}

/// SQLITE_READONLY or one of its extended codes, which differ in the higher bits.
fn is_read_only(error: &sqlx::Error) -> bool {
    let code =
        error.as_database_error().and_then(|database_error| database_error.code()?.parse::<i32>().ok());
    code.is_some_and(|code| code & 0xff == 8)
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host}")
}
