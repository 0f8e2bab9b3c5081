//! Invariants of every database, also after any failure.

use tempfile::TempDir;

use crate::db::args;
use crate::{Store, StoreError, StoreOptions, Sync, TraceId};

/// A SQLite file that notes by itself what must never happen.
#[derive(Debug)]
pub struct WatchedDatabase {
    folder: TempDir,
}

/// A copy of it.
#[derive(Debug)]
pub struct WatchedScene {
    pub store: Store,
    _folder: TempDir,
}

/// Who has a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseHolder {
    pub state: String,
    pub worker: Option<String>,
    pub attempts: i64,
}

/// Each statement of a transaction is looked at, also of one that fails later: then its note is gone with it.
const WATCH: &str = "
    CREATE TABLE violations (what TEXT NOT NULL);
    CREATE TABLE subject_limits (subject TEXT NOT NULL, most BIGINT NOT NULL);
    CREATE TRIGGER watch_cap AFTER UPDATE ON spend_months
        WHEN OLD.reserved + OLD.settled < NEW.reserved + NEW.settled
        AND (SELECT monthly_cap FROM projects WHERE id = NEW.project) < NEW.reserved + NEW.settled
        BEGIN INSERT INTO violations VALUES ('a month of ' || NEW.month || ' is over its cap: '
            || NEW.reserved || ' reserved and ' || NEW.settled || ' settled'); END;
    CREATE TRIGGER watch_limit AFTER UPDATE ON spend_subjects
        WHEN OLD.reserved + OLD.settled < NEW.reserved + NEW.settled
        AND EXISTS (SELECT 1 FROM subject_limits WHERE subject = NEW.subject
            AND most < NEW.reserved + NEW.settled)
        BEGIN INSERT INTO violations VALUES ('a subject is over its limit: '
            || NEW.reserved || ' reserved and ' || NEW.settled || ' settled'); END;
    CREATE TRIGGER watch_decisions AFTER UPDATE OF state ON decisions
        WHEN OLD.state IN ('scored', 'cached', 'judge_error', 'nothing_to_judge', 'overloaded', 'sampled_out', 'filtered')
        AND NEW.state <> 'sampled'
        BEGIN INSERT INTO violations VALUES ('trace ' || NEW.trace || ' was decided twice: ' || OLD.state || ', then '
            || NEW.state); END;
    CREATE TRIGGER watch_alerts AFTER UPDATE OF resolved ON alerts WHEN OLD.resolved IS NOT NULL
        BEGIN INSERT INTO violations VALUES ('alert ' || NEW.id || ' was closed twice'); END;
";

