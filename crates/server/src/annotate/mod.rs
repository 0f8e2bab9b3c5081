//! Annotation tasks: definitions, assignments and results.

mod task_definition;
mod export;
mod finish;
mod annotator_summary;
mod make;
mod output;
mod people;
mod work;

pub use annotator_summary::{
    AnnotationWithSchemes, list_hidden_items, load_all_annotations, load_annotations, people_of, titles,
};
pub use export::{AnnotationFormat, export_annotations};
pub use finish::complete_annotation;
pub use make::{
    Added, LINK_DAYS, TaskError, add_rows, add_subjects, check_answer_keys, collect_run_claims,
    collect_trace_claims, find_traces, from_annotation, from_rubric, named_traces, parse_stored_rubric,
    set_excluded_annotators, task_link, update_task_settings, verification,
};
pub use output::{Output, Outputs};
pub use people::{
    GradeWithFields, load_exported_decisions, people_grades, results_of, settled_grades, task_names,
    ungraded_questions,
};
pub use task_definition::{ItemSubject, RubricVersionRef, TaskDefinition, is_turned};
pub use work::{
    AssignmentContext, AssignmentPage, assignment_policy, load_assignment_context, load_assignment_page,
    load_shown_progress,
};

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::annotate::{AnnotationSettings, BadSettings};
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::{AccountId, ProjectId, Store, StoreError};
use serde_json::{Map, Value};

/// The settings of a task. Settings that this version cannot read are replaced by the defaults.
pub fn parse_task_settings(task: &Task) -> AnnotationSettings {
    serde_json::from_value(task.settings.clone()).unwrap_or_default()
}

/// Annotators of a task whose answers are not used.
pub fn excluded_accounts(task: &Task) -> BTreeSet<AccountId> {
    let excluded = parse_task_settings(task).excluded;
    excluded.iter().filter_map(|annotator| annotator.account.parse().ok()).collect()
}

/// The settings of a task after a change. Settings that are not named stay unchanged, and `null` resets a setting to its
/// default.
pub fn merge_task_settings(
    task: &Task,
    changes: &Map<String, Value>,
) -> Result<AnnotationSettings, BadSettings> {
    let read = |settings: Map<String, Value>| {
        serde_json::from_value::<AnnotationSettings>(Value::Object(settings))
            .map_err(|error| error.to_string())
    };
    let mut merged = task.settings.as_object().cloned().unwrap_or_default();
    for (name, value) in changes {
        if value.is_null() {
            merged.remove(name);
            continue;
        }
        // Each setting is read by itself, so that the message can name it.
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        read(alone).map_err(|error| BadSettings(format!("`settings.{name}`: {error}")))?;
        merged.insert(name.clone(), value.clone());
    }
    read(merged).map_err(BadSettings)
}

/// Number of answers and role of an item by the settings.
pub fn item_requirements(settings: &AnnotationSettings, candidate: &str) -> (u32, ItemRole) {
    let is_in = |all: &[jurist_core::annotate::ItemAnswerKey]| {
        all.iter().any(|item_answer_key| item_answer_key.item == candidate)
    };
    match () {
        () if is_in(&settings.training) => (0, ItemRole::Training),
        () if is_in(&settings.gold) => (0, ItemRole::Gold),
        () if is_in(&settings.attention) => (0, ItemRole::Attention),
        () => (settings.annotators_wanted(candidate), ItemRole::Item),
    }
}

/// Names of annotators in grades and exports; a suffix distinguishes annotators with equal names.
pub async fn load_annotator_names(
    store: &Store,
    project: ProjectId,
) -> Result<BTreeMap<AccountId, String>, StoreError> {
    let members = store.members(project).await?;
    let mut n_of: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &members {
        *n_of.entry(&member.name).or_default() += 1;
    }
    let name = |project_member: &jurist_store::accounts::ProjectMember| match n_of
        .get(project_member.name.as_str())
    {
        Some(1) => project_member.name.clone(),
        _ => format!("{} ({})", project_member.name, project_member.email),
    };
    Ok(members.iter().map(|member| (member.account, name(member))).collect())
}

/// The name of one annotator, who may have left the project.
async fn load_annotator_name(
    store: &Store,
    project: ProjectId,
    account: AccountId,
) -> Result<String, StoreError> {
    match load_annotator_names(store, project).await?.remove(&account) {
        Some(name) => Ok(name),
        None => Ok(store.account(account).await?.name),
    }
}
