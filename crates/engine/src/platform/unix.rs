//! Linux, macOS and other Unix systems.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::process::{Child, Command};

use super::{ProgramPipes, find_in_folders};
use crate::environment::program_folders;

/// A command that starts a program by its name or path.
pub(crate) fn build_program_command(name: impl AsRef<OsStr>) -> std::process::Command {
    std::process::Command::new(name)
}

/// A command that starts a program in a folder, where its path is relative to that folder.
pub(crate) fn build_command_in(folder: &Path, name: impl AsRef<OsStr>) -> std::process::Command {
    let mut command = build_program_command(name);
    command.current_dir(folder);
    command
}

/// What an MCP server is started with.
pub(crate) fn wrap_server_command(command: Command) -> Command {
    command
}

/// The file of a program.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let mut folders = program_folders();
    if folders.is_empty() {
        // Where `execvp` looks without a `PATH`.
        folders.extend(["/bin", "/usr/bin"].map(PathBuf::from));
    }
    find_in_folders(folders.into_iter(), Path::new(name))
}

/// A path without links, `.` and `..`.
pub fn find_real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Whether a path is a pipe, a socket, a terminal or another device. A missing path is none.
pub fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Whether a device is one that a shell hands over, such as `<(…)` or `/dev/stdin`.
pub(crate) fn is_handed_over(path: &Path) -> bool {
    ["/dev/fd/", "/proc/self/fd/", "/dev/stdin", "/dev/null"]
        .iter()
        .any(|place| path.to_string_lossy().starts_with(place))
}

/// Creates the same symbolic link in another place.
pub(crate) fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(std::fs::read_link(from)?, to)
}

/// The name of this machine, or nothing where it is not known.
pub fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// A variable that every process of a run inherits, whatever group or session it moves to.
const MARK: &str = "JURIST_PROGRAM_RUN";

static N_STARTED: AtomicU64 = AtomicU64::new(0);

/// Rounds of the search for escaped processes: a process may start others while it is being killed.
const MAX_KILL_ROUNDS: usize = 20;

/// A program and all processes that it started. They are killed when it is dropped.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    child: Child,
    /// Process id of the program, which is also the id of its group.
    id: Option<u32>,
    mark: String,
}

impl ProcessTree {
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        command.kill_on_drop(true).process_group(0);
        let mark = format!("{}-{}", std::process::id(), N_STARTED.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark);
        let child = command.spawn()?;
        Ok(Self { id: child.id(), child, mark })
    }

    pub fn take_pipes(&mut self) -> ProgramPipes {
        let Child { stdin, stdout, stderr, .. } = &mut self.child;
        ProgramPipes { stdin: stdin.take(), stdout: stdout.take(), stderr: stderr.take() }
    }

    /// Waits for the program itself.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    pub fn kill(&mut self) {
        if let Some(id) = self.id {
            kill_processes(&[format!("-{id}")]);
        }
        for _ in 0..MAX_KILL_ROUNDS {
            let escaped = self.find_escaped();
            if escaped.is_empty() {
                return;
            }
            kill_processes(&escaped);
        }
    }

    /// Processes of this run that left its group, as `setsid` does. Only Linux shows them.
    fn find_escaped(&self) -> Vec<String> {
        let entry = format!("{MARK}={}", self.mark);
        let is_marked = |folder: &Path| {
            let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbered = processes.filter_map(|process| process.file_name().into_string().ok());
        numbered
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            .filter(|name| is_marked(&Path::new("/proc").join(name)))
            .collect()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills the processes with the `kill` command. On a system without it, only the program itself is killed, by tokio.
fn kill_processes(processes: &[String]) {
    let mut kill = std::process::Command::new("kill");
    let _ = kill.args(["-KILL", "--"]).args(processes).stderr(Stdio::null()).status();
}
