//! A folder in which the answers to a task stand as they come: a file for each person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jurist_store::annotate::Task;
use jurist_store::{AccountId, ProjectId, Store, StoreError, TaskId};

use super::{Kind, exported, names};

/// Where answers go, by task.
#[derive(Debug, Default)]
pub struct Outputs(Mutex<BTreeMap<TaskId, Output>>);

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task.id, output);
        Ok(())
    }

    /// After somebody submitted. What cannot be written is in the store all the same, and is written the next time.
    pub async fn submitted(&self, store: &Store, project: ProjectId, task: &Task, account: AccountId) {
        let output = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&task.id).cloned();
        let Some(output) = output else { return };
        if let Err(error) = write(store, project, task, &output, account).await {
            tracing::error!(%error, "an export is not up to date");
        }
    }
}

async fn write(
    store: &Store,
    project: ProjectId,
    task: &Task,
    output: &Output,
    account: AccountId,
) -> Result<(), NotWritten> {
    let text = exported(store, project, task, Kind::Jsonl, Some(account), |_| false).await?;
    let name = match names(store, project).await?.remove(&account) {
        Some(name) => name,
        None => store.account(account).await?.name,
    };
    let path = output.folder.join(format!("{}.jsonl", file_name(&name)));
    whole(&path, &text).map_err(|error| NotWritten::Disk(path, error))
}

/// Whoever reads at the same time sees the old file or the new one, never half of one.
fn whole(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("jsonl.new");
    std::fs::write(&beside, text)?;
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
