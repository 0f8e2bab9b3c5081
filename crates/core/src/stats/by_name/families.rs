//! More estimates on plain JSON: means with errors by cluster, two shares, paired tests, totals of samples,
//! classifications and calibration.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::estimates::StatisticInput;
use crate::stats::basics::bootstrap::{Statistic, bootstrap};
use crate::stats::basics::bounded::{Cluster, mean_interval};
use crate::stats::basics::numbers::{around, ensure_usable_pairs, ensure_usable_values, mean, variance};
use crate::stats::basics::proportion::{ProportionMethod, proportion};
use crate::stats::basics::resample::draws;
use crate::stats::basics::special::{normal_cdf, t_quantile, two_sided_z};
use crate::stats::basics::undefined::Undefined;
use crate::stats::calibration::reliability::reliability;
use crate::stats::comparison::paired::paired_permutation_p;

/// The answer to a named question; `None` for a name that is not ours.
pub(super) fn compute_family_statistic(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    let input = StatisticInput { json: input };
    Some(match name {
        "mean_ci" => mean_ci(input),
        "clustered_se" => clustered_se(input),
        "cluster_bootstrap" => cluster_bootstrap(input),
        "paired_permutation" => paired_permutation(input),
        "paired_bootstrap" => paired_bootstrap(input),
        "two_proportions" => two_proportions(input),
        "horvitz_thompson" => horvitz_thompson(input),
        "classification" => classification(input),
        "calibration" => calibration(input),
        _ => return None,
    })
}

/// Student's interval, as scipy.stats.t.interval gives it, and one for scores on 0..=1 that holds near the ends.
fn mean_ci(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (x, alpha) = (input.numbers(&["x"])?, input.alpha()?);
    ensure_usable_values("value", &x, 2)?;
    let n = x.len() as f64;
    let (middle, se) = (mean(&x), (variance(&x) / n).sqrt());
    let on_unit_scale = x.iter().all(|value| (0.0..=1.0).contains(value)) && (alpha - 0.05).abs() < 1e-9;
    let clusters: Vec<Cluster> = x.iter().copied().map(Cluster::single).collect();
    Ok(json!({
        "mean": middle,
        "se": se,
        "n": x.len(),
        "ci": around(middle, t_quantile(1.0 - alpha / 2.0, n - 1.0) * se),
        "ci_bounded": on_unit_scale.then(|| mean_interval(&clusters)).flatten(),
    }))
}

/// Values by the cluster they belong to.
fn clusters(input: StatisticInput<'_>) -> Result<(Vec<f64>, Vec<Vec<f64>>), Undefined> {
    let x = input.numbers(&["x"])?;
    let names = input.json["clusters"].as_array().filter(|items| items.len() == x.len());
    let Some(names) = names else {
        return Undefined::because("`clusters` is not a list with the cluster of each value");
    };
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in names.iter().zip(&x) {
        groups.entry(name.to_string()).or_default().push(*value);
    }
    if groups.len() < 2 {
        return Undefined::because("there are fewer than two clusters");
    }
    ensure_usable_values("value", &x, 2)?;
    Ok((x, groups.into_values().collect()))
}

/// `se_clustered` without a correction for few clusters (Liang and Zeger); `se_corrected` with that of Stata and
/// statsmodels.
fn clustered_se(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let ((x, groups), alpha) = (clusters(input)?, input.alpha()?);
    let (n, k, middle) = (x.len() as f64, groups.len() as f64, mean(&x));
    let sum = |group: &Vec<f64>| group.iter().map(|group| group - middle).sum::<f64>();
    let se = groups.iter().map(|group| sum(group).powi(2)).sum::<f64>().sqrt() / n;
    let corrected = se * (k / (k - 1.0)).sqrt();
    Ok(json!({
        "mean": middle,
        "n": x.len(),
        "n_clusters": groups.len(),
        "se_naive": (variance(&x) / n).sqrt(),
        "se_clustered": se,
        "se_corrected": corrected,
        "ci": around(middle, t_quantile(1.0 - alpha / 2.0, k - 1.0) * corrected),
    }))
}

