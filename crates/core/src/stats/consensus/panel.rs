//! What a panel is worth: whether its members err together, and who adds anything.

use serde::Serialize;

use crate::stats::agreement::ratings::{Level, Ratings};
use crate::stats::basics::correlation::pearson;
use crate::stats::basics::measure::{Coefficient, CoefficientResult, share_with_interval};
use crate::stats::basics::undefined::Undefined;

/// Accuracy of a panel, measured against known labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Items whose truth is known and that have a rating.
    pub n_items: usize,
    /// How often the majority is right; of answers with as many votes, each counts for its part.
    pub accuracy: CoefficientResult,
    /// How many independent votes the members are worth, by how their errors correlate (Kish).
    pub effective_votes: CoefficientResult,
    pub pairs: Vec<ErrorPair>,
    /// In the order of the panel.
    pub members: Vec<PanelMemberReport>,
}

/// Whether two members err together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorPair {
    pub raters: (String, String),
    pub correlation: CoefficientResult,
}

/// What a member adds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelMemberReport {
    pub rater: String,
    pub accuracy: CoefficientResult,
    /// Of the majority without this member.
    pub accuracy_without: CoefficientResult,
    /// What the others are worth by themselves.
    pub effective_votes_without: CoefficientResult,
}

impl PanelMemberReport {
    /// How much more often the majority is right with this member.
    pub fn gain(&self, panel: &Panel) -> Option<f64> {
        Some(panel.accuracy.value()? - self.accuracy_without.value()?)
    }
}

/// `truth` is, of each item, the right one among the answers of `ratings`, where it is known.
pub fn evaluate_panel(ratings: &Ratings, truth: &[Option<usize>], level: Level) -> Result<Panel, Undefined> {
    if truth.len() != ratings.n_items() {
        return Undefined::because(format!("{} truths are not for {} items", truth.len(), ratings.n_items()));
    }
    let known: Vec<usize> = (0..truth.len()).filter(|index| truth[*index].is_some()).collect();
    let truth: Vec<usize> = truth.iter().copied().flatten().collect();
    let with_truth = RatingsWithTruth { ratings: ratings.of_items(&known), truth, level };
    let all: Vec<usize> = (0..ratings.n_raters()).collect();
    let name = |index: usize| ratings.raters()[index].clone();
    let without = |out: usize| all.iter().copied().filter(|n| *n != out).collect::<Vec<_>>();
    let member = |index: usize| PanelMemberReport {
        rater: name(index),
        accuracy: with_truth.accuracy(&[index]).into(),
        accuracy_without: with_truth.accuracy(&without(index)).into(),
        effective_votes_without: with_truth.effective_votes(&without(index)).into(),
    };
    let pairs = all.iter().flat_map(|a| all[a + 1..].iter().map(move |b| (*a, *b)));
    Ok(Panel {
        n_items: with_truth.ratings.by_item().filter(|answers| 0 < answers.clone().count()).count(),
        accuracy: with_truth.accuracy(&all).into(),
        effective_votes: with_truth.effective_votes(&all).into(),
        pairs: pairs
            .map(|(a, b)| ErrorPair {
                raters: (name(a), name(b)),
                correlation: with_truth.correlation(a, b).into(),
            })
            .collect(),
        members: all.iter().map(|n| member(*n)).collect(),
    })
}

/// Ratings together with the truth.
struct RatingsWithTruth {
    ratings: Ratings,
    truth: Vec<usize>,
    level: Level,
}

impl RatingsWithTruth {
    /// Of the majority of these members.
    fn accuracy(&self, members: &[usize]) -> Result<Coefficient, Undefined> {
        let mut counts = vec![0_usize; self.ratings.n_answers()];
        let (mut sum, mut n) = (0.0, 0);
        for (item, right) in self.truth.iter().enumerate() {
            counts.fill(0);
            members
                .iter()
                .filter_map(|member| self.ratings.get(item, *member))
                .for_each(|index| counts[index] += 1);
            let most = counts.iter().copied().max().unwrap_or(0);
            if 0 < most {
                n += 1;
                let n_winners = counts.iter().filter(|count| **count == most).count();
                sum += if counts[*right] == most { 1.0 / n_winners as f64 } else { 0.0 };
            }
        }
        share_with_interval(sum, n)
    }

    /// How far off a member is: by how much on a scale, or whether at all.
    fn error(&self, item: usize, member: usize) -> Option<f64> {
        let (answer, right) = (self.ratings.get(item, member)?, self.truth[item]);
        let off = 1.0 - self.ratings.likeness(answer, right, self.level);
        Some(if answer < right && self.level != Level::Nominal { -off } else { off })
    }

    fn errors(&self, a: usize, b: usize, items: impl Iterator<Item = usize>) -> (Vec<f64>, Vec<f64>) {
        items.filter_map(|item| self.error(item, a).zip(self.error(item, b))).unzip()
    }

    fn correlation(&self, a: usize, b: usize) -> Result<Coefficient, Undefined> {
        let (x, y) = self.errors(a, b, 0..self.truth.len());
        pearson(&x, &y).map(|correlation| correlation.coefficient()).or_else(|_| {
            Undefined::because("at least one of the two has constant errors on the common items")
        })
    }

