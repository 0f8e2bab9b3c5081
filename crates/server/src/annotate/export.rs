//! Exports of submitted answers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jurist_core::annotate::{AnswerDraft, ExportedForm, export_cells, export_columns, form_to_json_line};
use jurist_core::grade::EXCLUDED;
use jurist_core::report::csv_cell;
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::assignments::SubmittedAnnotation;
use jurist_store::{AccountId, ItemId, ProjectId, Store, StoreError};
use serde_json::Value;

use super::{TaskDefinition, excluded_accounts, load_annotator_names, load_exported_decisions};

/// Answers read per query.
const PAGE: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationFormat {
    Jsonl,
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// The newest answers, one row each, the oldest first; of one annotator or of all.
pub async fn export_annotations(
    store: &Store,
    project: ProjectId,
    task: &Task,
    kind: AnnotationFormat,
    only: Option<AccountId>,
    is_hidden: impl Fn(ItemId) -> bool,
) -> Result<Vec<u8>, StoreError> {
    let newest = TaskDefinition::of(store, project, task.id, task.version).await?;
    // Files of single annotators have only their own answers. Decisions come later and are in the export of the task.
    let decisions = match only {
        None => load_exported_decisions(store, project, task).await?,
        Some(_) => BTreeMap::new(),
    };
    let excluded = excluded_accounts(task);
    let mut columns = export_columns(newest.id_key(), &newest.schemes, !decisions.is_empty());
    if !excluded.is_empty() {
        columns.push(EXCLUDED.to_owned());
    }
    let mut lines = AnnotationWriter { kind, text: String::new(), rows: Vec::new(), columns };
    lines.header();
    let names = load_annotator_names(store, project).await?;
    let mut versions: BTreeMap<u64, TaskDefinition> = BTreeMap::from([(task.version, newest)]);
    let mut after = None;
    loop {
        let page = store.annotations(project, task.id, after.as_ref(), PAGE).await?;
        let theirs = |submitted_annotation: &&SubmittedAnnotation| {
            only.is_none_or(|only| submitted_annotation.account == only)
        };
        for answer in page.items.iter().filter(theirs) {
            if answer.role != ItemRole::Item || is_hidden(answer.item) {
                continue;
            }
            if let Entry::Vacant(entry) = versions.entry(answer.version) {
                entry.insert(TaskDefinition::of(store, project, task.id, answer.version).await?);
            }
            let definition = &versions[&answer.version];
            let item = store.item(project, answer.item).await?;
            let (_, schemes) = definition.about(store, project, &item, None).await?;
            let draft: AnswerDraft = serde_json::from_value(answer.body.clone()).unwrap_or_default();
            lines.add(&ExportedForm {
                id_key: definition.id_key(),
                candidate: &answer.candidate,
                written_id: definition.written_id(&item),
                annotator: names.get(&answer.account).unwrap_or(&answer.name),
                time: answer.time,
                schemes: &schemes,
                draft: &draft,
                decisions: decisions.get(&answer.item).map(Vec::as_slice).unwrap_or_default(),
                is_excluded: excluded.contains(&answer.account),
            });
        }
        after = page.next;
        if after.is_none() {
            return Ok(lines.end());
        }
    }
}

struct AnnotationWriter {
    kind: AnnotationFormat,
    text: String,
    /// Of a table that is written as a whole.
    rows: Vec<Vec<Value>>,
    /// Of the newest version; answers to older ones have the same columns where they asked the same.
    columns: Vec<String>,
}

impl AnnotationWriter {
    fn header(&mut self) {
        if self.kind == AnnotationFormat::Csv {
            let cells: Vec<Value> = self.columns.iter().map(|column| column.clone().into()).collect();
            self.line(&cells);
        }
    }

    fn add(&mut self, form: &ExportedForm<'_>) {
        match self.kind {
            AnnotationFormat::Jsonl => {
                self.text += &form_to_json_line(form);
                self.text.push('\n');
            }
            AnnotationFormat::Csv => self.line(&self.cells(form)),
            #[cfg(feature = "parquet")]
            AnnotationFormat::Parquet => self.rows.push(self.cells(form)),
        }
    }

    fn cells(&self, form: &ExportedForm<'_>) -> Vec<Value> {
        let mut theirs: BTreeMap<String, Value> =
            export_columns(form.id_key, form.schemes, !form.decisions.is_empty())
                .into_iter()
                .zip(export_cells(form))
                .collect();
        if form.is_excluded {
            theirs.insert(EXCLUDED.to_owned(), true.into());
        }
        self.columns.iter().map(|column| theirs.get(column).cloned().unwrap_or_default()).collect()
    }

    fn end(self) -> Vec<u8> {
        match self.kind {
            AnnotationFormat::Jsonl | AnnotationFormat::Csv => self.text.into_bytes(),
            #[cfg(feature = "parquet")]
            AnnotationFormat::Parquet => crate::blocking::block_in_place(|| {
                crate::parquet::write_parquet_table(&self.columns, &self.rows)
            })
            .expect("columns are as long as there are rows, and memory takes what is written"),
        }
    }

    fn line(&mut self, cells: &[Value]) {
        let cells: Vec<String> = cells.iter().map(format_csv_value).collect();
        self.text += &cells.join(",");
        self.text += "\r\n";
    }
}

fn format_csv_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => csv_cell(text),
        other => csv_cell(&other.to_string()),
    }
}
