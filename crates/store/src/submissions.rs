//! Runs that workers execute: the request, and the jobs that it is divided into. The store does not parse the request.

use jurist_core::grade::Time;
use jurist_core::run::{Run, RunId};

use crate::db::{args, statements};
use crate::jobs::NewJob;
use crate::pack::pack;
use crate::{ProjectId, Store, StoreError};

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Absent for a run that was not submitted to the server.
    pub n_units: Option<u64>,
    pub n_results: u64,
    pub ended: Option<Time>,
}

statements! {
    PUT = "INSERT INTO submissions (run, n_units, body) VALUES ($1, $2, $3)";
    GET = "SELECT submissions.body FROM submissions JOIN runs ON runs.id = submissions.run
        WHERE runs.project = $1 AND runs.id = $2";
    PROGRESS = "SELECT runs.ended, submissions.n_units,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id) AS n_results
        FROM runs LEFT JOIN submissions ON submissions.run = runs.id WHERE runs.project = $1 AND runs.id = $2";
    // `ended IS NULL` lets only the first of two concurrent workers end the run.
    END_IF_WHOLE = "UPDATE runs SET ended = $3 WHERE project = $1 AND id = $2 AND ended IS NULL
        AND (SELECT n_units FROM submissions WHERE run = runs.id)
            <= (SELECT COUNT(*) FROM run_results WHERE run = runs.id)";
}

impl Store {
    /// Stores a run with its request and its jobs in one transaction.
    pub async fn submit_run(
        &self,
        project: ProjectId,
        run: &Run,
        n_units: usize,
        submission: &[u8],
        jobs: &[NewJob],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        crate::runs::insert_run(&mut tx, project, run).await?;
        tx.execute(PUT, args![run.id.to_string(), n_units, pack(submission)]).await?;
        let added = self.add_jobs_in(&mut tx, jobs, now).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(())
    }

    pub async fn submission(&self, project: ProjectId, run: RunId) -> Result<Vec<u8>, StoreError> {
        let row = self.db.optional(GET, args![project, run.to_string()]).await?;
        row.ok_or_else(|| StoreError::unknown("run", &run))?.unpack("body")
    }

    pub async fn run_progress(&self, project: ProjectId, run: RunId) -> Result<RunProgress, StoreError> {
        let row = self.db.optional(PROGRESS, args![project, run.to_string()]).await?;
        let row = row.ok_or_else(|| StoreError::unknown("run", &run))?;
        let n_units: Option<i64> = row.get("n_units")?;
        Ok(RunProgress {
            n_units: n_units.map(|n_unit| u64::try_from(n_unit).unwrap_or(0)),
            n_results: row.count("n_results")?,
            ended: row.maybe_time("ended")?,
        })
    }

    /// Ends a run if every unit has a result. `false` if units are missing, or if it had ended before.
    pub async fn end_if_whole(&self, project: ProjectId, run: RunId, time: Time) -> Result<bool, StoreError> {
        Ok(self.db.execute(END_IF_WHOLE, args![project, run.to_string(), time]).await? == 1)
    }
}
