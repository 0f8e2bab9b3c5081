//! Charts that compare runs.

use crate::chart::{Chart, Forest, ForestRow, MeasuredValue, Radar, RadarSeries};
use crate::quantity::plural;
use crate::run::Run;
use crate::stats::comparison::{Comparison, Difference};
use crate::stats::summaries::estimate_run_means;

/// The pass rate and each criterion, and below them the score; `None` if no case was decided by both.
pub fn build_comparison_forest(compared: &Comparison) -> Option<Chart> {
    let row = |name: &str, difference: &Difference| ForestRow {
        label: name.to_owned(),
        measure: MeasuredValue::new(Some(difference.difference), difference.interval),
        n: difference.n,
    };
    let score = compared.score.as_ref()?;
    // A rubric of one question has nothing to add.
    let criteria = compared.criteria.iter().filter(|_| 1 < compared.criteria.len());
    let criteria = criteria.map(|(name, difference)| row(name, difference));
    let rows =
        compared.pass_rate.iter().map(|difference| row("pass rate", difference)).chain(criteria).collect();
    let title = format!("After minus before, {}", plural(compared.n_cases, "case"));
    Some(Chart::Forest(Forest { title, rows, whole: Some(row("score", score)), reference: 0.0 }))
}

/// The mean of each criterion, a shape for each run; `None` if nothing was scored.
pub fn build_comparison_radar(runs: &[(String, &Run)]) -> Option<Chart> {
    let means: Vec<_> = runs.iter().map(|(name, run)| (name, estimate_run_means(run).1)).collect();
    let mut axes: Vec<String> = Vec::new();
    for (id, _) in means.iter().flat_map(|mean| &mean.1) {
        if !axes.contains(id) {
            axes.push(id.clone());
        }
    }
    let series = means.iter().map(|(name, means)| {
        let of = |axis: &String| means.iter().find(|mean| mean.0 == *axis).map(|at| at.1);
        let values = axes.iter().map(|axis| {
            MeasuredValue::new(
                of(axis).map(|estimate| estimate.mean),
                of(axis).and_then(|estimate| estimate.interval),
            )
        });
        RadarSeries { name: (*name).clone(), values: values.collect() }
    });
    let series = series.collect();
    let mut marks: Vec<f64> = runs
        .iter()
        .flat_map(|(_, run)| run.rubrics.keys().filter_map(|rubric_hash| run.pass_mark(rubric_hash)))
        .collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let mark = if let [mark] = marks[..] { Some(mark) } else { None };
    let title = "Criteria".to_owned();
    (!axes.is_empty()).then_some(Chart::Radar(Radar { title, axes, series, mark }))
}