/// What contradicts itself is counted.
const CONTRADICTIONS: &[(&str, &str)] = &[
    (
        "the reservations of a month are not those that are open",
        "SELECT COUNT(*) FROM spend_months m WHERE m.reserved <> COALESCE((SELECT SUM(r.amount) FROM reservations r
            WHERE r.project = m.project AND r.month = m.month), 0)",
    ),
    (
        "a month has not settled what its ledger says",
        "SELECT COUNT(*) FROM spend_months m WHERE m.settled <> COALESCE((SELECT SUM(l.amount) FROM spend_ledger l
            WHERE l.project = m.project AND l.month = m.month AND l.kind <> 'reserve'), 0)",
    ),
    (
        "the subjects of a month do not add up to it",
        "SELECT COUNT(*) FROM spend_months m WHERE m.settled + m.reserved <> (SELECT SUM(s.settled + s.reserved)
            FROM spend_subjects s WHERE s.project = m.project AND s.month = m.month)",
    ),
    (
        "a reservation is settled twice, or settled and open",
        "SELECT COUNT(*) FROM (SELECT reservation FROM spend_ledger WHERE kind <> 'reserve'
            UNION ALL SELECT id FROM reservations) GROUP BY reservation HAVING 1 < COUNT(*)",
    ),
    (
        "decisions are counted wrongly",
        "SELECT COUNT(*) FROM (SELECT project, monitor, state, SUM(n) AS n FROM decision_tallies
            GROUP BY project, monitor, state) t WHERE t.n <> (SELECT COUNT(*) FROM decisions d
            WHERE d.project = t.project AND d.monitor = t.monitor AND d.state = t.state)",
    ),
    (
        "scores are counted wrongly",
        "SELECT COUNT(*) FROM (SELECT project, monitor, judge, criterion, SUM(n) AS n, SUM(x) AS x FROM score_tallies
            GROUP BY project, monitor, judge, criterion) t WHERE 0.000001 < ABS(t.x - (SELECT COALESCE(SUM(s.unit), 0)
            FROM monitor_scores s WHERE s.project = t.project AND s.monitor = t.monitor AND s.judge = t.judge
            AND s.criterion = t.criterion)) OR t.n <> (SELECT COUNT(s.unit)
            FROM monitor_scores s WHERE s.project = t.project AND s.monitor = t.monitor AND s.judge = t.judge
            AND s.criterion = t.criterion)",
    ),
    (
        "a trace that is not judged has scores in the figures",
        "SELECT COUNT(*) FROM monitor_scores s LEFT JOIN decisions d ON d.project = s.project AND d.trace = s.trace
            AND d.monitor = s.monitor WHERE s.rescore = ''
            AND COALESCE(d.state, '') NOT IN ('scored', 'cached', 'judge_error', 'over_budget')",
    ),
    (
        "a trace that is scored has no score",
        "SELECT COUNT(*) FROM decisions d WHERE d.state IN ('scored', 'cached') AND NOT EXISTS (SELECT 1
            FROM monitor_scores s WHERE s.project = d.project AND s.monitor = d.monitor AND s.trace = d.trace
            AND s.rescore = '' AND s.criterion = '' AND s.unit IS NOT NULL)",
    ),
    (
        // Each member of a panel has its own scores, also if the panel has none.
        "a trace with a judge error or without budget has a score of all judges together",
        "SELECT COUNT(*) FROM decisions d WHERE d.state IN ('judge_error', 'over_budget') AND EXISTS (SELECT 1
            FROM monitor_scores s WHERE s.project = d.project AND s.monitor = d.monitor AND s.trace = d.trace
            AND s.rescore = '' AND s.criterion = '' AND s.unit IS NOT NULL AND (s.judge LIKE '% + %'
            OR (SELECT v.settings FROM monitor_versions v WHERE v.id = d.monitor_version) NOT LIKE '%gpt-5-nano%'))",
    ),
    (
        // While a monitor is paused, traces wait without jobs. Jobs that are missing after it was resumed are added within
        // two minutes; `is_at_rest` notices those that are not.
        "a trace waits for a judge and has no job",
        "SELECT COUNT(*) FROM decisions d JOIN monitors m ON m.id = d.monitor AND NOT EXISTS (SELECT 1 FROM alerts a
            WHERE a.project = m.project AND a.kind = 'monitor_paused' AND a.subject = m.name)
            WHERE d.state IN ('sampled', 'stale', 'pending') AND NOT EXISTS (SELECT 1 FROM jobs j
            WHERE j.kind = 'monitor' AND j.dedupe LIKE d.monitor || '//' || d.trace || '@%')",
    ),
    (
        "an alert was raised while another of its cause was open",
        "SELECT COUNT(*) FROM alerts a JOIN alerts b ON b.project = a.project AND b.kind = a.kind
            AND b.subject = a.subject AND a.id < b.id AND (a.resolved IS NULL OR b.raised < a.resolved)",
    ),
];

