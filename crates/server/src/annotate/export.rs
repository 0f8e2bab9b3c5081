//! Submitted answers as files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jurist_core::annotate::{Draft, Exported, columns, line, table};
use jurist_core::report::csv_cell;
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::assignments::Annotation;
use jurist_store::{AccountId, ItemId, ProjectId, Store, StoreError};
use serde_json::Value;

use super::{Asked, names};

/// Answers that are read at a time.
const PAGE: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Jsonl,
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Every answer that counts, one row each, the oldest first; of one person, or of all.
pub async fn exported(
    store: &Store,
    project: ProjectId,
    task: &Task,
    kind: Kind,
    only: Option<AccountId>,
    is_hidden: impl Fn(ItemId) -> bool,
) -> Result<Vec<u8>, StoreError> {
    let newest = Asked::of(store, project, task.id, task.version).await?;
    let columns = columns(newest.id_key(), &newest.schemes);
    let mut lines = Lines { kind, text: String::new(), rows: Vec::new(), columns };
    lines.header();
    let names = names(store, project).await?;
    let mut versions: BTreeMap<u64, Asked> = BTreeMap::from([(task.version, newest)]);
    let mut after = None;
    loop {
        let page = store.annotations(project, task.id, after.as_ref(), PAGE).await?;
        let theirs = |it: &&Annotation| only.is_none_or(|only| it.account == only);
        for answer in page.items.iter().filter(theirs) {
            if answer.role != ItemRole::Item || is_hidden(answer.item) {
                continue;
            }
            if let Entry::Vacant(entry) = versions.entry(answer.version) {
                entry.insert(Asked::of(store, project, task.id, answer.version).await?);
            }
            let asked = &versions[&answer.version];
            let item = store.item(project, answer.item).await?;
            let (_, schemes) = asked.about(store, project, &item, None).await?;
            let draft: Draft = serde_json::from_value(answer.body.clone()).unwrap_or_default();
            lines.add(&Exported {
                id_key: asked.id_key(),
                candidate: &answer.candidate,
                written_id: asked.written_id(&item),
                annotator: names.get(&answer.account).unwrap_or(&answer.name),
                time: answer.time,
                schemes: &schemes,
                draft: &draft,
            });
        }
        after = page.next;
        if after.is_none() {
            return Ok(lines.end());
        }
    }
}

struct Lines {
    kind: Kind,
    text: String,
    /// Of a table that is written as a whole.
    rows: Vec<Vec<Value>>,
    /// Of the newest version; answers to older ones have the same columns where they asked the same.
    columns: Vec<String>,
}

impl Lines {
    fn header(&mut self) {
        if self.kind == Kind::Csv {
            let cells: Vec<Value> = self.columns.iter().map(|it| it.clone().into()).collect();
            self.line(&cells);
        }
    }

    fn add(&mut self, form: &Exported<'_>) {
        match self.kind {
            Kind::Jsonl => {
                self.text += &line(form);
                self.text.push('\n');
            }
            Kind::Csv => self.line(&self.cells(form)),
            #[cfg(feature = "parquet")]
            Kind::Parquet => self.rows.push(self.cells(form)),
        }
    }

    fn cells(&self, form: &Exported<'_>) -> Vec<Value> {
        let theirs: BTreeMap<String, Value> =
            columns(form.id_key, form.schemes).into_iter().zip(table(form)).collect();
        self.columns.iter().map(|it| theirs.get(it).cloned().unwrap_or_default()).collect()
    }

    fn end(self) -> Vec<u8> {
        match self.kind {
            Kind::Jsonl | Kind::Csv => self.text.into_bytes(),
            #[cfg(feature = "parquet")]
            Kind::Parquet => crate::parquet::table(&self.columns, &self.rows)
                .expect("columns are as long as there are rows, and memory takes what is written"),
        }
    }

    fn line(&mut self, cells: &[Value]) {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        self.text += &cells.join(",");
        self.text += "\r\n";
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => csv_cell(text),
        other => csv_cell(&other.to_string()),
    }
}
