//! Agreement corrected for chance, as Gwet's handbook has it: for any number of raters, with gaps and weights.

use std::f64::consts::PI;

use super::ratings::Ratings;
use super::weighted_rows::{RowStatistic, rows_interval};
use crate::stats::basics::measure::Coefficient;
use crate::stats::basics::special::t_quantile;
use crate::stats::basics::undefined::Undefined;

/// More categories than a table of weights can hold in reasonable space.
const MAX_CATEGORIES: usize = 2_000;

/// How chance is thought to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChanceModel {
    /// AC1, and AC2 with weights: raters guess only on items that are hard to rate.
    Gwet,
    Fleiss,
    Krippendorff,
    /// Every rater by habits of their own.
    Conger,
    BrennanPrediger,
}

/// What two different answers are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    Identity,
    Ordinal,
    Linear,
    Quadratic,
    Radical,
    Ratio,
    Circular,
    Bipolar,
}

/// A coefficient with what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChanceCorrectedAgreement {
    pub value: f64,
    pub standard_error: f64,
    pub observed: f64,
    pub by_chance: f64,
    /// Items that say something about it.
    pub n: usize,
}

impl ChanceCorrectedAgreement {
    /// By Student's distribution; not above 1.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let degrees = self.n as f64 - 1.0;
        let half = (0.0 < degrees).then(|| self.standard_error * t_quantile(0.975, degrees))?;
        Some((self.value - half, (self.value + half).min(1.0)))
    }
}

/// AC1, or AC2 with weights, with an interval from drawing again.
pub(crate) fn gwet_with_interval(
    ratings: &Ratings,
    credit: Credit,
    seed: u64,
) -> Result<Coefficient, Undefined> {
    let agreement = compute_chance_corrected_agreement(ratings, ChanceModel::Gwet, credit)?;
    let worth = credit.table(ratings)?;
    Ok(rows_interval(ratings, agreement.value, seed, RowStatistic::Gwet(&worth)))
}

pub fn compute_chance_corrected_agreement(
    ratings: &Ratings,
    chance: ChanceModel,
    credit: Credit,
) -> Result<ChanceCorrectedAgreement, Undefined> {
    ratings.ensure_comparable()?;
    let table = AgreementTable::new(ratings, credit)?;
    match chance {
        ChanceModel::Gwet => table.gwet(),
        ChanceModel::Fleiss => table.fleiss(),
        ChanceModel::Krippendorff => table.krippendorff(),
        ChanceModel::Conger => table.conger(ratings),
        ChanceModel::BrennanPrediger => table.brennan_prediger(),
    }
}

impl Credit {
    fn table(self, ratings: &Ratings) -> Result<Vec<Vec<f64>>, Undefined> {
        let n = ratings.n_answers();
        // Labels have no distance but that of their places.
        let places: Vec<f64> =
            ratings.numbers().map_or_else(|_| (1..=n).map(|n| n as f64).collect(), <[f64]>::to_vec);
        let (least, most) = (places[0], places[n - 1]);
        let width = most - least;
        let lost = |at: usize, bt: usize| {
            let (a, b) = (places[at], places[bt]);
            let apart = (a - b).abs();
            let ordinal = at.abs_diff(bt) as f64;
            match self {
                _ if at == bt => 0.0,
                Self::Identity => 1.0,
                Self::Ordinal => ordinal * (ordinal + 1.0) / (n * (n - 1)) as f64,
                Self::Linear => apart / width,
                Self::Quadratic => (apart / width).powi(2),
                Self::Radical => (apart / width).sqrt(),
                Self::Ratio => (apart / (a + b)).powi(2) / (width / (most + least)).powi(2),
                Self::Circular => (PI * apart / (width + 1.0)).sin().powi(2),
                Self::Bipolar => apart.powi(2) / ((a + b - 2.0 * least) * (2.0 * most - a - b)),
            }
        };
        let mut table: Vec<Vec<f64>> = (0..n).map(|a| (0..n).map(|b| lost(a, b)).collect()).collect();
        // Weights of the last two are divided by the largest one.
        let largest = match self {
            Self::Circular | Self::Bipolar => table.iter().flatten().copied().fold(0.0, f64::max),
            _ => 1.0,
        };
        for cell in table.iter_mut().flatten() {
            *cell = 1.0 - *cell / largest;
        }
        if table.iter().flatten().any(|table| !table.is_finite()) {
            return Undefined::because("these weights are not defined for these ratings");
        }
        Ok(table)
    }
}

