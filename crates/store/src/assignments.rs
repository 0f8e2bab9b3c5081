//! Assignments of items to annotators, their drafts, and their answers.
//!
//! Answers are added and never changed; the newest answer of an annotator counts.

use std::collections::BTreeSet;

use jurist_core::grade::Time;
use serde_json::Value as Json;

use crate::annotate::{
    AnnotationItem, ItemRole, ItemState, ItemStatus, LockedTask, TaskState, lock, read_item,
    spread_item_status, words,
};
use crate::db::{Arg, DbRow, Tx, args, statements};
use crate::filter::SelectQuery;
use crate::pack::pack;
use crate::{
    AccountId, AnnotationId, AssignmentId, Cursor, ItemId, ProjectId, ResultPage, Store, StoreError, TaskId,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub id: AssignmentId,
    pub task: TaskId,
    pub item: ItemId,
    pub account: AccountId,
    pub state: AssignmentState,
    /// The version of the task that is answered.
    pub version: u64,
    /// The last saved draft.
    pub draft: Option<Json>,
    /// Number of saves.
    pub revision: u64,
    /// Time spent on the item, measured from the annotator's requests.
    pub seconds: f64,
    /// Time of the annotator's last request for this item.
    pub touched: Time,
    /// Until then the item is not assigned to another annotator instead.
    pub lease_until: Time,
}

impl Assignment {
    /// Whether this draft was saved as the next one after the revision that the client has seen: a client sends it again
    /// if the acknowledgement was lost.
    pub fn is_saved(&self, draft: &Json, seen: u64) -> bool {
        self.revision == seen + 1 && self.draft.as_ref() == Some(draft)
    }
}

/// An item in the list of its annotator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAssignment {
    pub id: AssignmentId,
    pub is_submitted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignmentState {
    Assigned,
    Submitted,
    /// The annotator declined the item.
    Skipped,
    /// The lease has expired. The annotator may still answer, but the item can be assigned to others.
    Lapsed,
    /// The item was removed.
    Ended,
}

/// Rules for choosing the next item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssignmentPolicy {
    /// End of the lease.
    pub until: Time,
    pub order: NextItemOrder,
    /// Most items per annotator.
    pub quota: Option<u64>,
    /// After how many items one with known answers is mixed in.
    pub check_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextItemOrder {
    /// The item with the fewest annotators.
    Fewest,
    /// In turn order, starting here and continuing at the beginning.
    From(i64),
}

/// The next assignment of an annotator.
#[derive(Debug, Clone, PartialEq)]
pub enum NextAssignment {
    Given(Box<(Assignment, AnnotationItem)>),
    /// The annotator has answered all items that they can get.
    Finished,
    /// The remaining items are assigned to others.
    NothingNow,
    Quota,
    Closed,
}

/// Result of saving a draft.
#[derive(Debug, Clone, PartialEq)]
pub enum SaveOutcome {
    Done {
        revision: u64,
    },
    /// A newer draft was saved in the meantime.
    Newer {
        draft: Json,
        revision: u64,
    },
    /// The assignment has ended: the item was removed or skipped.
    Ended,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SubmittedAnnotation {
    pub id: AnnotationId,
    pub task: TaskId,
    pub item: ItemId,
    pub candidate: String,
    pub role: ItemRole,
    /// The version of the task that was answered.
    pub version: u64,
    pub account: AccountId,
    /// The annotator's name.
    pub name: String,
    /// From 1; the largest revision counts.
    pub revision: u64,
    pub body: Json,
    pub seconds: Option<f64>,
    pub time: Time,
}

/// Progress of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnnotatorProgress {
    pub n_done: u64,
    /// Items that can still be assigned to this annotator.
    pub n_left: u64,
    /// Answered gold items and attention checks, which do not count as items.
    pub n_checks_done: u64,
    /// Gold items and attention checks that can still be assigned to this annotator.
    pub n_checks_left: u64,
}

/// Longer inactivity than this is a pause, in microseconds.
const PAUSE: i64 = 600_000_000;

/// The annotator's previous and next assignments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignmentNeighbours {
    pub before: Option<AssignmentId>,
    pub after: Option<AssignmentId>,
}

