//! Collects the cases of a new version.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::candidate::{RecordField, RecordFields, Trace, task_of_trace};
use jurist_core::dataset::{BadDatasetRecord, MAX_DATASET_CASES, SplitRule};
use jurist_core::grade::{Outcome, Time, VerdictStatus};
use jurist_core::redact::Redactor;
use jurist_store::annotate::{AnnotationItem, ItemRole, ItemState, Task};
use jurist_store::datasets::{Dataset, DatasetChange, DatasetWrite, NewDatasetCase};
use jurist_store::traces::{TraceHead, TraceListFilter};
use jurist_store::{AccountId, ItemId, ProjectId, RubricVersionId, Store, StoreError, TraceId};
use serde_json::{Map, Value as Json, json};

use super::{DatasetError, DatasetVersionReceipt, clean_dataset_text};
use crate::annotate::{ItemSubject, TaskDefinition, settled_grades};

/// Traces that a filter may add at once.
pub const MOST_FILTERED_TRACES: usize = 10_000;

/// Bytes of the cases of one request: they are in memory together.
const MAX_REQUEST_BYTES: usize = 512 << 20;

/// Rows read per query.
const PAGE: usize = 200;

/// Where the cases of a new version come from, and what else changes.
#[derive(Debug, Default)]
pub struct CaseSources {
    pub base: Option<u64>,
    pub note: Option<String>,
    pub author: Option<AccountId>,
    pub records: Vec<Json>,
    /// Traces by id; all of them must have content.
    pub traces: Vec<String>,
    /// Traces that a filter found; those without content are skipped.
    pub found_traces: Vec<TraceId>,
    pub task: Option<Task>,
    /// Name of a stored rubric, or id of a version.
    pub rubric: Option<String>,
    /// Keys of cases.
    pub remove: Vec<String>,
    pub is_complete: bool,
    /// Traces whose verdicts are hidden from the caller.
    pub withheld: BTreeSet<String>,
    /// Items whose labels are hidden from the caller.
    pub hidden: BTreeSet<ItemId>,
}

/// The first traces that a filter finds, in its order.
pub async fn list_filtered_traces(
    store: &Store,
    project: ProjectId,
    filter: &TraceListFilter,
    limit: usize,
) -> Result<Vec<TraceId>, StoreError> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.traces(project, filter, after.as_ref(), PAGE).await?;
        ids.extend(page.items.into_iter().map(|head| head.id));
        after = page.next;
        if after.is_none() || limit <= ids.len() {
            ids.truncate(limit);
            return Ok(ids);
        }
    }
}

/// Writes a new version of a dataset, all of it or nothing.
pub async fn write_dataset_version(
    store: &Store,
    project: ProjectId,
    dataset: &Dataset,
    sources: CaseSources,
    redactor: &Redactor,
    now: Time,
) -> Result<DatasetVersionReceipt, DatasetError> {
    let is_empty = sources.records.is_empty()
        && sources.traces.is_empty()
        && sources.found_traces.is_empty()
        && sources.task.is_none()
        && sources.remove.is_empty();
    if is_empty && !sources.is_complete {
        return Err(DatasetError::Bad("there is nothing to add or to remove".to_owned()));
    }
    let rubric = match &sources.rubric {
        Some(name) => Some(find_case_rubric(store, project, name).await?),
        None => None,
    };
    let rule = SplitRule { dataset: &dataset.name, test_share: dataset.test_share };
    let mut collected =
        CaseCollection { rule, rubric, cases: Vec::new(), keys: BTreeSet::new(), n_bytes: 0, n_skipped: 0 };
    for (at, mut record) in sources.records.into_iter().enumerate() {
        redactor.data(&mut record);
        collected.add(record, None, None).map_err(|error| error.with_place(&format!("record {}", at + 1)))?;
    }
    let traces = sources.traces.iter().map(|id| TraceId::new(id.as_str()));
    let traces = traces.collect::<Result<Vec<TraceId>, _>>();
    let traces = traces.map_err(|error| DatasetError::Bad(error.to_string()))?;
    collected.add_traces(store, project, &traces, Absent::Refused, &sources.withheld).await?;
    collected.add_traces(store, project, &sources.found_traces, Absent::Skipped, &sources.withheld).await?;
    if let Some(task) = &sources.task {
        collected.add_task(store, project, task, &sources.hidden).await?;
    }
    if let Some(key) = sources.remove.iter().find(|key| collected.keys.contains(*key)) {
        return Err(DatasetError::Bad(format!("case `{key}` is to be added and removed at once")));
    }
    let change = DatasetChange {
        base: sources.base,
        note: clean_dataset_text("note", sources.note.as_deref(), redactor)?,
        author: sources.author,
        cases: collected.cases,
        remove: sources.remove,
        is_complete: sources.is_complete,
    };
    let name = &dataset.name;
    match store.write_dataset_version(project, dataset.id, &change, now).await? {
        DatasetWrite::Written(written) => Ok(DatasetVersionReceipt::new(written, collected.n_skipped)),
        DatasetWrite::Outdated { newest } => Err(DatasetError::Conflict(format!(
            "`{name}` has been changed in the meantime: its newest version is v{newest}; read it and try again"
        ))),
        DatasetWrite::Archived => {
            Err(DatasetError::Conflict(format!("dataset `{name}` is archived; restore it first")))
        }
        DatasetWrite::TooMany { n_cases } => Err(too_many_cases(n_cases)),
        DatasetWrite::UnknownKey(key) => {
            Err(DatasetError::Unknown(format!("there is no case `{key}` in the newest version of `{name}`")))
        }
        DatasetWrite::ErasedTrace(trace) => Err(DatasetError::Unknown(format!(
            "trace `{trace}` was erased in the meantime; nothing is written"
        ))),
    }
}