fn cluster_bootstrap(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let ((x, groups), alpha) = (clusters(input)?, input.alpha()?);
    let sums: Vec<(f64, f64)> = groups.iter().map(|group| (group.iter().sum(), group.len() as f64)).collect();
    let (n_draws, seed) = resampling(input)?;
    let mut means = draws(n_draws, seed, |chance| {
        let resampled = (0..sums.len()).map(|_| sums[chance.below(sums.len())]);
        let (sum, n) =
            resampled.fold((0.0, 0.0), |(sum, n), (group_sum, group_n)| (sum + group_sum, n + group_n));
        sum / n
    });
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((share * (n_draws as f64 - 1.0)).round() as usize).min(n_draws - 1)];
    Ok(json!({
        "mean": mean(&x),
        "n_clusters": sums.len(),
        "se": variance(&means).sqrt(),
        "percentile": (at(alpha / 2.0), at(1.0 - alpha / 2.0)),
    }))
}

fn resampling(input: StatisticInput<'_>) -> Result<(usize, u64), Undefined> {
    let n_draws = if input.has("resamples") { input.count("resamples")? } else { 9_999 };
    if !(2..=1_000_000).contains(&n_draws) {
        return Undefined::because("`resamples` is not between 2 and 1000000");
    }
    Ok((n_draws, input.seed()?))
}

fn paired_permutation(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (a, b) = (input.numbers(&["a"])?, input.numbers(&["b"])?);
    let p = paired_permutation_p(&a, &b, input.seed()?)?;
    Ok(json!({ "difference": mean(&a) - mean(&b), "p": p, "n": a.len() }))
}

fn paired_bootstrap(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (a, b) = (input.numbers(&["a"])?, input.numbers(&["b"])?);
    ensure_usable_pairs(("value of `a`", &a), ("value of `b`", &b), 2)?;
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let statistic = if input.text("statistic") == "median" { Statistic::Median } else { Statistic::Mean };
    let (n_draws, seed) = resampling(input)?;
    let result = bootstrap(&differences, statistic, input.alpha()?, n_draws, seed)?;
    Ok(json!({
        "difference": result.estimate, "percentile": result.percentile, "bca": result.bca, "basic": result.basic,
    }))
}

/// The pooled z test, as statsmodels' `proportions_ztest`, and Newcombe's interval from two of Wilson's.
fn two_proportions(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let alpha = input.alpha()?;
    let of = |k: &str, n: &str| proportion(input.count(k)?, input.count(n)?, alpha, ProportionMethod::Wilson);
    let (first, second) = (of("k1", "n1")?, of("k2", "n2")?);
    let (n1, n2) = (first.n as f64, second.n as f64);
    let pooled = (first.rate * n1 + second.rate * n2) / (n1 + n2);
    let se = (pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2)).sqrt();
    let difference = first.rate - second.rate;
    let z = (0.0 < se).then(|| difference / se);
    let reach = |a: f64, b: f64| (a * a + b * b).sqrt();
    let ((first_low, first_high), (second_low, second_high)) = (first.interval, second.interval);
    Ok(json!({
        "difference": difference,
        "z": z,
        "p": z.map(|z| 2.0 * normal_cdf(-z.abs())),
        "ci_newcombe": (
            difference - reach(first.rate - first_low, second_high - second.rate),
            difference + reach(first_high - first.rate, second.rate - second_low),
        ),
    }))
}

/// Of values that were each drawn with a known probability, independently of each other.
fn horvitz_thompson(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (y, p) = (input.numbers(&["y"])?, input.numbers(&["probabilities"])?);
    ensure_usable_pairs(("value", &y), ("probability", &p), 1)?;
    if let Some(bad) = p.iter().find(|p| **p <= 0.0 || 1.0 < **p) {
        return Undefined::because(format!("{bad} is not a sampling probability"));
    }
    let z = two_sided_z(input.alpha()?);
    let total: f64 = y.iter().zip(&p).map(|(y, p)| y / p).sum();
    let se = y.iter().zip(&p).map(|(y, p)| (1.0 - p) * (y / p).powi(2)).sum::<f64>().sqrt();
    let mut answer = json!({ "total": total, "se": se, "ci": around(total, z * se) });
    if input.has("N") {
        let n = input.number("N")?;
        if n <= 0.0 {
            return Undefined::because("`N` is not above zero");
        }
        answer["mean"] = json!(total / n);
        answer["mean_se"] = json!(se / n);
        answer["mean_ci"] = json!(around(total / n, z * se / n));
    }
    Ok(answer)
}