/// An assignment that was submitted, with its annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubmittedAssignment {
    pub id: AssignmentId,
    pub item: ItemId,
    pub account: AccountId,
}

/// How many items a person has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnnotatorCount {
    pub account: AccountId,
    pub n: u64,
}

statements! {
    RECLAIM = "UPDATE assignments SET state = 'lapsed' WHERE task = $1 AND state = 'assigned' AND lease_until <= $2
        RETURNING item";
    ITEM = "SELECT * FROM annotation_items WHERE project = $1 AND id = $2";
    GIVEN = "UPDATE annotation_items SET n_given = n_given + $2 WHERE id = $1";
    MINE = "SELECT assignments.* FROM assignments JOIN annotation_items ON annotation_items.id = assignments.item
        WHERE assignments.task = $1 AND assignments.account = $2 AND assignments.state IN ('assigned', 'lapsed')
        AND (assignments.state = 'assigned' OR (is_item_open = 1 AND (n_wanted = 0 OR n_given < n_wanted)))
        ORDER BY assignments.state, assignments.id LIMIT 1";
    RESUME = "UPDATE assignments SET state = 'assigned', lease_until = $2, touched = $3 WHERE id = $1";
    LAST_TURN = "SELECT turn FROM assignments JOIN annotation_items ON annotation_items.id = assignments.item
        WHERE assignments.task = $1 AND account = $2 AND item_role = 'item' ORDER BY assignments.id DESC LIMIT 1";
    // SQLite turns `0 < n_wanted` around before it looks for the same condition in a partial index.
    NEXT_FEWEST = "SELECT annotation_items.* FROM annotation_items WHERE task = $1 AND role = $2 AND state = 'open'
        AND n_wanted > 0 AND n_given < n_wanted
        AND NOT EXISTS (SELECT 1 FROM assignments WHERE item = annotation_items.id AND account = $3)
        ORDER BY n_given, turn LIMIT 1";
    NEXT_AFTER = "SELECT annotation_items.* FROM annotation_items WHERE task = $1 AND role = $2 AND state = 'open'
        AND $4 < turn AND (n_wanted = 0 OR n_given < n_wanted)
        AND NOT EXISTS (SELECT 1 FROM assignments WHERE item = annotation_items.id AND account = $3)
        ORDER BY turn LIMIT 1";
    NEXT_UNTIL = "SELECT annotation_items.* FROM annotation_items WHERE task = $1 AND role = $2 AND state = 'open'
        AND turn <= $4 AND (n_wanted = 0 OR n_given < n_wanted)
        AND NOT EXISTS (SELECT 1 FROM assignments WHERE item = annotation_items.id AND account = $3)
        ORDER BY turn LIMIT 1";
    // The annotator's assignments are read from an index, in groups of equal rows that are next to each other in it.
    COUNT_OWN = "SELECT COALESCE((SELECT n_open FROM annotation_tasks WHERE id = $1), 0) AS n_open,
        (SELECT COUNT(*) FROM annotation_items WHERE task = $1 AND role IN ('gold', 'attention') AND state = 'open')
            AS n_open_checks,
        CAST(COALESCE(SUM(CASE WHEN item_role = 'item' AND state = 'submitted' THEN n END), 0) AS BIGINT) AS n_done,
        CAST(COALESCE(SUM(CASE WHEN item_role = 'item' AND is_item_open = 1 AND state IN ('submitted', 'skipped')
            THEN n END), 0) AS BIGINT) AS n_settled,
        CAST(COALESCE(SUM(CASE WHEN item_role = 'item' AND is_item_open = 1 THEN n END), 0) AS BIGINT) AS n_had,
        CAST(COALESCE(SUM(CASE WHEN item_role IN ('gold', 'attention') AND state = 'submitted' THEN n END), 0)
            AS BIGINT) AS n_checks_done,
        CAST(COALESCE(SUM(CASE WHEN item_role IN ('gold', 'attention') AND is_item_open = 1
            AND state IN ('submitted', 'skipped') THEN n END), 0) AS BIGINT) AS n_checks_settled
        FROM (SELECT state, item_role, is_item_open, COUNT(*) AS n FROM assignments WHERE task = $1 AND account = $2
            GROUP BY state, item_role, is_item_open) own";
    ASSIGN = "INSERT INTO assignments (id, project, task, item, account, state, version, lease_until, touched, created, updated,
        item_role, is_item_open)
        VALUES ($1, $2, $3, $4, $5, 'assigned', $6, $7, $8, $8, $8, (SELECT role FROM annotation_items WHERE id = $4),
        (SELECT CASE WHEN state = 'open' THEN 1 ELSE 0 END FROM annotation_items WHERE id = $4))";
    GET = "SELECT * FROM assignments WHERE project = $1 AND id = $2";
    OF_ITEM = "SELECT * FROM assignments WHERE project = $1 AND item = $2 ORDER BY id";
    BEFORE = "SELECT id FROM assignments WHERE task = $1 AND account = $2 AND id < $3 AND state IN ('assigned', 'submitted')
        ORDER BY id DESC LIMIT 1";
    AFTER = "SELECT id FROM assignments WHERE task = $1 AND account = $2 AND $3 < id AND state IN ('assigned', 'submitted')
        ORDER BY id LIMIT 1";
    OWN = "SELECT id, state FROM assignments WHERE task = $1 AND account = $2 AND state IN ('assigned', 'submitted')
        ORDER BY id DESC LIMIT 200";
    OPEN = "UPDATE assignments SET touched = $3 WHERE project = $1 AND id = $2";
    SAVE = "UPDATE assignments SET draft = $3, revision = revision + 1, lease_until = $4, touched = $5, seconds = $6,
        updated = $5 WHERE project = $1 AND id = $2";
    SET_STATE = "UPDATE assignments SET state = $2, updated = $3 WHERE id = $1";
    LAST_ANSWER = "SELECT revision, body FROM annotations WHERE item = $1 AND account = $2 ORDER BY revision DESC LIMIT 1";
    ANNOTATE = "INSERT INTO annotations (id, project, task, item, account, revision, version, body, seconds, time)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    COUNT_ANSWER = "UPDATE annotation_items SET n_submitted = n_submitted + 1 WHERE id = $1";
    CLOSE_ITEM = "UPDATE annotation_items SET state = 'done'
        WHERE id = $1 AND state = 'open' AND 0 < n_wanted AND n_wanted <= n_submitted RETURNING role";
    ANNOTATIONS = "SELECT annotations.*, candidate, role, accounts.name FROM annotations
        JOIN annotation_items ON annotation_items.id = annotations.item
        JOIN accounts ON accounts.id = annotations.account
        WHERE annotations.project = $1 AND annotations.task = $2 AND $3 < annotations.id
        AND NOT EXISTS (SELECT 1 FROM annotations newer WHERE newer.item = annotations.item
            AND newer.account = annotations.account AND annotations.revision < newer.revision)
        ORDER BY annotations.id LIMIT $4";
    OF_ITEM_ANSWERS = "SELECT annotations.*, candidate, role, accounts.name FROM annotations
        JOIN annotation_items ON annotation_items.id = annotations.item
        JOIN accounts ON accounts.id = annotations.account
        WHERE annotations.project = $1 AND annotations.item = $2 ORDER BY annotations.account, annotations.revision";
    BY_ANNOTATOR = "SELECT account, COUNT(*) AS n FROM assignments
        WHERE task = (SELECT id FROM annotation_tasks WHERE project = $1 AND id = $2) AND state = 'submitted'
        GROUP BY account ORDER BY account";
    SUBMITTED = "SELECT id, item, account FROM assignments WHERE project = $1 AND task = $2 AND state = 'submitted'";
    RECENT = "SELECT seconds FROM annotations WHERE task = $1 AND seconds IS NOT NULL ORDER BY id DESC LIMIT $2";
}

