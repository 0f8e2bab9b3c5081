//! Intervals, tests, corrections and calibrations on inputs as reference packages take them.
//!
//! No other file knows these keys.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::stats::basics::bootstrap::{Statistic, bootstrap};
use crate::stats::basics::proportion::{ProportionMethod, proportion};
use crate::stats::basics::undefined::{Undefined, ensure_size};
use crate::stats::calibration::mapping::{isotonic, logistic, platt_targets};
use crate::stats::comparison::effect::cohen_h;
use crate::stats::comparison::multiple_comparisons::{Adjustment, adjust, friedman};
use crate::stats::comparison::paired::{Zeros, mcnemar, paired_t, sign_p, signed_ranks};
use crate::stats::comparison::power::{
    Aim, n_pairs, n_pairs_changed, n_per_group, n_per_group_shares, n_per_group_shares_normal,
    power_of_changes, power_of_groups, power_of_pairs, power_of_shares,
};
use crate::stats::monitoring::boundary::{BoundarySides, NormalMixture, Stitched};
use crate::stats::monitoring::sequence::{Sequence, SequenceBound, hedged_sequence};
use crate::stats::sampling::ppi::{Alternative, prediction_powered};
use crate::stats::sampling::rogan_gladen::{BinaryConfusion, corrected_rate};
use crate::stats::sampling::sample::{
    SampledStratum, estimate_stratified_mean, hajek, kish_effective_size, stratified_weighted_mean,
};
use crate::stats::summaries::pass_k::{PassK, TaskTrials, pass_k};

/// The answer to a named question; `None` for a name that is not ours.
pub(super) fn compute_estimate_statistic(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    let input = StatisticInput { json: input };
    Some(match name {
        "proportion_ci" => proportions(input),
        "bootstrap_ci" => bootstraps(input),
        "mcnemar" => compute_mcnemar(input),
        "wilcoxon" => compute_wilcoxon(input),
        "friedman" => compute_friedman(input),
        "multiple_comparisons" => compute_adjusted_p_values(input),
        "survey_weights" => compute_survey_mean(input),
        "ppi" => compute_prediction_powered(input),
        "rogan_gladen" => compute_rogan_gladen(input),
        "isotonic" => compute_isotonic(input),
        "platt" => compute_platt(input),
        "confidence_sequence" => compute_confidence_sequence(input),
        "power" => compute_sample_size(input),
        "pass_k" => compute_pass_k(input),
        _ => return None,
    })
}

/// An input; its methods report missing parts.
#[derive(Clone, Copy)]
pub(super) struct StatisticInput<'a> {
    pub(super) json: &'a Json,
}

impl<'a> StatisticInput<'a> {
    /// Under the first of these names that is there.
    fn any(self, keys: &[&str]) -> Option<&'a Json> {
        keys.iter().map(|key| &self.json[*key]).find(|value| !value.is_null())
    }

    pub(super) fn has(self, key: &str) -> bool {
        !self.json[key].is_null()
    }

    pub(super) fn numbers(self, keys: &[&str]) -> Result<Vec<f64>, Undefined> {
        match self.any(keys) {
            Some(list) => numbers(keys[0], list),
            None => Undefined::because(format!("there is no `{}`", keys[0])),
        }
    }

    pub(super) fn number(self, key: &str) -> Result<f64, Undefined> {
        self.json[key].as_f64().ok_or_else(|| Undefined(format!("`{key}` is not a number")))
    }

    fn number_or(self, key: &str, default: f64) -> Result<f64, Undefined> {
        if self.has(key) { self.number(key) } else { Ok(default) }
    }

    pub(super) fn count(self, key: &str) -> Result<usize, Undefined> {
        parse_count(key, &self.json[key])
    }

    /// What draws are made from; 0 by default.
    pub(super) fn seed(self) -> Result<u64, Undefined> {
        let seed = &self.json["seed"];
        match (seed.as_u64(), seed.as_f64()) {
            _ if seed.is_null() => Ok(0),
            (Some(seed), _) => Ok(seed),
            (None, Some(number)) if 0.0 <= number && number.fract() == 0.0 => Ok(number as u64),
            _ => Undefined::because("`seed` is not a whole number"),
        }
    }

    pub(super) fn alpha(self) -> Result<f64, Undefined> {
        if self.has("conf") { Ok(1.0 - self.number("conf")?) } else { self.number_or("alpha", 0.05) }
    }

    pub(super) fn text(self, key: &str) -> &'a str {
        self.json[key].as_str().unwrap_or_default()
    }
}

