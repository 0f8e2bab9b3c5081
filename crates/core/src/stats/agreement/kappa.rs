//! Agreement above what chance gives two raters (Cohen) or any number of them (Fleiss), by category.

use super::agreement_interval::{agreement_interval, unseen_pairs};
use super::ratings::{ONE_ITEM, Ratings};
use super::weighted_rows::{RowStatistic, rows_interval};
use crate::stats::basics::measure::Coefficient;
use crate::stats::basics::special::normal_quantile;
use crate::stats::basics::undefined::Undefined;

/// How much a disagreement counts by how many categories it spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KappaWeights {
    /// Every disagreement is as bad as every other.
    None,
    Linear,
    Quadratic,
}

impl KappaWeights {
    /// What a pair of categories is worth among `n`: 1 if they are the same, 0 if they are the ends.
    fn of(self, a: usize, b: usize, n: usize) -> f64 {
        let apart = a.abs_diff(b) as f64 / (n.max(2) - 1) as f64;
        match self {
            Self::None => f64::from(u8::from(a == b)),
            Self::Linear => 1.0 - apart,
            Self::Quadratic => 1.0 - apart * apart,
        }
    }

    /// What each category is worth on average against one drawn from these shares, in linear time.
    fn against(self, shares: &[f64]) -> Vec<f64> {
        let n = shares.len();
        let widest = (n.max(2) - 1) as f64;
        let place = |at: usize| at as f64 / widest;
        let moment =
            |power| shares.iter().enumerate().map(|(at, value)| value * place(at).powi(power)).sum::<f64>();
        match self {
            Self::None => shares.to_vec(),
            Self::Quadratic => {
                let (all, first, second) = (moment(0), moment(1), moment(2));
                let apart = |at| all * place(at).powi(2) - 2.0 * first * place(at) + second;
                (0..n).map(|at| 1.0 - apart(at)).collect()
            }
            Self::Linear => {
                let (mut distance, mut under) = (moment(1), 0.0);
                let mut worth = Vec::with_capacity(n);
                for share in shares {
                    worth.push(1.0 - distance);
                    under += share;
                    distance += (2.0 * under - 1.0) / widest;
                }
                worth
            }
        }
    }
}

/// Cohen's κ with its standard error in large samples (Fleiss, Cohen and Everitt 1969).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    pub value: f64,
    pub standard_error: f64,
    /// Share of pairs that are the same.
    pub observed: f64,
    pub n: usize,
}

impl Kappa {
    pub fn interval(&self) -> (f64, f64) {
        let half = normal_quantile(0.975) * self.standard_error;
        (self.value - half, self.value + half)
    }
}

/// κ with an interval from drawing again, which holds for few items as well; none without a seed.
pub(crate) fn cohen_with_interval(
    pairs: &[(usize, usize)],
    n_categories: usize,
    weights: KappaWeights,
    seed: Option<u64>,
) -> Result<Coefficient, Undefined> {
    let kappa = cohen(pairs, n_categories, weights)?;
    let interval = seed.and_then(|seed| {
        let mut counts = std::collections::BTreeMap::new();
        for pair in pairs {
            *counts.entry(*pair).or_insert(0.0) += 1.0;
        }
        let unseen = unseen_pairs(n_categories);
        let all = || (0..n_categories).flat_map(|a| (0..n_categories).map(move |b| (a, b)));
        let kinds: Vec<(usize, usize)> =
            counts.keys().copied().chain(all().filter(|_| unseen.is_some())).collect();
        let counts: Vec<f64> = counts.into_values().collect();
        agreement_interval(&counts, unseen, seed, &|it| kappa_of_weights(&kinds, it, n_categories, weights))
    });
    Ok(Coefficient::new(kappa.value, interval, kappa.n))
}

