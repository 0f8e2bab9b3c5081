//! Tasks for people: items, who works on which, and what they answered.
//!
//! Answers are added and never changed; a person's newest answer is the one that counts.

use std::collections::BTreeSet;

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::db::{Bulk, Row, Tx, args, statements};
use crate::pack::pack;
use crate::{
    AccountId, AnnotationId, AssignmentId, Cursor, ItemId, Page, ProjectId, RubricVersionId, Store,
    StoreError, TaskId,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: TaskId,
    pub name: String,
    pub rubric_version: Option<RubricVersionId>,
    /// What is shown and asked besides the rubric, how items are given out, how answers are merged.
    pub settings: Json,
    pub state: TaskState,
    pub created: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    pub name: String,
    pub rubric_version: Option<RubricVersionId>,
    pub settings: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Open,
    /// Nobody is given more of it.
    Closed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// A trace, or whatever else is answered about; once in a task.
    pub candidate: String,
    /// What is shown, where it is not a trace of ours.
    pub body: Json,
    /// How many people are to answer.
    pub n_wanted: u32,
    /// Smaller goes first.
    pub priority: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub id: ItemId,
    pub task: TaskId,
    pub place: u64,
    pub candidate: String,
    pub body: Json,
    pub n_wanted: u64,
    pub priority: i64,
    /// Whether enough people have answered.
    pub is_done: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub id: AssignmentId,
    pub task: TaskId,
    pub item: ItemId,
    pub account: AccountId,
    pub state: AssignmentState,
    /// Until when nobody else is given it in their place.
    pub lease_until: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignmentState {
    Assigned,
    Submitted,
    /// They would rather not.
    Skipped,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    pub id: AnnotationId,
    pub task: TaskId,
    pub item: ItemId,
    pub candidate: String,
    pub account: AccountId,
    /// From 1; the largest is the answer.
    pub revision: u64,
    pub body: Json,
    pub seconds: Option<f64>,
    pub time: Time,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub n_items: u64,
    pub n_done: u64,
    pub n_wanted: u64,
    pub n_submitted: u64,
}

statements! {
    ADD_TASK = "INSERT INTO annotation_tasks (id, project, name, rubric_version, settings, state, created, updated)
        VALUES ($1, $2, $3, $4, $5, 'open', $6, $6)";
    TASK = "SELECT * FROM annotation_tasks WHERE project = $1 AND id = $2";
    TASKS = "SELECT * FROM annotation_tasks WHERE project = $1 ORDER BY id DESC";
    SET_TASK = "UPDATE annotation_tasks SET state = $3, updated = $4 WHERE project = $1 AND id = $2";
    // Also a lock: two people who ask at the same time are served one after the other.
    LOCK_TASK = "UPDATE annotation_tasks SET updated = $3 WHERE project = $1 AND id = $2 RETURNING state";
    LAST_PLACE = "SELECT COALESCE(MAX(place), -1) AS place FROM annotation_items WHERE task = $1";
    ITEM = "SELECT * FROM annotation_items WHERE project = $1 AND id = $2";
    ITEMS = "SELECT * FROM annotation_items WHERE project = $1 AND task = $2 AND $3 < place ORDER BY place LIMIT $4";
    SET_WANTED = "UPDATE annotation_items SET n_wanted = $3, state = CASE WHEN
        (SELECT COUNT(*) FROM assignments WHERE item = $2 AND state = 'submitted') < $3 THEN 'open' ELSE 'done' END
        WHERE project = $1 AND id = $2";
    MINE = "SELECT * FROM assignments WHERE project = $1 AND task = $2 AND account = $3 AND state = 'assigned'
        ORDER BY created LIMIT 1";
    // Whoever let their time pass no longer keeps others away, but may still answer.
    NEXT = "SELECT annotation_items.* FROM annotation_items WHERE task = $1 AND state = 'open'
        AND NOT EXISTS (SELECT 1 FROM assignments WHERE item = annotation_items.id AND account = $2)
        AND (SELECT COUNT(*) FROM assignments WHERE item = annotation_items.id
             AND (state = 'submitted' OR (state = 'assigned' AND $3 < lease_until))) < n_wanted
        ORDER BY priority, place LIMIT 1";
    ASSIGN = "INSERT INTO assignments (id, project, task, item, account, state, lease_until, created, updated)
        VALUES ($1, $2, $3, $4, $5, 'assigned', $6, $7, $7) ON CONFLICT DO NOTHING";
    EXTEND = "UPDATE assignments SET lease_until = $3 WHERE project = $1 AND id = $2 AND state = 'assigned'";
    ASSIGNMENT = "SELECT * FROM assignments WHERE project = $1 AND id = $2";
    ASSIGNMENTS_OF = "SELECT * FROM assignments WHERE project = $1 AND item = $2 ORDER BY id";
    SET_ASSIGNMENT = "UPDATE assignments SET state = $3, updated = $4 WHERE project = $1 AND id = $2";
    REVISION = "SELECT COALESCE(MAX(revision), 0) AS revision FROM annotations WHERE item = $1 AND account = $2";
    ANNOTATE = "INSERT INTO annotations (id, project, task, item, account, revision, body, seconds, time)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    CLOSE_ITEM = "UPDATE annotation_items SET state = 'done' WHERE id = $1 AND n_wanted <=
        (SELECT COUNT(*) FROM assignments WHERE item = $1 AND state = 'submitted')";
    ANNOTATIONS = "SELECT annotations.*, annotation_items.candidate FROM annotations
        JOIN annotation_items ON annotation_items.id = annotations.item
        WHERE annotations.project = $1 AND annotations.task = $2 AND $3 < annotations.id
        ORDER BY annotations.id LIMIT $4";
    ANNOTATIONS_OF = "SELECT annotations.*, annotation_items.candidate FROM annotations
        JOIN annotation_items ON annotation_items.id = annotations.item
        WHERE annotations.project = $1 AND annotations.item = $2 ORDER BY annotations.account, annotations.revision";
    PROGRESS = "SELECT COUNT(*) AS n_items, COUNT(CASE WHEN state = 'done' THEN 1 END) AS n_done,
        CAST(COALESCE(SUM(n_wanted), 0) AS BIGINT) AS n_wanted,
        (SELECT COUNT(*) FROM assignments WHERE task = $2 AND state = 'submitted') AS n_submitted
        FROM annotation_items WHERE project = $1 AND task = $2";
    BY_ANNOTATOR = "SELECT account, COUNT(*) AS n FROM assignments WHERE project = $1 AND task = $2
        AND state = 'submitted' GROUP BY account ORDER BY account";
}

pub(crate) const ADD_ITEMS: Bulk = Bulk {
    into: "annotation_items (id, project, task, place, candidate, body, n_wanted, priority, state)",
    types: "tttitbiit",
    tail: "ON CONFLICT (task, candidate) DO NOTHING RETURNING id",
};

impl Store {
    pub async fn add_task(&self, project: ProjectId, new: &NewTask, now: Time) -> Result<Task, StoreError> {
        let id = TaskId::at(now);
        let args = args![id, project, &new.name, new.rubric_version.clone(), &new.settings, now];
        self.db.execute(ADD_TASK, args).await?;
        self.task(project, id).await
    }

    pub async fn task(&self, project: ProjectId, id: TaskId) -> Result<Task, StoreError> {
        let row = self.db.optional(TASK, args![project, id]).await?;
        read_task(&row.ok_or_else(|| StoreError::unknown("annotation task", &id))?)
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

    /// Adds items after those that are there, and says how many are new.
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
        let distinct = items.iter().filter(|it| seen.insert(it.candidate.as_str()));
        let row = |(item, place): (&NewItem, i64)| {
            let body = pack(item.body.to_string().as_bytes());
            let id = ItemId::at(now);
            args![id, project, task, place, &item.candidate, body, item.n_wanted, item.priority, "open"]
        };
        let rows = distinct.zip(last + 1..).map(row).collect();
        let n_new = tx.insert(ADD_ITEMS, rows).await?.len();
        tx.commit().await?;
        Ok(n_new)
    }

    pub async fn item(&self, project: ProjectId, id: ItemId) -> Result<Item, StoreError> {
        let row = self.db.optional(ITEM, args![project, id]).await?;
        read_item(&row.ok_or_else(|| StoreError::unknown("item", &id))?)
    }

    /// In their order.
    pub async fn items(
        &self,
        project: ProjectId,
        task: TaskId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Item>, StoreError> {
        let place = after.map_or(-1, |it| it.sort);
        let rows = self.db.fetch(ITEMS, args![project, task, place, limit + 1]).await?;
        let items = rows.iter().map(read_item).collect::<Result<_, _>>()?;
        let place = |it: &Item| Cursor::new(i64::try_from(it.place).unwrap_or(i64::MAX), &it.id);
        Ok(Page::of(items, limit, place))
    }

    /// Asks for more answers, as an adjudicator does, or for fewer.
    pub async fn set_wanted(
        &self,
        project: ProjectId,
        item: ItemId,
        n_wanted: u32,
    ) -> Result<(), StoreError> {
        match self.db.execute(SET_WANTED, args![project, item, n_wanted]).await? {
            0 => Err(StoreError::unknown("item", &item)),
            _ => Ok(()),
        }
    }

    /// What somebody is to work on: what they have begun, or the next item that wants an answer; then kept for
    /// them until a time. `None` if there is nothing for them.
    pub async fn assign_next(
        &self,
        project: ProjectId,
        task: TaskId,
        account: AccountId,
        now: Time,
        until: Time,
    ) -> Result<Option<(Assignment, Item)>, StoreError> {
        let mut tx = self.db.begin().await?;
        let state = lock(&mut tx, project, task, now).await?;
        if let Some(row) = tx.optional(MINE, args![project, task, account]).await? {
            let assignment = Assignment { lease_until: until, ..read_assignment(&row)? };
            tx.execute(EXTEND, args![project, assignment.id, until]).await?;
            let row = tx.optional(ITEM, args![project, assignment.item]).await?;
            let item = read_item(&row.ok_or_else(|| StoreError::unknown("item", &assignment.item))?)?;
            tx.commit().await?;
            return Ok(Some((assignment, item)));
        }
        if state == TaskState::Closed {
            return Ok(None);
        }
        let Some(row) = tx.optional(NEXT, args![task, account, now]).await? else { return Ok(None) };
        let item = read_item(&row)?;
        let assignment = give(&mut tx, project, &item, account, now, until).await?;
        tx.commit().await?;
        Ok(Some((assignment, item)))
    }

    /// Gives somebody an item, wanted or not: an adjudicator, or whoever opened its page.
    pub async fn assign(
        &self,
        project: ProjectId,
        item: ItemId,
        account: AccountId,
        now: Time,
        until: Time,
    ) -> Result<Assignment, StoreError> {
        let item = self.item(project, item).await?;
        let mut tx = self.db.begin().await?;
        lock(&mut tx, project, item.task, now).await?;
        let there = tx.fetch(ASSIGNMENTS_OF, args![project, item.id]).await?;
        let there: Vec<Assignment> = there.iter().map(read_assignment).collect::<Result<_, _>>()?;
        if let Some(mine) = there.into_iter().find(|it| it.account == account) {
            return Ok(mine);
        }
        let assignment = give(&mut tx, project, &item, account, now, until).await?;
        tx.commit().await?;
        Ok(assignment)
    }

    /// Keeps an answer. Another one later is a revision.
    pub async fn submit(
        &self,
        project: ProjectId,
        assignment: AssignmentId,
        body: &Json,
        seconds: Option<f64>,
        now: Time,
    ) -> Result<AnnotationId, StoreError> {
        let id = AnnotationId::at(now);
        let mut tx = self.db.begin().await?;
        let row = tx.optional(ASSIGNMENT, args![project, assignment]).await?;
        let assignment =
            read_assignment(&row.ok_or_else(|| StoreError::unknown("assignment", &assignment))?)?;
        lock(&mut tx, project, assignment.task, now).await?;
        let Assignment { task, item, account, .. } = assignment;
        let last = tx.optional(REVISION, args![item, account]).await?;
        let last: i64 = last.map(|row| row.get("revision")).transpose()?.unwrap_or(0);
        let body = pack(body.to_string().as_bytes());
        tx.execute(ANNOTATE, args![id, project, task, item, account, last + 1, body, seconds, now]).await?;
        tx.execute(SET_ASSIGNMENT, args![project, assignment.id, AssignmentState::Submitted.as_str(), now])
            .await?;
        tx.execute(CLOSE_ITEM, args![item]).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// They would rather not; somebody else is asked.
    pub async fn skip(
        &self,
        project: ProjectId,
        assignment: AssignmentId,
        now: Time,
    ) -> Result<(), StoreError> {
        let args = args![project, assignment, AssignmentState::Skipped.as_str(), now];
        match self.db.execute(SET_ASSIGNMENT, args).await? {
            0 => Err(StoreError::unknown("assignment", &assignment)),
            _ => Ok(()),
        }
    }

    pub async fn assignment(&self, project: ProjectId, id: AssignmentId) -> Result<Assignment, StoreError> {
        let row = self.db.optional(ASSIGNMENT, args![project, id]).await?;
        read_assignment(&row.ok_or_else(|| StoreError::unknown("assignment", &id))?)
    }

    pub async fn assignments_of(
        &self,
        project: ProjectId,
        item: ItemId,
    ) -> Result<Vec<Assignment>, StoreError> {
        self.db.fetch(ASSIGNMENTS_OF, args![project, item]).await?.iter().map(read_assignment).collect()
    }

    /// All answers with all their revisions, the oldest first.
    pub async fn annotations(
        &self,
        project: ProjectId,
        task: TaskId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Annotation>, StoreError> {
        let place = after.map(|it| it.id.clone()).unwrap_or_default();
        let rows = self.db.fetch(ANNOTATIONS, args![project, task, place, limit + 1]).await?;
        let annotations = rows.iter().map(read_annotation).collect::<Result<_, _>>()?;
        Ok(Page::of(annotations, limit, |it: &Annotation| Cursor::new(0, &it.id)))
    }

    pub async fn annotations_of(
        &self,
        project: ProjectId,
        item: ItemId,
    ) -> Result<Vec<Annotation>, StoreError> {
        self.db.fetch(ANNOTATIONS_OF, args![project, item]).await?.iter().map(read_annotation).collect()
    }

    pub async fn progress(&self, project: ProjectId, task: TaskId) -> Result<Progress, StoreError> {
        let row = self.db.one(PROGRESS, args![project, task]).await?;
        Ok(Progress {
            n_items: row.count("n_items")?,
            n_done: row.count("n_done")?,
            n_wanted: row.count("n_wanted")?,
            n_submitted: row.count("n_submitted")?,
        })
    }

    /// How many items each person has answered.
    pub async fn progress_by_annotator(
        &self,
        project: ProjectId,
        task: TaskId,
    ) -> Result<Vec<(AccountId, u64)>, StoreError> {
        let rows = self.db.fetch(BY_ANNOTATOR, args![project, task]).await?;
        rows.iter().map(|row| Ok((row.parsed("account")?, row.count("n")?))).collect()
    }
}

async fn lock(tx: &mut Tx, project: ProjectId, task: TaskId, now: Time) -> Result<TaskState, StoreError> {
    let row = tx.optional(LOCK_TASK, args![project, task, now]).await?;
    row.ok_or_else(|| StoreError::unknown("annotation task", &task))?.parsed("state")
}

async fn give(
    tx: &mut Tx,
    project: ProjectId,
    item: &Item,
    account: AccountId,
    now: Time,
    until: Time,
) -> Result<Assignment, StoreError> {
    let id = AssignmentId::at(now);
    tx.execute(ASSIGN, args![id, project, item.task, item.id, account, until, now]).await?;
    let state = AssignmentState::Assigned;
    Ok(Assignment { id, task: item.task, item: item.id, account, state, lease_until: until })
}

impl TaskState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl std::str::FromStr for TaskState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let state = [Self::Open, Self::Closed].into_iter().find(|it| it.as_str() == text);
        state.ok_or_else(|| format!("`{text}` is no state of a task"))
    }
}

impl AssignmentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assigned => "assigned",
            Self::Submitted => "submitted",
            Self::Skipped => "skipped",
        }
    }
}

