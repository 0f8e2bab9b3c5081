//! What a sample says of everything it was drawn from, when not everything was as likely to be drawn.

use serde::Serialize;

use crate::quantity::plural;
use crate::stats::basics::bounded::{equal_spread, unit_interval, unit_spread};
use crate::stats::basics::numbers::{
    all_equal, all_pass_or_fail, around, ensure_usable_pairs, ensure_usable_values, mean, squares, variance,
};
use crate::stats::basics::special::t_quantile;
use crate::stats::basics::undefined::Undefined;

/// A part of the population that was sampled by itself, such as the failed traces of a day.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledStratum {
    pub name: String,
    /// How many there are in all.
    pub population: usize,
    /// The scores of those that were drawn and graded, on 0..=1.
    pub scores: Vec<f64>,
    /// Sampled, but without a score because of a judge error.
    pub n_errors: usize,
}

/// What is known of one stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumEstimate {
    pub name: String,
    pub population: usize,
    pub n: usize,
    pub n_errors: usize,
    pub mean: Option<f64>,
    /// Why there is no mean.
    pub not_estimable: Option<String>,
}

/// The mean over a population from samples of its strata.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stratified {
    pub mean: f64,
    /// With the finite-population correction; none when nothing is known of the spread.
    pub se: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// The unweighted mean of the sample, which depends on the sample rates.
    pub naive: f64,
    pub n: usize,
    /// Effective sample size.
    pub n_eff: Option<f64>,
    /// How many times the variance of a simple random sample of the same size.
    pub design_effect: Option<f64>,
    /// The share of the population in strata that can be estimated; the mean is of these alone.
    pub covered: f64,
    pub strata: Vec<StratumEstimate>,
    /// Where the mean would be if everything that the judge could not grade scored 0, and if it scored 1.
    pub if_errors_scored: (f64, f64),
    pub warnings: Vec<String>,
}

/// The post-stratified mean. Errors are taken to be as good as the rest of their stratum.
pub fn estimate_stratified_mean(strata: &[SampledStratum]) -> Result<Stratified, Undefined> {
    for stratum in strata {
        ensure_usable_values(&format!("score of `{}`", stratum.name), &stratum.scores, 0)?;
        if stratum.population < stratum.scores.len() + stratum.n_errors {
            return Undefined::because(format!(
                "`{}` has a population of {} and more than that were sampled",
                stratum.name, stratum.population
            ));
        }
    }
    let total: usize = strata.iter().map(|stratum| stratum.population).sum();
    let graded: Vec<&SampledStratum> = strata.iter().filter(|stratum| !stratum.scores.is_empty()).collect();
    let covered: usize = graded.iter().map(|stratum| stratum.population).sum();
    if covered == 0 {
        return Undefined::because("no stratum has a score");
    }
    let share = |stratum: &SampledStratum| stratum.population as f64 / covered as f64;
    let middle: f64 = graded.iter().map(|stratum| share(stratum) * mean(&stratum.scores)).sum();
    let scores: Vec<f64> = graded.iter().flat_map(|stratum| &stratum.scores).copied().collect();
    let n = scores.len();

    let mut warnings = Vec::new();
    let spreads = spreads(&graded, &mut warnings);
    let part = |stratum: &SampledStratum, spread: f64| {
        let (n, population) = (stratum.scores.len() as f64, stratum.population as f64);
        share(stratum).powi(2) * (1.0 - n / population) * spread / n
    };
    let variance =
        spreads.as_ref().map(|all| graded.iter().zip(all).map(|(stratum, s)| part(stratum, *s)).sum::<f64>());
    // As many degrees of freedom as the strata that add uncertainty have (Satterthwaite).
    let degrees = variance.zip(spreads.as_ref()).map_or(1.0, |(variance, all)| {
        let own = |(stratum, s): (&&SampledStratum, &f64)| {
            part(stratum, *s).powi(2) / (stratum.scores.len() as f64 - 1.0).max(1.0)
        };
        let sum: f64 = graded.iter().zip(all).map(own).sum();
        if 0.0 < sum { (variance * variance / sum).clamp(1.0, 1e6) } else { 1e6 }
    });
    let n_alike =
        1.0 / graded.iter().map(|stratum| share(stratum).powi(2) / stratum.scores.len() as f64).sum::<f64>();
    let simple = spreads.as_ref().map(|all| {
        let within_and_between = |(stratum, s): (&&SampledStratum, &f64)| {
            share(stratum) * (s + (mean(&stratum.scores) - middle).powi(2))
        };
        let spread: f64 = graded.iter().zip(all).map(within_and_between).sum();
        spread * (1.0 - n as f64 / covered as f64) / n as f64
    });
    let design_effect = variance
        .zip(simple)
        .filter(|(variance, simple)| 0.0 < *variance && 0.0 < *simple)
        .map(|(variance, simple)| variance / simple);
    let if_errors = |score: f64| {
        let with = |stratum: &&SampledStratum| {
            let sum = stratum.scores.iter().sum::<f64>() + score * stratum.n_errors as f64;
            share(stratum) * sum / (stratum.scores.len() + stratum.n_errors) as f64
        };
        graded.iter().map(with).sum()
    };
    let n_errors: usize = strata.iter().map(|stratum| stratum.n_errors).sum();
    if 0 < n_errors {
        warnings.push(format!(
            "The judge could not grade {n_errors} of {} sampled traces; they are assumed to be like the rest of their stratum.",
            n + n_errors
        ));
    }
    let se = variance.map(f64::sqrt);
    Ok(Stratified {
        mean: middle,
        se,
        interval: variance.map(|variance| sample_mean_interval(middle, variance, degrees, n_alike, &scores)),
        naive: mean(&scores),
        n,
        n_eff: design_effect.map(|design_effect| n as f64 / design_effect),
        design_effect,
        covered: covered as f64 / total as f64,
        strata: strata.iter().map(estimate_stratum).collect(),
        if_errors_scored: (if_errors(0.0), if_errors(1.0)),
        warnings,
    })
}

