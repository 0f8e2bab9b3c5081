//! Job queue. A worker takes a job with a lease; if the worker dies, the lease ends and another worker takes the job.
//! A job that fails too often becomes `dead` and waits for a person.
//!
//! A job may be executed twice, if a worker dies after the work and before it reported the end. The rows that a job
//! writes have ids derived from their content, so the second execution changes nothing.

use jurist_core::grade::Time;
use serde_json::Value as Json;

pub use crate::wake::Waker;

use crate::db::{Arg, Bulk, Db, DbRow, Tx, args, statements};
use crate::filter::SelectQuery;
use crate::wake::CHANNEL;
use crate::{Cursor, JobId, ProjectId, ResultPage, Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// `None` for jobs of the whole server.
    pub project: Option<ProjectId>,
    pub kind: String,
    pub payload: Json,
    /// Jobs with a larger number are leased first.
    pub priority: i64,
    /// Earliest time at which the job may be taken.
    pub ready: Time,
    pub max_attempts: u32,
    /// Deduplication key: while a job of this kind with this key waits or is leased, another is not added.
    pub dedupe: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: JobId,
    pub project: Option<ProjectId>,
    pub kind: String,
    pub payload: Json,
    pub priority: i64,
    pub state: JobState,
    /// When it may be taken; of a leased one, when its lease ends.
    pub ready: Time,
    /// How often the job was taken. Together with the worker's name it identifies the lease.
    pub attempts: u64,
    pub max_attempts: u64,
    pub leased_by: Option<String>,
    pub error: Option<String>,
    pub created: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    Waiting,
    Leased,
    /// Failed too often; a person decides whether it is retried.
    Dead,
}

/// State of a job after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobFailure {
    /// It waits for a retry.
    Waits,
    Dead,
    /// Another worker has taken it over.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    pub kind: String,
    pub state: JobState,
    pub n: u64,
    /// Earliest time at which one of them may be taken.
    pub oldest: Time,
}

/// Unfinished jobs of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobsLeft {
    /// Waiting and leased jobs.
    pub n_waiting: u64,
    pub n_dead: u64,
    /// Error of one of the dead jobs.
    pub error: Option<String>,
    pub put_off: Option<PostponedJobs>,
}

/// Number of postponed jobs, and the reason of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostponedJobs {
    pub n: u64,
    pub why: String,
}

statements! {
    HEARTBEAT = "UPDATE jobs SET ready = $4 WHERE id = $1 AND leased_by = $2 AND attempts = $3 AND state = 'leased'";
    FINISH = "DELETE FROM jobs WHERE id = $1 AND leased_by = $2 AND attempts = $3 AND state = 'leased'";
    FAIL = "UPDATE jobs SET state = CASE WHEN attempts < max_attempts AND $6 = 1 THEN 'waiting' ELSE 'dead' END,
        ready = $4, error = $5, leased_by = NULL
        WHERE id = $1 AND leased_by = $2 AND attempts = $3 AND state = 'leased' RETURNING state";
    RELEASE = "UPDATE jobs SET state = 'waiting', ready = $4, error = COALESCE($5, error), leased_by = NULL, attempts = attempts - 1
        WHERE id = $1 AND leased_by = $2 AND attempts = $3 AND state = 'leased'";
    // `<> 'dead'` is the literal condition of the partial index; SQLite uses the index for no other form.
    BURY = "UPDATE jobs SET state = 'dead', leased_by = NULL, error = COALESCE(error, 'the worker died each time')
        WHERE state <> 'dead' AND state = 'leased' AND ready <= $1 AND max_attempts <= attempts";
    GET = "SELECT * FROM jobs WHERE id = $1";
    DEAD = "SELECT * FROM jobs WHERE state = 'dead' AND id < $2
        AND (CAST($1 AS TEXT) IS NULL OR project = $1) ORDER BY id DESC LIMIT $3";
    REVIVE = "UPDATE jobs SET state = 'waiting', attempts = 0, ready = $2 WHERE id = $1 AND state = 'dead'";
    DISCARD = "DELETE FROM jobs WHERE id = $1 AND state = 'dead'";
    // Dead jobs too: the object that they were for is gone.
    DISCARD_LIKE = "DELETE FROM jobs WHERE project = $1 AND kind = $2 AND dedupe LIKE $3";
    HASTEN = "UPDATE jobs SET ready = $4, error = NULL WHERE project = $1 AND kind = $2 AND dedupe LIKE $3 AND state = 'waiting'
        AND $4 < ready AND error = $5";
    LEFT_OF = "SELECT CAST(CASE WHEN state = 'dead' THEN 1 ELSE 0 END AS BIGINT) AS is_dead, COUNT(*) AS n,
        MAX(CASE WHEN state <> 'leased' THEN error END) AS error,
        COUNT(CASE WHEN state <> 'leased' THEN error END) AS n_told FROM jobs WHERE project = $1 AND kind = $2 AND dedupe LIKE $3
        GROUP BY CASE WHEN state = 'dead' THEN 1 ELSE 0 END";
    COUNTS = "SELECT kind, state, COUNT(*) AS n, MIN(ready) AS oldest FROM jobs
        WHERE CAST($1 AS TEXT) IS NULL OR project = $1 GROUP BY kind, state ORDER BY kind, state";
    NEXT_READY = "SELECT MIN(ready) AS ready FROM jobs WHERE state <> 'dead'";
}