    fn effective_votes(&self, members: &[usize]) -> Result<Coefficient, Undefined> {
        if members.len() < 2 {
            return Undefined::because("there is only one rater");
        }
        let n = self.truth.len();
        let all: Vec<usize> = (0..n).collect();
        let Some(value) = self.kish(members, &all) else {
            return Undefined::because("no two members have varying errors on the same items");
        };
        // An interval of it that holds what it says is not known.
        Ok(Coefficient::new(value, None, n))
    }

    fn kish(&self, members: &[usize], items: &[usize]) -> Option<f64> {
        let pairs =
            members.iter().enumerate().flat_map(|(at, a)| members[at + 1..].iter().map(move |b| (*a, *b)));
        let known: Vec<f64> = pairs
            .filter_map(|(a, b)| {
                let (x, y) = self.errors(a, b, items.iter().copied());
                Some(pearson(&x, &y).ok()?.value)
            })
            .collect();
        kish_effective_votes(members.len(), &known)
    }
}

/// How many independent votes the members are worth, from their scores of the same candidates.
///
/// `None` where it is undefined: fewer than two members, or fewer than three candidates, or no variance.
pub fn effective_votes(scores: &[Vec<f64>]) -> Option<f64> {
    let n_members = scores.first().map_or(0, Vec::len);
    if scores.len() < 3 || scores.iter().any(|score| score.len() != n_members) {
        return None;
    }
    let of = |member: usize| scores.iter().map(|score| score[member]).collect::<Vec<f64>>();
    let members: Vec<Vec<f64>> = (0..n_members).map(of).collect();
    let pairs = members.iter().enumerate().flat_map(|(at, a)| members[at + 1..].iter().map(move |b| (a, b)));
    let correlations: Option<Vec<f64>> = pairs.map(|(a, b)| Some(pearson(a, b).ok()?.value)).collect();
    kish_effective_votes(n_members, &correlations?)
}

/// Kish: n members who go together by ρ on average count as n / (1 + (n − 1) ρ).
fn kish_effective_votes(n_members: usize, correlations: &[f64]) -> Option<f64> {
    let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
    let n = n_members as f64;
    // Members who contradict each other are no more than independent.
    (!correlations.is_empty()).then(|| n / (1.0 + (n - 1.0) * mean.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::agreement::ratings::tests::ratings;

    const TRUTH: [Option<usize>; 9] =
        [Some(0), Some(0), Some(1), Some(1), Some(0), Some(1), Some(0), Some(1), None];

    #[test]
    fn two_who_err_alike_are_one_vote() {
        let twins = ratings("1 2 2 1 1 2 1 2 1\n 1 2 2 1 1 2 1 2 1\n 2 1 2 2 1 2 1 1 2");
        let result = evaluate_panel(&twins, &TRUTH, Level::Nominal).unwrap();
        let near = |coefficient: &CoefficientResult, expected: f64| {
            (coefficient.value().unwrap() - expected).abs() < 1e-9
        };
        assert_eq!(result.n_items, 8);
        assert!(near(&result.pairs[0].correlation, 1.0), "{result:?}");
        // The twins err on items 2 and 4, the third on 1 and 8: φ = −1/3 beside 1 and −1/3 again.
        assert!(near(&result.pairs[1].correlation, -1.0 / 3.0));
        assert!(near(&result.effective_votes, 3.0 / (1.0 + 2.0 / 9.0)));
        assert!(near(&result.members[2].effective_votes_without, 1.0));
        // Twins outvote the third whatever it says; one twin and the third decide half of what they disagree on.
        assert!(near(&result.accuracy, 0.75) && near(&result.members[2].accuracy_without, 0.75));
        assert!(result.members[2].gain(&result).unwrap().abs() < 1e-9);
    }

    #[test]
    fn members_that_move_together_are_fewer_votes() {
        let same = vec![vec![0.1, 0.1], vec![0.5, 0.5], vec![0.9, 0.9]];
        assert!((effective_votes(&same).unwrap() - 1.0).abs() < 1e-12);
        let apart = vec![vec![0.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![1.0, 1.0]];
        assert!((effective_votes(&apart).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(effective_votes(&[vec![0.5, 0.5], vec![0.5, 0.5], vec![0.5, 0.5]]), None);
    }

    #[test]
    fn a_panel_says_why_it_is_worth_nothing_known() {
        let perfect = ratings("1 1 2\n 1 1 2");
        let result = evaluate_panel(&perfect, &[Some(0), Some(0), Some(1)], Level::Nominal).unwrap();
        assert!(matches!(result.effective_votes, CoefficientResult::Undefined { .. }));
        assert!(matches!(result.pairs[0].correlation, CoefficientResult::Undefined { .. }));
        assert!(evaluate_panel(&perfect, &[None], Level::Nominal).is_err());
        let alone = evaluate_panel(&ratings("1 2 2"), &[Some(0), Some(0), None], Level::Nominal).unwrap();
        assert_eq!(alone.accuracy.value(), Some(0.5));
        assert!(matches!(alone.members[0].accuracy_without, CoefficientResult::Undefined { .. }));
    }
}
