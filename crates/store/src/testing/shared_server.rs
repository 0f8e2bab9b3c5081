//! One PostgreSQL for all test processes that run at the same time: to make one takes longer than most tests do.
//!
//! Each process holds a shared lock on a file while it runs. A keeper stops the server when nobody has held the
//! lock for half a minute. Tests get a copy of a database that has all tables already.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row};

use super::server::{PATIENCE, User, free_port, make_cluster, program, user_id, user_of};
use crate::{Store, migrate, random};

/// Stops the server once three looks, ten seconds apart, find that nobody uses it. No process can begin to use
/// it while the file `start` is locked.
const KEEPER: &str = r#"
"$0" "$@" & server=$!
idle=0
while kill -0 $server 2>/dev/null; do
    sleep 10
    if flock -n users true; then idle=$((idle + 1)); else idle=0; fi
    if [ $idle -ge 3 ]; then flock -n start flock -n users sh -c "rm -f port; kill -QUIT $server" && break; fi
done
wait $server
"#;

/// A server that this process shares with others.
#[derive(Debug)]
pub(super) struct SharedServer {
    port: u16,
    folder: PathBuf,
    /// Locked for as long as this process runs.
    _users: File,
}

impl SharedServer {
    /// `None` where PostgreSQL is not installed.
    pub(super) fn get() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<SharedServer>> = OnceLock::new();
        SERVER.get_or_init(Self::join).as_ref()
    }

    /// Uses the server that runs, or starts it.
    fn join() -> Option<Self> {
        let postgres = program("postgres")?;
        let folder = tempfile::env::temp_dir().join(format!("jurist-test-postgres-{}", user_id(&[])));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{folder:?}: {error}"),
            _ => {}
        }
        let user = user_of(&folder);
        let start = lock_file(&folder, "start");
        start.lock().expect("a file can be locked");
        let users = lock_file(&folder, "users");
        users.lock_shared().expect("a file can be locked");
        let port = running(&folder).unwrap_or_else(|| serve(&folder, &user, &postgres));
        Some(Self { port, folder, _users: users })
    }

    /// The address of a new database that has all tables.
    pub(super) async fn database(&self) -> String {
        let mut connection = connect(self.port).await;
        drop_abandoned(&mut connection).await;
        let template = self.template(&mut connection).await;
        let name = format!("test_{}_{}", std::process::id(), u64::from_le_bytes(random()));
        create_database(&mut connection, &format!("{name} TEMPLATE {template}")).await;
        address(self.port, &name)
    }

    /// The database that others are copies of; made by the first process that needs it.
    async fn template(&self, connection: &mut PgConnection) -> String {
        let name = format!("template_{}", migrate::schema_fingerprint());
        if has_database(connection, &name).await {
            return name;
        }
        let start = lock_file(&self.folder, "start");
        start.lock().expect("a file can be locked");
        if !has_database(connection, &name).await {
            let draft = format!("draft_{}", u64::from_le_bytes(random()));
            create_database(connection, &draft).await;
            let store = Store::open(&address(self.port, &draft)).await.expect("a new database opens");
            store.close().await;
            let renamed = format!("ALTER DATABASE {draft} RENAME TO {name}");
            connection.execute(AssertSqlSafe(renamed)).await.expect("nobody else uses the draft");
        }
        name
    }
}

fn lock_file(folder: &Path, name: &str) -> File {
    let file = File::options().create(true).append(true).open(folder.join(name));
    file.unwrap_or_else(|error| panic!("{name} in {folder:?}: {error}"))
}

/// The port of the server, if it answers.
fn running(folder: &Path) -> Option<u16> {
    let port = fs::read_to_string(folder.join("port")).ok()?.trim().parse().ok()?;
    std::net::TcpStream::connect(("127.0.0.1", port)).ok().map(|_| port)
}

#[expect(clippy::zombie_processes, reason = "the keeper outlives this process")]
fn serve(folder: &Path, user: &User, postgres: &Path) -> u16 {
    let data = folder.join("data");
    let _ = fs::remove_dir_all(&data);
    make_cluster(user, &data);
    let port = free_port();
    let log = File::create(folder.join("log")).expect("the folder is ours");
    let errors = log.try_clone().expect("a file can be shared");
    let mut keeper = user.command(Path::new("sh"));
    keeper.arg("-c").arg(KEEPER).arg(postgres).arg("-D").arg(&data).args(["-p", &port.to_string()]);
    let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=128MB"];
    for setting in settings.into_iter().chain(["fsync=off", "max_connections=400"]) {
        keeper.args(["-c", setting]);
    }
    keeper.stdin(Stdio::null()).stdout(log).stderr(errors).current_dir(folder).process_group(0);
    keeper.spawn().expect("the server starts");
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log_text = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(begun.elapsed() < PATIENCE, "PostgreSQL does not start: {log_text}");
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::write(folder.join("port"), port.to_string()).expect("the folder is ours");
    port
}

fn address(port: u16, name: &str) -> String {
    format!("postgres://jurist@127.0.0.1:{port}/{name}")
}

/// A server that has just begun to listen refuses connections for a moment.
async fn connect(port: u16) -> PgConnection {
    let options: PgConnectOptions = address(port, "postgres").parse().expect("an address");
    let begun = Instant::now();
    loop {
        match options.connect().await {
            Ok(connection) => return connection,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "no connection to PostgreSQL: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn has_database(connection: &mut PgConnection, name: &str) -> bool {
    let query = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1").bind(name);
    connection.fetch_optional(query).await.expect("the catalogue can be read").is_some()
}

async fn create_database(connection: &mut PgConnection, name: &str) {
    let made = connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await;
    made.expect("a database can be made");
}

/// Drops the databases of processes that have ended.
async fn drop_abandoned(connection: &mut PgConnection) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let rows = connection.fetch_all("SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'").await;
    for row in rows.expect("the catalogue can be read") {
        let name: String = row.get(0);
        let process = name.split('_').nth(1).unwrap_or_default();
        if !Path::new("/proc").join(process).exists() {
            // Another process may be doing the same.
            let dropped = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            let _ = connection.execute(AssertSqlSafe(dropped)).await;
        }
    }
}