fn on_unit_scale(values: &[f64]) -> bool {
    values.iter().all(|value| (0.0..=1.0).contains(value))
}

/// On a scale of 0..=1 as skewed as a share near its end is; on others by Student's distribution.
fn sample_mean_interval(mean: f64, variance: f64, degrees: f64, n_alike: f64, values: &[f64]) -> (f64, f64) {
    if on_unit_scale(values) {
        return unit_interval(mean, variance, degrees, n_alike);
    }
    around(mean, t_quantile(0.975, degrees.max(1.0)) * variance.sqrt())
}

/// The variance within each stratum. Scores on 0..=1 that are all equal, or a single one, may hide
/// others, as in a monitor's figures; on other scales nothing is known of those.
fn spreads(graded: &[&SampledStratum], warnings: &mut Vec<String>) -> Option<Vec<f64>> {
    let complete = |stratum: &SampledStratum| stratum.scores.len() == stratum.population;
    let spread = |stratum: &SampledStratum| match stratum.scores.len() {
        _ if complete(stratum) => Some(0.0),
        n if on_unit_scale(&stratum.scores) => {
            Some(unit_spread(n as f64, mean(&stratum.scores), squares(&stratum.scores)))
        }
        1 => None,
        _ => Some(variance(&stratum.scores)).filter(|value| 0.0 < *value),
    };
    let known: Vec<Option<f64>> = graded.iter().map(|stratum| spread(stratum)).collect();
    for stratum in graded.iter().filter(|stratum| !complete(stratum) && all_equal(&stratum.scores)) {
        warnings.push(match stratum.scores.len() {
            1 => format!("`{}` has one score; its variance is assumed to be large.", stratum.name),
            n => format!(
                "The {n} scores of `{}` are equal; the interval allows for unobserved variation.",
                stratum.name
            ),
        });
    }
    let most = known.iter().flatten().copied().fold(0.0, f64::max);
    if known.iter().any(Option::is_none) && most <= 0.0 {
        warnings.push(
            "The scores do not differ within any stratum, so their variance cannot be estimated.".to_owned(),
        );
        return None;
    }
    Some(known.into_iter().map(|known| known.unwrap_or(most)).collect())
}