/// How often each answer was given to each item that was rated at all.
struct AgreementTable {
    worth: Vec<Vec<f64>>,
    counts: Vec<Vec<f64>>,
    n_ratings: Vec<f64>,
    /// Of each item, what its pairs are worth on average; 0 for an item rated once.
    observed: Vec<f64>,
    /// Items rated twice or more.
    n_twice: f64,
    /// Of each answer, its share in the items, on average.
    shares: Vec<f64>,
}

impl AgreementTable {
    fn new(ratings: &Ratings, credit: Credit) -> Result<Self, Undefined> {
        let n_answers = ratings.n_answers();
        if n_answers < 2 {
            return Undefined::because("all ratings are equal, so no other category is known");
        }
        if MAX_CATEGORIES < n_answers {
            return Undefined::because(format!("{n_answers} different ratings are too many for categories"));
        }
        let worth = credit.table(ratings)?;
        let mut counts = Vec::new();
        for answers in ratings.by_item() {
            let mut row = vec![0.0; n_answers];
            answers.for_each(|index| row[index] += 1.0);
            if row.iter().any(|row| 0.0 < *row) {
                counts.push(row);
            }
        }
        let n_ratings: Vec<f64> = counts.iter().map(|count| count.iter().sum()).collect();
        let observed: Vec<f64> = counts
            .iter()
            .zip(&n_ratings)
            .map(|(row, m)| if *m < 2.0 { 0.0 } else { pairs_worth(row, &worth) / (m * (m - 1.0)) })
            .collect();
        let n = counts.len() as f64;
        let share =
            |index: usize| counts.iter().zip(&n_ratings).map(|(row, m)| row[index] / m).sum::<f64>() / n;
        let shares = (0..n_answers).map(share).collect();
        let n_twice = n_ratings.iter().filter(|n_rating| 2.0 <= **n_rating).count() as f64;
        Ok(Self { worth, counts, n_ratings, observed, n_twice, shares })
    }

    fn gwet(&self) -> Result<ChanceCorrectedAgreement, Undefined> {
        let q = self.shares.len() as f64;
        let factor = self.all_worth() / (q * (q - 1.0));
        let by_chance = factor * self.shares.iter().map(|share| share * (1.0 - share)).sum::<f64>();
        let rare: Vec<f64> = self.shares.iter().map(|share| factor * (1.0 - share)).collect();
        self.finish(by_chance, &self.by_item(&rare))
    }

    fn fleiss(&self) -> Result<ChanceCorrectedAgreement, Undefined> {
        let against = against(&self.worth, &self.shares);
        self.finish(dot(&self.shares, &against), &self.by_item(&against))
    }

    fn brennan_prediger(&self) -> Result<ChanceCorrectedAgreement, Undefined> {
        let q = self.shares.len() as f64;
        let by_chance = self.all_worth() / (q * q);
        self.finish(by_chance, &vec![by_chance; self.counts.len()])
    }

