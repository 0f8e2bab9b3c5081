//! Every statement is one that both engines take.

use jurist_store::testing::for_each_engine;

#[test]
fn every_statement_can_be_prepared() {
    for_each_engine(|scene| async move {
        assert_eq!(scene.bad_statements().await, Vec::<String>::new());
    });
}
