//! A folder of its own for each run, and what changed in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use super::{AgentRunError, truncate_text};
use crate::background::run_on_blocking_thread;
use crate::platform::copy_link;

/// A longer diff is cut: it is too long for readers and for judges.
const MAX_DIFF: usize = 1 << 20;

/// A copy of a workspace. Its history lies elsewhere, where the agent does not find it.
pub(super) struct Folder {
    temporary: TempDir,
    path: PathBuf,
}

impl Folder {
    /// Copies the files of a folder, or those of a commit of the repository there; without a folder, there are none.
    pub(super) async fn copy_files(from: Option<&Path>, commit: Option<&str>) -> Result<Self, AgentRunError> {
        let failed = |error: std::io::Error| {
            AgentRunError::unreachable(match from {
                Some(from) => format!("the workspace `{}` cannot be copied: {error}", from.display()),
                None => format!("there is no room for a workspace: {error}"),
            })
        };
        let temporary = tempfile::Builder::new().prefix("jurist-").tempdir().map_err(failed)?;
        let folder = Self { path: temporary.path().join("workspace"), temporary };
        let to = folder.path.clone();
        fs::create_dir(&to).map_err(failed)?;
        match (from, commit) {
            (None, _) => {}
            (Some(from), None) => {
                let (from, to) = (from.to_owned(), to);
                let copied = run_on_blocking_thread(move || copy(&from, &to)).await;
                copied.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(failed)?;
            }
            (Some(from), Some(commit)) => {
                // The files of a commit, without a worktree that the repository would have to remember.
                let archive = folder.temporary.path().join("files.tar");
                let name = archive.to_string_lossy();
                git(from, ["archive", "--format=tar", "-o", &name, "--end-of-options", commit]).await?;
                // Paths are relative: GNU tar takes the text before a colon as the name of a machine.
                let mut tar = Command::new("tar");
                let tar = tar.args(["-xf", "files.tar", "-C", "workspace"]).kill_on_drop(true);
                tar.current_dir(folder.temporary.path());
                let unpacked = tar.status().await.map_err(failed)?;
                if !unpacked.success() {
                    return Err(failed(std::io::Error::other("tar failed")));
                }
            }
        }
        Ok(folder)
    }

    /// Records the present files; later changes are the diff.
    pub(super) async fn take_snapshot(&self) -> Result<(), AgentRunError> {
        self.git(["init", "-q"]).await?;
        self.stage_files().await?;
        self.git(["commit", "-q", "--allow-empty", "--no-verify", "-m", "before"]).await?;
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the agent changed, as a unified diff; what `.gitignore` names is left out.
    pub(super) async fn diff(&self) -> Result<String, AgentRunError> {
        self.stage_files().await?;
        let diff =
            self.git(["diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"]).await?;
        Ok(truncate_text(&diff, MAX_DIFF))
    }

    /// Stages all files. Git would stage a repository within the folder as one entry without its files, so that the
    /// `.git` of each is moved away meanwhile.
    async fn stage_files(&self) -> Result<(), AgentRunError> {
        let failed = |error: std::io::Error| {
            AgentRunError::unreachable(format!("a repository of the workspace: {error}"))
        };
        let root = self.path.clone();
        let entries = run_on_blocking_thread(move || find_git_entries(&root)).await;
        let entries = entries.map_err(|error| failed(std::io::Error::other(error)))?;
        let place = |n: usize| self.temporary.path().join(format!("repository-{n}"));
        for (n, entry) in entries.iter().enumerate() {
            fs::rename(entry, place(n)).map_err(failed)?;
        }
        let staged = self.git(["add", "-A"]).await;
        for (n, entry) in entries.iter().enumerate() {
            fs::rename(place(n), entry).map_err(failed)?;
        }
        staged.map(drop)
    }

    async fn git<const N: usize>(&self, arguments: [&str; N]) -> Result<String, AgentRunError> {
        let history = self.temporary.path().join("history.git");
        let place = [
            OsStr::new("--git-dir"),
            history.as_os_str(),
            OsStr::new("--work-tree"),
            self.path().as_os_str(),
        ];
        let all = place.into_iter().chain(arguments.iter().map(OsStr::new));
        run_git_command(self.path(), all).await
    }
}

async fn git<const N: usize>(here: &Path, arguments: [&str; N]) -> Result<String, AgentRunError> {
    run_git_command(here, arguments.iter().map(OsStr::new)).await
}

/// Git without settings of users and without hooks.
async fn run_git_command<'a>(
    here: &Path,
    arguments: impl Iterator<Item = &'a OsStr>,
) -> Result<String, AgentRunError> {
    let settings = [
        "user.name=jurist",
        "user.email=jurist@localhost",
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
    ];
    let mut git = Command::new("git");
    git.current_dir(here)
        .kill_on_drop(true)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(arguments);
    let done = git
        .output()
        .await
        .map_err(|error| AgentRunError::unreachable(format!("git is needed for workspaces: {error}")))?;
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        return Err(AgentRunError::unreachable(format!("git: {}", truncate_text(errors.trim(), 300))));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// What is named `.git` below a folder, and makes a repository of the folder that it is in.
fn find_git_entries(root: &Path) -> Vec<PathBuf> {
    let (mut entries, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                entries.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    entries
}

/// Files and folders; links stay links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name == ".git" || name == ".jurist" {
            continue;
        }
        let target = to.join(&name);
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            copy_link(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