fn too_many_cases(n_cases: usize) -> DatasetError {
    DatasetError::TooLarge(format!(
        "the version would have {n_cases} cases, and {MAX_DATASET_CASES} is the most; nothing is written"
    ))
}

/// What happens to a trace without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Refused,
    Skipped,
}

/// Cases that are collected for a version.
struct CaseCollection<'a> {
    rule: SplitRule<'a>,
    /// The rubric of all cases.
    rubric: Option<RubricVersionId>,
    cases: Vec<NewDatasetCase>,
    keys: BTreeSet<String>,
    n_bytes: usize,
    n_skipped: usize,
}

impl CaseCollection<'_> {
    fn add(
        &mut self,
        record: Json,
        trace: Option<TraceId>,
        own_rubric: Option<RubricVersionId>,
    ) -> Result<(), DatasetError> {
        let case = self.rule.build_case(record).map_err(|error| match error {
            BadDatasetRecord::TooLarge(_) => DatasetError::TooLarge(error.to_string()),
            _ => DatasetError::Bad(error.to_string()),
        })?;
        if !self.keys.insert(case.key.clone()) {
            return Err(DatasetError::Bad(format!(
                "the key `{}` is given twice; keys must differ",
                case.key
            )));
        }
        self.n_bytes += case.record.to_string().len();
        if MAX_REQUEST_BYTES < self.n_bytes {
            return Err(DatasetError::TooLarge(format!(
                "the cases have more than {} MiB together; add them in several steps",
                MAX_REQUEST_BYTES >> 20
            )));
        }
        if MAX_DATASET_CASES <= self.cases.len() {
            return Err(too_many_cases(self.cases.len() + 1));
        }
        let rubric = self.rubric.clone().or(own_rubric);
        self.cases.push(NewDatasetCase { case, trace, rubric });
        Ok(())
    }

    /// Each with the rubric of its newest failed verdict, unless the request has one.
    async fn add_traces(
        &mut self,
        store: &Store,
        project: ProjectId,
        ids: &[TraceId],
        absent: Absent,
        withheld: &BTreeSet<String>,
    ) -> Result<(), DatasetError> {
        for some in ids.chunks(PAGE) {
            let mut rubrics = load_failed_rubrics(store, project, some, withheld).await?;
            for id in some {
                if self.keys.contains(id.as_str()) {
                    continue;
                }
                match load_trace_record(store, project, id).await? {
                    Some(record) => {
                        let rubric = rubrics.remove(id.as_str());
                        self.add(record, Some(id.clone()), rubric)
                            .map_err(|error| error.with_place(&format!("trace `{id}`")))?;
                    }
                    None if absent == Absent::Skipped => self.n_skipped += 1,
                    None => {
                        let message = format!("trace `{id}` has no content: it is open, or it was erased");
                        return Err(DatasetError::Unknown(message));
                    }
                }
            }
        }
        Ok(())
    }

    /// The items of a task, with the labels that people agreed on.
    async fn add_task(
        &mut self,
        store: &Store,
        project: ProjectId,
        task: &Task,
        hidden: &BTreeSet<ItemId>,
    ) -> Result<(), DatasetError> {
        let mut labels: BTreeMap<String, Map<String, Json>> = BTreeMap::new();
        for (grade, _) in settled_grades(store, project, task, &task.name).await? {
            if let Outcome::Scored { value, .. } = &grade.outcome {
                let value = serde_json::to_value(value).unwrap_or_default();
                labels.entry(grade.candidate).or_default().insert(grade.criterion, value);
            }
        }
        let asked = TaskDefinition::of(store, project, task.id, task.version).await?;
        let mut graded = asked.rubrics.values();
        // Of several rubrics, none is the rubric of a case.
        let rubric = graded.next().filter(|_| graded.next().is_none()).map(|graded| graded.id.clone());
        let mut after = None;
        loop {
            let page = store.items(project, task.id, after.as_ref(), PAGE).await?;
            let items = page.items.into_iter();
            for item in items.filter(|item| item.role == ItemRole::Item && item.state != ItemState::Removed) {
                let agreed = labels.remove(&item.candidate).filter(|_| !hidden.contains(&item.id));
                let Some((mut record, trace)) = load_item_record(store, project, &item).await? else {
                    self.n_skipped += 1;
                    continue;
                };
                add_labels(&mut record, agreed);
                self.add(record, trace, rubric.clone())
                    .map_err(|error| error.with_place(&format!("item `{}`", item.candidate)))?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

impl DatasetError {
    fn with_place(self, place: &str) -> Self {
        match self {
            Self::Bad(why) => Self::Bad(format!("{place}: {why}")),
            Self::TooLarge(why) => Self::TooLarge(format!("{place}: {why}")),
            other => other,
        }
    }
}

/// By its name, or a version by its id.
async fn find_case_rubric(
    store: &Store,
    project: ProjectId,
    named: &str,
) -> Result<RubricVersionId, DatasetError> {
    if let Ok(id) = named.parse::<RubricVersionId>() {
        return Ok(store.rubric_version(project, &id).await?.id);
    }
    let newest = store.rubric_named(project, named).await?.and_then(|head| head.newest);
    newest.ok_or_else(|| DatasetError::Unknown(format!("there is no rubric `{named}`")))
}

/// The rubric of the newest failed verdict of each trace.
async fn load_failed_rubrics(
    store: &Store,
    project: ProjectId,
    traces: &[TraceId],
    withheld: &BTreeSet<String>,
) -> Result<BTreeMap<String, RubricVersionId>, StoreError> {
    let ids = traces.iter().map(ToString::to_string).filter(|id| !withheld.contains(id));
    let ids: Vec<String> = ids.collect();
    let mut failed = BTreeMap::new();
    // Those of one trace are sorted by time, the newest first.
    for verdict in store.newest_verdicts(project, &ids).await? {
        if verdict.status == VerdictStatus::Fail {
            failed.entry(verdict.candidate).or_insert(verdict.rubric_version);
        }
    }
    Ok(failed)
}

/// A stored trace as a record; `None` if it has no content.
async fn load_trace_record(
    store: &Store,
    project: ProjectId,
    id: &TraceId,
) -> Result<Option<Json>, StoreError> {
    let head = store.trace(project, id).await?;
    let content = store.trace_content(project, id).await?;
    Ok(content.map(|trace| build_trace_record(&head, &trace)))
}

fn build_trace_record(head: &TraceHead, trace: &Trace) -> Json {
    let mut record = Map::from_iter([
        ("id".to_owned(), Json::from(head.id.as_str())),
        ("trace".to_owned(), serde_json::to_value(trace).expect("a trace is plain data")),
    ]);
    let texts = [("input", task_of_trace(trace)), ("output", trace.answer().map(str::to_owned))];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            record.insert(name.to_owned(), text.into());
        }
    }
    let mut metadata = head.metadata.as_object().cloned().unwrap_or_default();
    if let Some(agent) = &head.agent {
        metadata.insert("agent".to_owned(), Json::from(agent.as_str()));
    }
    if !metadata.is_empty() {
        record.insert("metadata".to_owned(), Json::Object(metadata));
    }
    Json::Object(record)
}

/// The subject of an item as a record, and its trace if it is one; `None` if the trace was erased.
async fn load_item_record(
    store: &Store,
    project: ProjectId,
    item: &AnnotationItem,
) -> Result<Option<(Json, Option<TraceId>)>, DatasetError> {
    let unreadable = |error: serde_json::Error| {
        DatasetError::Senseless(format!("item `{}` cannot be read: {error}", item.candidate))
    };
    let subject: ItemSubject = serde_json::from_value(item.body.clone()).map_err(unreadable)?;
    Ok(match subject {
        ItemSubject::Row(mut row) => {
            row.entry("id").or_insert_with(|| Json::from(item.candidate.as_str()));
            Some((Json::Object(row), None))
        }
        ItemSubject::Trace { id, .. } => {
            let id = TraceId::new(id).map_err(|error| DatasetError::Bad(error.to_string()))?;
            load_trace_record(store, project, &id).await?.map(|record| (record, Some(id)))
        }
        ItemSubject::Case { task, text, trace, .. } => {
            let mut record = json!({ "id": item.candidate });
            if let Some(task) = task {
                record["input"] = task.into();
            }
            if let Some(text) = text {
                record["output"] = text.into();
            }
            if let Some(trace) = trace {
                record["trace"] = serde_json::to_value(&*trace).expect("a trace is plain data");
            }
            Some((record, None))
        }
    })
}

/// Labels are the reference of a record that has none. A record with a reference gets them as well, as `labels`.
fn add_labels(record: &mut Json, labels: Option<Map<String, Json>>) {
    let Some(labels) = labels else { return };
    let has_reference = RecordFields::read(record).non_null_value(RecordField::Reference).is_some();
    record[if has_reference { "labels" } else { "reference" }] = Json::Object(labels);
}