    fn conger(&self, ratings: &Ratings) -> Result<ChanceCorrectedAgreement, Undefined> {
        let (r, q, n) = (ratings.n_raters(), self.shares.len(), self.counts.len() as f64);
        let mut habits = vec![vec![0.0; q]; r];
        let rated: Vec<Vec<Option<usize>>> = (0..ratings.n_items())
            .map(|item| (0..r).map(|rater| ratings.get(item, rater)).collect::<Vec<_>>())
            .filter(|ns| ns.iter().any(Option::is_some))
            .collect();
        for row in &rated {
            for (habit, answer) in habits.iter_mut().zip(row) {
                answer.iter().for_each(|index| habit[*index] += 1.0);
            }
        }
        let n_rated: Vec<f64> = habits.iter().map(|habit| habit.iter().sum()).collect();
        if n_rated.iter().any(|n_rated| *n_rated <= 0.0) {
            return Undefined::because("a rater has no ratings");
        }
        for (habit, m) in habits.iter_mut().zip(&n_rated) {
            habit.iter_mut().for_each(|habit| *habit /= m);
        }
        // Of each pair of raters, what their habits are worth to each other.
        let total: Vec<f64> = (0..q).map(|index| habits.iter().map(|habit| habit[index]).sum()).collect();
        let own: f64 = habits.iter().map(|habit| dot(habit, &against(&self.worth, habit))).sum();
        let n_pairs = (r * (r - 1)) as f64;
        let by_chance = (dot(&total, &against(&self.worth, &total)) - own) / n_pairs;
        let others: Vec<Vec<f64>> = habits
            .iter()
            .map(|habit| {
                let rest: Vec<f64> = total.iter().zip(habit).map(|(all, value)| all - value).collect();
                against(&self.worth, &rest)
            })
            .collect();
        let of_item = |row: &Vec<Option<usize>>| {
            let of_rater = |(rater, answer): (usize, &Option<usize>)| {
                let expected = dot(&habits[rater], &others[rater]);
                let (answered, rated) = answer.map_or((0.0, 0.0), |index| (others[rater][index], 1.0));
                (answered - (rated - n_rated[rater] / n) * expected) * n / n_rated[rater]
            };
            row.iter().enumerate().map(of_rater).sum::<f64>() / n_pairs
        };
        self.finish(by_chance, &rated.iter().map(of_item).collect::<Vec<_>>())
    }

    /// From the items rated twice or more alone, each by how often it was rated.
    fn krippendorff(&self) -> Result<ChanceCorrectedAgreement, Undefined> {
        let twice = || self.counts.iter().zip(&self.n_ratings).filter(|(_, n_ratings)| 2.0 <= **n_ratings);
        let n = self.n_twice;
        let mean = twice().map(|(_, n_ratings)| n_ratings).sum::<f64>() / n;
        let own: Vec<f64> =
            twice().map(|(row, m)| pairs_worth(row, &self.worth) / (mean * (m - 1.0))).collect();
        let uncorrected = own.iter().sum::<f64>() / n;
        let one = 1.0 / (n * mean);
        let observed = (1.0 - one) * uncorrected + one;
        let share = |index: usize| twice().map(|(row, _)| row[index]).sum::<f64>() / (n * mean);
        let shares: Vec<f64> = (0..self.shares.len()).map(share).collect();
        let against = against(&self.worth, &shares);
        let by_chance = dot(&shares, &against);
        let value = agreement_beyond_chance(observed, by_chance)?;
        let uncorrected = agreement_beyond_chance(uncorrected, by_chance)?;
        let squares = twice().zip(&own).map(|((row, m), own)| {
            let more = (m - mean) / mean;
            let agreed = (own - observed * more - by_chance) / (1.0 - by_chance);
            let expected = dot(row, &against) / mean - by_chance * more;
            let item = agreed - 2.0 * (1.0 - uncorrected) * (expected - by_chance) / (1.0 - by_chance);
            (item - uncorrected).powi(2)
        });
        let standard_error = (squares.sum::<f64>() / (n * (n - 1.0))).sqrt();
        Ok(ChanceCorrectedAgreement { value, standard_error, observed, by_chance, n: n as usize })
    }

    /// `expected` is each item's part in what chance agrees on.
    fn finish(&self, by_chance: f64, expected: &[f64]) -> Result<ChanceCorrectedAgreement, Undefined> {
        let n = self.counts.len() as f64;
        let observed = self.observed.iter().sum::<f64>() / self.n_twice;
        let value = agreement_beyond_chance(observed, by_chance)?;
        let squares = (0..self.counts.len()).map(|at| {
            let agreed = if self.n_ratings[at] < 2.0 { 0.0 } else { self.observed[at] - by_chance };
            let surprise = 2.0 * (1.0 - value) * (expected[at] - by_chance);
            ((n / self.n_twice * agreed - surprise) / (1.0 - by_chance) - value).powi(2)
        });
        let standard_error = (squares.sum::<f64>() / (n * (n - 1.0))).sqrt();
        Ok(ChanceCorrectedAgreement { value, standard_error, observed, by_chance, n: self.counts.len() })
    }

    fn by_item(&self, answers: &[f64]) -> Vec<f64> {
        self.counts.iter().zip(&self.n_ratings).map(|(row, m)| dot(row, answers) / m).collect()
    }