pub(crate) const ADD: Bulk = Bulk {
    into: "jobs (id, project, kind, payload, dedupe, priority, state, ready, attempts, max_attempts, created)",
    types: "tttttitiiii",
    tail: "ON CONFLICT DO NOTHING RETURNING id",
};

const TAKE: &str = "UPDATE jobs SET state = 'leased', leased_by = $1, ready = $2, attempts = attempts + 1
    WHERE id IN (SELECT id FROM jobs WHERE state <> 'dead' AND ready <= $3";
const IN_ORDER: &str = "ORDER BY priority DESC, ready, id";
impl Store {
    /// Adds jobs and wakes workers. Returns the new ids; `None` for a job whose deduplication key is in use.
    pub async fn add_jobs(&self, jobs: &[NewJob], now: Time) -> Result<Vec<Option<JobId>>, StoreError> {
        let mut tx = self.db.begin().await?;
        let added = self.add_jobs_in(&mut tx, jobs, now).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(added)
    }

    /// Adds jobs in a transaction of the caller, who calls [`Self::wake_workers`] after the commit.
    pub(crate) async fn add_jobs_in(
        &self,
        tx: &mut Tx,
        jobs: &[NewJob],
        now: Time,
    ) -> Result<Vec<Option<JobId>>, StoreError> {
        let ids: Vec<JobId> = jobs.iter().map(|_| JobId::at(now)).collect();
        let rows = jobs.iter().zip(&ids).map(|(job, id)| job.args(*id, now)).collect();
        let mut added = std::collections::BTreeSet::new();
        for row in tx.insert(ADD, rows).await? {
            added.insert(row.parse::<JobId>("id")?);
        }
        if self.db.is_pg() && !added.is_empty() {
            tx.fetch("SELECT CAST(pg_notify($1, '') AS TEXT)", args![CHANNEL]).await?;
        }
        Ok(ids.into_iter().map(|id| added.contains(&id).then_some(id)).collect())
    }

    pub(crate) fn wake_workers(&self, added: &[Option<JobId>]) {
        if added.iter().any(Option::is_some) {
            self.wake.ring();
        }
    }

    pub async fn add_job(&self, job: &NewJob, now: Time) -> Result<Option<JobId>, StoreError> {
        Ok(self.add_jobs(std::slice::from_ref(job), now).await?.into_iter().next().flatten())
    }

    /// Leases up to `n` jobs of some kinds (of any kind if none is named) until a time.
    ///
    /// It also takes over jobs whose lease has ended, and marks jobs as dead whose workers died too often.
    pub async fn lease(
        &self,
        worker: &str,
        kinds: &[&str],
        n: usize,
        now: Time,
        until: Time,
    ) -> Result<Vec<Job>, StoreError> {
        let query = build_lease_query(&self.db, worker, kinds, n, now, until);
        let mut tx = self.db.begin().await?;
        tx.execute(BURY, args![now]).await?;
        let rows = query.fetch_in(&mut tx).await?;
        tx.commit().await?;
        let mut jobs: Vec<Job> = rows.iter().map(read_job_row).collect::<Result<_, _>>()?;
        jobs.sort_by_key(|job| (-job.priority, job.id));
        Ok(jobs)
    }

    /// Extends a lease. `false` if another worker has taken over the job: stop working on it.
    pub async fn heartbeat(&self, job: &Job, until: Time) -> Result<bool, StoreError> {
        let mut args = lease_of(job);
        args.push(until.into());
        Ok(self.db.execute(HEARTBEAT, args).await? == 1)
    }

    /// The work is done. `false` if another worker has taken over the job.
    pub async fn finish_job(&self, job: &Job) -> Result<bool, StoreError> {
        Ok(self.db.execute(FINISH, lease_of(job)).await? == 1)
    }

    /// Finishes several jobs in one commit. Jobs that another worker has taken over are not changed.
    pub async fn finish_jobs(&self, jobs: &[Job]) -> Result<usize, StoreError> {
        let mut tx = self.db.begin().await?;
        let mut n_finished = 0;
        for job in jobs {
            n_finished += usize::from(tx.execute(FINISH, lease_of(job)).await? == 1);
        }
        tx.commit().await?;
        Ok(n_finished)
    }

    /// The work failed. `retry` is the time of the next attempt; `None` if a retry cannot help.
    pub async fn fail_job(
        &self,
        job: &Job,
        error: &str,
        retry: Option<Time>,
        now: Time,
    ) -> Result<JobFailure, StoreError> {
        let mut args = lease_of(job);
        args.extend(args![retry.unwrap_or(now), error, retry.is_some()]);
        let mut tx = self.db.begin().await?;
        let row = tx.optional(FAIL, args).await?;
        tx.commit().await?;
        Ok(match row.map(|row| row.parse("state")).transpose()? {
            None => JobFailure::Lost,
            Some(JobState::Dead) => JobFailure::Dead,
            Some(_) => JobFailure::Waits,
        })
    }

    /// Returns jobs that were not begun to the queue; this does not count as an attempt.
    pub async fn release_jobs(&self, jobs: &[Job], now: Time) -> Result<(), StoreError> {
        self.give_back(jobs, now, None).await
    }

    /// Postpones a job until a time; this does not count as an attempt.
    pub async fn postpone_job(&self, job: &Job, until: Time, why: &str) -> Result<(), StoreError> {
        self.give_back(std::slice::from_ref(job), until, Some(why)).await
    }

    async fn give_back(&self, jobs: &[Job], ready: Time, why: Option<&str>) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        for job in jobs {
            let mut args = lease_of(job);
            args.extend(args![ready, why]);
            tx.execute(RELEASE, args).await?;
        }
        self.commit_and_wake(tx).await
    }

    /// Commits, and wakes workers in this and in other processes.
    async fn commit_and_wake(&self, mut tx: Tx) -> Result<(), StoreError> {
        if self.db.is_pg() {
            tx.fetch("SELECT CAST(pg_notify($1, '') AS TEXT)", args![CHANNEL]).await?;
        }
        tx.commit().await?;
        self.wake.ring();
        Ok(())
    }

    pub async fn job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        self.db.optional(GET, args![id]).await?.as_ref().map(read_job_row).transpose()
    }

    /// Dead jobs of a project or of all projects; the newest first.
    pub async fn dead_jobs(
        &self,
        project: Option<ProjectId>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<Job>, StoreError> {
        let rows = self.db.fetch(DEAD, args![project, Cursor::top(after).id, limit + 1]).await?;
        let jobs = rows.iter().map(read_job_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(jobs, limit, |job: &Job| Cursor::new(0, &job.id)))
    }

    /// Puts a dead job back into the queue.
    pub async fn revive_job(&self, id: JobId, now: Time) -> Result<bool, StoreError> {
        let is_revived = self.db.execute(REVIVE, args![id, now]).await? == 1;
        self.wake.ring();
        Ok(is_revived)
    }

    pub async fn discard_job(&self, id: JobId) -> Result<bool, StoreError> {
        Ok(self.db.execute(DISCARD, args![id]).await? == 1)
    }

    /// Makes jobs ready that were postponed for this reason; selects them by kind and prefix of their key.
    pub async fn hasten_jobs(
        &self,
        project: ProjectId,
        kind: &str,
        dedupe_prefix: &str,
        why: &str,
        now: Time,
    ) -> Result<u64, StoreError> {
        let mut tx = self.db.begin().await?;
        let n = tx.execute(HASTEN, args![project, kind, format!("{dedupe_prefix}%"), now, why]).await?;
        self.commit_and_wake(tx).await?;
        Ok(n)
    }

    /// The unfinished jobs of a kind whose keys have this prefix.
    pub async fn jobs_left(
        &self,
        project: ProjectId,
        kind: &str,
        dedupe_prefix: &str,
    ) -> Result<JobsLeft, StoreError> {
        let mut left = JobsLeft::default();
        for row in self.db.fetch(LEFT_OF, args![project, kind, format!("{dedupe_prefix}%")]).await? {
            if row.flag("is_dead")? {
                (left.n_dead, left.error) = (row.count("n")?, row.get("error")?);
            } else {
                let (n, why): (u64, Option<String>) = (row.count("n_told")?, row.get("error")?);
                (left.n_waiting, left.put_off) = (row.count("n")?, why.map(|why| PostponedJobs { n, why }));
            }
        }
        Ok(left)
    }

    /// Deletes jobs of a kind whose keys have this prefix, in any state.
    pub async fn discard_jobs(
        &self,
        project: ProjectId,
        kind: &str,
        dedupe_prefix: &str,
    ) -> Result<u64, StoreError> {
        self.db.execute(DISCARD_LIKE, args![project, kind, format!("{dedupe_prefix}%")]).await
    }

    /// Numbers of jobs by kind and state, of a project or of all projects.
    pub async fn job_counts(&self, project: Option<ProjectId>) -> Result<Vec<JobCount>, StoreError> {
        let count = |row: &DbRow| {
            Ok(JobCount {
                kind: row.get("kind")?,
                state: row.parse("state")?,
                n: row.count("n")?,
                oldest: row.time("oldest")?,
            })
        };
        self.db.fetch(COUNTS, args![project]).await?.iter().map(count).collect()
    }

    /// Time at which the next job can be taken or taken over; workers sleep until then.
    pub async fn next_ready(&self) -> Result<Option<Time>, StoreError> {
        self.db.one(NEXT_READY, Vec::new()).await?.maybe_time("ready")
    }

    /// Create the waker before looking for jobs and wait on it if there are none, so that a job added in between is not
    /// missed.
    pub fn waker(&self) -> Waker {
        self.wake.clone().waker(&self.db)
    }
}

