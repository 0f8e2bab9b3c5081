//! Judges who graded the same items: which of them agrees more with people?

use std::collections::BTreeMap;

use serde::Serialize;

use super::multiple_comparisons::holm;
use super::paired::{DifferenceClaim, MIN_PAIRS};
use crate::quantity::plural;
use crate::stats::basics::bounded::Cluster;
use crate::stats::basics::measure::{CoefficientResult, mean_difference_with_interval};
use crate::stats::basics::numbers::mean;
use crate::stats::basics::resample::sign_test;

/// A judge's agreement with people on each item: the mean similarity of its answer to theirs, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementByItem {
    pub judge: String,
    pub items: BTreeMap<String, f64>,
}

/// How much more one judge agrees with people than another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeDifference {
    pub judges: (String, String),
    /// Items that both judges and at least one person graded.
    pub n_items: usize,
    /// Mean agreement of each judge with people on these items; absent without an item.
    pub agreement: Option<(f64, f64)>,
    /// The agreement of the first judge minus that of the second.
    pub difference: CoefficientResult,
    /// By a sign-flip permutation test; among several pairs of judges, adjusted by Holm's method.
    pub p: f64,
    pub claim: DifferenceClaim,
}

impl JudgeDifference {
    /// Conclusion as a sentence.
    pub fn sentence(&self) -> String {
        self.sentence_about("these judges")
    }

    /// The same where what is compared is not two judges, but for example `these rubric versions`.
    pub fn sentence_about(&self, compared: &str) -> String {
        let (first, second) = &self.judges;
        match (self.claim, self.difference.value()) {
            (DifferenceClaim::TooFew, _) => format!(
                "{} cannot show a difference between {compared}; at least {MIN_PAIRS} are needed.",
                plural(self.n_items, "candidate")
            ),
            (DifferenceClaim::Shown, Some(difference)) if difference < 0.0 => {
                format!("{second} agrees with people significantly more than {first}.")
            }
            (DifferenceClaim::Shown, _) => {
                format!("{first} agrees with people significantly more than {second}.")
            }
            (DifferenceClaim::NotShown, _) if excludes_zero(&self.difference) => format!(
                "No significant difference between {compared}: the interval leaves out 0, but the p-value is not below \
                 {SIGNIFICANCE}, and both are needed."
            ),
            (DifferenceClaim::NotShown, _) => format!("No significant difference between {compared}."),
        }
    }
}

/// A difference is significant if its p-value is below this.
const SIGNIFICANCE: f64 = 0.05;

fn excludes_zero(difference: &CoefficientResult) -> bool {
    difference.interval().is_some_and(|(low, high)| 0.0 < low || high < 0.0)
}

/// Compares every two judges on the items that both graded. As between two runs, a difference is shown if its p-value is
/// under 0.05 and its interval leaves out 0.
pub fn compare_judges(judges: &[AgreementByItem], seed: u64) -> Vec<JudgeDifference> {
    let pairs = judges.iter().enumerate().flat_map(|(at, first)| {
        judges[at + 1..].iter().map(move |second| measure_judge_difference(first, second, seed))
    });
    let mut differences: Vec<JudgeDifference> = pairs.collect();
    let adjusted = holm(&differences.iter().map(|difference| difference.p).collect::<Vec<_>>());
    for (difference, p) in differences.iter_mut().zip(adjusted) {
        let is_apart = excludes_zero(&difference.difference);
        difference.p = p;
        difference.claim = match difference.n_items {
            n if n < MIN_PAIRS => DifferenceClaim::TooFew,
            _ if p < SIGNIFICANCE && is_apart => DifferenceClaim::Shown,
            _ => DifferenceClaim::NotShown,
        };
    }
    differences
}