/// As scikit-learn counts, with 0 for a share of nothing. Rows of the confusion matrix are the truth.
fn classification(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let list = |key: &str| -> Result<Vec<String>, Undefined> {
        let items = input.json[key].as_array().ok_or_else(|| Undefined(format!("`{key}` is not a list")))?;
        Ok(items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect())
    };
    let (truth, predicted) = (list("truth")?, list("predicted")?);
    if truth.len() != predicted.len() || truth.is_empty() {
        return Undefined::because(format!(
            "{} truths are not for {} predictions",
            truth.len(),
            predicted.len()
        ));
    }
    let labels: Vec<&String> = truth.iter().chain(&predicted).collect::<BTreeSet<_>>().into_iter().collect();
    let place = |label: &String| labels.partition_point(|text| *text < label);
    let mut confusion = vec![vec![0_usize; labels.len()]; labels.len()];
    for (is, answer) in truth.iter().zip(&predicted) {
        confusion[place(is)][place(answer)] += 1;
    }
    let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    let (mut classes, mut f1s, mut supports) = (serde_json::Map::new(), Vec::new(), Vec::new());
    for (at, label) in labels.iter().enumerate() {
        let (right, support) = (confusion[at][at], confusion[at].iter().sum::<usize>());
        let answer = confusion.iter().map(|row| row[at]).sum::<usize>();
        let f1 = share(2 * right, support + answer);
        let class = json!({
            "precision": share(right, answer), "recall": share(right, support), "f1": f1, "support": support,
        });
        classes.insert((*label).clone(), class);
        f1s.push(f1);
        supports.push(support as f64);
    }
    let n = truth.len();
    let accuracy = share((0..labels.len()).map(|at| confusion[at][at]).sum(), n);
    let weighted = f1s.iter().zip(&supports).map(|(f1, support)| f1 * support).sum::<f64>() / n as f64;
    Ok(json!({
        "labels": labels, "confusion": confusion, "accuracy": accuracy, "classes": classes,
        "f1_macro": mean(&f1s), "f1_micro": accuracy, "f1_weighted": weighted,
    }))
}

fn calibration(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let n_bins = if input.has("bins") { input.count("bins")? } else { 10 };
    let diagram =
        reliability(&input.numbers(&["scores"])?, &input.numbers(&["labels"])?, n_bins.min(10_000))?;
    Ok(
        json!({ "brier": diagram.brier, "ece": diagram.ece, "worst_bin": diagram.worst, "bins": diagram.bins }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values: scipy 1.17.1, statsmodels 0.15.0 and scikit-learn 1.9.1.
    #[test]
    fn families_have_the_values_of_reference_packages() {
        let check = |name: &str, input: Json, expected: &[(&str, f64)]| {
            let result = compute_family_statistic(name, &input).unwrap().unwrap();
            for (pointer, expected) in expected {
                let value = result.pointer(pointer).and_then(Json::as_f64);
                assert!(
                    value.is_some_and(|value| (value - expected).abs() < 1e-9),
                    "{name} {pointer}: {result}"
                );
            }
        };
        let x = json!([0.2, 0.4, 0.9, 0.7, 0.5]);
        check(
            "mean_ci",
            json!({ "x": x }),
            &[("/mean", 0.54), ("/ci/0", 0.204_520_861_507_3), ("/ci/1", 0.875_479_138_492_7)],
        );
        check(
            "clustered_se",
            json!({ "x": [1, 0, 1, 1, 0, 0], "clusters": ["a", "a", "b", "b", "c", "c"] }),
            &[("/se_clustered", 0.235_702_260_395_5), ("/se_corrected", 0.288_675_134_594_8)],
        );
        check(
            "two_proportions",
            json!({ "k1": 45, "n1": 60, "k2": 30, "n2": 60 }),
            &[
                ("/z", 2.828_427_124_746_2),
                ("/p", 0.004_677_734_981_0),
                ("/ci_newcombe/0", 0.076_779_571_434_2),
            ],
        );
        check(
            "classification",
            json!({ "truth": ["a", "b", "b", "c"], "predicted": ["a", "b", "c", "c"] }),
            &[
                ("/accuracy", 0.75),
                ("/f1_macro", 7.0 / 9.0),
                ("/classes/b/recall", 0.5),
                ("/confusion/1/2", 1.0),
            ],
        );
        check(
            "horvitz_thompson",
            json!({ "y": [1.0, 2.0], "probabilities": [0.5, 0.25], "N": 12 }),
            &[("/total", 10.0), ("/mean", 10.0 / 12.0), ("/se", 50.0_f64.sqrt())],
        );
        check(
            "calibration",
            json!({ "scores": [0.9, 0.1], "labels": [1, 0] }),
            &[("/brier", 0.01), ("/ece", 0.1)],
        );
        check("paired_permutation", json!({ "a": [1, 1, 1, 1], "b": [0, 0, 0, 0] }), &[("/p", 0.125)]);
    }
}
