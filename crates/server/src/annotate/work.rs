//! The annotator's view of an assignment.

use jurist_core::annotate::{AnnotationSettings, AssignmentOrder, Draft, Item, Scheme};
use jurist_core::grade::Time;
use jurist_store::annotate::Task;
use jurist_store::assignments::{Assignment, AssignmentPolicy, NextItemOrder, OwnAssignment};
use jurist_store::{AccountId, AssignmentId, ProjectId, Store, StoreError};

use super::{TaskDefinition, parse_task_settings};

/// Data of the assignment page.
#[derive(Debug)]
pub struct AssignmentContext {
    pub task: Task,
    pub settings: AnnotationSettings,
    pub description: Option<String>,
    pub assignment: Assignment,
    pub item: Item,
    pub schemes: Vec<Scheme>,
    pub draft: Draft,
    pub n_done: u64,
    pub n_left: u64,
    pub before: Option<AssignmentId>,
    pub after: Option<AssignmentId>,
    /// The annotator's items of this task, this one included.
    pub own: Vec<OwnAssignment>,
}

/// The assignment policy of a task for an annotator.
pub fn giving(settings: &AnnotationSettings, account: AccountId, now: Time) -> AssignmentPolicy {
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

/// An assignment with its item and schemes, without answers of others.
pub async fn load_assignment_context(
    store: &Store,
    project: ProjectId,
    assignment: Assignment,
) -> Result<AssignmentContext, StoreError> {
    let task = store.task(project, assignment.task).await?;
    let asked = TaskDefinition::of(store, project, task.id, assignment.version).await?;
    let item = store.item(project, assignment.item).await?;
    let (item, schemes) = asked.about(store, project, &item, Some(assignment.id)).await?;
    let draft =
        assignment.draft.clone().and_then(|draft| serde_json::from_value(draft).ok()).unwrap_or_default();
    let settings = parse_task_settings(&task);
    let mine = store.annotator_progress(task.id, assignment.account).await?;
    let left_of_quota = settings.quota.map_or(u64::MAX, |n| u64::from(n).saturating_sub(mine.n_done));
    let (before, after) = store.neighbours(&assignment).await?;
    let own = store.own_assignments(task.id, assignment.account).await?;
    Ok(AssignmentContext {
        settings,
        description: asked.description,
        assignment,
        item,
        schemes,
        draft,
        n_done: mine.n_done,
        n_left: mine.n_left.min(left_of_quota),
        before,
        after,
        own,
        task,
    })
}
