//! Creates tasks, and adds items to them.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::annotate::{
    AnnotationSettings, AssignmentOrder, BadSettings, ExcludedAnnotator, RowLayout, Scheme, SchemeKind,
    build_schemes, claims, collect_judge_context, schemes_of_rubric,
};
use jurist_core::dialect::read_canonical_rubric;
use jurist_core::grade::{Grade, GraderKind, RubricHash, Time};
use jurist_core::rubric::Rubric;
use jurist_core::run::{CaseResult, Run};
use jurist_core::suite;
use jurist_store::annotate::{NewItem, NewTask, Task};
use jurist_store::grades::GradeFilter;
use jurist_store::rubrics::{NewRubricVersion, RubricVersion};
use jurist_store::tokens::NewAccessToken;
use jurist_store::traces::TraceListFilter;
use jurist_store::{AccountId, ProjectId, Region, Store, StoreError, TaskId, TraceId};
use serde_json::{Map, Value, json};

use super::{
    ItemSubject, RubricVersionRef, TaskDefinition, item_requirements, merge_task_settings,
    parse_task_settings,
};
use crate::credential::{AccessSecret, JOIN, hash_secret};

/// Items written, and traces read, per query.
const PAGE: usize = 200;

/// Most items that are added at once.
const MOST: usize = 1_000_000;

