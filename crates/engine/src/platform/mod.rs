//! What differs between operating systems: how programs are found, started and ended, and which paths are devices.
//!
//! Both versions have the same functions. Unix has everything; `windows` says what it does instead.

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

/// Searches folders for a file.
fn find_in_folders(mut folders: impl Iterator<Item = PathBuf>, name: &Path) -> Option<PathBuf> {
    folders.find_map(|folder| Some(folder.join(name)).filter(|place| place.is_file()))
}
