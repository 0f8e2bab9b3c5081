//! Functions that carry a judge's scores onto the human scale.

use serde::{Deserialize, Serialize};

use crate::stats::basics::numbers::{all_equal, all_pass_or_fail, ensure_usable_pairs, ensure_usable_values};
use crate::stats::basics::undefined::Undefined;

/// How scores are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MappingMethod {
    /// Any rise, in steps. Needs many labels.
    Isotonic,
    /// An S-curve of two parameters. Holds with few labels.
    Platt,
    /// What is high for the judge becomes what is high for people, however each of them uses the scale.
    Quantile,
}

/// A mapping that was fitted; a judge can be given it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Mapping {
    /// Straight lines between points; flat outside.
    Isotonic {
        judge: Vec<f64>,
        human: Vec<f64>,
    },
    /// 1 / (1 + exp(−(intercept + slope · score))).
    Platt {
        intercept: f64,
        slope: f64,
    },
    Quantile {
        judge: Vec<f64>,
        human: Vec<f64>,
    },
}

impl Mapping {
    /// Human scores lie on 0..=1.
    pub fn fit(method: MappingMethod, judge: &[f64], human: &[f64]) -> Result<Self, Undefined> {
        ensure_usable_pairs(("judge score", judge), ("human score", human), 2)?;
        if let Some(bad) = human.iter().find(|human| !(0.0..=1.0).contains(*human)) {
            return Undefined::because(format!("the human score {bad} is not on 0..=1"));
        }
        if all_equal(judge) {
            return Undefined::because("the judge gives the same score to everything");
        }
        match method {
            MappingMethod::Isotonic => {
                let fitted = isotonic(judge, human, &vec![1.0; judge.len()])?;
                Ok(Self::Isotonic { judge: fitted.x, human: fitted.y })
            }
            MappingMethod::Platt => {
                let curve = logistic(judge, &platt_targets(human))?;
                Ok(Self::Platt { intercept: curve.intercept, slope: curve.slope })
            }
            MappingMethod::Quantile => {
                let (judge, human) = matched_quantiles(judge, human);
                Ok(Self::Quantile { judge, human })
            }
        }
    }

    /// A mapping that was written as JSON; `None` if it cannot be applied to every score.
    ///
    /// ```
    /// use jurist_core::stats::calibration::Mapping;
    ///
    /// let mapping = |judge: &[f64]| serde_json::json!({ "method": "isotonic", "judge": judge, "human": [0.0, 1.0] });
    /// assert_eq!(Mapping::from_json(&mapping(&[0.25, 0.75])).unwrap().apply(0.5), 0.5);
    /// assert!(Mapping::from_json(&mapping(&[0.75, 0.25])).is_none());
    /// assert!(Mapping::from_json(&mapping(&[])).is_none());
    /// ```
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        let mapping: Self = serde_json::from_value(value.clone()).ok()?;
        let is_usable = match &mapping {
            Self::Isotonic { judge, human } | Self::Quantile { judge, human } => {
                !judge.is_empty()
                    && judge.len() == human.len()
                    && judge.is_sorted()
                    && human.iter().all(|human| (0.0..=1.0).contains(human))
            }
            // Any line has a value on 0..=1.
            Self::Platt { .. } => true,
        };
        is_usable.then_some(mapping)
    }

    pub fn apply(&self, score: f64) -> f64 {
        match self {
            Self::Isotonic { judge, human } | Self::Quantile { judge, human } => {
                interpolate(judge, human, score)
            }
            Self::Platt { intercept, slope } => Logistic { intercept: *intercept, slope: *slope }.at(score),
        }
    }
}

/// A rising (never falling) function through points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Isotonic {
    /// Only the points at which it changes direction.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

impl Isotonic {
    pub fn at(&self, x: f64) -> f64 {
        interpolate(&self.x, &self.y, x)
    }
}

/// Neighbours that share one value.
#[derive(Clone, Copy)]
struct PooledBlock {
    /// Of weight · y.
    sum: f64,
    weight: f64,
    n_places: usize,
}

