//! Output folder of a task: answers are written as they arrive, to one file per annotator.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jurist_core::annotate::{AnswerDraft, ExportedForm, form_to_json_line};
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::assignments::SubmittedAnnotation;
use jurist_store::{AccountId, ProjectId, Store, StoreError, TaskId};
use tokio::sync::Mutex;

use super::{
    AnnotationFormat, AssignmentContext, TaskDefinition, excluded_accounts, export_annotations,
    load_annotator_name,
};

/// Output folders by task. A lock serialises the writes.
#[derive(Debug, Default)]
pub struct Outputs(Mutex<OutputState>);

#[derive(Debug, Default)]
struct OutputState {
    by_task: BTreeMap<TaskId, Output>,
    /// Annotators whose file is out of date.
    stale: BTreeSet<(TaskId, AccountId)>,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub folder: PathBuf,
}

/// Why answers could not be written to their files.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    #[error("cannot write `{0}`: {1}")]
    Disk(PathBuf, std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Outputs {
    /// Adds an output folder, and writes the existing answers to it.
    pub async fn add(
        &self,
        store: &Store,
        project: ProjectId,
        task: &Task,
        output: Output,
    ) -> Result<(), NotWritten> {
        std::fs::create_dir_all(&output.folder)
            .map_err(|error| NotWritten::Disk(output.folder.clone(), error))?;
        for annotator in store.progress_by_annotator(project, task.id).await? {
            write_answer_file(store, project, task, &output, annotator.account).await?;
        }
        self.0.lock().await.by_task.insert(task.id, output);
        Ok(())
    }

    /// Writes a submitted answer to the output file. If writing fails, the answer is still in the store, and the next
    /// write adds it.
    pub async fn write_answer(
        &self,
        store: &Store,
        project: ProjectId,
        work: &AssignmentContext,
        answer: &SubmittedAnnotation,
    ) {
        let mut written = self.0.lock().await;
        let output = written.by_task.get(&work.task.id).cloned();
        let Some(output) = output.filter(|_| answer.role == ItemRole::Item) else { return };
        let whose = (work.task.id, answer.account);
        // Marked before the write, so that a cancelled write leaves the file marked as out of date.
        let is_stale = !written.stale.insert(whose);
        match append_answer(store, project, work, &output, answer, is_stale).await {
            Ok(()) => drop(written.stale.remove(&whose)),
            Err(error) => tracing::error!(%error, "an export is not up to date"),
        }
    }

    /// Writes the file of an annotator again, after the annotator was excluded or included.
    pub async fn rewrite_answers(&self, store: &Store, project: ProjectId, task: &Task, account: AccountId) {
        let mut written = self.0.lock().await;
        let Some(output) = written.by_task.get(&task.id).cloned() else { return };
        // Marked before the write, so that a failed or cancelled write leaves the file marked as out of date.
        written.stale.insert((task.id, account));
        match write_answer_file(store, project, task, &output, account).await {
            Ok(()) => drop(written.stale.remove(&(task.id, account))),
            Err(error) => tracing::error!(%error, "an export is not up to date"),
        }
    }
}

/// Appends a line; writes the whole file if the answer replaces another one or the file is out of date.
async fn append_answer(
    store: &Store,
    project: ProjectId,
    work: &AssignmentContext,
    output: &Output,
    answer: &SubmittedAnnotation,
    is_stale: bool,
) -> Result<(), NotWritten> {
    let name = load_annotator_name(store, project, answer.account).await?;
    let path = output.path(&name);
    if is_stale || 1 < answer.revision || !path.exists() {
        return write_answer_file(store, project, &work.task, output, answer.account).await;
    }
    let definition = TaskDefinition::of(store, project, work.task.id, answer.version).await?;
    let draft: AnswerDraft = serde_json::from_value(answer.body.clone()).unwrap_or_default();
    let item = store.item(project, answer.item).await?;
    let one = form_to_json_line(&ExportedForm {
        id_key: definition.id_key(),
        candidate: &answer.candidate,
        written_id: definition.written_id(&item),
        annotator: &name,
        time: answer.time,
        schemes: &work.schemes,
        draft: &draft,
        decisions: &[],
        is_excluded: excluded_accounts(&work.task).contains(&answer.account),
    });
    let written = OpenOptions::new().append(true).open(&path);
    let written = written.and_then(|mut file| file.write_all(format!("{one}\n").as_bytes()));
    written.map_err(|error| NotWritten::Disk(path, error))
}

async fn write_answer_file(
    store: &Store,
    project: ProjectId,
    task: &Task,
    output: &Output,
    account: AccountId,
) -> Result<(), NotWritten> {
    let lines =
        export_annotations(store, project, task, AnnotationFormat::Jsonl, Some(account), |_| false).await?;
    let path = output.path(&load_annotator_name(store, project, account).await?);
    replace_file_atomically(&path, &lines).map_err(|error| NotWritten::Disk(path, error))
}

impl Output {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.jsonl", file_name(name)))
    }
}

/// Replaces a file by a rename, so that a concurrent reader never reads a partial file.
fn replace_file_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new_path = path.with_extension("jsonl.new");
    std::fs::write(&new_path, bytes)?;
    std::fs::rename(&new_path, path)
}

/// A file name that is valid on every file system.
fn file_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ' | '@');
    let plain: String =
        name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).take(80).collect();
    if plain == name && !plain.trim().is_empty() {
        return plain;
    }
    // The hash distinguishes names that differ only in removed characters.
    format!("{}-{}", plain.trim(), &blake3::hash(name.as_bytes()).to_hex()[..6])
}
