//! Maintenance of a database: backup, integrity check, and size.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};

use crate::db::{Db, args, statements};
use crate::open::create_private;
use crate::pack::{hash, unpack};
use crate::{Store, StoreError};

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegrityProblem {
    /// A table, or `integrity` for problems that the engine reports.
    pub what: String,
    /// The row, or the number of rows.
    pub which: String,
    pub why: String,
}

statements! {
    LOST_CONTENTS = "SELECT COUNT(*) AS n FROM trace_contents WHERE NOT EXISTS
        (SELECT 1 FROM traces WHERE traces.project = trace_contents.project AND traces.id = trace_contents.trace)";
    LOST_PIECES = "SELECT COUNT(*) AS n FROM pieces WHERE NOT EXISTS
        (SELECT 1 FROM traces WHERE traces.project = pieces.project AND traces.id = pieces.trace)";
    LOST_DETAILS = "SELECT COUNT(*) AS n FROM grade_details WHERE NOT EXISTS
        (SELECT 1 FROM grades WHERE grades.id = grade_details.grade)";
    LOST_TRACES = "SELECT COUNT(*) AS n FROM traces WHERE NOT EXISTS
        (SELECT 1 FROM projects WHERE projects.id = traces.project)";
    LOST_GRADES = "SELECT COUNT(*) AS n FROM grades WHERE NOT EXISTS
        (SELECT 1 FROM rubric_versions WHERE rubric_versions.id = grades.rubric_version)";
    LOST_VERDICTS = "SELECT COUNT(*) AS n FROM verdicts WHERE NOT EXISTS
        (SELECT 1 FROM rubric_versions WHERE rubric_versions.id = verdicts.rubric_version)";
    LOST_DECISIONS = "SELECT COUNT(*) AS n FROM decisions WHERE NOT EXISTS
        (SELECT 1 FROM monitors WHERE monitors.id = decisions.monitor)";
    EMPTY_TRACES = "SELECT COUNT(*) AS n FROM traces WHERE state = 'finished' AND NOT EXISTS
        (SELECT 1 FROM trace_contents WHERE trace_contents.project = traces.project
         AND trace_contents.trace = traces.id AND trace_contents.revision = traces.revision)";
    MISCOUNTED_GRADES = "SELECT (SELECT COUNT(*) FROM grades) - (SELECT CAST(COALESCE(SUM(n_scored + n_not_applicable
        + n_abstained + n_failed + n_deferred), 0) AS BIGINT) FROM grade_tallies) AS n";
    MISCOUNTED_VERDICTS = "SELECT (SELECT COUNT(*) FROM verdicts) - (SELECT CAST(COALESCE(SUM(n_pass + n_fail
        + n_error + n_deferred), 0) AS BIGINT) FROM verdict_tallies) AS n";
    MISCOUNTED_DECISIONS = "SELECT (SELECT COUNT(*) FROM decisions) - (SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT)
        FROM decision_tallies) AS n";
    MISCOUNTED_SCORES = "SELECT (SELECT COUNT(*) FROM monitor_scores) - (SELECT CAST(COALESCE(SUM(n + n_errors), 0)
        AS BIGINT) FROM score_tallies) AS n";
    MISCOUNTED_MONEY = "SELECT COUNT(*) AS n FROM spend_months WHERE reserved <> (SELECT CAST(COALESCE(SUM(amount), 0)
        AS BIGINT) FROM reservations WHERE reservations.project = spend_months.project
        AND reservations.month = spend_months.month)";
    MISCOUNTED_SUBJECTS = "SELECT COUNT(*) AS n FROM spend_subjects s WHERE s.reserved <> (SELECT CAST(COALESCE(
        SUM(amount), 0) AS BIGINT) FROM reservations r WHERE r.project = s.project AND r.month = s.month
        AND r.subject = s.subject)";
    MISCOUNTED_PAYMENTS = "SELECT COUNT(*) AS n FROM spend_months WHERE settled <> (SELECT CAST(COALESCE(SUM(amount), 0)
        AS BIGINT) FROM spend_ledger l WHERE l.project = spend_months.project AND l.month = spend_months.month
        AND l.kind IN ('settle', 'assume'))";
    MISCOUNTED_DAYS = "SELECT (SELECT COUNT(*) FROM spend_ledger WHERE kind IN ('settle', 'assume'))
        - (SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM spend_days) AS n";
    LOST_VERSIONS = "SELECT COUNT(*) AS n FROM datasets WHERE 0 < version AND NOT EXISTS
        (SELECT 1 FROM dataset_versions v WHERE v.dataset = datasets.id AND v.number = datasets.version)";
    MISCOUNTED_CASES = "SELECT COUNT(*) AS n FROM dataset_versions v WHERE v.n_added + v.n_changed <> (SELECT COUNT(*)
        FROM dataset_cases c WHERE c.dataset = v.dataset AND c.added_in = v.number)
        OR v.n_removed + v.n_changed <> (SELECT COUNT(*)
        FROM dataset_cases c WHERE c.dataset = v.dataset AND c.removed_in = v.number)";
    UNERASED_CASES = "SELECT COUNT(*) AS n FROM dataset_cases c WHERE c.trace IS NOT NULL
        AND (c.body IS NOT NULL OR c.hash IS NOT NULL OR c.title IS NOT NULL) AND EXISTS
        (SELECT 1 FROM traces WHERE traces.project = c.project AND traces.id = c.trace AND traces.state = 'erased')";
    MISCOUNTED_TASKS = "SELECT COUNT(*) AS n FROM annotation_tasks t WHERE t.n_open <> (SELECT COUNT(*)
        FROM annotation_items i WHERE i.task = t.id AND i.role = 'item' AND i.state = 'open')";
    MISCOUNTED_ITEMS = "SELECT COUNT(*) AS n FROM annotation_items i WHERE i.n_submitted <> (SELECT COUNT(*)
        FROM assignments a WHERE a.item = i.id AND a.state = 'submitted')";
    OUTDATED_ASSIGNMENTS = "SELECT COUNT(*) AS n FROM assignments a JOIN annotation_items i ON i.id = a.item
        WHERE a.item_role <> i.role OR a.is_item_open <> CASE WHEN i.state = 'open' THEN 1 ELSE 0 END";
    CASES = "SELECT dataset, place, key, hash, body FROM dataset_cases
        WHERE (dataset, place) > ($1, $2) AND body IS NOT NULL ORDER BY dataset, place LIMIT $3";
    CONTENTS = "SELECT project, trace, revision, hash, body FROM trace_contents
        WHERE (project, trace, revision) > ($1, $2, $3) ORDER BY project, trace, revision LIMIT $4";
    PIECES = "SELECT project, trace, id, hash, body FROM pieces
        WHERE (project, trace, id) > ($1, $2, $3) ORDER BY project, trace, id LIMIT $4";
}