/// Items, in an annotator's tasks, that the annotator has begun or may still get.
const UNANSWERED: &str = "SELECT id, candidate FROM annotation_items i WHERE project = $1
    AND task IN (SELECT id FROM annotation_tasks t WHERE t.project = $1
        AND EXISTS (SELECT 1 FROM assignments a WHERE a.account = $2 AND a.task = t.id))
    AND NOT EXISTS (SELECT 1 FROM assignments a WHERE a.item = i.id AND a.account = $2 AND a.state = 'submitted')
    AND (EXISTS (SELECT 1 FROM assignments a WHERE a.item = i.id AND a.account = $2 AND a.state = 'assigned')
        OR (state = 'open' AND EXISTS (SELECT 1 FROM annotation_tasks t WHERE t.id = i.task AND t.state = 'open')))";

pub(crate) fn select_unanswered_items(
    project: ProjectId,
    account: AccountId,
    candidates: &BTreeSet<&str>,
) -> SelectQuery {
    let candidates = candidates.iter().map(|candidate| Arg::from(*candidate)).collect();
    SelectQuery::new(UNANSWERED, args![project, account]).and_in("candidate", candidates)
}

pub(crate) fn unanswered_in(project: ProjectId, account: AccountId, task: TaskId) -> SelectQuery {
    SelectQuery::new(UNANSWERED, args![project, account]).and("task = ?", task)
}

