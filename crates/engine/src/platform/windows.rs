//! Windows.

use std::ffi::OsStr;
use std::io;
use std::os::windows::fs::{symlink_dir, symlink_file};
use std::path::{Component, Path, PathBuf, Prefix};
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::Command;

use super::{ProgramPipes, find_in_folders};
use crate::environment::{PROGRAM_VARIABLES, program_folders, variable};

/// Endings of programs that the system starts, in the order in which its shell tries them.
const ENDINGS: [&str; 4] = ["com", "exe", "bat", "cmd"];

/// A command that starts a program by its name or path.
///
/// The system itself finds nothing but `.exe` files by a name without its ending, and starts no scripts. Here `npx` is
/// `npx.cmd`, `python3` is what the installer of Python calls `python` or `py`, `sh` is that of Git where the path has
/// none, and a script is started by the interpreter that its ending names.
pub(crate) fn build_program_command(name: impl AsRef<OsStr>) -> std::process::Command {
    let name = Path::new(name.as_ref());
    let file = find_file(name);
    let mut command = match file.as_deref().and_then(find_interpreter) {
        Some(interpreter) => {
            let mut command =
                std::process::Command::new(find_program(interpreter).unwrap_or(interpreter.into()));
            command.args(&file);
            command
        }
        None => std::process::Command::new(file.as_deref().unwrap_or(name)),
    };
    command.envs(PROGRAM_VARIABLES.iter().copied());
    command
}

/// A command that starts a program in a folder, where its path is relative to that folder. The system would look for
/// it from the folder of this process.
pub(crate) fn build_command_in(folder: &Path, name: impl AsRef<OsStr>) -> std::process::Command {
    let name = Path::new(name.as_ref());
    let mut command =
        if is_bare(name) { build_program_command(name) } else { build_program_command(folder.join(name)) };
    command.current_dir(folder);
    command
}

/// What an MCP server is started with: a server such as `npx` is a script that starts the server, and both end
/// together.
pub(crate) fn wrap_server_command(command: Command) -> CommandWrap {
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop).wrap(JobObject);
    command
}

fn is_bare(name: &Path) -> bool {
    !super::is_program_path(&name.to_string_lossy())
}

/// The file of a program; `None` where the system has to look.
fn find_file(name: &Path) -> Option<PathBuf> {
    if is_bare(name) {
        return find_program(name.to_str()?);
    }
    let with_ending = list_file_names(name).into_iter().find(|path| path.is_file());
    with_ending.or_else(|| Some(name.to_owned()).filter(|path| path.is_file()))
}

/// A path with each ending of a program, or the path itself if it has one of them.
fn list_file_names(path: &Path) -> Vec<PathBuf> {
    let has_ending = |ending: &&str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    if ENDINGS.iter().any(has_ending) {
        return vec![path.to_owned()];
    }
    let add_ending = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    ENDINGS.map(add_ending).into()
}

/// The program that starts a script.
fn find_interpreter(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "py" => Some("python3"),
        "js" | "mjs" | "cjs" => Some("node"),
        "sh" => Some("sh"),
        _ => None,
    }
}

/// The file of a program.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let folders = program_folders();
    match name {
        // A virtual environment has `python.exe` alone. Windows puts programs named `python` and `python3` that open
        // its store into a folder of the path; they come last.
        "python3" => {
            let is_store = |folder: &PathBuf| folder.ends_with(r"Microsoft\WindowsApps");
            let (last, first): (Vec<_>, Vec<_>) = folders.into_iter().partition(is_store);
            let names = ["python", "python3", "py"];
            let find = |folders: &[PathBuf]| names.iter().find_map(|name| find_in(folders, name));
            find(&first).or_else(|| find(&last))
        }
        "sh" => find_in(&folders, "sh").or_else(|| find_shell_of_git(&find_in(&folders, "git")?)),
        name => find_in(&folders, name),
    }
}

fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    list_file_names(Path::new(name)).iter().find_map(|name| find_in_folders(folders.iter().cloned(), name))
}

/// Git for Windows brings a shell, and puts only `cmd\git.exe` on the path.
fn find_shell_of_git(git: &Path) -> Option<PathBuf> {
    git.ancestors().skip(1).take(3).map(|folder| folder.join(r"bin\sh.exe")).find(|shell| shell.is_file())
}

