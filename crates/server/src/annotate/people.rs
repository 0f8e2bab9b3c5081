//! Human answers and adjudications as grades, by task, with the fields of their items.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jurist_core::annotate::{
    ExportedDecision, QuestionRating, Rating, Scheme, SchemeKind, build_human_grades, build_person_grade,
    build_plain_grades, collect_question_ratings, list_question_points, plain_question_kind, rating_unit,
};
use jurist_core::grade::{Grade, MetadataFields, Outcome, Reason, Time, UngradedQuestion};
use jurist_core::report::ANNOTATION_TASK;
use jurist_core::rubric::RubricHash;
use jurist_core::task_results::{SubmittedAnswer, TaskResults, compute_task_results};
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::{ItemId, ProjectId, Store, StoreError, TraceId};
use serde_json::{Map, Value};

use super::{AnnotationWithSchemes, ItemSubject, TaskDefinition, load_annotations};
use crate::blocking::block_in_place;

/// A grade with the fields that it can be grouped by.
pub type GradeWithFields = (Grade, MetadataFields);

/// Names of tasks in grades; the id is added if two tasks have the same name.
pub async fn task_names(store: &Store, project: ProjectId) -> Result<Vec<(Task, String)>, StoreError> {
    let tasks = store.tasks(project).await?;
    let mut n_of: BTreeMap<String, usize> = BTreeMap::new();
    for task in &tasks {
        *n_of.entry(task.name.clone()).or_default() += 1;
    }
    let named = |task: Task| {
        let name = match n_of.get(&task.name) {
            Some(1) => task.name.clone(),
            _ => format!("{} ({})", task.name, task.id),
        };
        (task, name)
    };
    Ok(tasks.into_iter().map(named).collect())
}

/// The newest answers to the questions of a task, as grades; free text and marks on steps are left out. `name` is the
/// name of the task.
pub async fn people_grades(
    store: &Store,
    project: ProjectId,
    task: &Task,
    name: &str,
) -> Result<Vec<GradeWithFields>, StoreError> {
    let mut versions: BTreeMap<u64, BTreeMap<String, RubricHash>> = BTreeMap::new();
    let mut fields = ItemFields::new(name);
    let mut grades = Vec::new();
    for answered in load_annotations(store, project, task).await? {
        let annotation = &answered.annotation;
        if annotation.role != ItemRole::Item {
            continue;
        }
        if let Entry::Vacant(entry) = versions.entry(annotation.version) {
            entry.insert(TaskDefinition::of(store, project, task.id, annotation.version).await?.hashes());
        }
        let rubrics = &versions[&annotation.version];
        let (candidate, time) = (&annotation.candidate, annotation.time);
        let (schemes, draft, person) = (&answered.schemes, &answered.draft, &answered.name);
        let mut of_answer = build_human_grades(schemes, draft, rubrics, candidate, person, time);
        of_answer.extend(build_plain_grades(schemes, draft, candidate, person, time));
        let known = fields.of(store, project, annotation.item).await?;
        grades.extend(of_answer.into_iter().map(|grade| (grade, known.clone())));
    }
    Ok(grades)
}

/// Results over all answers, and by the value of a field of the items.
pub async fn results_of(
    store: &Store,
    project: ProjectId,
    task: &str,
    answers: Vec<AnnotationWithSchemes>,
    by: Option<&str>,
) -> Result<TaskResults, StoreError> {
    let mut fields = ItemFields::new(task);
    let mut known = Vec::new();
    for answered in answers {
        if answered.annotation.role == ItemRole::Item {
            known.push((fields.of(store, project, answered.annotation.item).await?, answered));
        }
    }
    let submitted = known.iter().map(|(fields, answered)| SubmittedAnswer {
        candidate: &answered.annotation.candidate,
        annotator: &answered.name,
        schemes: &answered.schemes,
        draft: &answered.draft,
        fields,
    });
    Ok(block_in_place(|| compute_task_results(&submitted.collect::<Vec<_>>(), by)))
}

