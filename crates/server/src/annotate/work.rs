//! The annotator's view of an assignment.

use jurist_core::annotate::{AnnotationSettings, AnswerDraft, AssignmentOrder, Item, Scheme};
use jurist_core::grade::Time;
use jurist_store::annotate::Task;
use jurist_store::assignments::{
    AnnotatorProgress, Assignment, AssignmentNeighbours, AssignmentPolicy, NextItemOrder, OwnAssignment,
};
use jurist_store::{AccountId, AssignmentId, ProjectId, Store, StoreError, TaskId};

use super::{TaskDefinition, parse_task_settings};

/// An assignment with its item and questions.
#[derive(Debug)]
pub struct AssignmentContext {
    pub task: Task,
    pub settings: AnnotationSettings,
    pub description: Option<String>,
    pub assignment: Assignment,
    pub item: Item,
    /// The id of the item's row in the data, unless it could tell the annotator which items are checks.
    pub row: Option<String>,
    pub schemes: Vec<Scheme>,
    pub draft: AnswerDraft,
}

/// Data of the assignment page.
#[derive(Debug)]
pub struct AssignmentPage {
    pub context: AssignmentContext,
    pub progress: ShownProgress,
    pub before: Option<AssignmentId>,
    pub after: Option<AssignmentId>,
    /// The annotator's items of this task, this one included.
    pub own: Vec<OwnAssignment>,
}

/// The assignment policy of a task for an annotator.
pub fn assignment_policy(settings: &AnnotationSettings, account: AccountId, now: Time) -> AssignmentPolicy {
    let start = blake3::hash(account.to_string().as_bytes());
    let start = i64::from_le_bytes(start.as_bytes()[..8].try_into().expect("8 bytes")) >> 1;
    AssignmentPolicy {
        until: Time::from_micros(now.micros() + i64::from(settings.stale_minutes) * 60_000_000),
        order: match settings.order {
            AssignmentOrder::Balanced => NextItemOrder::Fewest,
            AssignmentOrder::Fixed => NextItemOrder::From(i64::MIN),
            AssignmentOrder::Random => NextItemOrder::From(start),
        },
        quota: settings.quota.map(u64::from),
        check_every: u64::from(settings.check_every),
    }
}

/// Progress as the annotator sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownProgress {
    pub n_done: u64,
    pub n_left: u64,
}

/// The progress of an annotator. Gold items and attention checks count like ordinary items: otherwise the numbers would
/// show which items are checks.
pub async fn load_shown_progress(
    store: &Store,
    task: TaskId,
    account: AccountId,
    settings: &AnnotationSettings,
) -> Result<ShownProgress, StoreError> {
    let progress = store.annotator_progress(task, account).await?;
    Ok(count_shown_progress(&progress, settings))
}

fn count_shown_progress(progress: &AnnotatorProgress, settings: &AnnotationSettings) -> ShownProgress {
    let n_done = progress.n_done + progress.n_checks_done;
    let left_of_quota = settings.quota.map_or(u64::MAX, |n| u64::from(n).saturating_sub(progress.n_done));
    if progress.n_left < left_of_quota {
        return ShownProgress { n_done, n_left: progress.n_left + progress.n_checks_left };
    }
    if left_of_quota == 0 {
        return ShownProgress { n_done, n_left: 0 };
    }
    // The last item of the quota ends the work, also if there are more checks. Before it, there is a check after every
    // `check_every` items.
    let n_items = progress.n_done + left_of_quota;
    let n_checks = (n_items - 1) / u64::from(settings.check_every.max(1));
    let n_checks_left = progress.n_checks_left.min(n_checks.saturating_sub(progress.n_checks_done));
    ShownProgress { n_done, n_left: left_of_quota + n_checks_left }
}

/// An assignment with its item and schemes, without answers of others.
pub async fn load_assignment_context(
    store: &Store,
    project: ProjectId,
    assignment: Assignment,
) -> Result<AssignmentContext, StoreError> {
    let task = store.task(project, assignment.task).await?;
    let definition = TaskDefinition::of(store, project, task.id, assignment.version).await?;
    let item = store.item(project, assignment.item).await?;
    let settings = parse_task_settings(&task);
    // People name the rows of gold items `gold_1`, and an id that only ordinary items have shows the others.
    let has_checks = !settings.gold.is_empty() || !settings.attention.is_empty();
    let row = definition.row_id(&item).filter(|_| !has_checks);
    let (item, schemes) = definition.about(store, project, &item, Some(assignment.id)).await?;
    let draft =
        assignment.draft.clone().and_then(|draft| serde_json::from_value(draft).ok()).unwrap_or_default();
    Ok(AssignmentContext {
        settings,
        description: definition.description,
        assignment,
        item,
        row,
        schemes,
        draft,
        task,
    })
}

/// An assignment as its annotator sees it, among their other assignments.
pub async fn load_assignment_page(
    store: &Store,
    context: AssignmentContext,
) -> Result<AssignmentPage, StoreError> {
    let (task, account) = (context.task.id, context.assignment.account);
    let progress = load_shown_progress(store, task, account, &context.settings).await?;
    let AssignmentNeighbours { before, after } = store.neighbours(&context.assignment).await?;
    let own = store.own_assignments(task, account).await?;
    Ok(AssignmentPage { context, progress, before, after, own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_count_like_items_and_a_quota_ends_both() {
        let check = |done: (u64, u64), left: (u64, u64), quota: Option<u32>, expected: (u64, u64)| {
            let progress = AnnotatorProgress {
                n_done: done.0,
                n_left: left.0,
                n_checks_done: done.1,
                n_checks_left: left.1,
            };
            let settings = AnnotationSettings { quota, check_every: 4, ..AnnotationSettings::default() };
            let counts = count_shown_progress(&progress, &settings);
            assert_eq!((counts.n_done, counts.n_left), expected, "{progress:?}, {quota:?}");
        };
        check((0, 0), (12, 4), None, (0, 16));
        check((4, 1), (8, 3), None, (5, 11));
        check((0, 0), (12, 4), Some(20), (0, 16));
        // Of nine items, checks come after the fourth and the eighth.
        check((0, 0), (12, 4), Some(9), (0, 11));
        check((8, 1), (4, 3), Some(9), (9, 2));
        check((9, 2), (3, 2), Some(9), (11, 0));
        // After the last item of the quota there is no check.
        check((0, 0), (12, 4), Some(8), (0, 9));
        check((0, 0), (0, 0), Some(8), (0, 0));
    }
}