fn kappa_of_weights(
    kinds: &[(usize, usize)],
    weights: &[f64],
    n_categories: usize,
    credit: KappaWeights,
) -> Option<f64> {
    let (mut left, mut right) = (vec![0.0; n_categories], vec![0.0; n_categories]);
    let (mut observed, mut all) = (0.0, 0.0);
    for ((a, b), weight) in kinds.iter().zip(weights) {
        left[*a] += weight;
        right[*b] += weight;
        observed += weight * credit.of(*a, *b, n_categories);
        all += weight;
    }
    left.iter_mut().chain(&mut right).for_each(|left| *left /= all);
    let by_chance: f64 = left.iter().zip(credit.against(&right)).map(|(a, b)| a * b).sum();
    (by_chance < 1.0 - 1e-12).then(|| (observed / all - by_chance) / (1.0 - by_chance))
}

/// Two raters, as pairs of places among `n_categories`.
pub fn cohen(
    pairs: &[(usize, usize)],
    n_categories: usize,
    weights: KappaWeights,
) -> Result<Kappa, Undefined> {
    let habits = AnswerMarginals::new(pairs, n_categories, weights)?;
    let n = pairs.len() as f64;
    let worth = |(a, b): &(usize, usize)| weights.of(*a, *b, n_categories);
    let observed = pairs.iter().map(worth).sum::<f64>() / n;
    let value = (observed - habits.by_chance) / (1.0 - habits.by_chance);
    let squares =
        pairs.iter().map(|pair| (worth(pair) - habits.worth(pair) * (1.0 - value)).powi(2)).sum::<f64>() / n;
    Ok(Kappa {
        value,
        standard_error: habits.error(squares, value - habits.by_chance * (1.0 - value), n),
        observed: pairs.iter().filter(|(a, b)| a == b).count() as f64 / n,
        n: pairs.len(),
    })
}

/// Standard error of κ under independence of the two raters. Time grows with the square of the categories.
pub fn cohen_error_by_chance(
    pairs: &[(usize, usize)],
    n_categories: usize,
    weights: KappaWeights,
) -> Result<f64, Undefined> {
    let habits = AnswerMarginals::new(pairs, n_categories, weights)?;
    let mut squares = 0.0;
    for (a, left) in habits.left.iter().enumerate() {
        for (b, right) in habits.right.iter().enumerate() {
            let worth = weights.of(a, b, n_categories);
            squares += left * right * (worth - habits.worth(&(a, b))).powi(2);
        }
    }
    Ok(habits.error(squares, habits.by_chance, pairs.len() as f64))
}

/// How often two raters give each answer, and what that is worth.
struct AnswerMarginals {
    left: Vec<f64>,
    right: Vec<f64>,
    /// Of each answer of the left rater, against all answers of the right one; and the other way round.
    left_worth: Vec<f64>,
    right_worth: Vec<f64>,
    by_chance: f64,
}

impl AnswerMarginals {
    fn new(pairs: &[(usize, usize)], n_categories: usize, weights: KappaWeights) -> Result<Self, Undefined> {
        let Some((first, _)) = pairs.first() else {
            return Undefined::because("no item was rated by both");
        };
        if pairs.len() == 1 {
            return Undefined::because(ONE_ITEM);
        }
        if pairs.iter().all(|pair| pair == &(*first, *first)) {
            return Undefined::because(
                "both raters always gave the same answer, so agreement by chance is perfect too",
            );
        }
        let (mut left, mut right) = (vec![0.0; n_categories], vec![0.0; n_categories]);
        for (a, b) in pairs {
            left[*a] += 1.0;
            right[*b] += 1.0;
        }
        let n = pairs.len() as f64;
        left.iter_mut().chain(&mut right).for_each(|left| *left /= n);
        let (left_worth, right_worth) = (weights.against(&right), weights.against(&left));
        let by_chance = left.iter().zip(&left_worth).map(|(a, b)| a * b).sum();
        Ok(Self { left, right, left_worth, right_worth, by_chance })
    }

