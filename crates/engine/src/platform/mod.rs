//! Differences between operating systems: how programs are found, started and ended, and which paths are devices. Both
//! files have the same functions; comments in `windows` describe where it cannot do the same.

use std::path::{Path, PathBuf};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    ProcessTree, build_command_in, build_program_command, copy_link, is_handed_over, wrap_server_command,
};
pub use system::{find_program, find_real_path, host_name, is_device};

/// The ends of a program's standard streams.
#[derive(Debug)]
pub(crate) struct ProgramPipes {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
}

/// Whether a program is named by a path, and not searched in `PATH`: its name has a separator, or a drive.
pub(crate) fn is_program_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || Path::new(name).components().count() != 1
}

/// The command of a program. A path is one below `folder`: where a relative path leads to otherwise depends on the system.
pub(crate) fn build_program_command_below(folder: &Path, name: &str) -> std::process::Command {
    if is_program_path(name) { build_program_command(folder.join(name)) } else { build_program_command(name) }
}

/// Searches folders for a file.
fn find_in_folders(mut folders: impl Iterator<Item = PathBuf>, name: &Path) -> Option<PathBuf> {
    folders.find_map(|folder| Some(folder.join(name)).filter(|place| place.is_file()))
}