impl Store {
    /// The next assignment of an annotator: one that they have begun, or the next item that wants their answer.
    ///
    /// Training comes first, and items with known answers are mixed in. An assignment that has timed out does not block
    /// other annotators.
    pub async fn assign_next(
        &self,
        project: ProjectId,
        task: TaskId,
        account: AccountId,
        giving: &AssignmentPolicy,
        now: Time,
    ) -> Result<NextAssignment, StoreError> {
        let mut tx = self.db.begin().await?;
        let LockedTask { state, version } = lock(&mut tx, project, task, now).await?;
        for row in tx.fetch(RECLAIM, args![task, now]).await? {
            tx.execute(GIVEN, args![row.get::<String>("item")?, -1_i64]).await?;
        }
        let next = if let Some(row) = tx.optional(MINE, args![task, account]).await? {
            NextAssignment::Given(Box::new(
                resume_assignment(&mut tx, project, &row, giving.until, now).await?,
            ))
        } else if state == TaskState::Closed {
            NextAssignment::Closed
        } else {
            match choose_item(&mut tx, task, account, giving).await? {
                Ok(item) => {
                    let assignment =
                        insert_assignment(&mut tx, project, &item, account, version, giving.until, now)
                            .await?;
                    NextAssignment::Given(Box::new((assignment, item)))
                }
                Err(why) => why,
            }
        };
        // Not synced: if a power failure loses the assignment, the item is assigned again. A sync would delay everyone
        // who waits for the task's lock.
        tx.commit_soon().await?;
        Ok(next)
    }