fn numbers(name: &str, list: &Json) -> Result<Vec<f64>, Undefined> {
    let Some(items) = list.as_array() else {
        return Undefined::because(format!("`{name}` is not a list of numbers"));
    };
    let number = |(at, value): (usize, &Json)| match value {
        Json::Bool(value) => Ok(f64::from(u8::from(*value))),
        _ => value.as_f64().ok_or_else(|| Undefined(format!("value {} of `{name}` is not a number", at + 1))),
    };
    items.iter().enumerate().map(number).collect()
}

/// Beyond it sums of counts overflow, and the tails of distributions have no digits left.
const MAX_COUNT: f64 = 1e12;

/// A whole number, also when it is written as 3.0.
fn parse_count(name: &str, value: &Json) -> Result<usize, Undefined> {
    match value.as_f64() {
        Some(number) if MAX_COUNT < number => {
            Undefined::because(format!("`{name}` is more than {MAX_COUNT}, beyond which nothing is computed"))
        }
        Some(number) if 0.0 <= number && number.fract() == 0.0 => Ok(number as usize),
        _ => Undefined::because(format!("`{name}` is not a count")),
    }
}

/// A count of things that are held in memory or walked through one by one.
fn bounded_count(name: &str, value: &Json) -> Result<usize, Undefined> {
    let n_items = parse_count(name, value)?;
    ensure_size(&format!("`{name}`"), n_items)?;
    Ok(n_items)
}

fn proportions(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (k, n, alpha) = (input.count("k")?, input.count("n")?, input.alpha()?);
    let of = |method| proportion(k, n, alpha, method).map(|proportion| proportion.interval);
    Ok(json!({
        "wilson": of(ProportionMethod::Wilson)?,
        "agresti_coull": of(ProportionMethod::AgrestiCoull)?,
        "beta": of(ProportionMethod::ClopperPearson)?,
        "jeffreys": of(ProportionMethod::Jeffreys)?,
        "normal": of(ProportionMethod::Wald)?,
    }))
}

fn bootstraps(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let statistic = match input.text("statistic") {
        "" | "mean" => Statistic::Mean,
        "median" => Statistic::Median,
        other => return Undefined::because(format!("`{other}` is not a statistic that can be bootstrapped")),
    };
    let n_draws = if input.has("resamples") { input.count("resamples")? } else { 9_999 };
    if 1_000_000 < n_draws {
        return Undefined::because("`resamples` is more than 1000000");
    }
    let result = bootstrap(&input.numbers(&["x"])?, statistic, input.alpha()?, n_draws, input.seed()?)?;
    Ok(json!({
        "percentile": result.percentile,
        "bca": result.bca,
        "basic": result.basic,
        "bca_acceleration_exact": result.acceleration,
        "jackknife_se_exact": result.jackknife_se,
    }))
}

fn compute_mcnemar(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let cell = |row: usize, column: usize| bounded_count("table", &input.json["table"][row][column]);
    let test = mcnemar(cell(0, 1)?, cell(1, 0)?);
    Ok(json!({
        "exact_p": test.exact_p,
        "exact_stat": test.statistic,
        "mid_p": test.mid_p,
        "chi2_corrected": test.chi2_corrected,
        "p_corrected": test.p_corrected,
        "chi2_uncorrected": test.chi2_uncorrected,
        "p_uncorrected": test.p_uncorrected,
    }))
}

