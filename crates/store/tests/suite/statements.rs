//! Every statement is one that both engines take.

use jurist_store::testing::{Scene, for_each_engine};

#[test]
fn every_statement_can_be_prepared() {
    for_each_engine(|scene| async move {
        assert_eq!(scene.bad_statements().await, Vec::<String>::new());
    });
}

/// Without being told how large tables become, SQLite reads all rows of a project for one of its traces.
#[test]
fn sqlite_takes_the_telling_index_from_the_first_row_on() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let scene = Scene::sqlite().await;
        for (name, telling) in [
            ("scores::THERE", "monitor=? AND trace=? AND rubric_version=?"),
            ("scores::WHOLES", "monitor=? AND trace=? AND rubric_version=?"),
            ("scores::LABELLED", "monitor=? AND trace=? AND rubric_version=?"),
            ("scores::IN_ORDER", "COVERING INDEX monitor_scores_series"),
            ("grades::OF_CANDIDATE", "grades_candidate (project=? AND candidate=?)"),
            ("maintenance::MISCOUNTED_PAYMENTS", "spend_ledger_months"),
            ("assignments::NEXT_FEWEST", "annotation_items_wanted (task=? AND role=?)"),
            ("assignments::MINE", "assignments_own (account=? AND task=? AND state=?)"),
            ("assignments::COUNT_OWN", "COVERING INDEX assignments_own (account=? AND task=?)"),
            ("assignments::BY_ANNOTATOR", "COVERING INDEX assignments_own"),
            ("annotate::PROGRESS", "COVERING INDEX annotation_items_counts (task=? AND role=?)"),
        ] {
            let plan = scene.plan(name).await.unwrap();
            assert!(plan.contains(telling), "{name}: {plan}");
        }
    });
}

/// These run with every item of an annotator. If they read rows, each answer would make the next one slower.
#[test]
fn sqlite_counts_progress_from_indexes_alone() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let scene = Scene::sqlite().await;
        for name in ["assignments::COUNT_OWN", "annotate::PROGRESS"] {
            let plan = scene.plan(name).await.unwrap();
            let table = |step: &str| step.split(' ').nth(1).unwrap_or_default().to_owned();
            let reads = |step: &&str| ["assignments", "annotation_items"].contains(&table(step).as_str());
            let steps: Vec<&str> = plan.split("; ").filter(reads).collect();
            assert!(!steps.is_empty(), "{name}: {plan}");
            for step in steps {
                assert!(step.starts_with("SEARCH ") && step.contains("COVERING INDEX"), "{name}: {step}");
            }
        }
    });
}
