//! Summary of annotators' work for the owner of a task.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jurist_core::annotate::{
    AnnotationSettings, AnswerDraft, ItemAnswerKey, Scheme, compare_expected_answers, compute_median,
    measure_annotator_pace,
};
use jurist_core::grade::Time;
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::assignments::SubmittedAnnotation;
use jurist_store::{AccountId, ItemId, ProjectId, Store, StoreError, TraceId};
use serde::Deserialize;

use super::{ItemSubject, TaskDefinition, excluded_accounts, load_annotator_names, parse_task_settings};

/// Answers read per query.
const PAGE: usize = 500;

/// The newest answer of an annotator to an item, with the schemes that were asked.
#[derive(Debug)]
pub struct AnnotationWithSchemes {
    pub annotation: SubmittedAnnotation,
    /// The annotator's name in grades and exports.
    pub name: String,
    pub schemes: Arc<[Scheme]>,
    pub draft: AnswerDraft,
}

/// The newest answers of the annotators who are not excluded, the oldest first.
pub async fn load_annotations(
    store: &Store,
    project: ProjectId,
    task: &Task,
) -> Result<Vec<AnnotationWithSchemes>, StoreError> {
    let excluded = excluded_accounts(task);
    let mut answers = load_all_annotations(store, project, task).await?;
    answers.retain(|answer| !excluded.contains(&answer.annotation.account));
    Ok(answers)
}

/// The newest answers of all annotators, the oldest first, also of those who are excluded.
pub async fn load_all_annotations(
    store: &Store,
    project: ProjectId,
    task: &Task,
) -> Result<Vec<AnnotationWithSchemes>, StoreError> {
    let names = load_annotator_names(store, project).await?;
    let (mut annotations, mut after) = (Vec::new(), None);
    let mut versions: BTreeMap<u64, (TaskDefinition, Arc<[Scheme]>)> = BTreeMap::new();
    loop {
        let page = store.annotations(project, task.id, after.as_ref(), PAGE).await?;
        for annotation in page.items {
            if let Entry::Vacant(entry) = versions.entry(annotation.version) {
                let definition = TaskDefinition::of(store, project, task.id, annotation.version).await?;
                let schemes = definition.schemes.clone().into();
                entry.insert((definition, schemes));
            }
            let (definition, schemes) = &versions[&annotation.version];
            // Only schemes with claims differ between items.
            let schemes = if definition.schemes.iter().any(is_of_item) {
                let item = store.item(project, annotation.item).await?;
                definition.about(store, project, &item, None).await?.1.into()
            } else {
                Arc::clone(schemes)
            };
            let draft = AnswerDraft::deserialize(&annotation.body).unwrap_or_default();
            let name = names.get(&annotation.account).unwrap_or(&annotation.name).clone();
            annotations.push(AnnotationWithSchemes { annotation, name, schemes, draft });
        }
        after = page.next;
        if after.is_none() {
            return Ok(annotations);
        }
    }
}

fn is_of_item(scheme: &Scheme) -> bool {
    matches!(scheme.kind, jurist_core::annotate::SchemeKind::Verify { .. })
}

/// Items whose answers are hidden from an annotator of the task, because they have not answered them yet.
pub async fn list_hidden_items(
    store: &Store,
    project: ProjectId,
    task: &Task,
    who: Option<AccountId>,
) -> Result<BTreeSet<ItemId>, StoreError> {
    let Some(who) = who else { return Ok(BTreeSet::new()) };
    store.unanswered_in(project, who, task.id).await
}

/// Titles of items in lists: their first words, otherwise their ids.
pub async fn titles(
    store: &Store,
    project: ProjectId,
    definition: &TaskDefinition,
    items: &BTreeSet<ItemId>,
) -> Result<BTreeMap<ItemId, String>, StoreError> {
    let mut titles = BTreeMap::new();
    for id in items {
        let item = store.item(project, *id).await?;
        let title = match serde_json::from_value(item.body.clone()) {
            // The trace's row has its title, so the content is not read.
            Ok(ItemSubject::Trace { id, .. }) => match TraceId::new(id) {
                Ok(trace) => store.trace(project, &trace).await.ok().and_then(|head| head.title),
                Err(_) => None,
            },
            _ => definition.about(store, project, &item, None).await?.0.title(),
        };
        titles.insert(*id, title.unwrap_or(item.candidate));
    }
    Ok(titles)
}