pub(crate) fn build_lease_query(
    db: &Db,
    worker: &str,
    kinds: &[&str],
    n: usize,
    now: Time,
    until: Time,
) -> SelectQuery {
    let kinds = kinds.iter().map(|kind| Arg::from(*kind)).collect();
    let select =
        SelectQuery::new(TAKE, args![worker, until, now]).and_in("kind", kinds).then(IN_ORDER).limit(n);
    // SQLite has one writer, so no other worker can lease at the same time.
    select.then(if db.is_pg() { "FOR UPDATE SKIP LOCKED) RETURNING *" } else { ") RETURNING *" })
}

fn lease_of(job: &Job) -> Vec<Arg> {
    args![job.id, job.leased_by.as_deref(), job.attempts]
}

impl NewJob {
    fn args(&self, id: JobId, now: Time) -> Vec<Arg> {
        args![
            id,
            self.project,
            &self.kind,
            &self.payload,
            self.dedupe.as_deref(),
            self.priority,
            "waiting",
            self.ready,
            0_i64,
            self.max_attempts,
            now,
        ]
    }
}

impl JobState {
    const ALL: [Self; 3] = [Self::Waiting, Self::Leased, Self::Dead];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Dead => "dead",
        }
    }
}

impl std::str::FromStr for JobState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|job_state| job_state.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a state of a job"))
    }
}

fn read_job_row(row: &DbRow) -> Result<Job, StoreError> {
    Ok(Job {
        id: row.parse("id")?,
        project: row.maybe_parse("project")?,
        kind: row.get("kind")?,
        payload: row.json("payload")?,
        priority: row.get("priority")?,
        state: row.parse("state")?,
        ready: row.time("ready")?,
        attempts: row.count("attempts")?,
        max_attempts: row.count("max_attempts")?,
        leased_by: row.get("leased_by")?,
        error: row.get("error")?,
        created: row.time("created")?,
    })
}
