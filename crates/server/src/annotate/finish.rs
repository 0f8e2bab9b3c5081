//! Follow-up of a submitted answer: grades, feedback, and the annotator's output file.

use jurist_core::annotate::{
    AnswerCheck, AnswerDraft, ItemAnswerKey, build_human_grades, compare_expected_answers,
    measure_annotator_pace,
};
use jurist_core::grade::Time;
use jurist_store::annotate::ItemRole;
use jurist_store::grades::NewGrade;
use jurist_store::{Probability, ProjectId, Store, StoreError};

use super::{AssignmentContext, TaskDefinition, load_annotator_name};

/// Feedback for the annotator who submitted an answer.
#[derive(Debug, Default)]
pub struct AnnotationFeedback {
    /// For training items only.
    pub feedback: Option<(Vec<AnswerCheck>, Option<String>)>,
    pub pace: Option<String>,
}

/// Called after an answer was stored. `attempt` is the number of the annotator's answers to this item.
pub async fn complete_annotation(
    store: &Store,
    project: ProjectId,
    context: &AssignmentContext,
    draft: &AnswerDraft,
    attempt: u32,
    now: Time,
) -> Result<AnnotationFeedback, StoreError> {
    let item = store.item(project, context.assignment.item).await?;
    if item.role == ItemRole::Item {
        record(store, project, context, &item.candidate, draft, attempt, now).await?;
    }
    let expecting = |all: &[ItemAnswerKey]| {
        all.iter().find(|item_answer_key| item_answer_key.item == item.candidate).cloned()
    };
    let feedback = match item.role {
        ItemRole::Training => expecting(&context.settings.training)
            .map(|item_answer_key| (compare_expected_answers(&item_answer_key, draft), item_answer_key.why)),
        ItemRole::Item | ItemRole::Gold | ItemRole::Attention => None,
    };
    Ok(AnnotationFeedback { feedback, pace: too_fast(store, project, context).await? })
}

async fn record(
    store: &Store,
    project: ProjectId,
    context: &AssignmentContext,
    candidate: &str,
    draft: &AnswerDraft,
    attempt: u32,
    now: Time,
) -> Result<(), StoreError> {
    let definition = TaskDefinition::of(store, project, context.task.id, context.assignment.version).await?;
    let name = load_annotator_name(store, project, context.assignment.account).await?;
    let mut new = Vec::new();
    for scheme in &context.schemes {
        let Some(graded) = definition.rubrics.get(&scheme.name) else { continue };
        let of_scheme = build_human_grades(
            std::slice::from_ref(scheme),
            draft,
            &definition.hashes(),
            candidate,
            &name,
            now,
        );
        new.extend(of_scheme.into_iter().map(|grade| NewGrade {
            grade,
            rubric_version: graded.id.clone(),
            attempt,
            agent: None,
            is_passed: None,
            probability: Probability::CERTAIN,
            time: now,
        }));
    }
    store.record(project, &new, &[]).await.map(drop)
}

async fn too_fast(
    store: &Store,
    project: ProjectId,
    context: &AssignmentContext,
) -> Result<Option<String>, StoreError> {
    let everybody = store.recent_seconds(context.task.id, 200).await?;
    let seconds = store.assignment(project, context.assignment.id).await?.seconds;
    let is_fast = 0 < measure_annotator_pace(&[seconds], &everybody, context.settings.min_seconds).n_too_fast;
    Ok(is_fast.then(|| "That was very fast. Please take the time to read.".to_owned()))
}
