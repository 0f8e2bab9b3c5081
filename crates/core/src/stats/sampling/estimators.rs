//! One mean or pass rate by every way there is to it, side by side: the judge alone, the labels alone, and the
//! judge corrected by the labels.

use serde::Serialize;

use super::ppi::{FEWEST_LABELS, MeanEstimate, prediction_powered};
use super::rogan_gladen::{BinaryConfusion, CorrectedRate, corrected_rate};
use crate::quantity::plural;
use crate::stats::basics::measure::{
    Coefficient, CoefficientResult, mean_score_with_interval, share_with_interval,
};
use crate::stats::basics::undefined::Undefined;

/// What is estimated of scores on 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimatedQuantity {
    Mean,
    /// The share of candidates at this mark or above.
    PassRate {
        pass_mark: f64,
    },
}

/// Scores of people and of a judge from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelledScores {
    /// People and the judge, of the same candidate.
    pub both: Vec<(f64, f64)>,
    /// The judge of candidates without a label.
    pub judge_only: Vec<f64>,
    /// People of candidates that the judge has no score for.
    pub human_only: Vec<f64>,
}

/// Every way to the same number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimatorComparison {
    pub quantity: EstimatedQuantity,
    pub n_labels: usize,
    /// Candidates that only the judge scored.
    pub n_judged: usize,
    /// Everything that the judge scored; its bias is in no interval.
    pub judge: CoefficientResult,
    pub labels: CoefficientResult,
    pub ppi: CoefficientResult,
    pub ppi_plus_plus: CoefficientResult,
    /// Weight of the judge in PPI++, from 0 to 1.
    pub lambda: Option<f64>,
    /// Of judge and people.
    pub correlation: Option<f64>,
    /// For pass rates only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rogan_gladen: Option<CoefficientResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<CorrectedRate>,
    /// Labels that would be needed in addition to these for half the width of the interval of PPI++, or of the
    /// labels alone where there is no other.
    pub labels_to_halve: Option<usize>,
    pub warnings: Vec<String>,
}

/// Says what it can; a way that leads nowhere says why.
pub fn compare_estimators(scores: &LabelledScores, quantity: EstimatedQuantity) -> EstimatorComparison {
    let measured = |value: &f64| match quantity {
        EstimatedQuantity::Mean => *value,
        // Means of several people may miss a mark that they reach on paper.
        EstimatedQuantity::PassRate { pass_mark } => f64::from(u8::from(pass_mark - 1e-9 <= *value)),
    };
    let (human, judge): (Vec<f64>, Vec<f64>) =
        scores.both.iter().map(|(human, judge)| (measured(human), measured(judge))).unzip();
    let unlabelled: Vec<f64> = scores.judge_only.iter().map(measured).collect();
    let labels: Vec<f64> = human.iter().copied().chain(scores.human_only.iter().map(measured)).collect();
    let judged: Vec<f64> = judge.iter().chain(&unlabelled).copied().collect();
    let alone = |values: &[f64]| match quantity {
        _ if values.is_empty() => Undefined::because("there is none"),
        EstimatedQuantity::Mean => mean_score_with_interval(values),
        EstimatedQuantity::PassRate { .. } => share_with_interval(values.iter().sum(), values.len()),
    };
    let powered = match (human.len(), unlabelled.len()) {
        (0, _) => Undefined::because("no candidate has both a label and a judge score"),
        (_, 0) => Undefined::because("every candidate scored by the judge has a label"),
        (n, _) if n < FEWEST_LABELS => Undefined::because(format!(
            "the judge's bias cannot be estimated from {} (at least {FEWEST_LABELS} are needed)",
            plural(n, "label")
        )),
        _ => prediction_powered(&human, &judge, &unlabelled, 0.05),
    };
    let n = human.len() + unlabelled.len();
    let known = |mean_estimate: MeanEstimate| {
        Coefficient::new(mean_estimate.mean.clamp(0.0, 1.0), mean_estimate.unit_interval, n)
    };
    let of = |way: fn(&super::ppi::PredictionPowered) -> MeanEstimate| {
        CoefficientResult::from(powered.as_ref().map(|powered| known(way(powered))).map_err(Clone::clone))
    };
    let rate = match quantity {
        EstimatedQuantity::Mean => None,
        EstimatedQuantity::PassRate { .. } if human.is_empty() || unlabelled.is_empty() => None,
        EstimatedQuantity::PassRate { .. } => {
            let passed = unlabelled.iter().filter(|unlabelled| 0.5 < **unlabelled).count();
            Some(corrected_rate(passed, unlabelled.len(), count_confusion(&human, &judge), 0.05))
        }
    };
    let mut warnings: Vec<String> =
        powered.as_ref().ok().and_then(|powered| powered.warning.clone()).into_iter().collect();
    if let Some(Ok(rate)) = &rate {
        // The warning that the judge may be no better than chance is given once.
        warnings.extend(
            rate.warnings
                .iter()
                .filter(|warning| warnings.is_empty() || !warning.contains("chance"))
                .cloned()
                .collect::<Vec<_>>(),
        );
    }
    let corrected = |corrected_rate: &CorrectedRate| {
        Coefficient::new(corrected_rate.corrected, Some(corrected_rate.interval), n)
    };
    EstimatorComparison {
        quantity,
        n_labels: labels.len(),
        n_judged: unlabelled.len(),
        judge: alone(&judged).into(),
        labels: alone(&labels).into(),
        ppi: of(|prediction_powered| prediction_powered.ppi),
        ppi_plus_plus: of(|prediction_powered| prediction_powered.ppi_plus_plus),
        lambda: powered.as_ref().ok().map(|powered| powered.lambda),
        correlation: powered.as_ref().ok().and_then(|powered| powered.correlation),
        rogan_gladen: rate.as_ref().map(|rate| rate.as_ref().map(corrected).map_err(Clone::clone).into()),
        mistakes: rate.and_then(Result::ok),
        // The width falls with the root of their number.
        labels_to_halve: powered.as_ref().map_or_else(
            |_| (1 < labels.len()).then(|| 3 * labels.len()),
            |prediction_powered| Some(prediction_powered.labels_to_halve),
        ),
        warnings,
    }
}