fn compute_wilcoxon(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (a, b) = (input.numbers(&["a", "x"])?, input.numbers(&["b", "y"])?);
    let dropped = signed_ranks(&a, &b, Zeros::Dropped)?;
    let ranked = signed_ranks(&a, &b, Zeros::Ranked)?;
    let student = paired_t(&a, &b).ok();
    Ok(json!({
        "stat": dropped.statistic,
        "p_exact": dropped.p_exact,
        "rank_biserial": dropped.rank_biserial,
        "wilcox_zero": {
            "stat": dropped.statistic,
            "p_normal_approx": dropped.p_normal,
            "p_normal_approx_continuity": dropped.p_normal_continuity,
        },
        "pratt_zero": {
            "stat": ranked.statistic,
            "p_normal_approx": ranked.p_normal,
            "p_normal_approx_continuity": ranked.p_normal_continuity,
        },
        "paired_t": student.map(|student| json!({ "t": student.t, "p": student.p, "ci95_of_difference": student.interval })),
        "sign_test_p": sign_p(&a, &b)?,
    }))
}

fn compute_friedman(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let Some(rows) = input.json["agents"].as_array() else {
        return Undefined::because("there is no `agents`");
    };
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| numbers("agents", row)).collect::<Result<_, _>>()?;
    let test = friedman(&rows)?;
    Ok(json!({ "stat": test.statistic, "p": test.p }))
}

fn compute_adjusted_p_values(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let adjustment = match input.text("method") {
        "bonferroni" => Adjustment::Bonferroni,
        "sidak" => Adjustment::Sidak,
        "holm" => Adjustment::Holm,
        "holm-sidak" => Adjustment::HolmSidak,
        "simes-hochberg" | "hochberg" => Adjustment::Hochberg,
        "hommel" => Adjustment::Hommel,
        "fdr_bh" | "BH" | "benjamini-hochberg" => Adjustment::BenjaminiHochberg,
        "fdr_by" | "BY" | "benjamini-yekutieli" => Adjustment::BenjaminiYekutieli,
        other => return Undefined::because(format!("`{other}` is not an adjustment that is known here")),
    };
    let alpha = input.alpha()?;
    let values = adjust(&input.numbers(&["p"])?, adjustment)?;
    let reject: Vec<bool> = values.iter().map(|value| *value <= alpha).collect();
    Ok(json!({ "p_adjusted": values, "reject": reject }))
}

fn compute_survey_mean(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    if let Some(strata) = input.json["strata"].as_array().filter(|items| items.iter().all(Json::is_object)) {
        return compute_stratified_mean(strata);
    }
    let Some(values) = input.any(&["y", "x", "values"]) else {
        return Ok(json!(kish_effective_size(&input.numbers(&["weights"])?)?));
    };
    let values = numbers("y", values)?;
    let estimate = if let Some(probabilities) = input.any(&["probabilities", "pi", "inclusion_probabilities"])
    {
        hajek(&values, &numbers("probabilities", probabilities)?)?
    } else {
        let (strata, fractions) = sampled_from(input, values.len())?;
        stratified_weighted_mean(
            &values,
            &input.numbers(&["weights", "w"])?,
            &strata,
            &fractions,
            input.alpha()?,
        )?
    };
    Ok(with_ci(json!(estimate)))
}

fn compute_stratified_mean(strata: &[Json]) -> Result<Json, Undefined> {
    let stratum = |(at, value): (usize, &Json)| {
        let value = StatisticInput { json: value };
        let population = value.any(&["population", "N", "size"]).unwrap_or(&Json::Null);
        Ok(SampledStratum {
            name: value
                .any(&["name", "stratum"])
                .and_then(Json::as_str)
                .map_or_else(|| (at + 1).to_string(), str::to_owned),
            population: parse_count("population", population)?,
            scores: value.numbers(&["y", "values", "scores", "x", "sample"])?,
            n_errors: if value.has("n_errors") { value.count("n_errors")? } else { 0 },
        })
    };
    let strata: Vec<SampledStratum> = strata.iter().enumerate().map(stratum).collect::<Result<_, _>>()?;
    Ok(with_ci(json!(estimate_stratified_mean(&strata)?)))
}

