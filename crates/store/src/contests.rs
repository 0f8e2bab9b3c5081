//! Contests: two traces of the same task side by side, and which one a judge prefers.

use jurist_core::grade::{Time, Usd};

use crate::db::{DbRow, args, statements};
use crate::{ContestId, MonitorId, ProjectId, RubricVersionId, SeriesId, Store, StoreError, TraceId};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredContest {
    pub id: ContestId,
    pub monitor: MonitorId,
    /// The series: contests that were requested together.
    pub series: SeriesId,
    /// Display names of the two sides.
    pub sides: (String, String),
    pub rubric_version: RubricVersionId,
    pub judge: String,
    pub traces: (TraceId, TraceId),
    /// Which of them was shown first.
    pub first: TraceId,
    pub outcome: Contested,
    pub reason: String,
    pub cost: Option<Usd>,
    pub time: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contested {
    A,
    B,
    Tie,
    /// Judge error.
    Error,
}

statements! {
    ADD = "INSERT INTO contests (id, project, monitor, series, side_a, side_b, rubric_version, judge, trace_a, trace_b,
        first, outcome, reason, cost, time)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING";
    SERIES = "SELECT series FROM contests WHERE project = $1 AND monitor = $2 GROUP BY series
        ORDER BY series DESC LIMIT 20";
    LIST = "SELECT * FROM contests WHERE project = $1 AND monitor = $2 AND series = $3 ORDER BY id LIMIT 100000";
    NEWEST = "SELECT * FROM contests WHERE project = $1 AND (CAST($2 AS TEXT) IS NULL OR monitor = $2)
        ORDER BY id DESC LIMIT $3";
}

impl Store {
    pub async fn add_contest(&self, project: ProjectId, contest: &StoredContest) -> Result<(), StoreError> {
        let it = contest;
        let args = args![
            it.id,
            project,
            it.monitor,
            it.series,
            &it.sides.0,
            &it.sides.1,
            &it.rubric_version,
            &it.judge,
            &it.traces.0,
            &it.traces.1,
            &it.first,
            it.outcome.as_str(),
            &it.reason,
            it.cost,
            it.time,
        ];
        self.db.execute(ADD, args).await.map(drop)
    }

    /// Series with at least one finished contest, the newest first.
    pub async fn contest_series(
        &self,
        project: ProjectId,
        monitor: MonitorId,
    ) -> Result<Vec<SeriesId>, StoreError> {
        let rows = self.db.fetch(SERIES, args![project, monitor]).await?;
        rows.iter().map(|row| row.parse("series")).collect()
    }

    /// The contests of a series, the oldest first.
    pub async fn contests(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        series: SeriesId,
    ) -> Result<Vec<StoredContest>, StoreError> {
        self.db.fetch(LIST, args![project, monitor, series]).await?.iter().map(read_contest_row).collect()
    }

    /// Of all series, or of those of one monitor; the newest first.
    pub async fn newest_contests(
        &self,
        project: ProjectId,
        monitor: Option<MonitorId>,
        limit: usize,
    ) -> Result<Vec<StoredContest>, StoreError> {
        let monitor = monitor.map(|monitor| monitor.to_string());
        self.db.fetch(NEWEST, args![project, monitor, limit]).await?.iter().map(read_contest_row).collect()
    }
}

impl Contested {
    const ALL: [Self; 4] = [Self::A, Self::B, Self::Tie, Self::Error];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::Tie => "tie",
            Self::Error => "error",
        }
    }
}

impl std::str::FromStr for Contested {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|contested| contested.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not an outcome of a comparison"))
    }
}

fn read_contest_row(row: &DbRow) -> Result<StoredContest, StoreError> {
    Ok(StoredContest {
        id: row.parse("id")?,
        monitor: row.parse("monitor")?,
        series: row.parse("series")?,
        sides: (row.get("side_a")?, row.get("side_b")?),
        rubric_version: row.parse("rubric_version")?,
        judge: row.get("judge")?,
        traces: (row.parse("trace_a")?, row.parse("trace_b")?),
        first: row.parse("first")?,
        outcome: row.parse("outcome")?,
        reason: row.get("reason")?,
        cost: row.maybe_usd("cost")?,
        time: row.time("time")?,
    })
}
