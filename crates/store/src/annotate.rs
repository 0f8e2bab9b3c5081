//! Annotation tasks and their items. Assignments of items to annotators are in [`assignments`](crate::assignments).

use std::collections::BTreeSet;

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{Bulk, DbRow, Tx, args, statements};
use crate::pack::{hash, pack};
use crate::{Cursor, ItemId, ProjectId, ResultPage, RubricVersionId, Store, StoreError, TaskId};

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: TaskId,
    pub name: String,
    pub rubric_version: Option<RubricVersionId>,
    /// How items are assigned, and how the quality of answers is checked.
    pub settings: Json,
    pub state: TaskState,
    /// Newest version of the questions; 0 before the first.
    pub version: u64,
    /// The file it was made from.
    pub origin: Option<String>,
    pub created: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    pub name: String,
    pub rubric_version: Option<RubricVersionId>,
    pub settings: Json,
    /// The file it was made from; at most one task of a project per file.
    pub origin: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Open,
    /// No further items are assigned.
    Closed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// The trace or other object that is annotated; unique within the task.
    pub candidate: String,
    /// The content that is shown, if it is not a stored trace.
    pub body: Json,
    /// Number of annotators wanted; 0 means all.
    pub n_wanted: u32,
    /// Items with a smaller number are assigned first.
    pub priority: i64,
    pub role: ItemRole,
    /// Position among the other items; by default after all existing ones.
    pub turn: Option<i64>,
}

/// What an item is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemRole {
    Item,
    /// Every annotator answers it first and then sees the correct answers.
    Training,
    /// An item with known answers that annotators cannot recognise as such.
    Gold,
    /// An attention check: every attentive reader answers it correctly.
    Attention,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationItem {
    pub id: ItemId,
    pub task: TaskId,
    pub place: u64,
    pub candidate: String,
    pub body: Json,
    pub n_wanted: u64,
    pub priority: i64,
    pub role: ItemRole,
    pub state: ItemState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    Open,
    /// Enough people have answered.
    Done,
    /// Not assigned any more; existing answers stay.
    Removed,
}

/// Progress of a task. Items that all annotators answer count as done after the first answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskItemCounts {
    pub n_items: u64,
    pub n_done: u64,
    pub n_wanted: u64,
    pub n_submitted: u64,
}