    /// Assigns an item to an account without checking whether it needs more answers: to an adjudicator, or to an
    /// annotator who opened the item's page.
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
        let LockedTask { version, .. } = lock(&mut tx, project, item.task, now).await?;
        let there = tx.fetch(OF_ITEM, args![project, item.id]).await?;
        let there: Vec<Assignment> = there.iter().map(read_assignment_row).collect::<Result<_, _>>()?;
        if let Some(mine) = there.into_iter().find(|assignment| assignment.account == account) {
            return Ok(mine);
        }
        let assignment = insert_assignment(&mut tx, project, &item, account, version, until, now).await?;
        tx.commit().await?;
        Ok(assignment)
    }

    /// Saves a draft, unless the stored draft is newer than the revision that the client has seen.
    pub async fn save_draft(
        &self,
        project: ProjectId,
        id: AssignmentId,
        draft: &Json,
        seen: u64,
        now: Time,
        until: Time,
    ) -> Result<SaveOutcome, StoreError> {
        let mut tx = self.db.begin().await?;
        let saved = match lock_assignment(&mut tx, project, id, now).await? {
            it if matches!(it.state, AssignmentState::Skipped | AssignmentState::Ended) => SaveOutcome::Ended,
            it if it.is_saved(draft, seen) => SaveOutcome::Done { revision: it.revision },
            it if it.revision != seen => newer(it),
            it => {
                if it.state == AssignmentState::Lapsed {
                    tx.execute(RESUME, args![id, until, now]).await?;
                    tx.execute(GIVEN, args![it.item, 1_i64]).await?;
                }
                write_draft(&mut tx, project, &it, draft, now, until).await?;
                SaveOutcome::Done { revision: seen + 1 }
            }
        };
        tx.commit().await?;
        Ok(saved)
    }

    /// Stores an answer. A later one is a new revision; one that is sent again, because its acknowledgement was lost, is
    /// stored once.
    pub async fn submit(
        &self,
        project: ProjectId,
        id: AssignmentId,
        body: &Json,
        seen: u64,
        now: Time,
    ) -> Result<SaveOutcome, StoreError> {
        let mut tx = self.db.begin().await?;
        let it = lock_assignment(&mut tx, project, id, now).await?;
        if it.state == AssignmentState::Ended {
            return Ok(SaveOutcome::Ended);
        }
        let is_saved = it.is_saved(body, seen);
        if it.revision != seen && !is_saved {
            return Ok(newer(it));
        }
        let mut last_revision = 0_i64;
        if let Some(row) = tx.optional(LAST_ANSWER, args![it.item, it.account]).await? {
            let is_submitted = it.state == AssignmentState::Submitted;
            if is_saved && is_submitted && row.unpack_json::<Json>("body")? == *body {
                return Ok(SaveOutcome::Done { revision: it.revision });
            }
            last_revision = row.get("revision")?;
        }
        let seconds = write_draft(&mut tx, project, &it, body, now, it.lease_until).await?;
        let annotation = AnnotationId::at(now);
        let packed = pack(body.to_string().as_bytes());
        let (task, item, account, version) = (it.task, it.item, it.account, it.version);
        let args =
            args![annotation, project, task, item, account, last_revision + 1, version, packed, seconds, now];
        tx.execute(ANNOTATE, args).await?;
        if matches!(it.state, AssignmentState::Lapsed | AssignmentState::Skipped) {
            tx.execute(GIVEN, args![item, 1_i64]).await?;
        }
        tx.execute(SET_STATE, args![id, AssignmentState::Submitted.as_str(), now]).await?;
        if it.state != AssignmentState::Submitted {
            tx.execute(COUNT_ANSWER, args![item]).await?;
        }
        if let Some(row) = tx.optional(CLOSE_ITEM, args![item]).await? {
            let before = ItemStatus { role: row.parse("role")?, state: ItemState::Open };
            let after = ItemStatus { state: ItemState::Done, ..before };
            spread_item_status(&mut tx, task, item, before, after).await?;
        }
        tx.commit().await?;
        Ok(SaveOutcome::Done { revision: it.revision + 1 })
    }

    /// Skips an item, so that it is assigned to another annotator. A submitted answer cannot be skipped.
    pub async fn skip(&self, project: ProjectId, id: AssignmentId, now: Time) -> Result<bool, StoreError> {
        let mut tx = self.db.begin().await?;
        let it = lock_assignment(&mut tx, project, id, now).await?;
        match it.state {
            AssignmentState::Submitted => return Ok(false),
            AssignmentState::Assigned => drop(tx.execute(GIVEN, args![it.item, -1_i64]).await?),
            AssignmentState::Skipped | AssignmentState::Lapsed | AssignmentState::Ended => {}
        }
        tx.execute(SET_STATE, args![id, AssignmentState::Skipped.as_str(), now]).await?;
        tx.commit().await?;
        Ok(true)
    }

    pub async fn assignment(&self, project: ProjectId, id: AssignmentId) -> Result<Assignment, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_assignment_row(&row.ok_or_else(|| StoreError::unknown("assignment", &id))?)
    }

    /// Reopens an assignment: the time since the annotator left does not count as time spent.
    pub async fn open_assignment(
        &self,
        project: ProjectId,
        id: AssignmentId,
        now: Time,
    ) -> Result<(), StoreError> {
        self.db.execute(OPEN, args![project, id, now]).await.map(drop)
    }

    pub async fn assignments_of(
        &self,
        project: ProjectId,
        item: ItemId,
    ) -> Result<Vec<Assignment>, StoreError> {
        self.db.fetch(OF_ITEM, args![project, item]).await?.iter().map(read_assignment_row).collect()
    }

    /// Those of some candidates that an account has still to answer, in any of its tasks.
    pub async fn unanswered_of(
        &self,
        project: ProjectId,
        account: AccountId,
        candidates: &BTreeSet<&str>,
    ) -> Result<BTreeSet<String>, StoreError> {
        if candidates.is_empty() {
            return Ok(BTreeSet::new());
        }
        let rows = select_unanswered_items(project, account, candidates).fetch(&self.db).await?;
        rows.iter().map(|row| row.get("candidate")).collect()
    }

    /// The items of a task that one of its annotators has still to answer.
    pub async fn unanswered_in(
        &self,
        project: ProjectId,
        account: AccountId,
        task: TaskId,
    ) -> Result<BTreeSet<ItemId>, StoreError> {
        let rows = unanswered_in(project, account, task).fetch(&self.db).await?;
        rows.iter().map(|row| row.parse("id")).collect()
    }

    pub async fn neighbours(&self, of: &Assignment) -> Result<AssignmentNeighbours, StoreError> {
        let args = || args![of.task, of.account, of.id];
        let id = |row: Option<DbRow>| row.map(|row| row.parse("id")).transpose();
        let before = id(self.db.optional(BEFORE, args()).await?)?;
        let after = id(self.db.optional(AFTER, args()).await?)?;
        Ok(AssignmentNeighbours { before, after })
    }

    /// The items that an annotator has begun or submitted, in the order in which they were assigned: the last 200.
    pub async fn own_assignments(
        &self,
        task: TaskId,
        account: AccountId,
    ) -> Result<Vec<OwnAssignment>, StoreError> {
        let rows = self.db.fetch(OWN, args![task, account]).await?;
        let read = |row: &DbRow| {
            let is_submitted = row.get::<String>("state")? == "submitted";
            Ok(OwnAssignment { id: row.parse("id")?, is_submitted })
        };
        rows.iter().rev().map(read).collect()
    }

    pub async fn annotator_progress(
        &self,
        task: TaskId,
        account: AccountId,
    ) -> Result<AnnotatorProgress, StoreError> {
        let row = self.db.one(COUNT_OWN, args![task, account]).await?;
        Ok(AnnotatorProgress {
            n_done: row.count("n_done")?,
            n_left: row.count("n_open")?.saturating_sub(row.count("n_settled")?),
            n_checks_done: row.count("n_checks_done")?,
            n_checks_left: row.count("n_open_checks")?.saturating_sub(row.count("n_checks_settled")?),
        })
    }

    /// The answers that count, the oldest first.
    pub async fn annotations(
        &self,
        project: ProjectId,
        task: TaskId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<SubmittedAnnotation>, StoreError> {
        let place = after.map(|cursor| cursor.id.clone()).unwrap_or_default();
        let rows = self.db.fetch(ANNOTATIONS, args![project, task, place, limit + 1]).await?;
        let annotations = rows.iter().map(read_annotation).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(annotations, limit, |submitted_annotation: &SubmittedAnnotation| {
            Cursor::new(0, &submitted_annotation.id)
        }))
    }

    /// All revisions of the answers to an item.
    pub async fn annotations_of(
        &self,
        project: ProjectId,
        item: ItemId,
    ) -> Result<Vec<SubmittedAnnotation>, StoreError> {
        self.db.fetch(OF_ITEM_ANSWERS, args![project, item]).await?.iter().map(read_annotation).collect()
    }

    /// Submitted assignments with their annotators.
    pub async fn submitted_assignments(
        &self,
        project: ProjectId,
        task: TaskId,
    ) -> Result<Vec<SubmittedAssignment>, StoreError> {
        let rows = self.db.fetch(SUBMITTED, args![project, task]).await?;
        let read = |row: &DbRow| {
            let (id, item) = (row.parse("id")?, row.parse("item")?);
            Ok(SubmittedAssignment { id, item, account: row.parse("account")? })
        };
        rows.iter().map(read).collect()
    }

    /// How long the last answers took.
    pub async fn recent_seconds(&self, task: TaskId, limit: usize) -> Result<Vec<f64>, StoreError> {
        self.db.fetch(RECENT, args![task, limit]).await?.iter().map(|row| row.get("seconds")).collect()
    }

    /// How many items each person has answered.
    pub async fn progress_by_annotator(
        &self,
        project: ProjectId,
        task: TaskId,
    ) -> Result<Vec<AnnotatorCount>, StoreError> {
        let rows = self.db.fetch(BY_ANNOTATOR, args![project, task]).await?;
        let read = |row: &DbRow| Ok(AnnotatorCount { account: row.parse("account")?, n: row.count("n")? });
        rows.iter().map(read).collect()
    }
}