fn estimate_stratum(stratum: &SampledStratum) -> StratumEstimate {
    let n = stratum.scores.len();
    let why = |stratum: &SampledStratum| match (stratum.population, stratum.n_errors) {
        (0, _) => "the stratum has no traces".to_owned(),
        (_, 0) => "none of its traces was sampled".to_owned(),
        (_, errors) => format!("the judge failed on all {errors} sampled traces"),
    };
    StratumEstimate {
        name: stratum.name.clone(),
        population: stratum.population,
        n,
        n_errors: stratum.n_errors,
        mean: (0 < n).then(|| mean(&stratum.scores)),
        not_estimable: (n == 0).then(|| why(stratum)),
    }
}

/// A mean of values that count differently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightedMean {
    pub mean: f64,
    pub se: f64,
    pub interval: (f64, f64),
    pub n: usize,
    /// Kish's.
    pub n_eff: f64,
    pub design_effect: f64,
}

/// The mean of values that were each drawn with a known probability (Hájek), independently of each other.
pub fn hajek(values: &[f64], probabilities: &[f64]) -> Result<WeightedMean, Undefined> {
    ensure_usable_pairs(("value", values), ("sampling rate", probabilities), 2)?;
    if let Some(bad) = probabilities.iter().find(|probability| **probability <= 0.0 || 1.0 < **probability) {
        return Undefined::because(format!("{bad} is not a sampling probability"));
    }
    let weights: Vec<f64> = probabilities.iter().map(|probability| 1.0 / probability).collect();
    let total: f64 = weights.iter().sum();
    let middle = values.iter().zip(&weights).map(|(y, w)| w * y).sum::<f64>() / total;
    // A case that was drawn with certainty adds no uncertainty.
    let variance: f64 =
        values.iter().zip(probabilities).map(|(y, p)| (1.0 - p) * ((y - middle) / (p * total)).powi(2)).sum();
    // The mean was estimated as well.
    let se = (variance * values.len() as f64 / (values.len() as f64 - 1.0)).sqrt();
    let kish = kish_effective_size(&weights)?;
    let left: f64 = probabilities.iter().map(|p| (1.0 - p) * (p * total).powi(-2)).sum();
    let se = match se {
        _ if !on_unit_scale(values) && all_equal(values) && 0.0 < left => {
            return Undefined::because("all values are equal, so nothing is known about the others");
        }
        _ if on_unit_scale(values) && all_equal(values) => {
            (equal_spread(values.len() as f64, middle) * left).sqrt()
        }
        se => se,
    };
    // What passes or fails is never known better than by as many that count alike (Korn and Graubard), even where
    // those that failed happen to count little.
    let least = if all_pass_or_fail(values) { middle * (1.0 - middle) * left } else { 0.0 };
    Ok(WeightedMean {
        mean: middle,
        se,
        interval: sample_mean_interval(middle, (se * se).max(least), kish.n_eff - 1.0, kish.n_eff, values),
        n: values.len(),
        n_eff: kish.n_eff,
        design_effect: kish.design_effect,
    })
}

/// The weighted mean of a stratified sample, by linearisation. `fractions` says what share of its stratum was
/// drawn, for each value; 0 leaves the finite-population correction out.
pub fn stratified_weighted_mean(
    values: &[f64],
    weights: &[f64],
    strata: &[usize],
    fractions: &[f64],
    alpha: f64,
) -> Result<WeightedMean, Undefined> {
    ensure_usable_pairs(("value", values), ("weight", weights), 2)?;
    if strata.len() != values.len() || fractions.len() != values.len() {
        return Undefined::because("not every value has a stratum and a sampling fraction");
    }
    let kish = kish_effective_size(weights)?;
    let total: f64 = weights.iter().sum();
    let middle = values.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total;
    let mut names: Vec<usize> = strata.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut sum = 0.0;
    for name in &names {
        let inside: Vec<usize> = (0..values.len()).filter(|index| strata[*index] == *name).collect();
        let parts: Vec<f64> =
            inside.iter().map(|index| weights[*index] * (values[*index] - middle) / total).collect();
        let left = 1.0 - fractions[inside[0]];
        if parts.len() < 2 && 0.0 < left {
            return Undefined::because("a stratum has a single value, so its variance cannot be estimated");
        }
        if 1 < parts.len() {
            sum += left.max(0.0) * parts.len() as f64 * variance(&parts);
        }
    }
    let degrees = (values.len() - names.len()).max(1) as f64;
    Ok(WeightedMean {
        mean: middle,
        se: sum.sqrt(),
        interval: around(middle, t_quantile(1.0 - alpha / 2.0, degrees) * sum.sqrt()),
        n: values.len(),
        n_eff: kish.n_eff,
        design_effect: kish.design_effect,
    })
}