statements! {
    ADD_TASK = "INSERT INTO annotation_tasks (id, project, name, rubric_version, settings, state, origin, created, updated)
        VALUES ($1, $2, $3, $4, $5, 'open', $6, $7, $7)";
    TASK = "SELECT * FROM annotation_tasks WHERE project = $1 AND id = $2";
    TASK_OF = "SELECT * FROM annotation_tasks WHERE project = $1 AND origin = $2";
    TASKS = "SELECT * FROM annotation_tasks WHERE project = $1 ORDER BY id DESC";
    SET_TASK = "UPDATE annotation_tasks SET state = $3, updated = $4 WHERE project = $1 AND id = $2";
    SET_SETTINGS = "UPDATE annotation_tasks SET name = $3, settings = $4, updated = $5 WHERE project = $1 AND id = $2";
    // Also a lock: concurrent requests for the next item of a task run one after the other.
    LOCK_TASK = "UPDATE annotation_tasks SET updated = $3 WHERE project = $1 AND id = $2 RETURNING state, version";
    VERSION_HASH = "SELECT hash FROM annotation_task_versions WHERE task = $1 AND version = $2";
    ADD_VERSION = "INSERT INTO annotation_task_versions (task, version, project, hash, body, created)
        VALUES ($1, $2, $3, $4, $5, $6)";
    SET_VERSION = "UPDATE annotation_tasks SET version = $2 WHERE id = $1";
    VERSION = "SELECT body FROM annotation_task_versions WHERE project = $1 AND task = $2 AND version = $3";
    // A lock without a change.
    HOLD_TASK = "UPDATE annotation_tasks SET updated = updated WHERE project = $1 AND id = $2";
    ADD_OPEN = "UPDATE annotation_tasks SET n_open = n_open + $2 WHERE id = $1";
    LAST_PLACE = "SELECT COALESCE(MAX(place), -1) AS place FROM annotation_items WHERE task = $1";
    ITEM = "SELECT * FROM annotation_items WHERE project = $1 AND id = $2";
    ITEM_OF = "SELECT * FROM annotation_items WHERE project = $1 AND task = $2 AND candidate = $3";
    ITEMS = "SELECT * FROM annotation_items WHERE project = $1 AND task = $2 AND $3 < place ORDER BY place LIMIT $4";
    NAMES = "SELECT id, candidate, n_wanted, role FROM annotation_items WHERE project = $1 AND task = $2 AND state <> 'removed'";
    STATUS = "SELECT role, state FROM annotation_items WHERE project = $1 AND id = $2";
    SET_WANTED = "UPDATE annotation_items SET n_wanted = $3, role = $4, state = CASE WHEN state = 'removed' THEN state
        WHEN $3 = CAST(0 AS BIGINT) OR n_submitted < $3 THEN 'open' ELSE 'done' END
        WHERE project = $1 AND id = $2 RETURNING role, state";
    REMOVE = "UPDATE annotation_items SET state = 'removed' WHERE project = $1 AND id = $2 AND state <> 'removed'
        RETURNING role, state";
    COPY_STATUS = "UPDATE assignments SET item_role = $2, is_item_open = $3 WHERE item = $1";
    END_WORK = "UPDATE assignments SET state = 'ended', updated = $3 WHERE project = $1 AND item = $2
        AND state IN ('assigned', 'lapsed')";
    // Groups first: items with the same numbers are next to each other in the index, and there are few groups.
    PROGRESS = "SELECT CAST(COALESCE(SUM(CASE WHEN state <> 'removed' THEN n END), 0) AS BIGINT) AS n_items,
        CAST(COALESCE(SUM(CASE WHEN state = 'done' OR (state = 'open' AND n_wanted = 0 AND 0 < n_submitted) THEN n END), 0)
            AS BIGINT) AS n_done,
        CAST(COALESCE(SUM(CASE WHEN state = 'removed' THEN 0 WHEN n_wanted = 0 THEN n ELSE n * n_wanted END), 0)
            AS BIGINT) AS n_wanted,
        CAST(COALESCE(SUM(n * n_submitted), 0) AS BIGINT) AS n_submitted
        FROM (SELECT n_submitted, state, n_wanted, COUNT(*) AS n FROM annotation_items
            WHERE task = (SELECT id FROM annotation_tasks WHERE project = $1 AND id = $2) AND role = 'item'
            GROUP BY n_submitted, state, n_wanted) alike";
}

pub(crate) const ADD_ITEMS: Bulk = Bulk {
    into: "annotation_items (id, project, task, place, candidate, body, n_wanted, priority, role, turn, state)",
    types: "tttitbiitit",
    tail: "ON CONFLICT (task, candidate) DO NOTHING RETURNING role",
};

impl Store {
    pub async fn add_task(&self, project: ProjectId, new: &NewTask, now: Time) -> Result<Task, StoreError> {
        let id = TaskId::at(now);
        let (version, origin) = (new.rubric_version.clone(), new.origin.as_deref());
        let args = args![id, project, &new.name, version, &new.settings, origin, now];
        self.db
            .execute(ADD_TASK, args)
            .await
            .map_err(|error| error.into_taken("annotation task", &new.name))?;
        self.task(project, id).await
    }

    pub async fn task(&self, project: ProjectId, id: TaskId) -> Result<Task, StoreError> {
        let row = self.db.optional(TASK, args![project, id]).await?;
        read_task(&row.ok_or_else(|| StoreError::unknown("annotation task", &id))?)
    }

    /// The task that was made from a file.
    pub async fn task_of(&self, project: ProjectId, origin: &str) -> Result<Option<Task>, StoreError> {
        self.db.optional(TASK_OF, args![project, origin]).await?.as_ref().map(read_task).transpose()
    }