/// Scores end at 0 and 1, and so do their means.
pub(crate) fn clamp_to_unit((low, high): (f64, f64)) -> (f64, f64) {
    (low.max(0.0), high.min(1.0))
}

fn count_confusion(human: &[f64], judge: &[f64]) -> BinaryConfusion {
    let count = |h: bool, j: bool| {
        human.iter().zip(judge).filter(|(human, judge)| (0.5 < **human) == h && (0.5 < **judge) == j).count()
    };
    BinaryConfusion {
        true_pass: count(true, true),
        false_fail: count(true, false),
        true_fail: count(false, false),
        false_pass: count(false, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 labelled candidates of which 20 pass, and 200 others; the judge passes three of ten that fail.
    fn lenient() -> LabelledScores {
        let pair = |at: usize| {
            let human = f64::from(u8::from(at.is_multiple_of(2)));
            (human, if at % 20 < 6 { 1.0 } else { human })
        };
        let judge_only = (0..200).map(|n| pair(n).1).collect();
        LabelledScores { both: (0..40).map(pair).collect(), judge_only, human_only: vec![] }
    }

    #[test]
    fn every_way_stands_beside_the_others() {
        let result = compare_estimators(&lenient(), EstimatedQuantity::PassRate { pass_mark: 0.7 });
        let value = |coefficient: &CoefficientResult| (coefficient.value().unwrap() * 1e3).round() / 1e3;
        assert_eq!((value(&result.judge), value(&result.labels)), (0.65, 0.5));
        assert_eq!((value(&result.ppi), value(result.rogan_gladen.as_ref().unwrap())), (0.5, 0.5));
        assert!(result.lambda.is_some_and(|lambda| 0.5 < lambda && lambda < 1.0), "{:?}", result.lambda);
        let width =
            |coefficient: &CoefficientResult| coefficient.interval().map(|(low, high)| high - low).unwrap();
        assert!(width(&result.ppi_plus_plus) < width(&result.labels));
        assert!(result.warnings.is_empty(), "{:?}", result.warnings);
        assert!(compare_estimators(&lenient(), EstimatedQuantity::Mean).rogan_gladen.is_none());
    }

    #[test]
    fn what_there_is_is_said_and_what_is_missing_says_why() {
        let why = |coefficient: &CoefficientResult| match coefficient {
            CoefficientResult::Undefined { undefined } => undefined.clone(),
            CoefficientResult::Known(coefficient) => format!("{}", coefficient.value),
        };
        let judge_alone = LabelledScores { judge_only: vec![0.2, 0.4], ..LabelledScores::default() };
        let result = compare_estimators(&judge_alone, EstimatedQuantity::Mean);
        assert_eq!((why(&result.labels).as_str(), result.labels_to_halve), ("there is none", None));
        assert!(result.judge.value().is_some() && why(&result.ppi).contains("both a label"));
        let all_labelled = LabelledScores { both: vec![(1.0, 0.5), (0.0, 0.5)], ..LabelledScores::default() };
        let result = compare_estimators(&all_labelled, EstimatedQuantity::Mean);
        assert!(why(&result.ppi_plus_plus).contains("has a label") && result.labels.value() == Some(0.5));
        let judged =
            |both: Vec<(f64, f64)>| LabelledScores { both, judge_only: vec![0.5, 0.6], human_only: vec![] };
        let same = judged((0..12).map(|n| (1.0, 0.5 + f64::from(n % 2) / 5.0)).collect());
        assert!(why(&compare_estimators(&same, EstimatedQuantity::Mean).ppi).contains("are equal"));
        // Of few labels the labels alone are believed.
        let few =
            compare_estimators(&judged(vec![(1.0, 0.9), (0.0, 0.2), (1.0, 0.8)]), EstimatedQuantity::Mean);
        assert!(why(&few.ppi_plus_plus).contains("from 3 labels (at least 10 are needed)"), "{few:?}");
        assert!(few.labels.interval().is_some_and(|(low, high)| low < 0.2 && 0.9 < high), "{few:?}");
    }
}