impl WatchedDatabase {
    /// # Panics
    ///
    /// Where the database cannot be made.
    pub async fn make() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a temporary folder");
        let path = folder.path().join("jurist.db").display().to_string();
        let store = Store::open_with(&path, OPTIONS).await.expect("a new file opens");
        let mut tx = store.db.begin().await.expect("a new file can be written");
        tx.script(WATCH.to_owned()).await.expect("the statements are right");
        tx.commit().await.expect("a new file can be written");
        store.close().await;
        Self { folder }
    }

    /// # Panics
    ///
    /// Where it cannot be copied.
    pub async fn copy(&self) -> WatchedScene {
        let folder = tempfile::tempdir().expect("there is room for a temporary folder");
        let path = folder.path().join("jurist.db");
        std::fs::copy(self.folder.path().join("jurist.db"), &path).expect("there is room for a copy");
        let store = Store::connect(&path.display().to_string(), OPTIONS).await.expect("a copy opens");
        WatchedScene { store, _folder: folder }
    }
}

const OPTIONS: StoreOptions = StoreOptions {
    connections: 1,
    sync: Sync::Normal,
    patience: std::time::Duration::from_secs(60),
    max_pages: None,
};

impl Store {
    /// What is wrong with it.
    pub async fn violations(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        for row in self.db.fetch("SELECT what FROM violations", Vec::new()).await? {
            problems.push(row.get("what")?);
        }
        for (what, count) in CONTRADICTIONS {
            let rows = self.db.fetch(*count, Vec::new()).await?;
            let n: i64 = rows.first().map_or(Ok(0), |row| row.get("COUNT(*)"))?;
            if n != 0 {
                problems.push(format!("{what} ({n})"));
            }
        }
        Ok(problems)
    }

    /// A subject may cost so many billionths of a dollar in a month.
    pub async fn watch_limit(&self, subject: &str, most: i64) -> Result<(), StoreError> {
        self.db.execute("INSERT INTO subject_limits VALUES ($1, $2)", args![subject, most]).await.map(drop)
    }

    /// Whether everything is done that is not put off for long: jobs, reservations, traces and decisions.
    pub async fn is_at_rest(&self, before: jurist_core::grade::Time) -> Result<bool, StoreError> {
        let sql = "SELECT (SELECT COUNT(*) FROM jobs WHERE state <> 'dead' AND ready < $1) + (SELECT COUNT(*)
            FROM reservations) + (SELECT COUNT(*) FROM traces WHERE state <> 'finished' OR is_considered = 0)
            + (SELECT COUNT(*) FROM decisions WHERE state IN ('sampled', 'stale', 'pending')) AS n";
        Ok(self.db.one(sql, args![before]).await?.get::<i64>("n")? == 0)
    }

    /// All that was settled in any month, and all that is reserved, in billionths of a dollar.
    pub async fn accounted(&self) -> Result<i64, StoreError> {
        let sql = "SELECT COALESCE(SUM(settled + reserved), 0) AS n FROM spend_months";
        self.db.one(sql, Vec::new()).await?.get("n")
    }

    /// Who has a job, if it is there.
    pub async fn lease_holder(&self, job: &str) -> Result<Option<LeaseHolder>, StoreError> {
        let sql = "SELECT state, leased_by, attempts FROM jobs WHERE id = $1";
        let row = self.db.optional(sql, args![job]).await?;
        let read = |row: crate::db::DbRow| {
            Ok(LeaseHolder {
                state: row.get("state")?,
                worker: row.get("leased_by")?,
                attempts: row.get("attempts")?,
            })
        };
        row.map(read).transpose()
    }

    /// The score of a trace as a whole that is in the figures of monitors, of each judge.
    pub async fn live_scores(&self, trace: &TraceId) -> Result<Vec<f64>, StoreError> {
        let sql = "SELECT unit FROM monitor_scores WHERE trace = $1 AND rescore = '' AND criterion = ''
            AND unit IS NOT NULL ORDER BY judge";
        self.db.fetch(sql, args![trace]).await?.iter().map(|row| row.get("unit")).collect()
    }
}
