//! A mean from few human labels and many judge scores (prediction-powered inference).
//!
//! The judge's mean over the items without a label is moved by how wrong the judge is on the items with one
//! (Angelopoulos et al. 2023). PPI++ (2023) trusts the judge only as far as it agrees with people, by a
//! factor λ from 0, which is the labels alone, to 1.

use serde::Serialize;

use crate::quantity::plural;
use crate::stats::basics::bounded::unit_interval;
use crate::stats::basics::numbers::{
    all_equal, around, ensure_usable_pairs, ensure_usable_share, ensure_usable_values, mean,
    population_variance, squares, variance,
};
use crate::stats::basics::special::{normal_cdf, t_cdf, two_sided_z};
use crate::stats::basics::undefined::Undefined;

/// One way to estimate a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanEstimate {
    pub mean: f64,
    pub se: f64,
    /// By the normal distribution, as reference packages give it: too narrow for few labels.
    pub interval: (f64, f64),
    /// By Student's distribution, and on 0..=1; absent where the labels are not on that scale.
    pub unit_interval: Option<(f64, f64)>,
}

/// With fewer labels the bias of a judge is hardly known, and the labels alone give the better estimate.
pub const FEWEST_LABELS: usize = 10;

/// The corrected mean together with those that it replaces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionPowered {
    pub n_labels: usize,
    pub n_judged: usize,
    /// The labels alone.
    pub human: MeanEstimate,
    /// What the judge says of everything without a label; its bias is in no interval.
    pub naive: f64,
    /// The judge trusted in full (λ = 1).
    pub ppi: MeanEstimate,
    /// The judge trusted as far as it helps.
    pub ppi_plus_plus: MeanEstimate,
    pub lambda: f64,
    /// Before it was kept within 0..=1.
    pub lambda_unclipped: f64,
    /// Of judge and human; none when the judge always says the same.
    pub correlation: Option<f64>,
    /// Labels that would be needed in addition to these for an interval of half the width.
    pub labels_to_halve: usize,
    pub warning: Option<String>,
}

/// Alternative hypothesis of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    TwoSided,
    Larger,
    Smaller,
}

/// `judge` is what the judge said of the labelled items, `unlabelled` of all others.
pub fn prediction_powered(
    human: &[f64],
    judge: &[f64],
    unlabelled: &[f64],
    alpha: f64,
) -> Result<PredictionPowered, Undefined> {
    ensure_usable_pairs(("human label", human), ("judge score", judge), 2)?;
    ensure_usable_values("judge score without a label", unlabelled, 2)?;
    ensure_usable_share("alpha", alpha)?;
    if all_equal(human) {
        return Undefined::because(format!(
            "all {} are equal, so their variance cannot be estimated",
            plural(human.len(), "human label")
        ));
    }
    let (n, n_judged) = (human.len() as f64, unlabelled.len() as f64);
    let judged = LabelMoments::of(human, judge, unlabelled);
    let lambda_unclipped = judged.best_lambda(n, n_judged);
    let lambda = lambda_unclipped.clamp(0.0, 1.0);
    let z = two_sided_z(alpha);
    let on_unit_scale = human.iter().chain(judge).chain(unlabelled).all(|human| (0.0..=1.0).contains(human));
    let estimate = |lambda: f64| {
        let rectifier: Vec<f64> = human.iter().zip(judge).map(|(y, f)| y - lambda * f).collect();
        let middle = lambda * mean(unlabelled) + mean(&rectifier);
        let se = (lambda * lambda * population_variance(unlabelled) / n_judged
            + population_variance(&rectifier) / n)
            .sqrt();
        let unit_interval = on_unit_scale.then(|| {
            // λ was chosen on the same labels. That people and judge agreed on all of them does not say that they
            // always do: half of an error of each kind counts as seen.
            let degrees = (n - 2.0).max(1.0);
            let errors = (population_variance(&rectifier) * n + 0.5 * lambda * lambda) / (degrees * n);
            let judged = lambda * lambda * population_variance(unlabelled) / n_judged;
            unit_interval(middle.clamp(0.0, 1.0), judged + errors, degrees, n)
        });
        MeanEstimate { mean: middle, se, interval: around(middle, z * se), unit_interval }
    };
    let correlation = judge_label_correlation(human, judge);
    Ok(PredictionPowered {
        n_labels: human.len(),
        n_judged: unlabelled.len(),
        human: estimate(0.0),
        naive: mean(unlabelled),
        ppi: estimate(1.0),
        ppi_plus_plus: estimate(lambda),
        lambda,
        lambda_unclipped,
        correlation,
        labels_to_halve: judged.labels_to_halve(human.len(), n_judged),
        warning: chance_warning(correlation, human.len(), lambda),
    })
}

impl PredictionPowered {
    /// How often chance alone leads as far away from `null` as PPI++ is.
    pub fn p_value(&self, null: f64, alternative: Alternative) -> f64 {
        let z = (self.ppi_plus_plus.mean - null) / self.ppi_plus_plus.se;
        match alternative {
            Alternative::TwoSided => 2.0 * normal_cdf(-z.abs()),
            Alternative::Larger => normal_cdf(-z),
            Alternative::Smaller => normal_cdf(z),
        }
    }
}

/// How the labels and the judge's scores vary, and vary together.
struct LabelMoments {
    human: f64,
    judge: f64,
    together: f64,
}

impl LabelMoments {
    fn of(human: &[f64], judge: &[f64], unlabelled: &[f64]) -> Self {
        let (y, f) = (mean(human), mean(judge));
        let together = human.iter().zip(judge).map(|(human, judge)| (human - y) * (judge - f)).sum::<f64>();
        let all: Vec<f64> = judge.iter().chain(unlabelled).copied().collect();
        Self {
            human: population_variance(human),
            judge: variance(&all),
            together: together / human.len() as f64,
        }
    }