/// A path without links, `.` and `..`, as people and other programs write it: `C:\folder` and not `\\?\C:\folder`.
pub fn find_real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let Some(plain) = strip_verbatim(&real) else { return Ok(real) };
    // A name such as `CON` can be written in the long form alone.
    let is_same = std::path::absolute(&plain).is_ok_and(|again| again == plain);
    Ok(if is_same { plain } else { real })
}

fn strip_verbatim(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else { return None };
    let mut plain = match prefix.kind() {
        Prefix::VerbatimDisk(letter) => PathBuf::from(format!(r"{}:\", char::from(letter))),
        Prefix::VerbatimUNC(server, share) => {
            let mut start = std::ffi::OsString::from(r"\\");
            start.push(server);
            start.push(r"\");
            start.push(share);
            start.push(r"\");
            PathBuf::from(start)
        }
        _ => return None,
    };
    plain.extend(parts.filter(|part| *part != Component::RootDir));
    Some(plain)
}

/// Whether a path is a pipe, the console or another device. They have names, in every folder: `CON`, `COM1`,
/// `\\.\pipe\…`.
pub fn is_device(path: &Path) -> bool {
    let Ok(full) = std::path::absolute(path) else { return false };
    let Some(Component::Prefix(prefix)) = full.components().next() else { return false };
    match prefix.kind() {
        Prefix::DeviceNS(_) => true,
        Prefix::Verbatim(name) => !name.to_string_lossy().starts_with("Volume{"),
        Prefix::UNC(_, share) | Prefix::VerbatimUNC(_, share) => share.eq_ignore_ascii_case("pipe"),
        Prefix::Disk(_) | Prefix::VerbatimDisk(_) => false,
    }
}

/// Whether a device is one that is read or written on purpose.
pub(crate) fn is_handed_over(path: &Path) -> bool {
    path.as_os_str().eq_ignore_ascii_case("NUL")
}

/// Creates the same symbolic link in another place; the system allows it in its developer mode, and to administrators.
pub(crate) fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    let target = std::fs::read_link(from)?;
    let is_folder = std::fs::metadata(from).is_ok_and(|metadata| metadata.is_dir());
    if is_folder { symlink_dir(target, to) } else { symlink_file(target, to) }
}

/// The name of this machine, or nothing where it is not known.
pub fn host_name() -> String {
    variable("COMPUTERNAME").unwrap_or_default()
}

/// A program and all processes that it started, in a job object. They are killed when it is dropped; a process cannot
/// leave the job.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    child: Box<dyn ChildWrapper>,
}

impl ProcessTree {
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        command.envs(PROGRAM_VARIABLES.iter().copied());
        Ok(Self { child: CommandWrap::from(command).wrap(KillOnDrop).wrap(JobObject).spawn()? })
    }

    pub fn take_pipes(&mut self) -> ProgramPipes {
        let child = &mut self.child;
        ProgramPipes {
            stdin: child.stdin().take(),
            stdout: child.stdout().take(),
            stderr: child.stderr().take(),
        }
    }

    /// Waits for the program itself; that of the wrapper would wait for all processes of the job.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    pub fn kill(&mut self) {
        let _ = self.child.start_kill();
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn devices_are_known_by_name_and_paths_have_their_plain_form() {
        for device in ["CON", r"\\.\pipe\x", r"\\machine\pipe\x", "NUL"] {
            assert!(is_device(Path::new(device)), "{device}");
        }
        for file in ["suite.yaml", r"C:\folder\suite.yaml", r"\\machine\share\suite.yaml"] {
            assert!(!is_device(Path::new(file)), "{file}");
        }
        let plain = |path: &str| strip_verbatim(Path::new(path)).unwrap();
        assert_eq!(plain(r"\\?\C:\folder\file"), Path::new(r"C:\folder\file"));
        assert_eq!(plain(r"\\?\UNC\machine\share\file"), Path::new(r"\\machine\share\file"));
        let folder = tempfile::tempdir().unwrap();
        assert!(!find_real_path(folder.path()).unwrap().to_string_lossy().contains('?'));
    }

    #[test]
    fn a_program_is_found_by_its_name_without_an_ending() {
        assert!(find_program("cmd").unwrap().ends_with("cmd.exe"));
        assert_eq!(list_file_names(Path::new("a.EXE")), [Path::new("a.EXE")]);
        assert_eq!(list_file_names(Path::new("a.b"))[3], Path::new("a.b.cmd"));
    }
}