/// Figures about one annotator.
#[derive(Debug, Default)]
pub struct AnnotatorSummary {
    pub name: String,
    pub n_done: usize,
    pub median_seconds: Option<f64>,
    pub n_too_fast: usize,
    pub gold: (usize, usize),
    pub attention: (usize, usize),
    pub training: (usize, usize),
    pub last: Option<Time>,
    /// The mean of their ratings on 0..=1 in the first half of their work and in the second.
    pub halves: Option<(f64, f64)>,
    pub warnings: Vec<String>,
}

/// All annotators with at least one answer.
pub fn people_of(task: &Task, answers: &[AnnotationWithSchemes]) -> BTreeMap<AccountId, AnnotatorSummary> {
    let settings = parse_task_settings(task);
    let everybody: Vec<f64> = answers.iter().filter_map(|annotation| annotation.annotation.seconds).collect();
    let mut by_person: BTreeMap<AccountId, Vec<&AnnotationWithSchemes>> = BTreeMap::new();
    for answer in answers {
        by_person.entry(answer.annotation.account).or_default().push(answer);
    }
    by_person
        .into_iter()
        .map(|(who, theirs)| (who, summarize_annotator(&settings, &theirs, &everybody)))
        .collect()
}

fn summarize_annotator(
    settings: &AnnotationSettings,
    theirs: &[&AnnotationWithSchemes],
    everybody: &[f64],
) -> AnnotatorSummary {
    let seconds: Vec<f64> = theirs.iter().filter_map(|annotation| annotation.annotation.seconds).collect();
    let checks = |role: ItemRole, known: &[ItemAnswerKey]| {
        let all = theirs.iter().filter(|annotation| annotation.annotation.role == role);
        let right = all.clone().filter(|annotation| {
            let expecting = known.iter().find(|known| known.item == annotation.annotation.candidate);
            expecting.is_some_and(|known| {
                compare_expected_answers(known, &annotation.draft).iter().all(|answer_check| answer_check.ok)
            })
        });
        (right.count(), all.count())
    };
    let pace = measure_annotator_pace(&seconds, everybody, settings.min_seconds);
    let mut person = AnnotatorSummary {
        name: theirs.first().map(|annotation| annotation.name.clone()).unwrap_or_default(),
        n_done: theirs.iter().filter(|annotation| annotation.annotation.role == ItemRole::Item).count(),
        median_seconds: pace.median,
        n_too_fast: pace.n_too_fast,
        gold: checks(ItemRole::Gold, &settings.gold),
        attention: checks(ItemRole::Attention, &settings.attention),
        training: checks(ItemRole::Training, &settings.training),
        last: theirs.iter().map(|annotation| annotation.annotation.time).max(),
        halves: halves(theirs),
        warnings: Vec::new(),
    };
    let typical = compute_median(everybody).filter(|_| 10 <= everybody.len());
    if let (Some(own), Some(typical)) = (person.median_seconds, typical)
        && own < typical / 3.0
    {
        person.warnings.push("is three times as fast as the other annotators".to_owned());
    } else if 0 < person.n_too_fast {
        let n_timed = seconds.len();
        person
            .warnings
            .push(format!("{} of {n_timed} answers are faster than the minimum time", person.n_too_fast));
    }
    for ((n_right, n_all), what) in [(person.attention, "attention checks"), (person.gold, "gold items")] {
        if n_right < n_all {
            person.warnings.push(format!("missed {} of {n_all} {what}", n_all - n_right));
        }
    }
    if let Some((first, second)) = person.halves
        && 0.2 < (first - second).abs()
    {
        let way = if first < second { "higher" } else { "lower" };
        person.warnings.push(format!("rates {way} in the second half of their work"));
    }
    person
}

/// Mean rating in the first and in the second half of an annotator's answers; `None` for fewer than ten answers.
fn halves(theirs: &[&AnnotationWithSchemes]) -> Option<(f64, f64)> {
    let mean = |some: &[&AnnotationWithSchemes]| {
        let units: Vec<f64> = some
            .iter()
            .flat_map(|annotation| {
                let ratings =
                    jurist_core::annotate::collect_question_ratings(&annotation.schemes, &annotation.draft);
                ratings
                    .into_iter()
                    .filter_map(|question_rating| {
                        jurist_core::annotate::rating_unit(&question_rating.points, &question_rating.rating)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        (!units.is_empty()).then(|| units.iter().sum::<f64>() / units.len() as f64)
    };
    let middle = theirs.len() / 2;
    if theirs.len() < 10 {
        return None;
    }
    mean(&theirs[..middle]).zip(mean(&theirs[middle..]))
}