/// For each value its stratum, and the share of that stratum which was drawn.
fn sampled_from(input: StatisticInput<'_>, n: usize) -> Result<(Vec<usize>, Vec<f64>), Undefined> {
    let names: Vec<String> = match input.any(&["strata", "stratum"]).and_then(Json::as_array) {
        Some(names) => {
            names.iter().map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned)).collect()
        }
        None => vec![String::new(); n],
    };
    let mut members: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        *members.entry(name).or_default() += 1;
    }
    let populations = input.any(&["population", "N", "fpc"]);
    let fraction = |name: &String| -> Result<f64, Undefined> {
        let population = match populations {
            None => return Ok(0.0),
            Some(Json::Object(map)) => map.get(name).unwrap_or(&Json::Null),
            Some(one) => one,
        };
        match parse_count("population", population)? {
            n if n < members[name.as_str()] => {
                Undefined::because(format!("more than all {n} of `{name}` were sampled"))
            }
            n => Ok(members[name.as_str()] as f64 / n as f64),
        }
    };
    let fractions = names.iter().map(fraction).collect::<Result<_, _>>()?;
    let place = |name: &String| members.keys().position(|key| key == name).unwrap_or_default();
    Ok((names.iter().map(place).collect(), fractions))
}

fn with_ci(mut estimate: Json) -> Json {
    estimate["ci"] = estimate["interval"].clone();
    estimate
}

fn compute_prediction_powered(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let unlabelled = match &input.json["Yhat_unlabeled_counts"] {
        Json::Null => input.numbers(&["Yhat_unlabeled"])?,
        counts => [
            vec![1.0; bounded_count("ones", &counts["ones"])?],
            vec![0.0; bounded_count("zeros", &counts["zeros"])?],
        ]
        .concat(),
    };
    let estimate =
        prediction_powered(&input.numbers(&["Y"])?, &input.numbers(&["Yhat"])?, &unlabelled, input.alpha()?)?;
    let mut answer = json!({
        "classical_mean": estimate.human.mean,
        "classical_ci": estimate.human.interval,
        "judge_only_mean": estimate.naive,
        "ppi_lambda1": { "point": estimate.ppi.mean, "ci": estimate.ppi.interval, "se": estimate.ppi.se },
        "ppi_plus_plus": {
            "point": estimate.ppi_plus_plus.mean, "ci": estimate.ppi_plus_plus.interval, "se": estimate.ppi_plus_plus.se,
        },
        "lambda_unclipped": estimate.lambda_unclipped,
        "lambda": estimate.lambda,
        "labels_to_halve": estimate.labels_to_halve,
        "warning": estimate.warning,
    });
    if input.has("null") {
        let alternative = match input.text("alternative") {
            "" | "two-sided" => Alternative::TwoSided,
            "larger" | "greater" => Alternative::Larger,
            "smaller" | "less" => Alternative::Smaller,
            other => return Undefined::because(format!("`{other}` is not an alternative")),
        };
        answer["p"] = json!(estimate.p_value(input.number("null")?, alternative));
    }
    Ok(answer)
}

fn compute_rogan_gladen(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let labels = BinaryConfusion {
        true_pass: input.count("tp")?,
        false_fail: input.count("fn")?,
        true_fail: input.count("tn")?,
        false_pass: input.count("fp")?,
    };
    let estimate =
        corrected_rate(input.count("judge_pass")?, input.count("n_judged")?, labels, input.alpha()?)?;
    Ok(json!({
        "apparent": estimate.apparent,
        "sensitivity": estimate.sensitivity,
        "specificity": estimate.specificity,
        "corrected_unclipped": estimate.unclipped,
        "corrected": estimate.corrected,
        "se_delta": estimate.se,
        "ci": estimate.interval,
        "labels_to_halve": estimate.labels_to_halve,
        "warnings": estimate.warnings,
    }))
}

