//! Brings a judge onto the human scale, and says on labels that it did not learn from how much that helps.

use serde::{Deserialize, Serialize};

use super::mapping::{Mapping, MappingMethod, apply_all};
use super::reliability::{ReliabilitySummary, reliability};
use crate::quantity::plural;
use crate::stats::basics::bounded::{Cluster, difference_interval, mean_interval};
use crate::stats::basics::correlation::pearson;
use crate::stats::basics::numbers::{ensure_usable_pairs, mean};
use crate::stats::basics::proportion::{Proportion, pass_rate};
use crate::stats::basics::resample::Chance;
use crate::stats::basics::undefined::Undefined;

/// With fewer labels, a mapping learns them by heart.
pub const MIN_LABELS: usize = 20;

const N_FOLDS: usize = 5;
const N_BINS: usize = 10;

/// What a judge is given so that its scores mean what people mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub mapping: Mapping,
    pub n_labels: usize,
    pub proof: Proof,
    /// The judge as it is.
    pub before: Quality,
    /// The judge with the mapping, on labels that the mapping did not see.
    pub after: Quality,
    /// By how much the Brier score is lower.
    pub gain: ValueWithInterval,
}

/// On which labels a calibration was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// On each part, after learning from all others.
    CrossValidated { folds: usize },
    /// On labels held out.
    HeldOut { n: usize },
}

/// A number with where it may really lie, in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueWithInterval {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// How well scores mean what people mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    pub brier: ValueWithInterval,
    pub ece: ValueWithInterval,
    /// How much higher than people it scores.
    pub bias: ValueWithInterval,
    pub reliability: ReliabilitySummary,
}

impl Calibration {
    /// Whether the mapping is shown to bring the judge closer to people.
    pub fn helps(&self) -> bool {
        self.gain.interval.is_some_and(|(low, _)| 0.0 < low)
    }

    /// What it changed, in a sentence that promises no more than there is.
    pub fn sentence(&self) -> String {
        let (before, after) = (self.before.brier.value, self.after.brier.value);
        let on = match self.proof {
            Proof::CrossValidated { folds } => format!("cross-validated, {folds} folds"),
            Proof::HeldOut { n } => format!("on {} held out", plural(n, "label")),
        };
        let verdict = match self.gain.interval {
            Some((low, _)) if 0.0 < low => "the mapping helps",
            Some((_, high)) if high < 0.0 => "the mapping is worse than none and should not be used",
            _ => "no significant improvement by the mapping",
        };
        format!("The Brier score goes from {before:.3} to {after:.3} ({on}): {verdict}.")
    }
}

/// Learns from all labels and is tried by cross-validation. Both lists lie on 0..=1.
pub fn calibrate(
    judge: &[f64],
    human: &[f64],
    method: MappingMethod,
    seed: u64,
) -> Result<Calibration, Undefined> {
    ensure_usable_pairs(("judge score", judge), ("human score", human), MIN_LABELS)?;
    ensure_same_direction(judge, human)?;
    let mapping = Mapping::fit(method, judge, human)?;
    let mut mapped = vec![0.0; judge.len()];
    for part in folds(judge.len(), seed) {
        let learned =
            Mapping::fit(method, &select_indices(judge, &part.rest), &select_indices(human, &part.rest))?;
        for at in part.tried {
            mapped[at] = learned.apply(judge[at]);
        }
    }
    evaluate_mapping(mapping, Proof::CrossValidated { folds: N_FOLDS }, judge, &mapped, human)
}

/// Scores of a judge and of people, of the same candidates.
#[derive(Debug, Clone, Copy)]
pub struct JudgeHumanScores<'a> {
    pub judge: &'a [f64],
    pub human: &'a [f64],
}

/// Learns from some labels and is tried on others.
pub fn calibrate_held_out(
    learn: JudgeHumanScores<'_>,
    held_out: JudgeHumanScores<'_>,
    method: MappingMethod,
) -> Result<Calibration, Undefined> {
    ensure_usable_pairs(("judge score", learn.judge), ("human score", learn.human), MIN_LABELS)?;
    ensure_usable_pairs(("kept judge score", held_out.judge), ("kept human score", held_out.human), 2)?;
    ensure_same_direction(learn.judge, learn.human)?;
    let mapping = Mapping::fit(method, learn.judge, learn.human)?;
    let mapped = apply_all(&mapping, held_out.judge)?;
    evaluate_mapping(
        mapping,
        Proof::HeldOut { n: held_out.judge.len() },
        held_out.judge,
        &mapped,
        held_out.human,
    )
}