/// The next item of an annotator, or the reason why there is none.
async fn choose_item(
    tx: &mut Tx,
    task: TaskId,
    account: AccountId,
    giving: &AssignmentPolicy,
) -> Result<Result<AnnotationItem, NextAssignment>, StoreError> {
    if let Some(item) = next_item_after(tx, task, ItemRole::Training, account, i64::MIN).await? {
        return Ok(Ok(item));
    }
    let own = count_own(tx, task, account).await?;
    if giving.quota.is_some_and(|quota| quota <= own.n_items) {
        return Ok(Err(NextAssignment::Quota));
    }
    if own.n_checks < own.n_items / giving.check_every.max(1)
        && let Some(item) = next_check_item(tx, task, account).await?
    {
        return Ok(Ok(item));
    }
    let ordinary = match giving.order {
        // Otherwise all open items would be read each time that an annotator asks who has had every one of them.
        _ if !own.is_item_left => None,
        NextItemOrder::Fewest => {
            match read_optional_item(
                tx.optional(NEXT_FEWEST, args![task, ItemRole::Item.as_str(), account]).await?.as_ref(),
            )? {
                // Items for all annotators have no count to compare.
                None => next_item_in_turn(tx, task, account, i64::MIN).await?,
                found => found,
            }
        }
        NextItemOrder::From(start) => next_item_in_turn(tx, task, account, start).await?,
    };
    if let Some(item) = ordinary {
        return Ok(Ok(item));
    }
    if let Some(item) = next_check_item(tx, task, account).await? {
        return Ok(Ok(item));
    }
    Ok(Err(if own.is_item_left { NextAssignment::NothingNow } else { NextAssignment::Finished }))
}