fn compute_isotonic(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (x, y) = (input.numbers(&["x", "score"])?, input.numbers(&["y", "label"])?);
    let weights = match input.any(&["w", "weights"]) {
        Some(weights) => numbers("w", weights)?,
        None => vec![1.0; x.len()],
    };
    let mapping = isotonic(&x, &y, &weights)?;
    let at = |places: &[f64]| places.iter().map(|place| mapping.at(*place)).collect::<Vec<f64>>();
    let mut answer = json!({
        "x_thresholds": mapping.x,
        "y_thresholds": mapping.y,
        "fitted_at_inputs": at(&x),
        "fitted": at(&x),
    });
    if input.has("predict_at") {
        answer["predicted"] = json!(at(&input.numbers(&["predict_at"])?));
    }
    Ok(answer)
}

fn compute_platt(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (x, labels) = (input.numbers(&["score", "x"])?, input.numbers(&["label", "y"])?);
    let targets = if input.has("targets") { platt_targets(&labels) } else { labels };
    let fit = logistic(&x, &targets)?;
    Ok(json!({
        "intercept": fit.intercept,
        "slope": fit.slope,
        // Platt writes it with the signs turned.
        "a": -fit.slope,
        "b": -fit.intercept,
        "p_at_0.5": fit.at(0.5),
    }))
}

fn compute_confidence_sequence(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let alpha = input.alpha()?;
    if input.has("v") {
        return Ok(json!({ "bound": boundary(input, alpha)? }));
    }
    let method = input.text("method");
    if ["hedged", "betting"].iter().any(|text| method.contains(text)) {
        return compute_hedged_sequence(input, alpha);
    }
    let bound = if ["bern", "eb"].iter().any(|text| method.contains(text)) {
        SequenceBound::EmpiricalBernstein
    } else {
        SequenceBound::Hoeffding
    };
    let intersect = input.json["running_intersection"].as_bool().unwrap_or(false);
    let mut sequence = Sequence::new(bound, alpha)?;
    let mut steps = Vec::new();
    for value in input.numbers(&["x"])? {
        sequence.push(value)?;
        steps.push(if intersect { sequence.interval() } else { sequence.now() });
    }
    let at: Vec<usize> = match input.json["at_n"].as_array() {
        Some(list) => list.iter().map(|list| parse_count("at_n", list)).collect::<Result<_, _>>()?,
        None => (1..=steps.len()).collect(),
    };
    let requested = at.iter().map(|at| at.checked_sub(1).and_then(|n| steps.get(n)).copied());
    let Some(requested) = requested.collect::<Option<Vec<(f64, f64)>>>() else {
        return Undefined::because(format!("there are only {} values", steps.len()));
    };
    let (lower, upper): (Vec<f64>, Vec<f64>) = requested.into_iter().unzip();
    Ok(json!({ "lower": lower, "upper": upper }))
}

/// The hedged capital process of Waudby-Smith and Ramdas (2023), over a thousand means.
fn compute_hedged_sequence(input: StatisticInput<'_>, alpha: f64) -> Result<Json, Undefined> {
    let steps = hedged_sequence(&input.numbers(&["x"])?, alpha)?;
    let (lower, upper): (Vec<f64>, Vec<f64>) = steps.into_iter().unzip();
    Ok(json!({ "lower": lower, "upper": upper }))
}

