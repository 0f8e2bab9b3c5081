//! Finds where a run comes from: the variables of a CI job, then git.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurist_core::run::RunProvenance;
use serde_json::Value as Json;
use tokio::process::Command;

use crate::load;

/// Git answers within milliseconds; a folder on a network that does not is left alone.
const GIT_TIME: Duration = Duration::from_secs(5);

/// Bytes of the file in which GitHub describes what started a job. Webhook bodies have at most 25 MB.
const MAX_EVENT: u64 = 25 * 1024 * 1024;

/// Branch, commit, author and CI job of a run that starts in this folder; whatever is unknown stays absent.
pub async fn find_run_provenance(folder: &Path) -> RunProvenance {
    let mut provenance = RunProvenance::from_ci(load::variable);
    if let Some(head) = read_github_head().filter(|_| provenance.commit.is_some()) {
        provenance.commit = Some(head);
        provenance = provenance.sanitize();
    }
    if provenance.branch.is_some() && provenance.commit.is_some() && provenance.author.is_some() {
        return provenance;
    }
    provenance.or(read_git(folder).await)
}

/// The newest commit of the pull request; `GITHUB_SHA` is a merge commit that is in no history.
fn read_github_head() -> Option<String> {
    load::variable("GITHUB_ACTIONS")?;
    let event = std::fs::File::open(load::variable("GITHUB_EVENT_PATH")?).ok()?;
    let mut text = Vec::new();
    event.take(MAX_EVENT).read_to_end(&mut text).ok()?;
    let event: Json = serde_json::from_slice(&text).ok()?;
    event["pull_request"]["head"]["sha"].as_str().map(str::to_owned)
}

async fn read_git(folder: &Path) -> RunProvenance {
    let Some(root) = find_repository(folder) else { return RunProvenance::default() };
    let log = ask_git(&root, &["log", "-1", "--no-show-signature", "--no-color", "--format=%H%n%an"]).await;
    let Some(log) = log else { return RunProvenance::default() };
    let mut lines = log.lines();
    let (commit, author) = (lines.next().map(str::to_owned), lines.next().map(str::to_owned));
    // Fails where no branch is checked out, as in most CI jobs.
    let branch = ask_git(&root, &["symbolic-ref", "--short", "-q", "HEAD"]).await;
    RunProvenance { branch, commit, author, ..RunProvenance::default() }.sanitize()
}

/// The folder or the nearest one above it that is a repository. Looked for here, so that no program is started where
/// there is none.
fn find_repository(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

/// Git without hooks and without programs that the settings of the repository name: the folder may come from another
/// person. Nothing is fetched and nothing is locked. Git itself refuses a repository of another user.
async fn ask_git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let settings = [
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.alternateRefsCommand=",
        "log.showSignature=false",
        "gpg.program=false",
    ];
    let mut git = Command::new("git");
    git.current_dir(folder).kill_on_drop(true).stdin(std::process::Stdio::null());
    for (name, value) in
        [("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0")]
    {
        git.env(name, value);
    }
    git.args(["--no-pager", "--no-replace-objects"]);
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(arguments.iter().map(OsStr::new));
    let done = tokio::time::timeout(GIT_TIME, git.output()).await.ok()?.ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_git(folder: &Path, arguments: &[&str]) -> String {
        let mut git = std::process::Command::new("git");
        git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=Ann Lee", "-c", "user.email=ann@example.org"]).args(arguments);
        let done = git.output().expect("git is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    #[tokio::test]
    async fn branch_commit_and_author_come_from_git_and_no_hook_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read_git(folder.path()).await.is_empty(), "no repository");
        run_git(folder.path(), &["init", "-q", "-b", "work/new"]);
        assert!(read_git(folder.path()).await.is_empty(), "no commit");
        run_git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
        let commit = run_git(folder.path(), &["rev-parse", "HEAD"]);
        // Programs that settings of the repository name would leave a file behind.
        let marker = folder.path().join("ran");
        let program = format!("touch {}; false", marker.display());
        for key in ["core.fsmonitor", "core.pager", "gpg.program", "pager.log", "core.sshCommand"] {
            run_git(folder.path(), &["config", key, &program]);
        }
        run_git(folder.path(), &["config", "log.showSignature", "true"]);
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).expect("folders");
        let provenance = read_git(&below).await;
        assert_eq!(provenance.branch.as_deref(), Some("work/new"));
        assert_eq!(provenance.commit.as_deref(), Some(commit.as_str()));
        assert_eq!(provenance.author.as_deref(), Some("Ann Lee"));
        assert!(!marker.exists(), "a program of the repository ran");
        // Written by hand: `git checkout` would run the programs of the settings above.
        std::fs::write(folder.path().join(".git/HEAD"), format!("{commit}\n")).expect("a file");
        assert_eq!(read_git(folder.path()).await.branch, None, "no branch is checked out");
    }
}