/// What unequal weights cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kish {
    pub n_eff: f64,
    pub design_effect: f64,
}

pub fn kish_effective_size(weights: &[f64]) -> Result<Kish, Undefined> {
    ensure_usable_values("weight", weights, 1)?;
    if let Some(bad) = weights.iter().find(|weight| **weight < 0.0) {
        return Undefined::because(format!("a weight is {bad}, which is negative"));
    }
    let (sum, squares) =
        weights.iter().fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value));
    if sum <= 0.0 {
        return Undefined::because("all weights are zero");
    }
    let n_eff = sum * sum / squares;
    Ok(Kish { n_eff, design_effect: weights.len() as f64 / n_eff })
}

/// Design effect of planned sample rates, before anything is sampled. Each stratum is its population and its
/// sampling probability.
pub fn estimate_dial_cost(strata: &[(usize, f64)]) -> Result<Kish, Undefined> {
    if let Some((_, bad)) = strata.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
        return Undefined::because(format!("{bad} is not a probability"));
    }
    if let Some((population, _)) = strata.iter().find(|(population, p)| 0 < *population && *p <= 0.0) {
        return Undefined::because(format!("{} can never be sampled", plural(*population, "case")));
    }
    // Of a stratum, N·p are drawn, and each counts for 1/p.
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (population, p) in strata.iter().filter(|(population, _)| 0 < *population) {
        let population = *population as f64;
        n += population * p;
        sum += population;
        squares += population / p;
    }
    if sum <= 0.0 {
        return Undefined::because("there is no case to sample from");
    }
    let n_eff = sum * sum / squares;
    Ok(Kish { n_eff, design_effect: n / n_eff })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    fn stratum(name: &str, population: usize, scores: &[f64], n_errors: usize) -> SampledStratum {
        SampledStratum { name: name.to_owned(), population, scores: scores.to_vec(), n_errors }
    }

    #[test]
    fn the_mean_has_its_closed_form() {
        // By hand: shares 0.6 and 0.4, variances 1 and 2.
        let strata = [stratum("a", 60, &[1.0, 2.0, 3.0], 0), stratum("b", 40, &[5.0, 7.0], 0)];
        let result = estimate_stratified_mean(&strata).unwrap();
        let variance: f64 = 0.36 * (1.0 - 3.0 / 60.0) * 1.0 / 3.0 + 0.16 * (1.0 - 2.0 / 40.0) * 2.0 / 2.0;
        assert!((result.mean - 3.6).abs() < 1e-12 && (result.se.unwrap() - variance.sqrt()).abs() < 1e-12);
        assert!((result.naive - 3.6).abs() < 1e-12 && (result.covered - 1.0).abs() < 1e-12);
        let weights = [20.0, 20.0, 20.0, 20.0, 20.0];
        let same = stratified_weighted_mean(
            &[1.0, 2.0, 3.0, 5.0, 7.0],
            &weights,
            &[0, 0, 0, 1, 1],
            &[0.05; 5],
            0.05,
        )
        .unwrap();
        assert!((same.se - result.se.unwrap()).abs() < 1e-12, "{same:?}");
    }

    #[test]
    fn strata_without_a_score_are_named() {
        let strata = [
            stratum("fine", 90, &[1.0, 0.0, 1.0], 1),
            stratum("broken", 10, &[], 2),
            stratum("slow", 20, &[], 0),
            stratum("one", 5, &[0.5], 0),
        ];
        let result = estimate_stratified_mean(&strata).unwrap();
        assert!((result.covered - 95.0 / 125.0).abs() < 1e-12);
        let why: Vec<Option<&str>> =
            result.strata.iter().map(|stratum| stratum.not_estimable.as_deref()).collect();
        assert_eq!(
            why,
            [
                None,
                Some("the judge failed on all 2 sampled traces"),
                Some("none of its traces was sampled"),
                None
            ]
        );
        assert!(result.warnings[0].contains("`one` has one score"), "{:?}", result.warnings);
        assert!(result.if_errors_scored.0 < result.mean && result.mean < result.if_errors_scored.1);
        let check = |strata: &[SampledStratum], expected: &str| {
            let result = estimate_stratified_mean(strata).unwrap_err();
            assert!(result.to_string().contains(expected), "{result}");
        };
        check(&[], "no stratum has a score");
        check(&[stratum("a", 0, &[], 0)], "no stratum has a score");
        check(&[stratum("a", 1, &[1.0, 1.0], 0)], "more than that");
        check(&[stratum("a", 9, &[f64::NAN], 0)], "score of `a` 1 is not a number");
        let equal = estimate_stratified_mean(&[stratum("a", 9, &[1.0, 1.0], 0)]).unwrap();
        assert!(equal.interval.is_some_and(|(low, high)| low < 0.5 && 1.0 <= high), "{equal:?}");
        assert!(equal.warnings[0].contains("The 2 scores of `a` are equal"), "{equal:?}");
    }

    #[test]
    fn the_dial_moves_the_naive_mean_only() {
        // 5 % failures that score 0.2 and are always drawn, the rest scores 0.84 and is drawn one time in ten.
        let mut chance = Chance::new(2);
        let truth = 0.05 * 0.2 + 0.95 * 0.84;
        let (mut n_covered, mut n_naive_covered, mut n_hajek_covered) = (0, 0, 0);
        for _ in 0..2_000 {
            let mut draw = |n: usize, rate: f64| -> Vec<f64> {
                (0..n).map(|_| if chance.unit() < rate { 1.0 } else { 0.0 }).collect()
            };
            // Of a large population, so that the truth of each day is the same.
            let (failed, fine) = (draw(50, 0.2), draw(95, 0.84));
            let strata = [stratum("failed", 50_000, &failed, 0), stratum("fine", 950_000, &fine, 0)];
            let result = estimate_stratified_mean(&strata).unwrap();
            let holds = |(low, high): (f64, f64)| usize::from(low <= truth && truth <= high);
            n_covered += holds(result.interval.unwrap());
            let spread = (result.naive * (1.0 - result.naive) / result.n as f64).sqrt();
            n_naive_covered += holds(around(result.naive, 1.96 * spread));
            let values: Vec<f64> = failed.iter().chain(&fine).copied().collect();
            let probabilities: Vec<f64> =
                (0..values.len()).map(|n| if n < 50 { 0.001 } else { 0.0001 }).collect();
            n_hajek_covered += holds(hajek(&values, &probabilities).unwrap().interval);
        }
        println!("post-stratified {n_covered}, Hájek {n_hajek_covered}, naive {n_naive_covered} of 2000");
        assert!((1_860..=1_940).contains(&n_covered), "{n_covered}");
        assert!(n_naive_covered < 200, "{n_naive_covered}");
        assert!((1_840..=1_980).contains(&n_hajek_covered), "{n_hajek_covered}");
    }

    #[test]
    fn weights_cost_what_kish_says() {
        let result = kish_effective_size(&[1.0, 1.0, 4.0, 4.0, 2.0, 8.0, 1.0, 3.0]).unwrap();
        assert!(
            (result.n_eff - 36.0 / 7.0).abs() < 1e-12 && (result.design_effect - 14.0 / 9.0).abs() < 1e-12
        );
        assert!(kish_effective_size(&[0.0, 0.0]).unwrap_err().to_string().contains("all weights are zero"));
        assert!(
            hajek(&[1.0, 0.0], &[0.0, 0.5])
                .unwrap_err()
                .to_string()
                .contains("0 is not a sampling probability")
        );
        assert!((estimate_dial_cost(&[(1_000, 0.1)]).unwrap().design_effect - 1.0).abs() < 1e-12);
        assert!(
            (estimate_dial_cost(&[(50, 1.0), (950, 0.1)]).unwrap().design_effect - 1.384_75).abs() < 1e-12
        );
        assert!(estimate_dial_cost(&[(10, 0.0)]).unwrap_err().to_string().contains("never be sampled"));
    }
}
