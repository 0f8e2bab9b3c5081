//! A pass rate from a judge whose mistakes are known from labelled cases (Rogan and Gladen 1978).

use serde::Serialize;

use crate::quantity::plural;
use crate::stats::basics::numbers::{around, ensure_usable_share};
use crate::stats::basics::special::two_sided_z;
use crate::stats::basics::undefined::Undefined;

/// How a judge decided on cases that people had labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinaryConfusion {
    /// People and judge pass it.
    pub true_pass: usize,
    /// People pass it, the judge does not.
    pub false_fail: usize,
    pub true_fail: usize,
    pub false_pass: usize,
}

/// The corrected pass rate together with the one that the judge gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorrectedRate {
    /// What the judge says.
    pub apparent: f64,
    /// Of what people pass, the share that the judge passes.
    pub sensitivity: f64,
    /// Of what people fail, the share that the judge fails.
    pub specificity: f64,
    pub corrected: f64,
    /// Before it was kept within 0..=1.
    pub unclipped: f64,
    /// By the delta method, from the judged cases and the labels together.
    pub se: f64,
    /// Where the rate may really lie, the uncertainty of the judge's mistakes included
    /// (Lang and Reiczigel 2014).
    pub interval: (f64, f64),
    /// Labels that would be needed in addition to these for half the width, in the same mix; none when more
    /// labels alone cannot do it, since too few cases are judged.
    pub labels_to_halve: Option<usize>,
    pub warnings: Vec<String>,
}

pub fn corrected_rate(
    judge_passed: usize,
    n_judged: usize,
    labels: BinaryConfusion,
    alpha: f64,
) -> Result<CorrectedRate, Undefined> {
    ensure_usable_share("alpha", alpha)?;
    let (n_pass, n_fail) = (labels.true_pass + labels.false_fail, labels.true_fail + labels.false_pass);
    if n_judged == 0 || n_judged < judge_passed {
        return Undefined::because(format!("{judge_passed} of {n_judged} judged cases is not a share"));
    }
    if n_pass == 0 || n_fail == 0 {
        let lacking = if n_pass == 0 { "pass" } else { "fail" };
        return Undefined::because(format!(
            "no labelled case is a {lacking}, so the judge's error rate on these is unknown"
        ));
    }
    let apparent = judge_passed as f64 / n_judged as f64;
    let sensitivity = labels.true_pass as f64 / n_pass as f64;
    let specificity = labels.true_fail as f64 / n_fail as f64;
    let better_than_chance = sensitivity + specificity - 1.0;
    if better_than_chance <= 0.0 {
        return Undefined::because(format!(
            "the judge is not better than chance: it passes {:.0} % of what people pass and {:.0} % of what people fail",
            100.0 * sensitivity,
            100.0 * (1.0 - specificity)
        ));
    }
    let z = two_sided_z(alpha);
    let unclipped = (apparent - (1.0 - specificity)) / better_than_chance;
    let parts = Parts::of(
        unclipped,
        MeasuredShare { share: apparent, n: n_judged as f64 },
        MeasuredShare { share: sensitivity, n: n_pass as f64 },
        MeasuredShare { share: specificity, n: n_fail as f64 },
    );
    let mut warnings = Vec::new();
    if !(0.0..=1.0).contains(&unclipped) {
        warnings.push(format!(
            "The corrected rate is {unclipped:.3} and was clipped: the judge's error rates differ between these cases and the labelled ones."
        ));
    }
    if better_than_chance <= z * (parts.sensitivity_alone + parts.specificity_alone).sqrt() {
        warnings.push(format!(
            "On {} the judge is not significantly better than chance.",
            plural(n_pass + n_fail, "label")
        ));
    }
    Ok(CorrectedRate {
        apparent,
        sensitivity,
        specificity,
        corrected: unclipped.clamp(0.0, 1.0),
        unclipped,
        se: (parts.judged + parts.labels).sqrt() / better_than_chance,
        interval: corrected_rate_interval(judge_passed, n_judged, labels, z),
        labels_to_halve: parts.labels_to_halve(n_pass + n_fail),
        warnings,
    })
}

/// A share of so many.
#[derive(Clone, Copy)]
struct MeasuredShare {
    share: f64,
    n: f64,
}

impl MeasuredShare {
    fn variance(self) -> f64 {
        self.share * (1.0 - self.share) / self.n
    }
}

/// What the variance of the corrected rate is made of, before it is divided by (Se + Sp − 1)².
struct Parts {
    judged: f64,
    labels: f64,
    sensitivity_alone: f64,
    specificity_alone: f64,
}

impl Parts {
    fn of(rate: f64, judged: MeasuredShare, sensitivity: MeasuredShare, specificity: MeasuredShare) -> Self {
        let (sensitivity_alone, specificity_alone) = (sensitivity.variance(), specificity.variance());
        Self {
            judged: judged.variance(),
            labels: rate * rate * sensitivity_alone + (1.0 - rate) * (1.0 - rate) * specificity_alone,
            sensitivity_alone,
            specificity_alone,
        }
    }

