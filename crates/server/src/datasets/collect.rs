//! Collects the cases of a new version.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::candidate::{RecordField, RecordFields, task_of_trace};
use jurist_core::dataset::{BadDatasetRecord, MAX_DATASET_CASES, SplitRule};
use jurist_core::grade::{Outcome, Time, VerdictStatus};
use jurist_core::redact::Redactor;
use jurist_store::annotate::{AnnotationItem, ItemRole, ItemState, Task};
use jurist_store::datasets::{Dataset, DatasetChange, DatasetWrite, NewDataset, NewDatasetCase};
use jurist_store::traces::{TraceListFilter, TraceWithContent};
use jurist_store::{AccountId, ItemId, ProjectId, RubricVersionId, Store, StoreError, TraceId};
use serde_json::{Map, Value as Json};

use super::{DatasetError, DatasetVersionReceipt, clean_dataset_text};
use crate::annotate::{ItemSubject, TaskDefinition, settled_grades};
use crate::blocking::block_in_place;

/// Traces that one request may add.
pub const MOST_ADDED_TRACES: usize = 10_000;

/// Traces that a filter adds, unless it says how many.
pub const DEFAULT_FILTERED_TRACES: usize = 1_000;

/// Bytes of the cases of one request: they are in memory together.
const MAX_REQUEST_BYTES: usize = 512 << 20;

/// Rows read per query.
const PAGE: usize = 200;

/// Traces read per query, with their contents.
const CONTENT_PAGE: usize = 20;

/// Where the cases of a new version come from, and what else changes.
#[derive(Debug, Default)]
pub struct CaseSources {
    pub base: Option<u64>,
    pub note: Option<String>,
    pub author: Option<AccountId>,
    pub records: Vec<Json>,
    /// All of them must have content.
    pub traces: Vec<TraceId>,
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
    let rule = SplitRule { dataset: &dataset.name, test_share: dataset.test_share };
    let collected = collect_change(store, project, rule, sources, redactor).await?;
    write_change(store, project, dataset, &collected, now).await
}

/// Creates a dataset with its first version. If the cases cannot be taken, there is no dataset either: one without a
/// version would stay, with a share for testing that cannot be changed.
pub async fn write_first_version(
    store: &Store,
    project: ProjectId,
    new: &NewDataset,
    sources: CaseSources,
    redactor: &Redactor,
    now: Time,
) -> Result<FirstVersion, DatasetError> {
    let rule = SplitRule { dataset: &new.name, test_share: new.test_share };
    let collected = collect_change(store, project, rule, sources, redactor).await?;
    if collected.change.base.is_some_and(|base| base != 0) {
        let message = format!("there is no dataset `{}`; with `base` 0 it is created", new.name);
        return Err(DatasetError::Unknown(message));
    }
    if let Some(key) = collected.change.remove.first() {
        return Err(unknown_case(key, &new.name));
    }
    let dataset = store.add_dataset(project, new, now).await?;
    let receipt = write_change(store, project, &dataset, &collected, now).await?;
    Ok(FirstVersion { dataset, receipt })
}

/// A dataset that was created with its first version.
#[derive(Debug)]
pub struct FirstVersion {
    pub dataset: Dataset,
    pub receipt: DatasetVersionReceipt,
}

/// What a request changes, once all its sources were read.
struct CollectedChange {
    change: DatasetChange,
    n_skipped: usize,
}

async fn collect_change(
    store: &Store,
    project: ProjectId,
    rule: SplitRule<'_>,
    sources: CaseSources,
    redactor: &Redactor,
) -> Result<CollectedChange, DatasetError> {
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
    let mut collected = CaseCollection {
        rule,
        redactor,
        rubric,
        cases: Vec::new(),
        keys: BTreeSet::new(),
        traces: BTreeSet::new(),
        n_bytes: 0,
        n_skipped: 0,
    };
    // A request has up to 32 MiB of them.
    block_in_place(|| {
        for (at, mut record) in sources.records.into_iter().enumerate() {
            redactor.data(&mut record);
            let added = collected.add(record, None, None);
            added.map_err(|error| error.with_place(&format!("record {}", at + 1)))?;
        }
        Ok::<_, DatasetError>(())
    })?;
    collected.link_traces(store, project).await?;
    collected.add_traces(store, project, &sources.traces, Absent::Refused, &sources.withheld).await?;
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
    Ok(CollectedChange { change, n_skipped: collected.n_skipped })
}