/// Least squares among the functions that never fall, by pooling neighbours that do.
pub fn isotonic(x: &[f64], y: &[f64], weights: &[f64]) -> Result<Isotonic, Undefined> {
    ensure_usable_pairs(("x", x), ("y", y), 1)?;
    ensure_usable_pairs(("y", y), ("weight", weights), 1)?;
    if weights.iter().any(|weight| *weight < 0.0) {
        return Undefined::because("a weight is negative");
    }
    let mut order: Vec<usize> = (0..x.len()).filter(|index| 0.0 < weights[*index]).collect();
    if order.is_empty() {
        return Undefined::because("all weights are zero");
    }
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    let mut places: Vec<f64> = Vec::new();
    let mut blocks: Vec<PooledBlock> = Vec::new();
    for tied in order.chunk_by(|a, b| x[*a].total_cmp(&x[*b]).is_eq()) {
        places.push(x[tied[0]]);
        let sum = tied.iter().map(|index| weights[*index] * y[*index]).sum();
        let weight = tied.iter().map(|index| weights[*index]).sum();
        blocks.push(PooledBlock { sum, weight, n_places: 1 });
        while let [.., left, right] = blocks[..] {
            if left.sum / left.weight < right.sum / right.weight {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push(PooledBlock {
                sum: left.sum + right.sum,
                weight: left.weight + right.weight,
                n_places: left.n_places + right.n_places,
            });
        }
    }
    let mut fitted = Isotonic { x: Vec::new(), y: Vec::new() };
    let mut next = 0;
    for PooledBlock { sum, weight, n_places: n } in blocks {
        let ends = if n == 1 { vec![next] } else { vec![next, next + n - 1] };
        for at in ends {
            fitted.x.push(places[at]);
            fitted.y.push(sum / weight);
        }
        next += n;
    }
    Ok(fitted)
}

/// 1 / (1 + exp(−(intercept + slope · x))).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Logistic {
    pub intercept: f64,
    pub slope: f64,
}

impl Logistic {
    pub fn at(self, x: f64) -> f64 {
        1.0 / (1.0 + (-(self.intercept + self.slope * x)).exp())
    }
}

