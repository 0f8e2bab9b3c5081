//! What somebody works on, as they see it.

use jurist_core::annotate::{Draft, Item, Order, Scheme, Settings};
use jurist_core::grade::Time;
use jurist_store::annotate::Task;
use jurist_store::assignments::{Assignment, Giving, Turn};
use jurist_store::{AccountId, AssignmentId, ProjectId, Store, StoreError};

use super::{Asked, settings_of};

/// Everything that the page of an assignment needs.
#[derive(Debug)]
pub struct Shown {
    pub task: Task,
    pub settings: Settings,
    pub description: Option<String>,
    pub assignment: Assignment,
    pub item: Item,
    pub schemes: Vec<Scheme>,
    pub draft: Draft,
    pub n_done: u64,
    pub n_left: u64,
    pub before: Option<AssignmentId>,
    pub after: Option<AssignmentId>,
}

/// How a task gives out work to somebody.
pub fn giving(settings: &Settings, account: AccountId, now: Time) -> Giving {
    let start = blake3::hash(account.to_string().as_bytes());
    let start = i64::from_le_bytes(start.as_bytes()[..8].try_into().expect("8 bytes")) >> 1;
    Giving {
        until: Time::from_micros(now.micros() + i64::from(settings.stale_minutes) * 60_000_000),
        order: match settings.order {
            Order::Balanced => Turn::Fewest,
            Order::Fixed => Turn::From(i64::MIN),
            Order::Random => Turn::From(start),
        },
        quota: settings.quota.map(u64::from),
        check_every: u64::from(settings.check_every),
    }
}

/// An assignment with what it is about. Holds nothing of what others said.
pub async fn shown(store: &Store, project: ProjectId, assignment: Assignment) -> Result<Shown, StoreError> {
    let task = store.task(project, assignment.task).await?;
    let asked = Asked::of(store, project, task.id, assignment.version).await?;
    let item = store.item(project, assignment.item).await?;
    let (item, schemes) = asked.about(store, project, &item, Some(assignment.id)).await?;
    let draft = assignment.draft.clone().and_then(|it| serde_json::from_value(it).ok()).unwrap_or_default();
    let settings = settings_of(&task);
    let mine = store.mine(task.id, assignment.account).await?;
    let left_of_quota = settings.quota.map_or(u64::MAX, |it| u64::from(it).saturating_sub(mine.n_done));
    let (before, after) = store.neighbours(&assignment).await?;
    Ok(Shown {
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
        task,
    })
}