    /// The newest first.
    pub async fn tasks(&self, project: ProjectId) -> Result<Vec<Task>, StoreError> {
        self.db.fetch(TASKS, args![project]).await?.iter().map(read_task).collect()
    }

    pub async fn set_task_state(
        &self,
        project: ProjectId,
        id: TaskId,
        state: TaskState,
        now: Time,
    ) -> Result<(), StoreError> {
        match self.db.execute(SET_TASK, args![project, id, state.as_str(), now]).await? {
            0 => Err(StoreError::unknown("annotation task", &id)),
            _ => Ok(()),
        }
    }

    pub async fn set_task_settings(
        &self,
        project: ProjectId,
        id: TaskId,
        name: &str,
        settings: &Json,
        now: Time,
    ) -> Result<(), StoreError> {
        match self.db.execute(SET_SETTINGS, args![project, id, name, settings, now]).await? {
            0 => Err(StoreError::unknown("annotation task", &id)),
            _ => Ok(()),
        }
    }

    /// Adds a version of the questions. Assignments in progress keep their version. Equal content adds no version.
    pub async fn put_task_version(
        &self,
        project: ProjectId,
        task: TaskId,
        body: &Json,
        now: Time,
    ) -> Result<u64, StoreError> {
        let text = body.to_string();
        let hash = hash(text.as_bytes());
        let mut tx = self.db.begin().await?;
        let LockedTask { version, .. } = lock(&mut tx, project, task, now).await?;
        if let Some(row) = tx.optional(VERSION_HASH, args![task, version]).await?
            && row.get::<String>("hash")? == hash
        {
            return Ok(version);
        }
        let version = version + 1;
        tx.execute(ADD_VERSION, args![task, version, project, hash, pack(text.as_bytes()), now]).await?;
        tx.execute(SET_VERSION, args![task, version]).await?;
        tx.commit().await?;
        Ok(version)
    }

    /// The questions of a version.
    pub async fn task_version(
        &self,
        project: ProjectId,
        task: TaskId,
        version: u64,
    ) -> Result<Json, StoreError> {
        let row = self.db.optional(VERSION, args![project, task, version]).await?;
        row.ok_or_else(|| StoreError::unknown("version of an annotation task", &version))?.unpack_json("body")
    }

    /// Adds items after the existing ones, and returns how many are new.
    pub async fn add_items(
        &self,
        project: ProjectId,
        task: TaskId,
        items: &[NewItem],
        now: Time,
    ) -> Result<usize, StoreError> {
        let mut tx = self.db.begin().await?;
        lock(&mut tx, project, task, now).await?;
        let last = tx.optional(LAST_PLACE, args![task]).await?;
        let last: i64 = last.map(|row| row.get("place")).transpose()?.unwrap_or(-1);
        let mut seen = BTreeSet::new();
        let distinct = items.iter().filter(|item| seen.insert(item.candidate.as_str()));
        let row = |(item, place): (&NewItem, i64)| {
            let body = pack(item.body.to_string().as_bytes());
            let (id, role, turn) = (ItemId::at(now), item.role.as_str(), item.turn.unwrap_or(place));
            let (wanted, priority) = (item.n_wanted, item.priority);
            args![id, project, task, place, &item.candidate, body, wanted, priority, role, turn, "open"]
        };
        let rows = distinct.zip(last + 1..).map(row).collect();
        let new = tx.insert(ADD_ITEMS, rows).await?;
        let mut n_open = 0;
        for row in &new {
            n_open += i64::from(row.parse::<ItemRole>("role")? == ItemRole::Item);
        }
        tx.execute(ADD_OPEN, args![task, n_open]).await?;
        tx.commit().await?;
        Ok(new.len())
    }

    pub async fn item(&self, project: ProjectId, id: ItemId) -> Result<AnnotationItem, StoreError> {
        let row = self.db.optional(ITEM, args![project, id]).await?;
        read_item(&row.ok_or_else(|| StoreError::unknown("item", &id))?)
    }