    fn worth(&self, (a, b): &(usize, usize)) -> f64 {
        self.left_worth[*a] + self.right_worth[*b]
    }

    fn error(&self, squares: f64, mean: f64, n: f64) -> f64 {
        ((squares - mean * mean).max(0.0) / n).sqrt() / (1.0 - self.by_chance)
    }
}

/// Fleiss' κ for any number of raters. Items rated once are left out; the others may have unequally many.
pub fn fleiss(ratings: &Ratings) -> Result<f64, Undefined> {
    let (observed, shares) = observed_agreement_and_shares(ratings)?;
    above_chance(observed, shares.iter().map(|share| share * share).sum())
}

pub fn fleiss_with_interval(ratings: &Ratings, seed: u64) -> Result<Coefficient, Undefined> {
    let value = fleiss(ratings)?;
    Ok(rows_interval(ratings, value, seed, RowStatistic::Fleiss))
}

/// Randolph's κ, which assumes that a guessing rater uses every category equally often.
pub fn randolph(ratings: &Ratings) -> Result<f64, Undefined> {
    let (observed, shares) = observed_agreement_and_shares(ratings)?;
    above_chance(observed, 1.0 / shares.len() as f64)
}

fn above_chance(observed: f64, by_chance: f64) -> Result<f64, Undefined> {
    if 1.0 - 1e-12 <= by_chance {
        return Undefined::because("all ratings are equal, so agreement by chance is perfect too");
    }
    Ok((observed - by_chance) / (1.0 - by_chance))
}

