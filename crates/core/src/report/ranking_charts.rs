//! Pictures of who is better.

use crate::chart::{Chart, Forest, ForestRow, MatrixChart, MeasuredValue, Shade};
use crate::stats::ranking::{Pair, Ranked, Ranking, WinRates};

/// Strengths with their intervals, in this order.
pub fn build_strength_forest(order: &[usize], ranking: &Ranking, pairs: &[Pair]) -> Chart {
    let row = |at: &usize| {
        let Ranked { name, strength } = &ranking.players[*at];
        ForestRow {
            label: name.clone(),
            measure: MeasuredValue::new(Some(strength.value), strength.interval),
            n: pairs.iter().filter(|pair| pair.first == *at || pair.second == *at).count(),
        }
    };
    let (title, rows) = ("Strengths in log-odds".to_owned(), order.iter().map(row).collect());
    Chart::Forest(Forest { title, rows, whole: None, reference: 0.0 })
}

/// How often each wins against each, in this order.
pub fn build_win_matrix(order: &[usize], names: &[String], rates: &WinRates) -> Chart {
    let names: Vec<String> = order.iter().map(|at| names[*at].clone()).collect();
    let cells =
        order.iter().map(|one| order.iter().map(|other| rates.rate(*one, *other)).collect()).collect();
    Chart::Matrix(MatrixChart {
        title: "Share of comparisons won".to_owned(),
        row_name: "who wins".to_owned(),
        column_name: "against whom".to_owned(),
        rows: names.clone(),
        columns: names,
        cells,
        shade: Shade::Unit,
    })
}