    fn labels_to_halve(&self, n: usize) -> Option<usize> {
        let left = (self.judged + self.labels) / 4.0 - self.judged;
        (0.0 < left).then(|| (n as f64 * (self.labels / left - 1.0)).ceil() as usize)
    }
}

/// Every share is moved a little to the middle first, as Agresti and Coull do.
fn corrected_rate_interval(
    judge_passed: usize,
    n_judged: usize,
    labels: BinaryConfusion,
    z: f64,
) -> (f64, f64) {
    let n_judged = n_judged as f64 + z * z;
    let apparent = (judge_passed as f64 + z * z / 2.0) / n_judged;
    let softened = |hit: usize, miss: usize| {
        let n = (hit + miss) as f64 + 2.0;
        MeasuredShare { share: (hit as f64 + 1.0) / n, n }
    };
    let sensitivity = softened(labels.true_pass, labels.false_fail);
    let specificity = softened(labels.true_fail, labels.false_pass);
    let better_than_chance = sensitivity.share + specificity.share - 1.0;
    if better_than_chance <= 0.0 {
        return (0.0, 1.0);
    }
    let rate = (apparent + specificity.share - 1.0) / better_than_chance;
    let judged = MeasuredShare { share: apparent, n: n_judged };
    let parts = Parts::of(rate, judged, sensitivity, specificity);
    let moved = 2.0 * z * z * (rate * parts.sensitivity_alone - (1.0 - rate) * parts.specificity_alone);
    let (low, high) = around(rate + moved, z * (parts.judged + parts.labels).sqrt() / better_than_chance);
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    const LABELS: BinaryConfusion =
        BinaryConfusion { true_pass: 80, false_fail: 20, true_fail: 170, false_pass: 30 };

    #[test]
    fn the_rate_has_its_closed_form() {
        let result = corrected_rate(300, 1_000, LABELS, 0.05).unwrap();
        assert!(
            (result.corrected - 0.15 / 0.65).abs() < 1e-12
                && (result.se - 0.039_894_121_276_612).abs() < 1e-12
        );
        assert!(result.interval.0 < result.corrected && result.corrected < result.interval.1);
        assert!(result.warnings.is_empty() && result.labels_to_halve.is_none());
        let edge = corrected_rate(20, 1_000, LABELS, 0.05).unwrap();
        assert!(edge.unclipped < 0.0 && edge.corrected.abs() < 1e-12 && edge.warnings.len() == 1);
        // Where more cases are judged, labels help: somewhat more than three times as many again.
        let more = corrected_rate(30_000, 100_000, LABELS, 0.05).unwrap().labels_to_halve;
        assert!(more.is_some_and(|more| 900 < more && more < 1_000), "{more:?}");
    }

    #[test]
    fn what_cannot_be_corrected_is_said() {
        let check = |passed, n, labels, expected: &str| {
            let result = corrected_rate(passed, n, labels, 0.05).unwrap_err();
            assert!(result.to_string().contains(expected), "{result}");
        };
        check(
            5,
            10,
            BinaryConfusion { true_pass: 5, false_fail: 5, true_fail: 5, false_pass: 5 },
            "not better than chance",
        );
        check(5, 10, BinaryConfusion { true_pass: 0, false_fail: 0, ..LABELS }, "no labelled case is a pass");
        check(0, 0, LABELS, "0 of 0");
        let weak = BinaryConfusion { true_pass: 6, false_fail: 4, true_fail: 5, false_pass: 5 };
        assert!(corrected_rate(5, 10, weak, 0.05).unwrap().warnings[0].contains("not significantly better"));
    }

    #[test]
    fn intervals_carry_what_is_not_known_of_the_judge() {
        let mut chance = Chance::new(8);
        let (rate, sensitivity, specificity) = (0.3, 0.85, 0.8);
        let (mut n_covered, mut n_naive_covered) = (0, 0);
        for _ in 0..2_000 {
            let mut count = |n: usize, share: f64| (0..n).filter(|_| chance.unit() < share).count();
            let passed = count(500, rate * sensitivity + (1.0 - rate) * (1.0 - specificity));
            let (true_pass, true_fail) = (count(60, sensitivity), count(60, specificity));
            let labels = BinaryConfusion {
                true_pass,
                false_fail: 60 - true_pass,
                true_fail,
                false_pass: 60 - true_fail,
            };
            let result = corrected_rate(passed, 500, labels, 0.05).unwrap();
            let holds = |(low, high): (f64, f64)| usize::from(low <= rate && rate <= high);
            n_covered += holds(result.interval);
            n_naive_covered +=
                holds(crate::stats::basics::proportion::pass_rate(passed, 500).unwrap().interval);
        }
        println!("Rogan-Gladen {n_covered}, naive {n_naive_covered} of 2000");
        assert!((1_860..=1_940).contains(&n_covered), "{n_covered}");
        assert!(n_naive_covered < 400, "{n_naive_covered}");
    }
}