/// A mapping that makes high scores low would improve the Brier score of a judge that contradicts people, and fail every
/// candidate that the judge likes.
fn ensure_same_direction(judge: &[f64], human: &[f64]) -> Result<(), Undefined> {
    match pearson(judge, human) {
        Ok(correlation) if correlation.value < 0.0 => Undefined::because(format!(
            "the judge's scores fall where people's scores rise (correlation {:.2}); a mapping would reverse them, so \
             improve the rubric or the judge first",
            correlation.value
        )),
        _ => Ok(()),
    }
}

fn evaluate_mapping(
    mapping: Mapping,
    proof: Proof,
    judge: &[f64],
    mapped: &[f64],
    human: &[f64],
) -> Result<Calibration, Undefined> {
    let nearer = judge.iter().zip(mapped).zip(human).map(|((j, m), h)| (j - h).powi(2) - (m - h).powi(2));
    Ok(Calibration {
        mapping,
        n_labels: human.len(),
        proof,
        before: quality(judge, human)?,
        after: quality(mapped, human)?,
        gain: mean_with_interval(nearer, unit_difference),
    })
}

fn quality(scores: &[f64], human: &[f64]) -> Result<Quality, Undefined> {
    let pairs = || scores.iter().zip(human);
    let reliability = reliability(scores, human, N_BINS)?;
    Ok(Quality {
        brier: mean_with_interval(pairs().map(|(s, h)| (s - h).powi(2)), mean_interval),
        // Distances of bins do not cancel out by chance, so that drawing labels again would miss the truth.
        ece: ValueWithInterval { value: reliability.ece, interval: None },
        bias: mean_with_interval(pairs().map(|(s, h)| s - h), unit_difference),
        reliability,
    })
}

fn unit_difference(clusters: &[Cluster]) -> Option<(f64, f64)> {
    difference_interval(clusters, 1.0)
}

fn mean_with_interval(
    values: impl Iterator<Item = f64>,
    interval: fn(&[Cluster]) -> Option<(f64, f64)>,
) -> ValueWithInterval {
    let values: Vec<f64> = values.collect();
    let clusters: Vec<Cluster> = values.iter().copied().map(Cluster::single).collect();
    ValueWithInterval { value: mean(&values), interval: interval(&clusters) }
}

/// A part of the labels to try on, and the rest to learn from.
struct CrossValidationFold {
    tried: Vec<usize>,
    rest: Vec<usize>,
}

fn folds(n: usize, seed: u64) -> Vec<CrossValidationFold> {
    let order = Chance::new(seed).order(n);
    let part = |fold: usize| {
        let (tried, rest): (Vec<_>, Vec<_>) =
            order.iter().enumerate().partition(|(place, _)| place % N_FOLDS == fold);
        let labels = |part: Vec<(usize, &usize)>| part.into_iter().map(|(_, label)| *label).collect();
        CrossValidationFold { tried: labels(tried), rest: labels(rest) }
    };
    (0..N_FOLDS).map(part).collect()
}

fn select_indices<T: Copy>(values: &[T], at: &[usize]) -> Vec<T> {
    at.iter().map(|index| values[*index]).collect()
}

/// A pass mark for the judge's scores, and how often it decides as people do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    pub threshold: f64,
    /// With the pass mark there was.
    pub before: DecisionRates,
    /// Cross-validated.
    pub after: DecisionRates,
}

/// How a judge decides compared with people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionRates {
    pub accuracy: Proportion,
    /// Of what people pass.
    pub sensitivity: Proportion,
    /// Of what people fail.
    pub specificity: Proportion,
}

/// The pass mark with the best balance of both kinds of mistakes; `current` is kept where nothing is better.
pub fn calibrate_threshold(
    judge: &[f64],
    human: &[bool],
    current: f64,
    seed: u64,
) -> Result<Threshold, Undefined> {
    let as_scores: Vec<f64> = human.iter().map(|human| f64::from(u8::from(*human))).collect();
    ensure_usable_pairs(("judge score", judge), ("human label", &as_scores), MIN_LABELS)?;
    let mut passes = vec![false; judge.len()];
    for part in folds(judge.len(), seed) {
        let learned =
            best_threshold(&select_indices(judge, &part.rest), &select_indices(human, &part.rest), current)?;
        for at in part.tried {
            passes[at] = learned <= judge[at];
        }
    }
    let as_it_is: Vec<bool> = judge.iter().map(|judge| current <= *judge).collect();
    Ok(Threshold {
        threshold: best_threshold(judge, human, current)?,
        before: compute_decision_rates(&as_it_is, human)?,
        after: compute_decision_rates(&passes, human)?,
    })
}