fn boundary(input: StatisticInput<'_>, alpha: f64) -> Result<Vec<f64>, Undefined> {
    let v = input.numbers(&["v"])?;
    if input.has("v_opt") {
        let one_sided = input.json["is_one_sided"].as_bool().unwrap_or(true);
        let boundary = NormalMixture {
            alpha,
            v_opt: input.number("v_opt")?,
            alpha_opt: input.number_or("alpha_opt", 0.05)?,
            sides: if one_sided { BoundarySides::Above } else { BoundarySides::Both },
        };
        return v.into_iter().map(|v| boundary.at(v)).collect();
    }
    let boundary = Stitched {
        c: input.number_or("c", 0.0)?,
        s: input.number_or("s", 1.4)?,
        eta: input.number_or("eta", 2.0)?,
        ..Stitched::new(alpha, input.number("v_min")?)
    };
    v.into_iter().map(|v| boundary.at(v)).collect()
}

fn compute_sample_size(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    if input.has("n") {
        if input.has("power") {
            return Undefined::because("of `n` and `power` one follows from the other");
        }
        return compute_achieved_power(input);
    }
    let aim = Aim { alpha: input.alpha()?, power: input.number_or("power", 0.8)? };
    if input.has("p01") || input.has("p10") {
        let n = n_pairs_changed(input.number("p01")?, input.number("p10")?, aim)?;
        return Ok(json!({ "n_pairs": n, "n": n }));
    }
    if input.has("p1") {
        let (first, second) = (input.number("p1")?, input.number("p2")?);
        return Ok(json!({
            "cohen_h": cohen_h(first, second)?.abs(),
            "n_per_group_arcsine": n_per_group_shares(first, second, aim)?,
            "n_per_group_normal_unpooled": n_per_group_shares_normal(first, second, aim)?,
        }));
    }
    let d = match input.any(&["effect_size_d", "effect_size", "d"]) {
        Some(it) => it.as_f64().ok_or_else(|| Undefined("the effect size is not a number".to_owned()))?,
        None => return Undefined::because("there is no effect size"),
    };
    if ["paired", "one"].iter().any(|text| input.text("test").contains(text)) {
        let n = n_pairs(d, aim)?;
        return Ok(json!({ "n_pairs": n, "n": n }));
    }
    Ok(json!({ "n_per_group": n_per_group(d, aim)? }))
}

/// How often a difference would be seen with so many samples.
fn compute_achieved_power(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    let (n, alpha) = (input.number("n")?, input.alpha()?);
    let power = if input.has("p01") || input.has("p10") {
        power_of_changes(input.number("p01")?, input.number("p10")?, n, alpha)?
    } else if input.has("p1") {
        power_of_shares(input.number("p1")?, input.number("p2")?, n, alpha)?
    } else {
        let d = input.any(&["effect_size_d", "effect_size", "d"]).and_then(Json::as_f64);
        let Some(d) = d else { return Undefined::because("there is no effect size") };
        let is_paired = ["paired", "one"].iter().any(|text| input.text("test").contains(text));
        if is_paired { power_of_pairs(d, n, alpha)? } else { power_of_groups(d, n, alpha)? }
    };
    Ok(json!({ "power": power }))
}

