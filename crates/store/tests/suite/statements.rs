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
            ("assignments::NEXT_FEWEST", "annotation_items_balanced (task=? AND role=?)"),
        ] {
            let plan = scene.plan(name).await.unwrap();
            assert!(plan.contains(telling), "{name}: {plan}");
        }
    });
}
