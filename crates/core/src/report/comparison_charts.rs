//! Charts that compare runs.

use std::collections::BTreeMap;

use super::score_text::{criterion_score_scales, shared_score_scale};
use crate::chart::{Chart, Forest, ForestRow, MeasuredValue, Radar, RadarSeries};
use crate::quantity::plural;
use crate::run::Run;
use crate::stats::comparison::{Comparison, Difference};
use crate::stats::summaries::estimate_run_means;

/// The pass rate and each criterion, and below them the score; `None` if no case was decided by both.
///
/// Differences are on the scales of `after`: scores of other rubrics, and criteria with another scale before, are not
/// compared.
pub fn build_comparison_forest(compared: &Comparison, after: &Run) -> Option<Chart> {
    let measure =
        |difference: &Difference| MeasuredValue::new(Some(difference.difference), difference.interval);
    let row = |name: &str, difference: &Difference, scale: Option<(f64, f64)>| ForestRow {
        label: name.to_owned(),
        measure: measure(difference).as_difference_on_scale(scale),
        n: difference.n,
    };
    let score = compared.score.as_ref()?;
    // A rubric of one question has nothing to add.
    let criteria = compared.criteria.iter().filter(|_| 1 < compared.criteria.len());
    let scales = criterion_score_scales(after);
    let criteria = criteria.map(|(name, difference)| row(name, difference, scales.get(name).copied()));
    let pass_rate = compared.pass_rate.iter().map(|difference| ForestRow {
        label: "pass rate".to_owned(),
        measure: measure(difference).as_share(),
        n: difference.n,
    });
    let rows = pass_rate.chain(criteria).collect();
    let title = format!("After minus before, {}", plural(compared.n_cases, "case"));
    let whole = Some(row("score", score, shared_score_scale(after)));
    Some(Chart::Forest(Forest { title, rows, whole, reference: 0.0 }))
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
    let scales = shared_criterion_scales(runs);
    let series = means.iter().map(|(name, means)| {
        let of = |axis: &String| means.iter().find(|mean| mean.0 == *axis).map(|at| at.1);
        let values = axes.iter().map(|axis| {
            MeasuredValue::new(
                of(axis).map(|estimate| estimate.mean),
                of(axis).and_then(|estimate| estimate.interval),
            )
            .on_scale(scales.get(axis).copied())
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

/// The scale of each criterion, if all runs that have the criterion agree on it.
fn shared_criterion_scales(runs: &[(String, &Run)]) -> BTreeMap<String, (f64, f64)> {
    let mut shared: BTreeMap<String, Option<(f64, f64)>> = BTreeMap::new();
    for (_, run) in runs {
        let (scales, (_, criteria)) = (criterion_score_scales(run), estimate_run_means(run));
        for (criterion, _) in criteria {
            let ends = scales.get(&criterion).copied();
            let known = shared.entry(criterion).or_insert(ends);
            *known = known.filter(|known| Some(*known) == ends);
        }
    }
    shared.into_iter().filter_map(|(criterion, ends)| Some((criterion, ends?))).collect()
}