/// Statements that count violations, with the meaning of a count above zero.
const COUNTS: &[(&str, &str, &str)] = &[
    (LOST_CONTENTS, "trace_contents", "their traces are missing"),
    (LOST_PIECES, "pieces", "their traces are missing"),
    (LOST_DETAILS, "grade_details", "their grades are missing"),
    (LOST_TRACES, "traces", "their projects are missing"),
    (LOST_GRADES, "grades", "their rubric versions are missing"),
    (LOST_VERDICTS, "verdicts", "their rubric versions are missing"),
    (LOST_DECISIONS, "decisions", "their monitors are missing"),
    (EMPTY_TRACES, "traces", "they are finished and have no content"),
    (MISCOUNTED_GRADES, "grade_tallies", "grades are missing from the sums by day"),
    (MISCOUNTED_VERDICTS, "verdict_tallies", "verdicts are missing from the sums by day"),
    (MISCOUNTED_DECISIONS, "decision_tallies", "decisions are missing from the sums by day"),
    (MISCOUNTED_SCORES, "score_tallies", "scores of monitors are missing from the sums by day"),
    (MISCOUNTED_MONEY, "spend_months", "the reserved amount is not the sum of the reservations"),
    (MISCOUNTED_SUBJECTS, "spend_subjects", "the reserved amount is not the sum of the reservations"),
    (MISCOUNTED_DAYS, "spend_days", "payments are missing from the sums by day"),
    (MISCOUNTED_PAYMENTS, "spend_months", "the settled amount is not the sum of the payments"),
    (LOST_VERSIONS, "datasets", "their newest versions are missing"),
    (MISCOUNTED_CASES, "dataset_versions", "their numbers of changes are not those of their cases"),
    (MISCOUNTED_TASKS, "annotation_tasks", "their numbers of open items are not those of their items"),
    (MISCOUNTED_ITEMS, "annotation_items", "their numbers of answers are not those of their assignments"),
    (OUTDATED_ASSIGNMENTS, "assignments", "what they store about their items is not what the items say"),
    (UNERASED_CASES, "dataset_cases", "their traces are erased, and their texts are not"),
];

