//! Pictures of runs beside each other.

use crate::chart::{Chart, Forest, ForestRow, MeasuredValue, Radar, RadarSeries};
use crate::quantity::plural;
use crate::run::Run;
use crate::stats::{Comparison, Difference, estimate_run_means};

/// The pass rate and each criterion, and below them the score; `None` if no case was decided by both.
pub fn build_comparison_forest(compared: &Comparison) -> Option<Chart> {
    let row = |name: &str, it: &Difference| ForestRow {
        label: name.to_owned(),
        measure: MeasuredValue::new(Some(it.difference), it.interval),
        n: it.n,
    };
    let score = compared.score.as_ref()?;
    // A rubric of one question has nothing to add.
    let criteria = compared.criteria.iter().filter(|_| 1 < compared.criteria.len());
    let criteria = criteria.map(|(name, it)| row(name, it));
    let rows = compared.pass_rate.iter().map(|it| row("pass rate", it)).chain(criteria).collect();
    let title = format!("After minus before, {}", plural(compared.n_cases, "case"));
    Some(Chart::Forest(Forest { title, rows, whole: Some(row("score", score)), reference: 0.0 }))
}

/// The mean of each criterion, a shape for each run; `None` if nothing was scored.
pub fn build_comparison_radar(runs: &[(String, &Run)]) -> Option<Chart> {
    let means: Vec<_> = runs.iter().map(|(name, run)| (name, estimate_run_means(run).1)).collect();
    let mut axes: Vec<String> = Vec::new();
    for (id, _) in means.iter().flat_map(|it| &it.1) {
        if !axes.contains(id) {
            axes.push(id.clone());
        }
    }
    let series = means.iter().map(|(name, means)| {
        let of = |axis: &String| means.iter().find(|it| it.0 == *axis).map(|it| it.1);
        let values = axes
            .iter()
            .map(|it| MeasuredValue::new(of(it).map(|it| it.mean), of(it).and_then(|it| it.interval)));
        RadarSeries { name: (*name).clone(), values: values.collect() }
    });
    let series = series.collect();
    let mut marks: Vec<f64> =
        runs.iter().flat_map(|(_, run)| run.rubrics.keys().filter_map(|it| run.pass_mark(it))).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let mark = if let [mark] = marks[..] { Some(mark) } else { None };
    let title = "Criteria".to_owned();
    (!axes.is_empty()).then_some(Chart::Radar(Radar { title, axes, series, mark }))
}