    /// The item with this candidate name.
    pub async fn item_of(
        &self,
        project: ProjectId,
        task: TaskId,
        candidate: &str,
    ) -> Result<Option<AnnotationItem>, StoreError> {
        self.db.optional(ITEM_OF, args![project, task, candidate]).await?.as_ref().map(read_item).transpose()
    }

    /// In their order.
    pub async fn items(
        &self,
        project: ProjectId,
        task: TaskId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<AnnotationItem>, StoreError> {
        let place = after.map_or(-1, |cursor| cursor.sort);
        let rows = self.db.fetch(ITEMS, args![project, task, place, limit + 1]).await?;
        let items = rows.iter().map(read_item).collect::<Result<_, _>>()?;
        let place = |annotation_item: &AnnotationItem| {
            Cursor::new(i64::try_from(annotation_item.place).unwrap_or(i64::MAX), &annotation_item.id)
        };
        Ok(ResultPage::of(items, limit, place))
    }

    /// Changes how many answers an item wants; an adjudicator asks for more.
    pub async fn set_wanted(
        &self,
        project: ProjectId,
        item: ItemId,
        n_wanted: u32,
        role: ItemRole,
    ) -> Result<(), StoreError> {
        let task = self.item(project, item).await?.task;
        self.write_wanted(project, task, &[WantedAnswers { item, n_wanted, role }]).await
    }

    /// Changes the number of wanted answers of all items that differ from it.
    pub async fn set_all_wanted(
        &self,
        project: ProjectId,
        task: TaskId,
        wanted: impl Fn(&str) -> (u32, ItemRole),
    ) -> Result<(), StoreError> {
        let mut changes = Vec::new();
        for row in self.db.fetch(NAMES, args![project, task]).await? {
            let (n_wanted, role) = wanted(&row.get::<String>("candidate")?);
            if row.count("n_wanted")? != u64::from(n_wanted) || row.parse::<ItemRole>("role")? != role {
                changes.push(WantedAnswers { item: row.parse("id")?, n_wanted, role });
            }
        }
        for some in changes.chunks(CHANGES_AT_ONCE) {
            self.write_wanted(project, task, some).await?;
        }
        Ok(())
    }

    async fn write_wanted(
        &self,
        project: ProjectId,
        task: TaskId,
        changes: &[WantedAnswers],
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        tx.execute(HOLD_TASK, args![project, task]).await?;
        for WantedAnswers { item, n_wanted, role } in changes {
            let before = read_item_status(&mut tx, project, *item).await?;
            let row = tx.optional(SET_WANTED, args![project, *item, *n_wanted, role.as_str()]).await?;
            let after = read_item_status_row(&row.ok_or_else(|| StoreError::unknown("item", item))?)?;
            spread_item_status(&mut tx, task, *item, before, after).await?;
        }
        tx.commit().await
    }

    /// Removes an item from assignment; existing answers stay.
    pub async fn remove_item(&self, project: ProjectId, item: ItemId, now: Time) -> Result<(), StoreError> {
        let task = self.item(project, item).await?.task;
        let mut tx = self.db.begin().await?;
        tx.execute(HOLD_TASK, args![project, task]).await?;
        let before = read_item_status(&mut tx, project, item).await?;
        let Some(row) = tx.optional(REMOVE, args![project, item]).await? else {
            return Err(StoreError::unknown("item", &item));
        };
        spread_item_status(&mut tx, task, item, before, read_item_status_row(&row)?).await?;
        tx.execute(END_WORK, args![project, item, now]).await?;
        tx.commit().await
    }

    pub async fn progress(&self, project: ProjectId, task: TaskId) -> Result<TaskItemCounts, StoreError> {
        let row = self.db.one(PROGRESS, args![project, task]).await?;
        Ok(TaskItemCounts {
            n_items: row.count("n_items")?,
            n_done: row.count("n_done")?,
            n_wanted: row.count("n_wanted")?,
            n_submitted: row.count("n_submitted")?,
        })
    }
}

/// How many answers an item wants from now on, and what it is for.
struct WantedAnswers {
    item: ItemId,
    n_wanted: u32,
    role: ItemRole,
}

/// Items that are changed in one transaction. Annotators of the task wait for it, and each transaction waits for the disk.
const CHANGES_AT_ONCE: usize = 200;

/// What assignments and tasks store about an item, so that the progress of annotators is counted without reading items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemStatus {
    pub role: ItemRole,
    pub state: ItemState,
}

