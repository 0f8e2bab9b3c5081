//! A PostgreSQL in a temporary folder, on a free port of this machine.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, ConnectOptions, Executor};
use tempfile::TempDir;

use crate::random;

/// A server that ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    keeper: Mutex<Child>,
    port: u16,
    folder: TempDir,
    user: User,
    postgres: PathBuf,
    fsync: Fsync,
}

/// Whether a server syncs its files. Only tests of power failures need that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    On,
    Off,
}

/// Starts the server, and ends it when its standard input ends: when the test drops it, or dies.
const KEEPER: &str = r#""$0" "$@" & server=$!; read -r _; kill -QUIT $server; wait $server"#;

/// How long a server may take to start on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

impl Server {
    /// `None` where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// Where it is installed and does not start.
    pub fn start(fsync: Fsync) -> Option<Self> {
        let postgres = program("postgres")?;
        let folder =
            tempfile::Builder::new().prefix("jurist-pg-").tempdir().expect("there is room for a folder");
        let user = user_of(folder.path());
        let data = folder.path().join("data");
        make_cluster(&user, &data);
        // A port that was free a moment ago may be somebody else's by now, so it is tried again.
        let started = |port| Some((Self::serve(&user, &postgres, &data, fsync, port)?, port));
        let server = (0..5).find_map(|_| started(free_port()));
        let (keeper, port) =
            server.unwrap_or_else(|| panic!("PostgreSQL does not start: {}", log(folder.path())));
        Some(Self { keeper: Mutex::new(keeper), port, folder, user, postgres, fsync })
    }

    /// Ends it as a crash would, and starts it again on what it left.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn restart(&self) {
        self.stop();
        let data = self.folder.path().join("data");
        let keeper = Self::serve(&self.user, &self.postgres, &data, self.fsync, self.port);
        let keeper =
            keeper.unwrap_or_else(|| panic!("PostgreSQL does not start: {}", log(self.folder.path())));
        *self.keeper.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = keeper;
    }

    fn serve(user: &User, postgres: &Path, data: &Path, fsync: Fsync, port: u16) -> Option<Child> {
        let folder = data.parent().expect("it is in a folder");
        let file = std::fs::File::create(folder.join("log")).expect("the folder is ours");
        let mut command = user.command(Path::new("sh"));
        command.arg("-c").arg(KEEPER).arg(postgres).arg("-D").arg(data).args(["-p", &port.to_string()]);
        let fsync = if fsync == Fsync::On { "fsync=on" } else { "fsync=off" };
        for setting in
            ["listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=128MB", fsync]
        {
            command.args(["-c", setting]);
        }
        let errors = file.try_clone().expect("a file can be shared");
        command.stdin(Stdio::piped()).stdout(file).stderr(errors).current_dir(folder).process_group(0);
        let mut keeper = command.spawn().expect("the server starts");
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let log_text = log(folder);
            if log_text.contains("ready to accept connections") {
                return Some(keeper);
            }
            // The log also has FATAL lines for clients that connected too early; those do not matter.
            if log_text.contains("could not create any TCP/IP sockets") {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        end(&mut keeper);
        None
    }

    /// The address of a new database.
    ///
    /// # Panics
    ///
    /// Where the server does not come up.
    pub async fn database(&self) -> String {
        let name = format!("test_{}", u64::from_le_bytes(random()));
        let url = |name: &str| format!("postgres://jurist@127.0.0.1:{}/{name}", self.port);
        let options: sqlx::postgres::PgConnectOptions = url("postgres").parse().expect("it is an address");
        let connection = options.connect().await;
        let mut connection =
            connection.unwrap_or_else(|error| panic!("{error}: {}", log(self.folder.path())));
        let made = connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await;
        made.expect("a database can be made");
        url(&name)
    }

    /// Ends it at once, as a crash would.
    pub fn stop(&self) {
        end(&mut self.keeper.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes the files of a server.
pub(super) fn make_cluster(user: &User, data: &Path) {
    let made = user
        .command(&program("initdb").expect("initdb is installed with postgres"))
        .args(["--auth=trust", "--username=jurist", "--no-sync", "--no-locale", "--encoding=UTF8", "-D"])
        .arg(data)
        .current_dir(data.parent().expect("it is in a folder"))
        .output()
        .expect("initdb starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// In the path, or where Debian and others keep it; the newest.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        let version =
            Command::new(path).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|exit_status| exit_status.success())
    };
    let folders = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt/postgresql"];
    let versions = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut programs: Vec<PathBuf> =
        versions.map(|version| version.path().join("bin").join(name)).filter(|path| runs(path)).collect();
    programs.sort();
    Some(PathBuf::from(name)).filter(|path| runs(path)).or_else(|| programs.pop())
}

/// PostgreSQL refuses to run as root.
#[derive(Debug)]
pub(super) enum User {
    Ours,
    Nobody,
}

pub(super) fn user_of(folder: &Path) -> User {
    if user_id(&[]) != 0 {
        return User::Ours;
    }
    chown(folder, Some(user_id(&["nobody"])), None).expect("root may give folders away");
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("the folder is ours");
    User::Nobody
}

/// Of the process, unless somebody is named.
pub(super) fn user_id(name: &[&str]) -> u32 {
    let id = Command::new("id").arg("-u").args(name).output().expect("`id` is there");
    String::from_utf8_lossy(&id.stdout).trim().parse().expect("a user has a number")
}

impl User {
    pub(super) fn command(&self, program: &Path) -> Command {
        match self {
            Self::Ours => Command::new(program),
            Self::Nobody => {
                let mut command = Command::new("runuser");
                command.args(["-u", "nobody", "--"]).arg(program);
                command
            }
        }
    }
}

fn end(keeper: &mut Child) {
    drop(keeper.stdin.take());
    let _ = keeper.wait();
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    listener.local_addr().expect("it is bound").port()
}