const PAGE: usize = 200;

/// Cases in memory; one can have 32 MiB.
const CASE_PAGE: usize = 20;

impl Store {
    /// Copies the whole database to a new file while other connections read and write.
    pub async fn backup(&self, path: &Path) -> Result<(), StoreError> {
        let Db::Lite { writer, .. } = &self.db else {
            return Err(StoreError::Unsupported(
                "a PostgreSQL database is copied with `pg_dump --format=custom`",
            ));
        };
        if path.exists() {
            return Err(StoreError::Taken { what: "file", id: path.display().to_string() });
        }
        create_private(path).map_err(|error| StoreError::Unreachable {
            place: path.display().to_string(),
            error: sqlx::Error::Io(error),
        })?;
        // A separate connection, because it must not block the writer, and reading connections cannot write files.
        let mut connection = writer.connect_options().connect().await?;
        let name = path.display().to_string();
        sqlx::query("VACUUM INTO $1").bind(name.clone()).execute(&mut connection).await?;
        connection.close().await?;
        // Windows syncs a file only if it is open for writing.
        let synced = std::fs::OpenOptions::new().write(true).open(path).and_then(|file| file.sync_all());
        synced.map_err(|error| StoreError::Unreachable { place: name, error: sqlx::Error::Io(error) })
    }

    /// Checks all invariants, and reads every trace and every case of a dataset. An empty list means that there are no
    /// problems.
    pub async fn check(&self) -> Result<Vec<IntegrityProblem>, StoreError> {
        let mut problems = self.check_engine().await?;
        for (sql, what, why) in COUNTS {
            let n: i64 = self.db.one(*sql, Vec::new()).await?.get("n")?;
            if n != 0 {
                problems.push(IntegrityProblem {
                    what: (*what).to_owned(),
                    which: n.to_string(),
                    why: (*why).to_owned(),
                });
            }
        }
        self.check_contents(&mut problems).await?;
        self.check_pieces(&mut problems).await?;
        self.check_dataset_cases(&mut problems).await?;
        Ok(problems)
    }

