//! One suite over both engines.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod annotation;
mod care;
mod datasets;
mod grading;
mod jobs;
mod money;
mod monitoring;
mod opening;
mod people;
mod runs;
mod small;
mod statements;
mod traces;

use jurist_core::grade::Time;
use jurist_store::ProjectId;
use jurist_store::testing::Scene;

/// Seconds after some day in 2026.
fn at(seconds: i64) -> Time {
    Time::from_micros(1_790_000_000_000_000 + seconds * 1_000_000)
}

/// What takes each migration back, the newest first.
const UNDO: [(i64, &[&str]); 11] = [
    (17, &["ALTER TABLE runs DROP COLUMN scale_min", "ALTER TABLE runs DROP COLUMN scale_max"]),
    (
        16,
        &[
            "DROP INDEX assignments_own",
            "DROP INDEX annotation_items_counts",
            "DROP INDEX annotation_items_wanted",
            "ALTER TABLE annotation_tasks DROP COLUMN n_open",
            "ALTER TABLE annotation_items DROP COLUMN n_submitted",
            "ALTER TABLE assignments DROP COLUMN item_role",
            "ALTER TABLE assignments DROP COLUMN is_item_open",
            "CREATE INDEX assignments_account ON assignments (account, task, state)",
            "CREATE INDEX annotation_items_balanced ON annotation_items (task, role, n_given, turn) WHERE state = 'open'",
        ],
    ),
    (15, &["ALTER TABLE run_results DROP COLUMN base"]),
    (14, &["DROP TABLE run_labels"]),
    (13, &["DROP TABLE dataset_cases", "DROP TABLE dataset_versions", "DROP TABLE datasets"]),
    (12, &["ALTER TABLE alerts DROP COLUMN snoozed_until"]),
    (
        11,
        &[
            "DROP TABLE run_tags",
            "DROP INDEX runs_suite",
            "ALTER TABLE runs DROP COLUMN branch",
            "ALTER TABLE runs DROP COLUMN commit_hash",
            "ALTER TABLE runs DROP COLUMN author",
            "ALTER TABLE runs DROP COLUMN ci_url",
        ],
    ),
    (9, &["ALTER TABLE decisions DROP COLUMN revision", "ALTER TABLE traces DROP COLUMN has_content"]),
    (
        8,
        &[
            "DROP TABLE spend_days",
            "DROP INDEX spend_ledger_months",
            "CREATE INDEX spend_ledger_days ON spend_ledger (time)",
        ],
    ),
    (7, &["DROP INDEX spend_ledger_days", "CREATE INDEX spend_ledger_time ON spend_ledger (time)"]),
    (
        6,
        &[
            "DROP INDEX traces_cost",
            "DROP INDEX traces_duration",
            "DROP INDEX traces_score",
            "DROP INDEX monitor_scores_series",
            "DROP INDEX verdicts_status",
            "DROP INDEX decisions_state",
            "ALTER TABLE traces DROP COLUMN title",
            "ALTER TABLE traces DROP COLUMN score",
            "ALTER TABLE traces DROP COLUMN scored",
        ],
    ),
];

/// Makes the database what it was before this migration and all that follow.
async fn undo_migrations(scene: &Scene, first: i64) {
    for sql in UNDO.iter().filter(|(version, _)| first <= *version).flat_map(|(_, undo)| *undo) {
        scene.execute(sql).await.unwrap();
    }
    scene.execute(&format!("DELETE FROM jurist_schema WHERE version >= {first}")).await.unwrap();
}

async fn project(scene: &Scene) -> ProjectId {
    scene.store.add_project("support", at(0)).await.unwrap().id
}