fn best_threshold(judge: &[f64], human: &[bool], current: f64) -> Result<f64, Undefined> {
    let mut order: Vec<usize> = (0..judge.len()).collect();
    order.sort_by(|a, b| judge[*a].total_cmp(&judge[*b]));
    let passes = human.iter().filter(|human| **human).count() as f64;
    let fails = human.len() as f64 - passes;
    if passes == 0.0 || fails == 0.0 {
        return Undefined::because("all labels are equal, so every pass mark is equally good");
    }
    let under = |mark: f64| order.partition_point(|index| judge[*index] < mark);
    let mut lost = vec![(0.0, 0.0); order.len() + 1];
    for (at, item) in order.iter().enumerate() {
        let (passed, failed) = lost[at];
        lost[at + 1] = if human[*item] { (passed + 1.0, failed) } else { (passed, failed + 1.0) };
    }
    // Balanced accuracy, when so many lie under the mark.
    let worth = |n: usize| {
        let (passed, failed) = lost[n];
        (1.0 - passed / passes) + failed / fails
    };
    let (mut best_worth, mut best_mark) = (worth(under(current)), current);
    for pair in order.windows(2) {
        let mark = f64::midpoint(judge[pair[0]], judge[pair[1]]);
        let worth_here = worth(under(mark));
        let nearer = (mark - current).abs() < (best_mark - current).abs();
        if best_worth + 1e-12 < worth_here || (best_worth - 1e-12 < worth_here && nearer) {
            (best_worth, best_mark) = (worth_here, mark);
        }
    }
    Ok(best_mark)
}

fn compute_decision_rates(judge: &[bool], human: &[bool]) -> Result<DecisionRates, Undefined> {
    let count = |wanted: &dyn Fn(bool, bool) -> bool| {
        judge.iter().zip(human).filter(|(judge, human)| wanted(**judge, **human)).count()
    };
    Ok(DecisionRates {
        accuracy: pass_rate(count(&|j, h| j == h), judge.len())?,
        sensitivity: pass_rate(count(&|j, h| j && h), count(&|_, h| h))?,
        specificity: pass_rate(count(&|j, h| !j && !h), count(&|_, h| !h))?,
    })
}

/// Labelled examples to show the judge, and those that are left to try it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Anchors {
    pub chosen: Vec<usize>,
    /// An anchor is known to the judge and proves nothing.
    pub rest: Vec<usize>,
}

/// Takes from each level of the human scale in turn, the ends first, what the judge gets most wrong: what it
/// gets right already teaches nothing. At most half of the labels become anchors.
pub fn select_anchors(judge: &[f64], human: &[f64], n: usize) -> Result<Anchors, Undefined> {
    ensure_usable_pairs(("judge score", judge), ("human score", human), 1)?;
    if judge.len() < 2 * n {
        return Undefined::because(format!(
            "{} leave too few of {} to evaluate the judge",
            plural(n, "anchor"),
            plural(judge.len(), "label")
        ));
    }
    let mut levels = group_by_level(human);
    let off = |index: usize| (judge[index] - human[index]).abs();
    for level in &mut levels {
        level.sort_by(|a, b| off(*a).total_cmp(&off(*b)).then(b.cmp(a)));
    }
    let mut chosen = Vec::new();
    while chosen.len() < n {
        for level in &mut levels {
            chosen.extend(level.pop().filter(|_| chosen.len() < n));
        }
    }
    let rest = (0..judge.len()).filter(|n| !chosen.contains(n)).collect();
    Ok(Anchors { chosen, rest })
}