/// With a p-value for this pair alone, and nothing claimed yet.
fn measure_judge_difference(first: &AgreementByItem, second: &AgreementByItem, seed: u64) -> JudgeDifference {
    let both =
        first.items.iter().filter_map(|(item, agreement)| Some((*agreement, *second.items.get(item)?)));
    let (of_first, of_second): (Vec<f64>, Vec<f64>) = both.unzip();
    let differences: Vec<f64> = of_first.iter().zip(&of_second).map(|(a, b)| a - b).collect();
    let clusters: Vec<Cluster> = differences.iter().copied().map(Cluster::single).collect();
    JudgeDifference {
        judges: (first.judge.clone(), second.judge.clone()),
        n_items: differences.len(),
        agreement: (!differences.is_empty()).then(|| (mean(&of_first), mean(&of_second))),
        difference: mean_difference_with_interval(&differences, 1.0).into(),
        p: sign_test(&clusters, seed),
        claim: DifferenceClaim::TooFew,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(name: &str, agreement: &[f64]) -> AgreementByItem {
        let items = agreement.iter().enumerate().map(|(at, agreement)| (format!("i{at:02}"), *agreement));
        AgreementByItem { judge: name.to_owned(), items: items.collect() }
    }

    fn compare_two(first: &[f64], second: &[f64]) -> JudgeDifference {
        compare_judges(&[judge("a", first), judge("b", second)], 0).remove(0)
    }

    #[test]
    fn judges_are_compared_on_the_items_that_both_graded() {
        let mut worse = [0.0; 12];
        worse[..2].fill(1.0);
        let result = compare_two(&[1.0; 10], &worse);
        assert_eq!((result.n_items, result.claim), (10, DifferenceClaim::Shown));
        assert!((result.difference.value().unwrap() - 0.8).abs() < 1e-12);
        let (low, high) = result.difference.interval().unwrap();
        assert!(0.0 < low && low < 0.8 && 0.8 < high && high <= 1.0, "{low} {high}");
        // Of 2⁸ ways to turn eight signs, two are as extreme as all alike.
        assert!((result.p - 2.0 / 256.0).abs() < 1e-12);
        assert_eq!(result.sentence(), "a agrees with people significantly more than b.");
        assert!(compare_two(&worse, &[1.0; 10]).sentence().starts_with("b agrees"));
    }

    #[test]
    fn a_sentence_says_why_an_interval_without_zero_is_not_enough() {
        let mut worse = [0.0; 10];
        worse[..2].fill(1.0);
        let result = compare_two(&[1.0; 10], &worse);
        let undecided = JudgeDifference { claim: DifferenceClaim::NotShown, p: 0.07, ..result };
        assert!(undecided.difference.interval().is_some_and(|(low, _)| 0.0 < low), "{undecided:?}");
        assert_eq!(
            undecided.sentence_about("these rubric versions"),
            "No significant difference between these rubric versions: the interval leaves out 0, but the p-value is not \
             below 0.05, and both are needed."
        );
    }

    #[test]
    fn equal_judges_and_few_items_show_no_difference() {
        let equal = compare_two(&[1.0, 0.0, 1.0, 1.0, 0.0, 0.5], &[1.0, 0.0, 1.0, 1.0, 0.0, 0.5]);
        assert_eq!((equal.claim, equal.agreement.is_some()), (DifferenceClaim::NotShown, true));
        assert!(1.0 <= equal.p);
        let few = compare_two(&[1.0; 5], &[0.0; 5]);
        assert_eq!(few.claim, DifferenceClaim::TooFew);
        assert!(few.sentence().starts_with("5 candidates cannot show"), "{}", few.sentence());
        let none = compare_two(&[], &[1.0]);
        assert_eq!((none.n_items, none.agreement), (0, None));
        assert!(matches!(none.difference, CoefficientResult::Undefined { .. }));
    }

    #[test]
    fn p_values_of_several_pairs_are_adjusted() {
        let (good, bad) = ([1.0; 8], [0.0; 8]);
        let result = compare_judges(&[judge("a", &good), judge("b", &bad), judge("c", &bad)], 0);
        let names: Vec<(&str, &str)> =
            result.iter().map(|it| (it.judges.0.as_str(), it.judges.1.as_str())).collect();
        assert_eq!(names, [("a", "b"), ("a", "c"), ("b", "c")]);
        let raw = 2.0 / 256.0;
        assert!((result[0].p - 3.0 * raw).abs() < 1e-12 && (result[1].p - 3.0 * raw).abs() < 1e-12);
        assert!(1.0 <= result[2].p);
    }
}