    /// Returns free space to the file system.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        match &self.db {
            Db::Lite { writer, .. } => {
                for sql in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                    sqlx::query(sql).execute(writer).await?;
                }
            }
            Db::Pg(pool) => sqlx::raw_sql("VACUUM (ANALYZE)").execute(pool).await.map(drop)?,
        }
        Ok(())
    }

    /// Moves pages from SQLite's write-ahead log into its file while other connections work. Otherwise the writer does
    /// it during a commit, and all writes wait for it.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        if self.db.is_pg() {
            return Ok(());
        }
        // Pages written meanwhile stay in the log, and the log restarts only when it is empty. After three rounds the
        // rest waits for the next call, so that steady writing cannot keep this loop busy.
        for _ in 0..3 {
            let row = self.db.one("PRAGMA wal_checkpoint(PASSIVE)", Vec::new()).await?;
            if row.get::<i64>("log")? == row.get::<i64>("checkpointed")? {
                break;
            }
        }
        Ok(())
    }

    /// Runs SQLite's own integrity check. PostgreSQL is left to its own tools.
    async fn check_engine(&self) -> Result<Vec<IntegrityProblem>, StoreError> {
        let mut problems = Vec::new();
        if self.db.is_pg() {
            return Ok(problems);
        }
        for row in self.db.fetch("PRAGMA integrity_check", Vec::new()).await? {
            let why: String = row.get("integrity_check")?;
            if why != "ok" {
                problems.push(IntegrityProblem {
                    what: "integrity".to_owned(),
                    which: self.place.clone(),
                    why,
                });
            }
        }
        for row in self.db.fetch("PRAGMA foreign_key_check", Vec::new()).await? {
            let (what, parent): (String, String) = (row.get("table")?, row.get("parent")?);
            let which = row.get::<Option<i64>>("rowid")?.map(|row| row.to_string()).unwrap_or_default();
            problems.push(IntegrityProblem { what, which, why: format!("its row in {parent} is missing") });
        }
        Ok(problems)
    }

    async fn check_contents(&self, problems: &mut Vec<IntegrityProblem>) -> Result<(), StoreError> {
        let (mut project, mut trace, mut revision) = (String::new(), String::new(), 0_i64);
        loop {
            let rows = self.db.fetch(CONTENTS, args![&project, &trace, revision, PAGE]).await?;
            for row in &rows {
                (project, trace, revision) = (row.get("project")?, row.get("trace")?, row.get("revision")?);
                let fault = find_content_fault(&row.get::<Vec<u8>>("body")?, &row.get::<String>("hash")?);
                let which = format!("{project} {trace} {revision}");
                problems.extend(fault.map(|why| IntegrityProblem {
                    what: "trace_contents".to_owned(),
                    which,
                    why,
                }));
            }
            if rows.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn check_pieces(&self, problems: &mut Vec<IntegrityProblem>) -> Result<(), StoreError> {
        let (mut project, mut trace, mut id) = (String::new(), String::new(), String::new());
        loop {
            let rows = self.db.fetch(PIECES, args![&project, &trace, &id, PAGE]).await?;
            for row in &rows {
                (project, trace, id) = (row.get("project")?, row.get("trace")?, row.get("id")?);
                let Some(body) = row.get::<Option<Vec<u8>>>("body")? else { continue };
                let fault = find_content_fault(&body, &row.get::<String>("hash")?);
                let which = format!("{project} {trace} {id}");
                problems.extend(fault.map(|why| IntegrityProblem { what: "pieces".to_owned(), which, why }));
            }
            if rows.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn check_dataset_cases(&self, problems: &mut Vec<IntegrityProblem>) -> Result<(), StoreError> {
        let (mut dataset, mut place) = (String::new(), 0_i64);
        loop {
            let rows = self.db.fetch(CASES, args![&dataset, place, CASE_PAGE]).await?;
            for row in &rows {
                (dataset, place) = (row.get("dataset")?, row.get("place")?);
                let expected = row.get::<Option<String>>("hash")?.unwrap_or_default();
                let fault = find_content_fault(&row.get::<Vec<u8>>("body")?, &expected);
                let which = format!("{dataset} {}", row.get::<String>("key")?);
                problems.extend(fault.map(|why| IntegrityProblem {
                    what: "dataset_cases".to_owned(),
                    which,
                    why,
                }));
            }
            if rows.len() < CASE_PAGE {
                return Ok(());
            }
        }
    }
}

fn find_content_fault(body: &[u8], expected: &str) -> Option<String> {
    match unpack(body) {
        Err(why) => Some(why),
        Ok(bytes) => (hash(&bytes) != expected).then(|| "the content differs from its hash".to_owned()),
    }
}