/// The likeliest curve for targets on 0..=1, by Newton's steps.
pub fn logistic(x: &[f64], targets: &[f64]) -> Result<Logistic, Undefined> {
    ensure_usable_pairs(("score", x), ("label", targets), 2)?;
    if all_equal(x) {
        return Undefined::because("all scores are equal");
    }
    if all_equal(targets) {
        return Undefined::because("all labels are equal");
    }
    if is_separable(x, targets) {
        return Undefined::because("a threshold separates the labels perfectly, so the slope is not finite");
    }
    let mut curve = Logistic { intercept: 0.0, slope: 0.0 };
    let loss = |curve: Logistic| -> f64 {
        let one = |(x, t): (&f64, &f64)| {
            let at = curve.intercept + curve.slope * x;
            // ln(1 + exp(at)) − t·at, without overflow.
            at.max(0.0) + (-at.abs()).exp().ln_1p() - t * at
        };
        x.iter().zip(targets).map(one).sum()
    };
    for _ in 0..100 {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (x, t) in x.iter().zip(targets) {
            let p = curve.at(*x);
            let (off, w) = (p - t, p * (1.0 - p));
            g = [g[0] + off, g[1] + off * x];
            h = [h[0] + w, h[1] + w * x, h[2] + w * x * x];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        if determinant <= 0.0 {
            break;
        }
        let step = [(h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant];
        let mut part = 1.0;
        let moved = |part: f64| Logistic {
            intercept: curve.intercept - part * step[0],
            slope: curve.slope - part * step[1],
        };
        while 1e-9 < part && loss(curve) < loss(moved(part)) {
            part /= 2.0;
        }
        curve = moved(part);
        if step[0].abs() + step[1].abs() < 1e-12 * (1.0 + curve.slope.abs()) {
            break;
        }
    }
    Ok(curve)
}

/// Labels that a threshold tells apart, ties at the threshold allowed.
fn is_separable(x: &[f64], targets: &[f64]) -> bool {
    let range = |label: f64| {
        let inside =
            x.iter().zip(targets).filter(|(_, target)| target.total_cmp(&label).is_eq()).map(|(x, _)| *x);
        inside
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((low0, high0), (low1, high1)) = (range(0.0), range(1.0));
    all_pass_or_fail(targets) && (high0 <= low1 || high1 <= low0)
}

/// Platt's targets: a little within 0 and 1, by how many there are of each.
pub fn platt_targets(labels: &[f64]) -> Vec<f64> {
    let passes: f64 = labels.iter().sum();
    let (high, low) = ((passes + 1.0) / (passes + 2.0), 1.0 / (labels.len() as f64 - passes + 2.0));
    labels.iter().map(|label| low + label * (high - low)).collect()
}

/// For each score of the judge, the human score with the same share under it.
fn matched_quantiles(judge: &[f64], human: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let sort = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (judge, human) = (sort(judge), sort(human));
    let (mut scores, mut human_means) = (Vec::new(), Vec::new());
    let mut from = 0;
    for tied in judge.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
        let to = from + tied.len();
        scores.push(tied[0]);
        // Where the judge cannot tell several apart, the mean of what people say in these places.
        human_means.push(human[from..to].iter().sum::<f64>() / tied.len() as f64);
        from = to;
    }
    (scores, human_means)
}

/// On the straight line between neighbours; flat outside.
fn interpolate(x: &[f64], y: &[f64], at: f64) -> f64 {
    let next = x.partition_point(|value| *value < at);
    if next == 0 {
        return y[0];
    }
    if next == x.len() {
        return y[next - 1];
    }
    let share = (at - x[next - 1]) / (x[next] - x[next - 1]);
    y[next - 1] + share * (y[next] - y[next - 1])
}

/// Scores as they are, checked.
pub(crate) fn apply_all(mapping: &Mapping, scores: &[f64]) -> Result<Vec<f64>, Undefined> {
    ensure_usable_values("judge score", scores, 0)?;
    Ok(scores.iter().map(|score| mapping.apply(*score)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 16] =
        [0.9, 0.8, 0.4, 0.2, 0.6, 0.95, 0.1, 0.7, 0.85, 0.55, 0.65, 0.3, 0.45, 0.75, 0.35, 0.99];
    const LABELS: [f64; 16] =
        [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];

    fn near(actual: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(actual.len(), expected.len(), "{actual:?}");
        assert!(
            actual.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance),
            "{actual:?} {expected:?}"
        );
    }

    #[test]
    fn isotonic_is_that_of_scikit_learn() {
        let result = isotonic(&SCORES, &LABELS, &[1.0; 16]).unwrap();
        near(&result.x, &[0.1, 0.35, 0.4, 0.6, 0.65, 0.99], 1e-12);
        near(&result.y, &[0.0, 0.0, 0.5, 0.5, 1.0, 1.0], 1e-12);
        let at = [0.05, 0.15, 0.33, 0.5, 0.62, 0.9, 1.0].map(|value| result.at(value));
        near(&at, &[0.0, 0.0, 0.0, 0.5, 0.7, 1.0, 1.0], 1e-12);
        let weighted =
            isotonic(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 3.0, 2.0, 5.0], &[1.0, 2.0, 1.0, 3.0, 1.0])
                .unwrap();
        near(
            &[1.0, 2.0, 3.0, 4.0, 5.0].map(|value| weighted.at(value)),
            &[4.0 / 3.0, 4.0 / 3.0, 2.25, 2.25, 5.0],
            1e-12,
        );
        assert!(isotonic(&[1.0], &[1.0], &[0.0]).unwrap_err().to_string().contains("all weights are zero"));
    }

    #[test]
    fn platt_is_that_of_statsmodels() {
        let plain = logistic(&SCORES, &LABELS).unwrap();
        near(
            &[plain.intercept, plain.slope, plain.at(0.5)],
            &[-4.623_494_8, 9.418_940_0, 0.521_480_571_4],
            1e-5,
        );
        let soft = logistic(&SCORES, &platt_targets(&LABELS)).unwrap();
        near(&[-soft.slope, -soft.intercept], &[-5.591_82, 2.649_66], 1e-3);
        assert!(logistic(&[0.1, 0.9], &[0.0, 1.0]).unwrap_err().to_string().contains("separates"));
        assert!(Mapping::fit(MappingMethod::Platt, &[0.1, 0.9], &[0.0, 1.0]).is_ok());
        assert!(Mapping::fit(MappingMethod::Platt, &[0.5, 0.5], &[0.0, 1.0]).is_err());
    }

    #[test]
    fn quantiles_undo_a_judge_who_only_uses_the_top() {
        let human: Vec<f64> = (0..=10).map(|n| f64::from(n) / 10.0).collect();
        let judge: Vec<f64> = human.iter().map(|human| 0.8 + 0.2 * human * human).collect();
        let mapping = Mapping::fit(MappingMethod::Quantile, &judge, &human).unwrap();
        near(&apply_all(&mapping, &judge).unwrap(), &human, 1e-12);
        let back: Mapping = serde_json::from_str(&serde_json::to_string(&mapping).unwrap()).unwrap();
        assert_eq!(back, mapping);
    }
}