async fn write_change(
    store: &Store,
    project: ProjectId,
    dataset: &Dataset,
    collected: &CollectedChange,
    now: Time,
) -> Result<DatasetVersionReceipt, DatasetError> {
    let name = &dataset.name;
    match store.write_dataset_version(project, dataset.id, &collected.change, now).await? {
        DatasetWrite::Written(written) => Ok(DatasetVersionReceipt::new(written, collected.n_skipped)),
        DatasetWrite::Outdated { newest } => Err(DatasetError::Conflict(format!(
            "`{name}` has been changed in the meantime: its newest version is v{newest}; read it and try again"
        ))),
        DatasetWrite::Archived => {
            Err(DatasetError::Conflict(format!("dataset `{name}` is archived; restore it first")))
        }
        DatasetWrite::TooMany { n_cases } => Err(too_many_cases(n_cases)),
        DatasetWrite::UnknownKey(key) => Err(unknown_case(&key, name)),
        DatasetWrite::ErasedTrace(trace) => Err(DatasetError::Unknown(format!(
            "trace `{trace}` was erased in the meantime; nothing is written"
        ))),
    }
}

/// Ids of traces in a request.
pub fn parse_trace_ids(texts: &[String]) -> Result<Vec<TraceId>, DatasetError> {
    if MOST_ADDED_TRACES < texts.len() {
        return Err(DatasetError::TooLarge(format!(
            "`traces` has {} ids, and {MOST_ADDED_TRACES} is the most; add them in several steps",
            texts.len()
        )));
    }
    let ids = texts.iter().map(|id| TraceId::new(id.as_str())).collect::<Result<_, _>>();
    ids.map_err(|error| DatasetError::Bad(error.to_string()))
}