impl std::str::FromStr for AssignmentState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Assigned, Self::Submitted, Self::Skipped];
        all.into_iter()
            .find(|it| it.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no state of an assignment"))
    }
}

fn read_task(row: &Row) -> Result<Task, StoreError> {
    Ok(Task {
        id: row.parsed("id")?,
        name: row.get("name")?,
        rubric_version: row.maybe_parsed("rubric_version")?,
        settings: row.json("settings")?,
        state: row.parsed("state")?,
        created: row.time("created")?,
    })
}

fn read_item(row: &Row) -> Result<Item, StoreError> {
    Ok(Item {
        id: row.parsed("id")?,
        task: row.parsed("task")?,
        place: row.count("place")?,
        candidate: row.get("candidate")?,
        body: row.unpacked_json("body")?,
        n_wanted: row.count("n_wanted")?,
        priority: row.get("priority")?,
        is_done: row.get::<String>("state")? == "done",
    })
}

fn read_assignment(row: &Row) -> Result<Assignment, StoreError> {
    Ok(Assignment {
        id: row.parsed("id")?,
        task: row.parsed("task")?,
        item: row.parsed("item")?,
        account: row.parsed("account")?,
        state: row.parsed("state")?,
        lease_until: row.time("lease_until")?,
    })
}

fn read_annotation(row: &Row) -> Result<Annotation, StoreError> {
    Ok(Annotation {
        id: row.parsed("id")?,
        task: row.parsed("task")?,
        item: row.parsed("item")?,
        candidate: row.get("candidate")?,
        account: row.parsed("account")?,
        revision: row.count("revision")?,
        body: row.unpacked_json("body")?,
        seconds: row.get("seconds")?,
        time: row.time("time")?,
    })
}