/// How many of the pairs within an item are the same, on average, and the share of each category.
fn observed_agreement_and_shares(ratings: &Ratings) -> Result<(f64, Vec<f64>), Undefined> {
    ratings.ensure_comparable()?;
    ratings.ensure_two_rated_items()?;
    let mut counts = vec![0.0; ratings.n_answers()];
    let (mut sum, mut n_items) = (0.0, 0.0);
    for same in ratings.same_pairs() {
        sum += same;
        n_items += 1.0;
    }
    for row in ratings.by_item().filter(|answers| 2 <= answers.clone().count()) {
        for answer in row {
            counts[answer] += 1.0;
        }
    }
    let n: f64 = counts.iter().sum();
    Ok((sum / n_items, counts.into_iter().map(|count| count / n).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::ratings::tests::ratings;
    use super::*;

    /// Fleiss' kappa is nominal alpha before its correction for few ratings, so that they may lie in the same places.
    #[test]
    fn fleiss_kappa_and_alpha_have_the_same_interval() {
        let cells: Vec<Option<f64>> =
            (0..60).map(|at| Some(f64::from(u8::from(at % 7 == 0 || at / 3 % 5 == 0)))).collect();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let result = Ratings::of_numbers(names, &cells).unwrap();
        let (low, high) = fleiss_with_interval(&result, 1).unwrap().interval.unwrap();
        let alpha =
            super::super::alpha::alpha_with_interval(&result, super::super::ratings::Level::Nominal, 1);
        let (alpha_low, alpha_high) = alpha.unwrap().interval.unwrap();
        assert!((low - alpha_low).abs() < 1e-9 && (high - alpha_high).abs() < 1e-9, "{low} {alpha_low}");
    }

    fn table(rows: &[&[usize]]) -> Vec<(usize, usize)> {
        let cell = |a: usize, b: usize, n: usize| std::iter::repeat_n((a, b), n);
        let row = |(a, row): (usize, &&[usize])| {
            row.iter().enumerate().flat_map(move |(b, n)| cell(a, b, *n)).collect::<Vec<_>>()
        };
        rows.iter().enumerate().flat_map(row).collect()
    }

    fn check(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual}, not {expected}");
    }

    #[test]
    fn cohen_has_its_published_values() {
        // Gwet's diagnoses, by statsmodels.
        let diagnoses = table(&[&[40, 4, 4, 17], &[6, 25, 2, 13], &[4, 1, 21, 12], &[15, 5, 9, 45]]);
        let result = cohen(&diagnoses, 4, KappaWeights::None).unwrap();
        check(result.value, 0.431_500_775_881_179_4);
        check(result.standard_error, 0.045_969_181_562_379);
        check(cohen_error_by_chance(&diagnoses, 4, KappaWeights::None).unwrap(), 0.039_761_337_044_403_65);
        check(result.interval().0, 0.341_402_835_620_133_85);
        // By scikit-learn.
        let twelve = ratings("1 2 3 3 2 1 5 4 4 2 1 3\n 1 3 3 2 2 1 4 4 5 2 2 3").pairs(0, 1);
        check(cohen(&twelve, 5, KappaWeights::None).unwrap().value, 0.464_285_714_285_714_3);
        check(cohen(&twelve, 5, KappaWeights::Linear).unwrap().value, 0.693_877_551_020_408_2);
        check(cohen(&twelve, 5, KappaWeights::Quadratic).unwrap().value, 0.859_813_084_112_149_5);
    }

    #[test]
    fn worth_against_habits_is_the_plain_sum() {
        let shares = [0.1, 0.0, 0.4, 0.3, 0.2];
        for weights in [KappaWeights::None, KappaWeights::Linear, KappaWeights::Quadratic] {
            for (a, result) in weights.against(&shares).into_iter().enumerate() {
                check(result, (0..5).map(|b| shares[b] * weights.of(a, b, 5)).sum());
            }
        }
    }

    #[test]
    fn high_agreement_on_a_common_answer_is_no_kappa() {
        let result = cohen(&table(&[&[118, 5], &[2, 0]]), 2, KappaWeights::None).unwrap();
        check(result.value, -0.023_391_812_865_496_08);
        check(result.observed, 0.944);
    }

    #[test]
    fn fleiss_has_its_published_value() {
        let counts = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        let row = |counts: &[usize; 5]| {
            counts.iter().enumerate().flat_map(|(at, n)| vec![Some(at as f64); *n]).collect::<Vec<_>>()
        };
        let cells: Vec<Option<f64>> = counts.iter().flat_map(row).collect();
        let ratings = Ratings::of_numbers((0..14).map(|n| n.to_string()).collect(), &cells).unwrap();
        check(fleiss(&ratings).unwrap(), 0.209_930_704_421_955_2);
        check(randolph(&ratings).unwrap(), 0.222_527_472_527_472_5);
    }

    #[test]
    fn kappa_says_why_it_is_undefined() {
        assert!(cohen(&[], 2, KappaWeights::None).is_err());
        assert!(cohen(&[(1, 1), (1, 1)], 2, KappaWeights::Linear).is_err());
        assert!(fleiss(&ratings("1 1\n 1 1")).is_err() && fleiss(&ratings("1 2")).is_err());
        let of_one = |result: Result<f64, Undefined>| result.unwrap_err().0;
        assert_eq!(of_one(fleiss(&ratings("1\n 2"))), ONE_ITEM);
        assert_eq!(of_one(cohen(&[(0, 1)], 2, KappaWeights::None).map(|cohen| cohen.value)), ONE_ITEM);
        check(cohen(&[(0, 1), (0, 1)], 2, KappaWeights::None).unwrap().value, 0.0);
        // Under ten items there is no interval; of perfect agreement of twenty there is one.
        let of = |n: usize| {
            let pairs: Vec<(usize, usize)> = (0..n).map(|n| (n % 2, n % 2)).collect();
            cohen_with_interval(&pairs, 2, KappaWeights::None, Some(1)).unwrap()
        };
        assert_eq!((of(9).value, of(9).interval), (1.0, None));
        assert!(of(20).interval.is_some_and(|(low, high)| low < 0.9 && 1.0 <= high), "{:?}", of(20));
    }
}