/// Why a task cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error(transparent)]
    Settings(#[from] BadSettings),
    #[error("{0}")]
    Nothing(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of items that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    pub n_new: usize,
    /// Items that existed already and were not changed.
    pub n_there: usize,
}

/// Creates a task from a file, or returns the one that was made from the same file, with its answers.
pub async fn from_annotation(
    store: &Store,
    project: ProjectId,
    annotation: &suite::AnnotationTask,
    origin: Option<&str>,
    (region, author): (&Region, Option<AccountId>),
    now: Time,
) -> Result<(Task, Added), TaskError> {
    let mut settings = AnnotationSettings::of(annotation);
    settings.check()?;
    let name = annotation.name.clone().unwrap_or_else(|| "Annotation".to_owned());
    let mut rubrics = BTreeMap::new();
    for scheme in &annotation.schemes {
        if let suite::TaskSchemeKind::Rubric { rubric, .. } = &scheme.kind {
            let named = format!("{name}: {}", scheme.name);
            let version = put_rubric(store, project, &named, rubric, (region, author), now).await?;
            rubrics.insert(scheme.name.clone(), RubricVersionRef { id: version.id, hash: version.hash });
        }
    }
    let definition = TaskDefinition {
        description: annotation.description.clone(),
        schemes: build_schemes(annotation),
        shape: RowLayout::of(annotation),
        rubrics,
    };
    let there = match origin {
        Some(origin) => store.task_of(project, origin).await?,
        None => None,
    };
    let task = match there {
        Some(task) => {
            // A file does not name people, so excluded annotators stay excluded.
            settings.excluded = parse_task_settings(&task).excluded;
            update_task_settings(store, project, &task, &name, &settings, now).await?;
            task
        }
        None => add_task(store, project, &name, &settings, &definition, origin, now).await?,
    };
    put_definition(store, project, task.id, &definition, now).await?;
    let task = store.task(project, task.id).await?;
    let known =
        annotation.known.iter().map(|known| (known.item.clone(), ItemSubject::Row(known.row.clone())));
    add_subjects(store, project, &task, known.collect(), now).await?;
    let added = add_rows(store, project, &task, &definition.shape, &annotation.rows, now).await?;
    Ok((task, added))
}

/// Creates a task with the questions of a rubric about stored traces.
pub async fn from_rubric(
    store: &Store,
    project: ProjectId,
    name: &str,
    version: &RubricVersion,
    subjects: Vec<(String, ItemSubject)>,
    settings: &AnnotationSettings,
    now: Time,
) -> Result<(Task, Added), TaskError> {
    settings.check()?;
    let rubric = parse_stored_rubric(version)?;
    let scheme = schemes_of_rubric(&rubric, "rubric", settings.shows_score)
        .ok_or_else(|| TaskError::Nothing("the rubric has no criterion that people can grade".to_owned()))?;
    check_first_answer_keys(settings, std::slice::from_ref(&scheme), &subjects)?;
    let graded = RubricVersionRef { id: version.id.clone(), hash: version.hash.clone() };
    let definition = TaskDefinition {
        description: rubric.description.clone(),
        schemes: vec![scheme],
        shape: RowLayout::default(),
        rubrics: BTreeMap::from([("rubric".to_owned(), graded)]),
    };
    let task = add_task(store, project, name, settings, &definition, None, now).await?;
    put_definition(store, project, task.id, &definition, now).await?;
    let added = add_subjects(store, project, &task, subjects, now).await?;
    Ok((store.task(project, task.id).await?, added))
}

/// Creates a task in which annotators confirm or correct the answers of judges.
pub async fn verification(
    store: &Store,
    project: ProjectId,
    name: &str,
    version: &RubricVersion,
    subjects: Vec<(String, ItemSubject)>,
    settings: &AnnotationSettings,
    now: Time,
) -> Result<(Task, Added), TaskError> {
    settings.check()?;
    if subjects.is_empty() {
        return Err(TaskError::Nothing("there are no judge grades yet".to_owned()));
    }
    let kind = SchemeKind::Verify { claims: Vec::new() };
    let scheme =
        Scheme { name: "verify".to_owned(), description: None, required: true, shown_when: None, kind };
    check_first_answer_keys(settings, std::slice::from_ref(&scheme), &subjects)?;
    let graded = RubricVersionRef { id: version.id.clone(), hash: version.hash.clone() };
    let definition = TaskDefinition {
        description: Some("Confirm what the judge answered, or enter the correct answer.".to_owned()),
        schemes: vec![scheme],
        shape: RowLayout::default(),
        rubrics: BTreeMap::from([("verify".to_owned(), graded)]),
    };
    let task = add_task(store, project, name, settings, &definition, None, now).await?;
    put_definition(store, project, task.id, &definition, now).await?;
    let added = add_subjects(store, project, &task, subjects, now).await?;
    Ok((store.task(project, task.id).await?, added))
}

/// Judge answers about traces, as claims for a verification task.
pub async fn collect_trace_claims(
    store: &Store,
    project: ProjectId,
    version: &RubricVersion,
) -> Result<Vec<(String, ItemSubject)>, TaskError> {
    let rubric = parse_stored_rubric(version)?;
    let filter = GradeFilter {
        rubric_version: Some(version.id.clone()),
        grader_kind: Some(GraderKind::Judge),
        ..GradeFilter::default()
    };
    let (mut by_candidate, mut after) = (BTreeMap::<String, Vec<Grade>>::new(), None);
    loop {
        let page = store.whole_grades(project, &filter, after.as_ref(), PAGE).await?;
        for (head, grade) in page.items {
            by_candidate.entry(head.candidate).or_default().extend(grade);
        }
        after = page.next;
        if after.is_none() || 20_000 <= by_candidate.len() {
            break;
        }
    }
    let subject = |(candidate, grades): (String, Vec<Grade>)| {
        let claims = claims(&rubric, &grades, None);
        (!claims.is_empty()).then(|| (candidate.clone(), ItemSubject::Trace { id: candidate, claims }))
    };
    Ok(by_candidate.into_iter().filter_map(subject).collect())
}

/// Judge answers of a run, with the rubric that most of its cases were graded by.
pub async fn collect_run_claims(
    store: &Store,
    project: ProjectId,
    region: &Region,
    run: &Run,
    now: Time,
) -> Result<(RubricVersion, Vec<(String, ItemSubject)>), TaskError> {
    let results: Vec<CaseResult> = run.results.iter().collect();
    let mut n_of: BTreeMap<RubricHash, usize> = BTreeMap::new();
    for result in &results {
        *n_of.entry(result.rubric.clone()).or_default() += 1;
    }
    let nothing = || TaskError::Nothing("this run has no judge grades".to_owned());
    let (hash, _) = n_of.into_iter().max_by_key(|(_, n)| *n).ok_or_else(nothing)?;
    let canonical = run.rubrics.get(&hash).cloned().ok_or_else(nothing)?;
    // Rubrics of one suite are stored as versions of one rubric; the suffix keeps it separate from a monitor's rubric.
    let name = format!("{} (of runs)", run.suite.as_deref().unwrap_or("suite without a name"));
    let head = match store.rubric_named(project, &name).await? {
        Some(head) => head,
        None => store.add_rubric(project, &name, now).await?,
    };
    let new = NewRubricVersion {
        region: region.clone(),
        hash: hash.clone(),
        canonical,
        source: None,
        author: None,
    };
    let version = store.put_rubric_version(project, head.id, &new, None, now).await?;
    let rubric = parse_stored_rubric(&version)?;
    let subject = |result: &CaseResult| {
        let material = &result.material;
        let claims = claims(&rubric, &result.grades, material.row.as_ref());
        let n = claims.len();
        let subject = ItemSubject::Case {
            task: Some(material.task.clone()).filter(|text| !text.is_empty()),
            text: material.response.clone(),
            trace: material.trace.clone().map(Box::new),
            given: collect_judge_context(material),
            claims,
        };
        (0 < n && result.rubric == hash).then(|| (result.case.clone(), subject))
    };
    Ok((version, results.iter().filter_map(subject).collect()))
}

/// Adds rows of data; rows whose ids exist already are not changed.
pub async fn add_rows(
    store: &Store,
    project: ProjectId,
    task: &Task,
    shape: &RowLayout,
    rows: &[Map<String, Value>],
    now: Time,
) -> Result<Added, TaskError> {
    let mut subjects = Vec::with_capacity(rows.len());
    let mut seen = BTreeSet::new();
    for (at, row) in rows.iter().enumerate() {
        let id = match (shape.id(row), &shape.id_key) {
            (Some(id), _) => id,
            (None, Some(key)) => {
                return Err(TaskError::Nothing(format!("row {} has no `{key}`, which names it", at + 1)));
            }
            (None, None) => format!("row {}", at + 1),
        };
        if !seen.insert(id.clone()) {
            return Err(TaskError::Nothing(format!("two rows have the id `{id}`; ids must be unique")));
        }
        subjects.push((id, ItemSubject::Row(row.clone())));
    }
    add_subjects(store, project, task, subjects, now).await
}

/// Traces of the store by their ids, as what items are about; all of them must be there.
pub async fn named_traces(
    store: &Store,
    project: ProjectId,
    ids: &[String],
) -> Result<Vec<(String, ItemSubject)>, TaskError> {
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        let head = match TraceId::new(id.clone()) {
            Ok(id) => match store.trace(project, &id).await {
                Ok(head) => Some(head),
                Err(StoreError::Unknown { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            Err(_) => None,
        };
        match head.filter(|head| 0 < head.revision && head.state.as_str() != "erased") {
            Some(_) => subjects.push((id.clone(), ItemSubject::Trace { id: id.clone(), claims: Vec::new() })),
            None => missing.push(format!("`{id}`")),
        }
    }
    match missing.as_slice() {
        [] if subjects.is_empty() => Err(TaskError::Nothing("`traces` names no trace".to_owned())),
        [] => Ok(subjects),
        _ => Err(TaskError::Nothing(format!("there is no stored trace {}", missing.join(", ")))),
    }
}

/// Traces of the store as what items are about, the newest first.
pub async fn find_traces(
    store: &Store,
    project: ProjectId,
    filter: &TraceListFilter,
    limit: Option<usize>,
) -> Result<Vec<(String, ItemSubject)>, StoreError> {
    let (mut subjects, mut after) = (Vec::new(), None);
    let limit = limit.unwrap_or(MOST);
    loop {
        let page = store.traces(project, filter, after.as_ref(), PAGE).await?;
        let whole =
            page.items.into_iter().filter(|head| 0 < head.revision && head.state.as_str() != "erased");
        subjects.extend(whole.map(|head| {
            let id = head.id.to_string();
            (id.clone(), ItemSubject::Trace { id, claims: Vec::new() })
        }));
        after = page.next;
        if after.is_none() || limit <= subjects.len() {
            break;
        }
    }
    subjects.truncate(limit);
    Ok(subjects)
}

/// Adds items; items whose names exist already are not changed.
pub async fn add_subjects(
    store: &Store,
    project: ProjectId,
    task: &Task,
    subjects: Vec<(String, ItemSubject)>,
    now: Time,
) -> Result<Added, TaskError> {
    let settings = parse_task_settings(task);
    let mut added = Added::default();
    for some in subjects.chunks(PAGE) {
        let item = |(candidate, subject): &(String, ItemSubject)| {
            let (n_wanted, role) = item_requirements(&settings, candidate);
            NewItem {
                candidate: candidate.clone(),
                body: serde_json::to_value(subject).expect("a subject is plain data"),
                n_wanted,
                priority: 0,
                role,
                turn: (settings.order == AssignmentOrder::Random)
                    .then(|| i64::from_le_bytes(jurist_store::random()) >> 1),
            }
        };
        let items: Vec<NewItem> = some.iter().map(item).collect();
        let n_new = store.add_items(project, task.id, &items, now).await?;
        added.n_new += n_new;
        added.n_there += items.len() - n_new;
    }
    Ok(added)
}

/// Fails if a new task has known answers about items that it does not have, or answers that no annotator can give.
fn check_first_answer_keys(
    settings: &AnnotationSettings,
    schemes: &[Scheme],
    subjects: &[(String, ItemSubject)],
) -> Result<(), BadSettings> {
    let candidates: BTreeSet<&str> = subjects.iter().map(|(candidate, _)| candidate.as_str()).collect();
    for key in settings.answer_keys() {
        if !candidates.contains(key.item.as_str()) {
            return Err(unknown_item_error(&key.item));
        }
        key.check(schemes)?;
    }
    Ok(())
}

/// Fails if a task has known answers about items that it does not have, or answers that no annotator can give.
pub async fn check_answer_keys(
    store: &Store,
    project: ProjectId,
    task: &Task,
    settings: &AnnotationSettings,
) -> Result<(), TaskError> {
    let definition = TaskDefinition::of(store, project, task.id, task.version).await?;
    for key in settings.answer_keys() {
        let item = store.item_of(project, task.id, &key.item).await?;
        let item = item.ok_or_else(|| unknown_item_error(&key.item))?;
        let (_, schemes) = definition.about(store, project, &item, None).await?;
        key.check(&schemes)?;
    }
    Ok(())
}

fn unknown_item_error(candidate: &str) -> BadSettings {
    BadSettings(format!("there is no item `{candidate}` in the task, and it has a known answer"))
}

/// Changes the settings, and updates the number of wanted answers of the items.
pub async fn update_task_settings(
    store: &Store,
    project: ProjectId,
    task: &Task,
    name: &str,
    settings: &AnnotationSettings,
    now: Time,
) -> Result<(), TaskError> {
    settings.check()?;
    let json = json!(settings);
    if task.settings != json || task.name != name {
        store.set_task_settings(project, task.id, name, &json, now).await?;
        store.set_all_wanted(project, task.id, |candidate| item_requirements(settings, candidate)).await?;
    }
    Ok(())
}

/// Changes which annotators are excluded; items and other settings stay unchanged.
pub async fn set_excluded_annotators(
    store: &Store,
    project: ProjectId,
    task: &Task,
    excluded: &[ExcludedAnnotator],
    now: Time,
) -> Result<Task, TaskError> {
    let change = Map::from_iter([("excluded".to_owned(), json!(excluded))]);
    let settings = merge_task_settings(task, &change)?;
    store.set_task_settings(project, task.id, &task.name, &json!(settings), now).await?;
    Ok(store.task(project, task.id).await?)
}

/// Days that a link to a task works.
pub const LINK_DAYS: usize = 90;

/// Creates the part after `/join#` of a link by which any number of annotators can join: a secret and the task's name.
pub async fn task_link(
    store: &Store,
    project: ProjectId,
    task: &Task,
    author: Option<AccountId>,
    now: Time,
) -> Result<String, StoreError> {
    let secret = AccessSecret::new(JOIN);
    let new = NewAccessToken {
        name: format!("link to a task {}", &hash_secret(secret.text())[..8]),
        hash: hash_secret(secret.text()),
        scopes: vec![format!("task:{}", task.id)],
        author,
        expires: Some(Time::from_micros(now.micros() + LINK_DAYS as i64 * 86_400_000_000)),
    };
    store.add_token(project, &new, now).await?;
    Ok(format!("task={}&name={}", secret.text(), encode_fragment(&task.name)))
}

/// A text in the part of an address after `#`. Browsers do not send it; the page shows the task's name from it.
fn encode_fragment(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let encode =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

async fn add_task(
    store: &Store,
    project: ProjectId,
    name: &str,
    settings: &AnnotationSettings,
    definition: &TaskDefinition,
    origin: Option<&str>,
    now: Time,
) -> Result<Task, StoreError> {
    let new = NewTask {
        name: name.to_owned(),
        rubric_version: definition
            .rubrics
            .values()
            .next()
            .map(|rubric_version_ref| rubric_version_ref.id.clone()),
        settings: json!(settings),
        origin: origin.map(str::to_owned),
    };
    store.add_task(project, &new, now).await
}

async fn put_definition(
    store: &Store,
    project: ProjectId,
    task: TaskId,
    definition: &TaskDefinition,
    now: Time,
) -> Result<(), StoreError> {
    store.put_task_version(project, task, &json!(definition), now).await.map(drop)
}

/// The stored version with this rubric; adds one if there is none.
async fn put_rubric(
    store: &Store,
    project: ProjectId,
    name: &str,
    rubric: &Rubric,
    (region, author): (&Region, Option<AccountId>),
    now: Time,
) -> Result<RubricVersion, StoreError> {
    let head = match store.rubric_named(project, name).await? {
        Some(head) => head,
        None => store.add_rubric(project, name, now).await?,
    };
    let version = NewRubricVersion {
        region: region.clone(),
        hash: rubric.version().clone(),
        canonical: rubric.to_json(),
        source: None,
        author,
    };
    store.put_rubric_version(project, head.id, &version, None, now).await
}

/// Parses the rubric of a stored version.
pub fn parse_stored_rubric(version: &RubricVersion) -> Result<Rubric, TaskError> {
    read_canonical_rubric(&version.canonical)
        .ok_or_else(|| TaskError::Nothing(format!("the rubric version `{}` cannot be read back", version.id)))
}
