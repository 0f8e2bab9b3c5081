//! A folder in which the answers to a task stand as they come: a file for each person.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jurist_core::annotate::{Draft, Exported, line};
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::assignments::Annotation;
use jurist_store::{AccountId, ProjectId, Store, StoreError, TaskId};
use tokio::sync::Mutex;

use super::{Asked, Kind, Shown, exported, name_of};

/// Where answers go. One is written after the other.
#[derive(Debug, Default)]
pub struct Outputs(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    by_task: BTreeMap<TaskId, Output>,
    /// Whose file is not what it should be.
    stale: BTreeSet<(TaskId, AccountId)>,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub folder: PathBuf,
}

/// Why answers are not on disk.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    #[error("cannot write `{0}`: {1}")]
    Disk(PathBuf, std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Outputs {
    /// From now on; what was answered before is written at once.
    pub async fn add(
        &self,
        store: &Store,
        project: ProjectId,
        task: &Task,
        output: Output,
    ) -> Result<(), NotWritten> {
        std::fs::create_dir_all(&output.folder)
            .map_err(|error| NotWritten::Disk(output.folder.clone(), error))?;
        for (account, _) in store.progress_by_annotator(project, task.id).await? {
            write(store, project, task, &output, account).await?;
        }
        self.0.lock().await.by_task.insert(task.id, output);
        Ok(())
    }

    /// After somebody submitted. What cannot be written is in the store all the same, and is written the next time.
    pub async fn submitted(&self, store: &Store, project: ProjectId, work: &Shown, answer: &Annotation) {
        let mut written = self.0.lock().await;
        let output = written.by_task.get(&work.task.id).cloned();
        let Some(output) = output.filter(|_| answer.role == ItemRole::Item) else { return };
        let whose = (work.task.id, answer.account);
        // Also if this is dropped half way.
        let is_stale = !written.stale.insert(whose);
        match add(store, project, work, &output, answer, is_stale).await {
            Ok(()) => drop(written.stale.remove(&whose)),
            Err(error) => tracing::error!(%error, "an export is not up to date"),
        }
    }
}

/// One more line, unless it takes the place of another or lines are missing.
async fn add(
    store: &Store,
    project: ProjectId,
    work: &Shown,
    output: &Output,
    answer: &Annotation,
    is_stale: bool,
) -> Result<(), NotWritten> {
    let name = name_of(store, project, answer.account).await?;
    let path = output.path(&name);
    if is_stale || 1 < answer.revision || !path.exists() {
        return write(store, project, &work.task, output, answer.account).await;
    }
    let asked = Asked::of(store, project, work.task.id, answer.version).await?;
    let draft: Draft = serde_json::from_value(answer.body.clone()).unwrap_or_default();
    let item = store.item(project, answer.item).await?;
    let one = line(&Exported {
        id_key: asked.id_key(),
        candidate: &answer.candidate,
        written_id: asked.written_id(&item),
        annotator: &name,
        time: answer.time,
        schemes: &work.schemes,
        draft: &draft,
    });
    let written = OpenOptions::new().append(true).open(&path);
    let written = written.and_then(|mut file| file.write_all(format!("{one}\n").as_bytes()));
    written.map_err(|error| NotWritten::Disk(path, error))
}

async fn write(
    store: &Store,
    project: ProjectId,
    task: &Task,
    output: &Output,
    account: AccountId,
) -> Result<(), NotWritten> {
    let lines = exported(store, project, task, Kind::Jsonl, Some(account), |_| false).await?;
    let path = output.path(&name_of(store, project, account).await?);
    whole(&path, &lines).map_err(|error| NotWritten::Disk(path, error))
}

impl Output {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.jsonl", file_name(name)))
    }
}

/// Whoever reads at the same time sees the old file or the new one, never half of one.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("jsonl.new");
    std::fs::write(&beside, bytes)?;
    std::fs::rename(&beside, path)
}

/// A name that is one on any disk.
fn file_name(name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | ' ' | '@');
    let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).take(80).collect();
    if plain == name && !plain.trim().is_empty() {
        return plain;
    }
    // Two names that differ only in what is left out are two files.
    format!("{}-{}", plain.trim(), &blake3::hash(name.as_bytes()).to_hex()[..6])
}