/// Labels of a task, at most one for each question of an item, as grades: the newest adjudication, otherwise the answer
/// that at least two people gave and no one contradicted.
pub async fn settled_grades(
    store: &Store,
    project: ProjectId,
    task: &Task,
    name: &str,
) -> Result<Vec<GradeWithFields>, StoreError> {
    let definition = TaskDefinition::of(store, project, task.id, task.version).await?;
    let mut newest = BTreeMap::new();
    for decision in store.adjudications(project, task.id).await? {
        newest.insert((decision.item, decision.scheme.clone(), decision.criterion.clone()), decision);
    }
    let mut unanimous = collect_unanimous_answers(&load_annotations(store, project, task).await?);
    unanimous.retain(|question, _| !newest.contains_key(question));
    let mut fields = ItemFields::new(name);
    let mut grades = Vec::new();
    for ((item_id, scheme, criterion), decision) in newest {
        let Ok(rating) = serde_json::from_value::<Rating>(decision.body["rating"].clone()) else { continue };
        let Rating::Scored { value } = &rating else { continue };
        let item = store.item(project, item_id).await?;
        let (_, schemes) = definition.about(store, project, &item, None).await?;
        let points = match list_question_points(&schemes, &scheme, &criterion) {
            Some(points) => points,
            // A criterion that a newer version has removed has no scale any more; its label is still exported.
            None if definition.rubrics.contains_key(&scheme) => Vec::new(),
            None => continue,
        };
        if is_step_scheme(&schemes, &scheme) {
            continue;
        }
        let outcome = Outcome::Scored { value: value.clone(), unit: rating_unit(&points, &rating) };
        let reason = Reason::new(decision.body["why"].as_str().unwrap_or_default());
        let (rubric, time) = (definition.rubrics.get(&scheme).map(|graded| &graded.hash), decision.time);
        let decided = build_person_grade("adjudicated", rubric, &item.candidate, &criterion, outcome, time);
        grades.push((Grade { reason, ..decided }, fields.of(store, project, item_id).await?));
    }
    for ((item_id, scheme, criterion), answer) in unanimous {
        let outcome = Outcome::Scored { value: answer.value, unit: answer.unit };
        let (rubric, time) = (definition.rubrics.get(&scheme).map(|graded| &graded.hash), answer.time);
        let agreed = build_person_grade("unanimous", rubric, &answer.candidate, &criterion, outcome, time);
        grades.push((agreed, fields.of(store, project, item_id).await?));
    }
    Ok(grades)
}

/// Marks on steps are no labels.
fn is_step_scheme(schemes: &[Scheme], name: &str) -> bool {
    schemes.iter().any(|scheme| scheme.name == name && matches!(scheme.kind, SchemeKind::Trajectory { .. }))
}

/// The answer of one person to one question.
struct PersonAnswer<'a> {
    by: &'a AnnotationWithSchemes,
    rated: QuestionRating<'a>,
}

/// An answer that at least two people gave to a question, and that no one contradicted.
struct UnanimousAnswer {
    candidate: String,
    value: jurist_core::grade::Value,
    unit: Option<f64>,
    /// When the last of them answered.
    time: Time,
}

/// Unanimous answers to ordinary items, by item, scheme and criterion. An abstention contradicts no other answer.
fn collect_unanimous_answers(
    answers: &[AnnotationWithSchemes],
) -> BTreeMap<(ItemId, String, String), UnanimousAnswer> {
    let mut by_question: BTreeMap<(ItemId, String, String), Vec<PersonAnswer<'_>>> = BTreeMap::new();
    for by in answers.iter().filter(|answer| answer.annotation.role == ItemRole::Item) {
        for rated in collect_question_ratings(&by.schemes, &by.draft) {
            if rated.rating != Rating::Abstained && !is_step_scheme(&by.schemes, rated.scheme) {
                let question = (by.annotation.item, rated.scheme.to_owned(), rated.criterion.clone());
                by_question.entry(question).or_default().push(PersonAnswer { by, rated });
            }
        }
    }
    let unanimous = by_question.into_iter().filter_map(|(question, answers)| {
        let answer = find_unanimous_answer(&answers)?;
        Some((question, answer))
    });
    unanimous.collect()
}