    fn all_worth(&self) -> f64 {
        self.worth.iter().flatten().sum()
    }
}

fn agreement_beyond_chance(observed: f64, by_chance: f64) -> Result<f64, Undefined> {
    if 1.0 - 1e-12 <= by_chance {
        return Undefined::because("all ratings are equal, so agreement by chance is perfect too");
    }
    Ok((observed - by_chance) / (1.0 - by_chance))
}

/// The sum over ordered pairs of ratings of one item.
fn pairs_worth(row: &[f64], worth: &[Vec<f64>]) -> f64 {
    let used = || row.iter().enumerate().filter(|(_, n)| 0.0 < **n);
    let with = |a: usize| used().map(|(b, m)| worth[a][b] * m).sum::<f64>() - 1.0;
    used().map(|(a, n)| n * with(a)).sum()
}

fn against(worth: &[Vec<f64>], shares: &[f64]) -> Vec<f64> {
    worth.iter().map(|worth| dot(worth, shares)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::ratings::tests::ratings;
    use super::*;

    #[test]
    fn coefficients_have_the_values_of_irrcac() {
        let four = ratings(
            "1 2 3 3 2 1 4 1 2 . . .
             1 2 3 3 2 2 4 1 2 5 . .
             . 3 3 3 2 3 4 2 2 5 1 3
             1 2 3 3 2 4 4 1 2 5 1 .",
        );
        let check = |chance, credit, value: f64, error: f64| {
            let result = compute_chance_corrected_agreement(&four, chance, credit).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 1e-7;
            assert!(near(result.value, value) && near(result.standard_error, error), "{chance:?} {result:?}");
        };
        check(ChanceModel::Gwet, Credit::Quadratic, 0.914_000_72, 0.103_962_24);
        check(ChanceModel::Gwet, Credit::Ordinal, 0.898_939_77, 0.106_903_52);
        check(ChanceModel::Fleiss, Credit::Ordinal, 0.850_206_19, 0.147_035_69);
        check(ChanceModel::Krippendorff, Credit::Quadratic, 0.849_107_14, 0.129_129_97);
        check(ChanceModel::Conger, Credit::Quadratic, 0.857_710_66, 0.143_670_66);
        check(ChanceModel::BrennanPrediger, Credit::Ordinal, 0.886_363_64, 0.113_905_9);
        // As Gwet prints it.
        let ac1 = compute_chance_corrected_agreement(&four, ChanceModel::Gwet, Credit::Identity).unwrap();
        assert!(
            (ac1.value - 0.775_44).abs() < 1e-5 && (ac1.standard_error - 0.142_95).abs() < 1e-5,
            "{ac1:?}"
        );
    }

    #[test]
    fn every_credit_is_full_for_the_same_and_less_for_others() {
        let some = ratings("1 2 3 5 8\n 1 3 3 5 8");
        for credit in [
            Credit::Identity,
            Credit::Ordinal,
            Credit::Linear,
            Credit::Quadratic,
            Credit::Radical,
            Credit::Ratio,
            Credit::Circular,
            Credit::Bipolar,
        ] {
            let table = credit.table(&some).unwrap();
            for (a, row) in table.iter().enumerate() {
                for (b, worth) in row.iter().enumerate() {
                    let is_sound = if a == b { 1.0 <= *worth } else { (0.0..1.0).contains(worth) };
                    assert!(is_sound && (worth - table[b][a]).abs() < 1e-12, "{credit:?} {table:?}");
                }
            }
        }
        // Linear credit goes by the numbers and not by their places.
        let linear = Credit::Linear.table(&some).unwrap();
        assert!((linear[0][3] - 3.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn coefficients_say_why_they_are_undefined() {
        let why = |lines| {
            compute_chance_corrected_agreement(&ratings(lines), ChanceModel::Gwet, Credit::Identity)
                .unwrap_err()
                .to_string()
        };
        assert!(why("1 1\n 1 1").contains("all ratings are equal"));
        assert!(why("1 2 . .\n . . 1 2").ends_with("no item was rated twice"));
        assert!(why("1 2").ends_with("there is only one rater"));
        let one = gwet_with_interval(&ratings("1\n 2"), Credit::Identity, 1).unwrap();
        assert_eq!(one.interval, None);
    }
}