/// What decides about the next item of an annotator.
struct OwnCounts {
    /// Submitted items, without training, gold and attention items.
    n_items: u64,
    /// Submitted gold and attention items.
    n_checks: u64,
    /// Whether there is an open item that was never assigned to the annotator.
    is_item_left: bool,
}

async fn count_own(tx: &mut Tx, task: TaskId, account: AccountId) -> Result<OwnCounts, StoreError> {
    let row = tx.optional(COUNT_OWN, args![task, account]).await?;
    let row = row.ok_or(StoreError::Failed(sqlx::Error::RowNotFound))?;
    Ok(OwnCounts {
        n_items: row.count("n_done")?,
        n_checks: row.count("n_checks_done")?,
        is_item_left: row.count("n_had")? < row.count("n_open")?,
    })
}

async fn next_check_item(
    tx: &mut Tx,
    task: TaskId,
    account: AccountId,
) -> Result<Option<AnnotationItem>, StoreError> {
    match next_item_after(tx, task, ItemRole::Attention, account, i64::MIN).await? {
        None => next_item_after(tx, task, ItemRole::Gold, account, i64::MIN).await,
        found => Ok(found),
    }
}

/// The next item in turn order after the annotator's last one; continues at the beginning.
async fn next_item_in_turn(
    tx: &mut Tx,
    task: TaskId,
    account: AccountId,
    start: i64,
) -> Result<Option<AnnotationItem>, StoreError> {
    let last = tx.optional(LAST_TURN, args![task, account]).await?;
    let last = last.map(|row| row.get("turn")).transpose()?.unwrap_or(start);
    match next_item_after(tx, task, ItemRole::Item, account, last).await? {
        None => read_optional_item(
            tx.optional(NEXT_UNTIL, args![task, ItemRole::Item.as_str(), account, last]).await?.as_ref(),
        ),
        found => Ok(found),
    }
}

async fn next_item_after(
    tx: &mut Tx,
    task: TaskId,
    role: ItemRole,
    account: AccountId,
    turn: i64,
) -> Result<Option<AnnotationItem>, StoreError> {
    read_optional_item(tx.optional(NEXT_AFTER, args![task, role.as_str(), account, turn]).await?.as_ref())
}

fn read_optional_item(row: Option<&DbRow>) -> Result<Option<AnnotationItem>, StoreError> {
    row.map(read_item).transpose()
}