fn find_unanimous_answer(answers: &[PersonAnswer<'_>]) -> Option<UnanimousAnswer> {
    let first = answers.first().filter(|_| 2 <= answers.len())?;
    let Rating::Scored { value } = &first.rated.rating else { return None };
    if answers.iter().any(|answer| answer.rated.rating != first.rated.rating) {
        return None;
    }
    Some(UnanimousAnswer {
        candidate: first.by.annotation.candidate.clone(),
        value: value.clone(),
        unit: rating_unit(&first.rated.points, &first.rated.rating),
        time: answers.iter().map(|answer| answer.by.annotation.time).max()?,
    })
}

/// Questions of a task whose answers are no grades, such as `why` (text).
pub async fn ungraded_questions(
    store: &Store,
    project: ProjectId,
    task: &Task,
) -> Result<Vec<UngradedQuestion>, StoreError> {
    let definition = TaskDefinition::of(store, project, task.id, task.version).await?;
    let ungraded = |scheme: &Scheme| {
        let kind = match (&scheme.kind, plain_question_kind(&scheme.kind)) {
            (SchemeKind::Trajectory { .. }, _) => "trajectory_eval".to_owned(),
            (_, Some(kind)) if !kind.is_graded() => kind.to_string(),
            _ => return None,
        };
        Some(UngradedQuestion { name: scheme.name.clone(), kind: Some(kind) })
    };
    Ok(definition.schemes.iter().filter_map(ungraded).collect())
}

/// What was decided about the items of a task, the newest decision of each question.
pub async fn load_exported_decisions(
    store: &Store,
    project: ProjectId,
    task: &Task,
) -> Result<BTreeMap<ItemId, Vec<ExportedDecision>>, StoreError> {
    let mut newest = BTreeMap::new();
    for decision in store.adjudications(project, task.id).await? {
        newest.insert((decision.item, decision.scheme.clone(), decision.criterion.clone()), decision);
    }
    let mut decisions: BTreeMap<ItemId, Vec<ExportedDecision>> = BTreeMap::new();
    for ((item, scheme, criterion), decision) in newest {
        let Ok(rating) = serde_json::from_value::<Rating>(decision.body["rating"].clone()) else { continue };
        let labels: Option<Vec<String>> = serde_json::from_value(decision.body["labels"].clone()).ok();
        let decided = ExportedDecision::new(&scheme, &criterion, &rating, labels.as_deref());
        decisions.entry(item).or_default().push(decided);
    }
    Ok(decisions)
}

/// Longest text, in bytes, that grades can be grouped by; rows of runs have the same limit.
const MAX_FIELD: usize = 100;

/// Cache of the fields of items.
struct ItemFields<'a> {
    task: &'a str,
    known: BTreeMap<ItemId, MetadataFields>,
}

impl<'a> ItemFields<'a> {
    fn new(task: &'a str) -> Self {
        Self { task, known: BTreeMap::new() }
    }

    async fn of(
        &mut self,
        store: &Store,
        project: ProjectId,
        item: ItemId,
    ) -> Result<MetadataFields, StoreError> {
        if let Some(known) = self.known.get(&item) {
            return Ok(known.clone());
        }
        let body = store.item(project, item).await?.body;
        let mut fields = match serde_json::from_value(body) {
            Ok(ItemSubject::Row(row)) => short_fields(row),
            Ok(ItemSubject::Trace { id, .. }) => match TraceId::new(id) {
                Ok(trace) => {
                    let agent = store.trace(project, &trace).await.ok().and_then(|head| head.agent);
                    agent.into_iter().map(|agent| ("agent".to_owned(), Value::from(agent))).collect()
                }
                Err(_) => MetadataFields::new(),
            },
            Ok(ItemSubject::Case { .. }) | Err(_) => MetadataFields::new(),
        };
        fields.insert(ANNOTATION_TASK.to_owned(), self.task.into());
        self.known.insert(item, fields.clone());
        Ok(fields)
    }
}

/// Fields of a row that grades can be grouped by: numbers, booleans, short texts, and lists of them; nested fields
/// are named by their path.
fn short_fields(row: Map<String, Value>) -> MetadataFields {
    let is_short = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_FIELD,
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    let mut fields = MetadataFields::new();
    for (name, value) in row {
        match value {
            Value::Object(inside) => {
                let inside: Map<String, Value> =
                    inside.into_iter().filter(|(_, value)| is_short(value)).collect();
                if !inside.is_empty() {
                    fields.insert(name, Value::Object(inside));
                }
            }
            Value::Array(all) if all.iter().all(is_short) && !all.is_empty() => {
                fields.insert(name, Value::Array(all));
            }
            value if is_short(&value) => {
                fields.insert(name, value);
            }
            _ => {}
        }
    }
    fields
}