/// Items by what people say of them: by each value of a short scale, or else in fifths of the range.
fn group_by_level(human: &[f64]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..human.len()).collect();
    order.sort_by(|a, b| human[*a].total_cmp(&human[*b]));
    let (low, high) = (human[order[0]], human[order[order.len() - 1]]);
    let by_value: Vec<Vec<usize>> =
        order.chunk_by(|a, b| human[*a].total_cmp(&human[*b]).is_eq()).map(<[usize]>::to_vec).collect();
    let fifth = |index: &usize| (5.0 * (human[*index] - low) / (high - low)).min(4.0) as usize;
    let from_low: Vec<Vec<usize>> = if by_value.len() <= 7 {
        by_value
    } else {
        order.chunk_by(|a, b| fifth(a) == fifth(b)).map(<[usize]>::to_vec).collect()
    };
    let n = from_low.len();
    (0..n)
        .map(|it| if it % 2 == 0 { it / 2 } else { n - 1 - it / 2 })
        .map(|index| from_low[index].clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// People pass what is good; the judge is too mild: it scores 0.5 + quality / 2.
    fn labels(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut chance = Chance::new(seed);
        let item = |_| {
            let quality = chance.unit();
            (0.5 + quality / 2.0, if chance.unit() < quality { 1.0 } else { 0.0 })
        };
        (0..n).map(item).unzip()
    }

    #[test]
    fn a_mild_judge_is_brought_onto_the_human_scale() {
        let (judge, human) = labels(300, 4);
        for method in [MappingMethod::Isotonic, MappingMethod::Platt] {
            let result = calibrate(&judge, &human, method, 1).unwrap();
            assert!(result.helps() && result.sentence().ends_with("the mapping helps."), "{result:?}");
            assert!(
                result.after.ece.value < result.before.ece.value / 2.0,
                "{method:?} {:?}",
                result.after.ece
            );
            assert!(0.2 < result.before.bias.value && result.after.bias.value.abs() < 0.05);
            assert_eq!(result, calibrate(&judge, &human, method, 1).unwrap());
            let back: Calibration = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
            assert_eq!(back, result);
        }
        let (kept_judge, kept_human) = labels(200, 9);
        let learn = JudgeHumanScores { judge: &judge, human: &human };
        let kept = JudgeHumanScores { judge: &kept_judge, human: &kept_human };
        let kept = calibrate_held_out(learn, kept, MappingMethod::Platt).unwrap();
        assert!(kept.helps() && kept.sentence().contains("on 200 labels held out"));
    }

    #[test]
    fn a_mapping_that_only_learns_by_heart_does_not_help() {
        // Labels that have nothing to do with the judge, who already says what is true of all.
        let draw = |seed: u64| {
            let mut chance = Chance::new(seed);
            let judge: Vec<f64> = (0..60).map(|_| 0.45 + 0.1 * chance.unit()).collect();
            let human: Vec<f64> = (0..60).map(|_| if chance.unit() < 0.5 { 1.0 } else { 0.0 }).collect();
            (judge, human)
        };
        let is_positive = |(judge, human): &(Vec<f64>, Vec<f64>)| 0.0 < pearson(judge, human).unwrap().value;
        let (judge, human) = (1..).map(draw).find(is_positive).unwrap();
        let result = calibrate(&judge, &human, MappingMethod::Isotonic, 1).unwrap();
        let by_heart: Vec<f64> = judge.iter().map(|judge| result.mapping.apply(*judge)).collect();
        let learned = reliability(&by_heart, &human, N_BINS).unwrap().brier;
        assert!(learned < result.before.brier.value && !result.helps(), "{learned} {}", result.sentence());
    }

    #[test]
    fn what_cannot_be_calibrated_is_said() {
        let check = |judge: &[f64], human: &[f64], expected: &str| {
            let result = calibrate(judge, human, MappingMethod::Isotonic, 1).unwrap_err();
            assert!(result.to_string().contains(expected), "{result}");
        };
        check(&[0.5], &[1.0], "at least 20");
        let (rising, falling): (Vec<f64>, Vec<f64>) =
            (0..30).map(|at| (f64::from(at) / 30.0, f64::from(u8::from(at < 15)))).unzip();
        check(&rising, &falling, "fall where people's scores rise (correlation -0.87)");
        check(&[0.5; 30], &[1.0; 30], "same score to everything");
        check(&[0.5; 30], &[1.0; 29], "cannot be paired");
        check(&[f64::NAN; 30], &[1.0; 30], "judge score 1 is not a number");
        let rising: Vec<f64> = (0..30).map(f64::from).collect();
        check(&rising, &rising, "not on 0..=1");
        assert!(
            calibrate_threshold(&rising, &[true; 30], 0.5, 1)
                .unwrap_err()
                .to_string()
                .contains("all labels are equal")
        );
    }

    #[test]
    fn the_pass_mark_moves_to_where_people_have_theirs() {
        let (judge, _) = labels(200, 3);
        let human: Vec<bool> = judge.iter().map(|judge| 0.8 <= *judge).collect();
        let result = calibrate_threshold(&judge, &human, 0.5, 1).unwrap();
        assert!((result.threshold - 0.8).abs() < 0.02, "{}", result.threshold);
        assert!(result.before.accuracy.rate < 0.5 && 0.95 < result.after.accuracy.rate);
        let kept = calibrate_threshold(&judge, &human, 0.8, 1).unwrap();
        assert!((kept.threshold - 0.8).abs() < 1e-12);
    }

    #[test]
    fn anchors_cover_the_scale_and_are_not_tried_on() {
        let human = [0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.0];
        let judge = [0.1, 0.6, 0.5, 0.9, 1.0, 0.3, 0.9, 0.0];
        let result = select_anchors(&judge, &human, 3).unwrap();
        assert_eq!((result.chosen, result.rest), (vec![1, 5, 3], vec![0, 2, 4, 6, 7]));
        assert_eq!(select_anchors(&judge, &human, 4).unwrap().chosen, [1, 5, 3, 0]);
        assert!(select_anchors(&judge, &human, 5).unwrap_err().to_string().contains("too few"));
        let many: Vec<f64> = (0..40).map(|n| f64::from(n) / 39.0).collect();
        assert_eq!(select_anchors(&many, &many, 5).unwrap().chosen.len(), 5);
    }
}