fn compute_pass_k(input: StatisticInput<'_>) -> Result<Json, Undefined> {
    const OF: &str = "successes_per_task_of_";
    let fixed = input
        .json
        .as_object()
        .and_then(|map| map.iter().find_map(|(key, value)| Some((key.strip_prefix(OF)?, value))));
    let tasks: Vec<TaskTrials> = if let Some((n, passed)) = fixed {
        let n = n.parse().map_err(|_| Undefined(format!("`{OF}{n}` does not end in a count")))?;
        let task = |value: f64| parse_count(OF, &json!(value)).map(|passed| TaskTrials { n, passed });
        numbers(OF, passed)?.into_iter().map(task).collect::<Result<_, _>>()?
    } else {
        let Some(tasks) = input.json["trials_per_task"].as_array() else {
            return Undefined::because("there is no `trials_per_task`");
        };
        let task = |value: &Json| {
            Ok(TaskTrials { n: bounded_count("n", &value["n"])?, passed: bounded_count("c", &value["c"])? })
        };
        tasks.iter().map(task).collect::<Result<_, _>>()?
    };
    let most = tasks.iter().map(|task| task.n).max().unwrap_or(0);
    let ks: Vec<usize> = match &input.json["k"] {
        Json::Null => (1..=most).collect(),
        Json::Array(list) => list.iter().map(|list| bounded_count("k", list)).collect::<Result<_, _>>()?,
        one => vec![bounded_count("k", one)?],
    };
    if ks.is_empty() {
        return Undefined::because("there is no trial");
    }
    let results = ks.into_iter().map(|k| pass_k(&tasks, k)).collect::<Result<Vec<_>, _>>()?;
    let list = |of: &dyn Fn(&PassK) -> f64| results.iter().map(of).collect::<Vec<f64>>();
    Ok(json!({ "pass@k": list(&|it| it.any), "pass^k": list(&|it| it.all) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_cannot_be_answered_is_answered_with_a_sentence() {
        let check = |name: &str, input: Json, expected: &str| {
            let result = compute_estimate_statistic(name, &input).unwrap().unwrap_err();
            assert!(result.to_string().contains(expected), "{name}: {result}");
        };
        check("proportion_ci", json!({ "k": 0, "n": 0 }), "there is no case");
        check("proportion_ci", json!({ "k": 1.5, "n": 2 }), "`k` is not a count");
        check("bootstrap_ci", json!({ "x": [1.0] }), "only 1 value");
        check("bootstrap_ci", json!({}), "there is no `x`");
        check("wilcoxon", json!({ "a": [1, 2], "b": [1, 2] }), "no pair differs");
        check("wilcoxon", json!({ "a": [1, null], "b": [1, 2] }), "value 2 of `a` is not a number");
        check("friedman", json!({ "agents": [[1], [2]] }), "at least three");
        check("multiple_comparisons", json!({ "p": [0.1], "method": "luck" }), "`luck`");
        check("survey_weights", json!({ "weights": [0, 0] }), "all weights are zero");
        check("ppi", json!({ "Y": [1], "Yhat": [1], "Yhat_unlabeled": [1, 0] }), "only 1 human label");
        check(
            "rogan_gladen",
            json!({ "judge_pass": 1, "n_judged": 2, "tp": 1, "fn": 1, "tn": 1, "fp": 1 }),
            "chance",
        );
        check(
            "rogan_gladen",
            json!({ "judge_pass": 1, "n_judged": 2, "tp": u64::MAX, "fn": u64::MAX, "tn": 1, "fp": 1 }),
            "`tp` is more than",
        );
        check("isotonic", json!({ "x": [], "y": [] }), "there is no x");
        check("platt", json!({ "score": [1, 2], "label": [1, 1] }), "all labels are equal");
        check("confidence_sequence", json!({ "x": [2.0] }), "not on 0..=1");
        check("power", json!({ "effect_size_d": 0 }), "difference of zero");
        check("pass_k", json!({ "trials_per_task": [{ "n": 2, "c": 1 }], "k": [3] }), "no task has 3 trials");
        assert!(compute_estimate_statistic("bradley_terry", &json!({})).is_none());
    }

    #[test]
    fn samples_are_given_by_stratum_or_by_value() {
        let by_stratum = json!({ "strata": [{ "N": 60, "y": [1, 2, 3] }, { "N": 40, "y": [5, 7] }] });
        let by_value = json!({
            "y": [1, 2, 3, 5, 7], "weights": [20, 20, 20, 20, 20], "strata": ["a", "a", "a", "b", "b"],
            "population": { "a": 60, "b": 40 },
        });
        let result = [by_stratum, by_value]
            .map(|value| compute_estimate_statistic("survey_weights", &value).unwrap().unwrap());
        for key in ["mean", "se"] {
            let [a, b] = [&result[0], &result[1]].map(|value| value[key].as_f64().unwrap());
            assert!((a - b).abs() < 1e-12, "{key}: {a} {b}");
        }
    }
}