/// Resumes an assignment that was begun, and renews its lease.
async fn resume_assignment(
    tx: &mut Tx,
    project: ProjectId,
    row: &DbRow,
    until: Time,
    now: Time,
) -> Result<(Assignment, AnnotationItem), StoreError> {
    let it = read_assignment_row(row)?;
    if it.state == AssignmentState::Lapsed {
        tx.execute(GIVEN, args![it.item, 1_i64]).await?;
    }
    tx.execute(RESUME, args![it.id, until, now]).await?;
    let item = tx.optional(ITEM, args![project, it.item]).await?;
    let item = read_item(&item.ok_or_else(|| StoreError::unknown("item", &it.item))?)?;
    Ok((Assignment { lease_until: until, state: AssignmentState::Assigned, ..it }, item))
}

async fn insert_assignment(
    tx: &mut Tx,
    project: ProjectId,
    item: &AnnotationItem,
    account: AccountId,
    version: u64,
    until: Time,
    now: Time,
) -> Result<Assignment, StoreError> {
    let id = AssignmentId::at(now);
    tx.execute(ASSIGN, args![id, project, item.task, item.id, account, version, until, now]).await?;
    tx.execute(GIVEN, args![item.id, 1_i64]).await?;
    Ok(Assignment {
        id,
        task: item.task,
        item: item.id,
        account,
        state: AssignmentState::Assigned,
        version,
        draft: None,
        revision: 0,
        seconds: 0.0,
        touched: now,
        lease_until: until,
    })
}

/// Reads an assignment and locks it until the transaction ends.
async fn lock_assignment(
    tx: &mut Tx,
    project: ProjectId,
    id: AssignmentId,
    now: Time,
) -> Result<Assignment, StoreError> {
    let row = tx.optional(GET, args![project, id]).await?;
    let it = read_assignment_row(&row.ok_or_else(|| StoreError::unknown("assignment", &id))?)?;
    lock(tx, project, it.task, now).await?;
    // Read again: another transaction may have changed it while this one waited for the lock.
    let row = tx.optional(GET, args![project, id]).await?;
    read_assignment_row(&row.ok_or_else(|| StoreError::unknown("assignment", &id))?)
}

/// Writes a draft, and returns the time spent so far.
async fn write_draft(
    tx: &mut Tx,
    project: ProjectId,
    it: &Assignment,
    draft: &Json,
    now: Time,
    until: Time,
) -> Result<f64, StoreError> {
    let seconds = it.seconds + (now.micros() - it.touched.micros()).clamp(0, PAUSE) as f64 / 1e6;
    let packed = pack(draft.to_string().as_bytes());
    tx.execute(SAVE, args![project, it.id, packed, until, now, seconds]).await?;
    Ok(seconds)
}

fn newer(it: Assignment) -> SaveOutcome {
    SaveOutcome::Newer {
        draft: it.draft.unwrap_or_else(|| Json::Object(serde_json::Map::new())),
        revision: it.revision,
    }
}

words!(
    AssignmentState,
    "state of an assignment",
    Assigned = "assigned",
    Submitted = "submitted",
    Skipped = "skipped",
    Lapsed = "lapsed",
    Ended = "ended"
);

fn read_assignment_row(row: &DbRow) -> Result<Assignment, StoreError> {
    let has_draft = row.get::<Option<Vec<u8>>>("draft")?.is_some();
    Ok(Assignment {
        id: row.parse("id")?,
        task: row.parse("task")?,
        item: row.parse("item")?,
        account: row.parse("account")?,
        state: row.parse("state")?,
        version: row.count("version")?,
        draft: if has_draft { Some(row.unpack_json("draft")?) } else { None },
        revision: row.count("revision")?,
        seconds: row.get("seconds")?,
        touched: row.time("touched")?,
        lease_until: row.time("lease_until")?,
    })
}

fn read_annotation(row: &DbRow) -> Result<SubmittedAnnotation, StoreError> {
    Ok(SubmittedAnnotation {
        id: row.parse("id")?,
        task: row.parse("task")?,
        item: row.parse("item")?,
        candidate: row.get("candidate")?,
        role: row.parse("role")?,
        version: row.count("version")?,
        account: row.parse("account")?,
        name: row.get("name")?,
        revision: row.count("revision")?,
        body: row.unpack_json("body")?,
        seconds: row.get("seconds")?,
        time: row.time("time")?,
    })
}
