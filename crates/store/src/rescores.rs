//! Re-scorings: traces that are graded again under a newer version. The earlier scores stay.

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;

use crate::db::{DbRow, args, statements};
use crate::jobs::NewJob;
use crate::{
    AccountId, MonitorId, MonitorVersionId, Probability, ProjectId, RescoreId, RubricVersionId, Store,
    StoreError, TraceId,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Rescore {
    pub id: RescoreId,
    pub monitor: MonitorId,
    pub monitor_version: MonitorVersionId,
    /// The rubric version of the re-scoring.
    pub rubric_version: RubricVersionId,
    /// Start of the time range; traces count by the time of their decision.
    pub since: Time,
    pub until: Time,
    /// Sampling probability of the re-scoring.
    pub share: Probability,
    pub n_traces: u64,
    pub author: Option<AccountId>,
    pub created: Time,
}

/// A trace that can be re-scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Rescorable {
    pub trace: TraceId,
    pub stratum: TraceStratum,
    pub rubric_version: RubricVersionId,
}

statements! {
    ADD = "INSERT INTO rescores (id, project, monitor, monitor_version, rubric_version, since, until, share, n_traces,
        author, created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    GET = "SELECT * FROM rescores WHERE project = $1 AND id = $2";
    LIST = "SELECT * FROM rescores WHERE project = $1 AND monitor = $2 ORDER BY id DESC";
    // Sampled traces whose text is not erased, under another version.
    RESCORABLE = "SELECT d.trace, d.stratum, v.rubric_version FROM decisions d
        JOIN monitor_versions v ON v.id = d.monitor_version
        JOIN traces t ON t.project = d.project AND t.id = d.trace AND t.state <> 'erased'
        WHERE d.project = $1 AND d.monitor = $2 AND $3 <= d.decided AND d.decided < $4 AND d.is_sampled = 1
        AND v.rubric_version <> $5 ORDER BY d.decided, d.trace LIMIT $6";
}

impl Store {
    /// Traces that a monitor sampled under other versions than this one.
    pub async fn rescorable(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        version: &RubricVersionId,
        (since, until): (Time, Time),
        limit: usize,
    ) -> Result<Vec<Rescorable>, StoreError> {
        let rows = self.db.fetch(RESCORABLE, args![project, monitor, since, until, version, limit]).await?;
        let read = |row: &DbRow| {
            Ok(Rescorable {
                trace: row.parse("trace")?,
                stratum: row.parse("stratum")?,
                rubric_version: row.parse("rubric_version")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Adds a re-scoring and its jobs in one transaction.
    pub async fn add_rescore(
        &self,
        project: ProjectId,
        rescore: &Rescore,
        jobs: &[NewJob],
    ) -> Result<(), StoreError> {
        let it = rescore;
        let mut tx = self.db.begin().await?;
        let args = args![
            it.id,
            project,
            it.monitor,
            it.monitor_version,
            &it.rubric_version,
            it.since,
            it.until,
            it.share,
            it.n_traces,
            it.author,
            it.created,
        ];
        tx.execute(ADD, args).await?;
        let added = self.add_jobs_in(&mut tx, jobs, it.created).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(())
    }

    pub async fn rescore(&self, project: ProjectId, id: RescoreId) -> Result<Rescore, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_rescore_row(&row.ok_or_else(|| StoreError::unknown("re-scoring", &id))?)
    }

    /// The newest first.
    pub async fn rescores(&self, project: ProjectId, monitor: MonitorId) -> Result<Vec<Rescore>, StoreError> {
        self.db.fetch(LIST, args![project, monitor]).await?.iter().map(read_rescore_row).collect()
    }
}

fn read_rescore_row(row: &DbRow) -> Result<Rescore, StoreError> {
    let share: f64 = row.get("share")?;
    Ok(Rescore {
        id: row.parse("id")?,
        monitor: row.parse("monitor")?,
        monitor_version: row.parse("monitor_version")?,
        rubric_version: row.parse("rubric_version")?,
        since: row.time("since")?,
        until: row.time("until")?,
        share: Probability::new(share).unwrap_or_default(),
        n_traces: row.count("n_traces")?,
        author: row.maybe_parse("author")?,
        created: row.time("created")?,
    })
}