    /// The λ with the narrowest interval; a judge that always says the same gets none.
    fn best_lambda(&self, n: f64, n_judged: f64) -> f64 {
        if self.judge <= 0.0 {
            return 0.0;
        }
        self.together / ((1.0 + n / n_judged) * self.judge)
    }

    fn variance(&self, n: f64, n_judged: f64) -> f64 {
        let lambda = self.best_lambda(n, n_judged).clamp(0.0, 1.0);
        let rectifier = self.human - 2.0 * lambda * self.together + lambda * lambda * self.judge;
        lambda * lambda * self.judge / n_judged + rectifier.max(0.0) / n
    }

    fn labels_to_halve(&self, n: usize, n_judged: f64) -> usize {
        let goal = self.variance(n as f64, n_judged) / 4.0;
        // The number of labels that gives the same width without a judge.
        let (mut low, mut high) = (n, (self.human / goal).ceil().max(n as f64) as usize + 1);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.variance(middle as f64, n_judged) <= goal { high = middle } else { low = middle }
        }
        high - n
    }
}

fn judge_label_correlation(left: &[f64], right: &[f64]) -> Option<f64> {
    let (a, b) = (mean(left), mean(right));
    let together = left.iter().zip(right).map(|(left, right)| (left - a) * (right - b)).sum::<f64>();
    let apart = (squares(left) * squares(right)).sqrt();
    (0.0 < apart).then(|| (together / apart).clamp(-1.0, 1.0))
}

/// Says so when a judge that guesses could agree with people just as well.
fn chance_warning(correlation: Option<f64>, n: usize, lambda: f64) -> Option<String> {
    let Some(r) = correlation else {
        return Some(
            "The judge gives every labelled item the same score, so only the labels are used.".to_owned(),
        );
    };
    let degrees = n as f64 - 2.0;
    let by_chance = degrees <= 0.0
        || r <= 0.0
        || 0.05 < t_cdf(-r * (degrees / (1.0 - r * r).max(1e-300)).sqrt(), degrees);
    by_chance.then(|| {
        format!(
            "On {} the judge is {} (correlation {r:.2}); {}.",
            plural(n, "label"),
            if lambda <= 0.0 { "no better than chance" } else { "not significantly better than chance" },
            if lambda <= 0.0 {
                "it adds nothing to the labels"
            } else {
                "more labels are needed to decide whether it helps"
            }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    /// People pass 60 %, the judge sees that with 85 % accuracy and passes some too many.
    fn draw(chance: &mut Chance, n: usize) -> (Vec<f64>, Vec<f64>) {
        let item = |_| {
            let human = chance.unit() < 0.6;
            let judge = if chance.unit() < 0.85 { human } else { !human } || chance.unit() < 0.3;
            (f64::from(u8::from(human)), f64::from(u8::from(judge)))
        };
        (0..n).map(item).unzip()
    }

    #[test]
    fn ppi_holds_what_it_promises_and_the_naive_mean_does_not() {
        let mut chance = Chance::new(5);
        let (mut n_covered, mut n_naive_covered, mut narrower) = (0, 0, 0);
        for _ in 0..2_000 {
            let (human, judge) = draw(&mut chance, 100);
            let (_, unlabelled) = draw(&mut chance, 1_000);
            let result = prediction_powered(&human, &judge, &unlabelled, 0.05).unwrap();
            let holds = |(low, high): (f64, f64)| usize::from(low <= 0.6 && 0.6 <= high);
            n_covered += holds(result.ppi_plus_plus.interval);
            let (rate, n) = (result.naive, unlabelled.len() as f64);
            n_naive_covered += holds(around(rate, 1.96 * (rate * (1.0 - rate) / n).sqrt()));
            narrower += usize::from(result.ppi_plus_plus.se < result.human.se);
        }
        println!("PPI++ {n_covered}, naive {n_naive_covered} of 2000");
        assert!((1_860..=1_940).contains(&n_covered), "{n_covered}");
        assert!(n_naive_covered < 1_600, "{n_naive_covered}");
        assert!(1_980 < narrower, "{narrower}");
    }

    #[test]
    fn a_judge_that_guesses_is_named_and_left_out() {
        let human: Vec<f64> = (0..40).map(|n| f64::from(n % 2)).collect();
        let judge: Vec<f64> = (0..40).map(|n| f64::from(n / 2 % 2)).collect();
        let result = prediction_powered(&human, &judge, &judge, 0.05).unwrap();
        assert!(result.warning.unwrap().contains("no better than chance"));
        assert!((result.lambda, result.ppi_plus_plus.mean) == (0.0, 0.5));
        // Labels alone: four times as many.
        assert_eq!(result.labels_to_halve, 120);
        let same = prediction_powered(&human, &[1.0; 40], &[1.0; 99], 0.05).unwrap();
        assert!(same.warning.unwrap().contains("same score"));
    }

    #[test]
    fn what_cannot_be_estimated_is_said() {
        let check = |human: &[f64], judge: &[f64], expected: &str| {
            let result = prediction_powered(human, judge, &[0.5, 0.7], 0.05).unwrap_err();
            assert!(result.to_string().contains(expected), "{result}");
        };
        check(&[1.0], &[1.0], "only 1 human label");
        check(&[], &[], "no human label");
        check(&[1.0, 1.0, 1.0], &[0.9, 0.8, 1.0], "all 3 human labels are equal");
        check(&[1.0, f64::NAN], &[0.9, 0.8], "human label 2 is not a number");
        check(&[1.0, 0.0], &[0.9], "2 human labels cannot be paired with 1 judge score");
    }
}