impl ItemStatus {
    /// Whether `annotation_tasks.n_open` counts the item.
    fn is_counted(self) -> bool {
        self.role == ItemRole::Item && self.state == ItemState::Open
    }
}

/// Brings the status of an item to its assignments and its task, which the transaction holds.
pub(crate) async fn spread_item_status(
    tx: &mut Tx,
    task: TaskId,
    item: ItemId,
    before: ItemStatus,
    after: ItemStatus,
) -> Result<(), StoreError> {
    if before == after {
        return Ok(());
    }
    let is_open = after.state == ItemState::Open;
    tx.execute(COPY_STATUS, args![item, after.role.as_str(), is_open]).await?;
    let n_more = i64::from(after.is_counted()) - i64::from(before.is_counted());
    if n_more != 0 {
        tx.execute(ADD_OPEN, args![task, n_more]).await?;
    }
    Ok(())
}

async fn read_item_status(tx: &mut Tx, project: ProjectId, item: ItemId) -> Result<ItemStatus, StoreError> {
    let row = tx.optional(STATUS, args![project, item]).await?;
    read_item_status_row(&row.ok_or_else(|| StoreError::unknown("item", &item))?)
}

fn read_item_status_row(row: &DbRow) -> Result<ItemStatus, StoreError> {
    Ok(ItemStatus { role: row.parse("role")?, state: row.parse("state")? })
}

/// A task as it is while a transaction holds it.
pub(crate) struct LockedTask {
    pub state: TaskState,
    /// The newest one.
    pub version: u64,
}

/// Locks the task until the transaction ends.
pub(crate) async fn lock(
    tx: &mut Tx,
    project: ProjectId,
    task: TaskId,
    now: Time,
) -> Result<LockedTask, StoreError> {
    let row = tx.optional(LOCK_TASK, args![project, task, now]).await?;
    let row = row.ok_or_else(|| StoreError::unknown("annotation task", &task))?;
    Ok(LockedTask { state: row.parse("state")?, version: row.count("version")? })
}

macro_rules! words {
    ($name:ident, $what:literal, $($variant:ident = $word:literal),+) => {
        impl $name {
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("`{text}` is no {}", $what)),
                }
            }
        }
    };
}
pub(crate) use words;

words!(TaskState, "state of a task", Open = "open", Closed = "closed");
words!(ItemState, "state of an item", Open = "open", Done = "done", Removed = "removed");
words!(
    ItemRole,
    "role of an item",
    Item = "item",
    Training = "training",
    Gold = "gold",
    Attention = "attention"
);

fn read_task(row: &DbRow) -> Result<Task, StoreError> {
    Ok(Task {
        id: row.parse("id")?,
        name: row.get("name")?,
        rubric_version: row.maybe_parse("rubric_version")?,
        settings: row.json("settings")?,
        state: row.parse("state")?,
        version: row.count("version")?,
        origin: row.get("origin")?,
        created: row.time("created")?,
    })
}

pub(crate) fn read_item(row: &DbRow) -> Result<AnnotationItem, StoreError> {
    Ok(AnnotationItem {
        id: row.parse("id")?,
        task: row.parse("task")?,
        place: row.count("place")?,
        candidate: row.get("candidate")?,
        body: row.unpack_json("body")?,
        n_wanted: row.count("n_wanted")?,
        priority: row.get("priority")?,
        role: row.parse("role")?,
        state: row.parse("state")?,
    })
}