fn unknown_case(key: &str, dataset: &str) -> DatasetError {
    DatasetError::Unknown(format!("there is no case `{key}` in the newest version of `{dataset}`"))
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
    redactor: &'a Redactor,
    /// The rubric of all cases.
    rubric: Option<RubricVersionId>,
    cases: Vec<NewDatasetCase>,
    keys: BTreeSet<String>,
    /// Traces that are cases already: one that is named twice is one case.
    traces: BTreeSet<TraceId>,
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

    /// Links records that hold a stored trace, such as exported ones, so that they are erased with it.
    async fn link_traces(&mut self, store: &Store, project: ProjectId) -> Result<(), StoreError> {
        let holders = self.cases.iter().map(|new| &new.case).filter(|case| holds_trace(&case.record));
        let ids: Vec<TraceId> = holders.filter_map(|case| TraceId::new(case.key.as_str()).ok()).collect();
        let readable = store.readable_traces(project, &ids).await?;
        for new in self.cases.iter_mut().filter(|new| holds_trace(&new.case.record)) {
            new.trace = TraceId::new(new.case.key.as_str()).ok().filter(|id| readable.contains(id));
        }
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
        for some in ids.chunks(CONTENT_PAGE) {
            let mut rubrics = load_failed_rubrics(store, project, some, withheld).await?;
            let mut traces = load_traces_by_id(store, project, some).await?;
            for id in some {
                if !self.traces.insert(id.clone()) {
                    continue;
                }
                let trace = traces.remove(id);
                let is_known = trace.is_some();
                let record = trace.and_then(|trace| build_trace_record(trace, self.redactor));
                match record {
                    Some(record) => {
                        let rubric = rubrics.remove(id.as_str());
                        self.add(record, Some(id.clone()), rubric)
                            .map_err(|error| error.with_place(&format!("trace `{id}`")))?;
                    }
                    None if absent == Absent::Skipped => self.n_skipped += 1,
                    None if is_known => {
                        let message = format!("trace `{id}` has no content: it is open, or it was erased");
                        return Err(DatasetError::Unknown(message));
                    }
                    None => return Err(DatasetError::Unknown(format!("there is no trace `{id}`"))),
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
        let definition = TaskDefinition::of(store, project, task.id, task.version).await?;
        let mut graded = definition.rubrics.values();
        // Of several rubrics, none is the rubric of a case.
        let rubric = graded.next().filter(|_| graded.next().is_none()).map(|graded| graded.id.clone());
        let mut after = None;
        loop {
            let page = store.items(project, task.id, after.as_ref(), CONTENT_PAGE).await?;
            let items = page.items.into_iter();
            let items = items.filter(|item| item.role == ItemRole::Item && item.state != ItemState::Removed);
            let subjects = items.map(ItemWithSubject::read).collect::<Result<Vec<_>, _>>()?;
            let ids: Vec<TraceId> = subjects.iter().filter_map(|item| item.trace.clone()).collect();
            let mut traces = load_traces_by_id(store, project, &ids).await?;
            for item in subjects {
                let (id, candidate, trace) = (item.id, item.candidate.clone(), item.trace.clone());
                let agreed = labels.remove(&candidate).filter(|_| !hidden.contains(&id));
                let content = trace.as_ref().and_then(|trace| traces.remove(trace));
                let Some(mut record) = item.into_record(content, self.redactor) else {
                    self.n_skipped += 1;
                    continue;
                };
                add_labels(&mut record, agreed);
                self.add(record, trace, rubric.clone())
                    .map_err(|error| error.with_place(&format!("item `{candidate}`")))?;
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

fn holds_trace(record: &Json) -> bool {
    RecordFields::read(record).non_null_value(RecordField::Trace).is_some()
}

/// A stored rubric by its name, or a version by its id.
pub async fn find_case_rubric(
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

async fn load_traces_by_id(
    store: &Store,
    project: ProjectId,
    ids: &[TraceId],
) -> Result<BTreeMap<TraceId, TraceWithContent>, StoreError> {
    let traces = store.traces_with_content(project, ids).await?;
    Ok(traces.into_iter().map(|trace| (trace.head.id.clone(), trace)).collect())
}

/// A stored trace as a record; `None` if it has no content. Patterns of secrets may be newer than the trace.
fn build_trace_record(trace: TraceWithContent, redactor: &Redactor) -> Option<Json> {
    let TraceWithContent { head, content } = trace;
    let trace = content?;
    let mut record = Map::new();
    let texts = [("input", task_of_trace(&trace)), ("output", trace.answer().map(str::to_owned))];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            record.insert(name.to_owned(), text.into());
        }
    }
    record.insert("trace".to_owned(), serde_json::to_value(&trace).expect("a trace is plain data"));
    let metadata = build_trace_metadata(head.metadata, head.agent);
    if !metadata.is_empty() {
        record.insert("metadata".to_owned(), Json::Object(metadata));
    }
    Some(finish_own_record(record, head.id.as_str(), redactor))
}

fn build_trace_metadata(metadata: Json, agent: Option<String>) -> Map<String, Json> {
    let mut metadata = match metadata {
        Json::Object(metadata) => metadata,
        _ => Map::new(),
    };
    if let Some(agent) = agent {
        metadata.insert("agent".to_owned(), Json::from(agent));
    }
    metadata
}

/// Takes secrets out of a record that has the shape of our own data, and adds its key, which is stored anyway.
fn finish_own_record(record: Map<String, Json>, key: &str, redactor: &Redactor) -> Json {
    let mut record = Json::Object(record);
    redactor.json(&mut record);
    record["id"] = key.into();
    record
}

/// An item of an annotation task.
struct ItemWithSubject {
    id: ItemId,
    candidate: String,
    subject: ItemSubject,
    /// Set if the subject is a stored trace.
    trace: Option<TraceId>,
}

impl ItemWithSubject {
    fn read(item: AnnotationItem) -> Result<Self, DatasetError> {
        let unreadable = |error: serde_json::Error| {
            DatasetError::Senseless(format!("item `{}` cannot be read: {error}", item.candidate))
        };
        let subject: ItemSubject = serde_json::from_value(item.body).map_err(unreadable)?;
        let trace = match &subject {
            ItemSubject::Trace { id, .. } => {
                Some(TraceId::new(id.as_str()).map_err(|error| DatasetError::Bad(error.to_string()))?)
            }
            _ => None,
        };
        Ok(Self { id: item.id, candidate: item.candidate, subject, trace })
    }

    /// The subject as a record; `None` if it is a trace without content.
    fn into_record(self, content: Option<TraceWithContent>, redactor: &Redactor) -> Option<Json> {
        match self.subject {
            ItemSubject::Row(row) => {
                let mut record = Json::Object(row);
                redactor.data(&mut record);
                if record.get("id").is_none() {
                    record["id"] = self.candidate.into();
                }
                Some(record)
            }
            ItemSubject::Trace { .. } => build_trace_record(content?, redactor),
            ItemSubject::Case { task, text, trace, .. } => {
                let mut record = Map::new();
                for (name, text) in [("input", task), ("output", text)] {
                    record.extend(text.map(|text| (name.to_owned(), Json::from(text))));
                }
                if let Some(trace) = trace {
                    let trace = serde_json::to_value(&*trace).expect("a trace is plain data");
                    record.insert("trace".to_owned(), trace);
                }
                Some(finish_own_record(record, &self.candidate, redactor))
            }
        }
    }
}

/// Labels are the reference of a record that has none. A record with a reference gets them as well, as `labels`.
fn add_labels(record: &mut Json, labels: Option<Map<String, Json>>) {
    let Some(labels) = labels else { return };
    let has_reference = RecordFields::read(record).non_null_value(RecordField::Reference).is_some();
    record[if has_reference { "labels" } else { "reference" }] = Json::Object(labels);
}
