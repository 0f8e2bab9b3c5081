//! Coefficients of any number of raters from items that each have a weight, so that these can be drawn again.

use std::collections::{BTreeSet, HashMap};

use super::agreement_interval::{agreement_interval, unseen_pairs};
use super::alpha::middle_ranks;
use super::ratings::{Level, Ratings};
use crate::stats::basics::measure::Coefficient;

/// What is computed from weighted items.
#[derive(Clone, Copy)]
pub(super) enum RowStatistic<'a> {
    Alpha(Level),
    Fleiss,
    /// With what each two answers are worth.
    Gwet(&'a [Vec<f64>]),
}

/// Distances between more answers than this are too many to be summed for each draw.
const MOST_ANSWERS: usize = 200;

/// How often one item got each answer, of those that it got.
struct ItemAnswerCounts {
    counts: Vec<(usize, f64)>,
    n: f64,
    /// By how much its disagreement counts in alpha.
    as_item: f64,
}

impl ItemAnswerCounts {
    fn new(counts: Vec<(usize, f64)>) -> Self {
        let n = counts.iter().map(|(_, n)| n).sum();
        Self { counts, n, as_item: 1.0 }
    }

    fn pair(a: usize, b: usize) -> Self {
        Self::new(if a == b { vec![(a, 2.0)] } else { vec![(a, 1.0), (b, 1.0)] })
    }

    /// Share of pairs of ratings that are the same.
    fn same(&self) -> f64 {
        self.counts.iter().map(|(_, n)| n * (n - 1.0)).sum::<f64>() / (self.n * (self.n - 1.0))
    }

    /// The mean of what two ratings of the item are worth.
    fn worth(&self, worth: &[Vec<f64>]) -> f64 {
        let with = |a: usize| self.counts.iter().map(|(b, m)| worth[a][*b] * m).sum::<f64>() - worth[a][a];
        self.counts.iter().map(|(a, n)| n * with(*a)).sum::<f64>() / (self.n * (self.n - 1.0))
    }
}

/// `value` with where it may really lie.
pub(super) fn rows_interval(
    ratings: &Ratings,
    value: f64,
    seed: u64,
    statistic: RowStatistic<'_>,
) -> Coefficient {
    let n_answers = ratings.n_answers();
    let mut kinds: HashMap<Vec<(usize, u32)>, f64> = HashMap::new();
    let mut here = vec![0_u32; n_answers];
    for (item, times) in ratings.group_identical_items() {
        let answers = ratings.answers_of_item(item);
        answers.clone().for_each(|answer| here[answer] += 1);
        let mut counts: Vec<(usize, u32)> = Vec::new();
        for answer in answers {
            if 0 < here[answer] {
                counts.push((answer, std::mem::take(&mut here[answer])));
            }
        }
        if 2 <= counts.iter().map(|(_, n)| n).sum::<u32>() {
            counts.sort_unstable();
            *kinds.entry(counts).or_default() += times;
        }
    }
    // In an order of their own, so that the same ratings draw the same.
    let mut kinds: Vec<(Vec<(usize, u32)>, f64)> = kinds.into_iter().collect();
    kinds.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let counts: Vec<f64> = kinds.iter().map(|(_, times)| *times).collect();
    // Alpha and Fleiss' kappa use only answers that occur, not the others of the scale.
    let possible: Vec<usize> = match statistic {
        RowStatistic::Gwet(_) => (0..n_answers).collect(),
        _ => kinds
            .iter()
            .flat_map(|(row, _)| row.iter().map(|(answer, _)| *answer))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    };
    let n_items: f64 = counts.iter().sum();
    let n_ratings: f64 =
        kinds.iter().map(|(row, times)| times * f64::from(row.iter().map(|(_, n)| n).sum::<u32>())).sum();
    let unseen = unseen_pairs(possible.len());
    // Alpha counts pairs of ratings by items of their size; a pair of answers disagrees as much as a whole item.
    let as_item = n_ratings / n_items / 2.0;
    let pair = |a: usize, b: usize| ItemAnswerCounts { as_item, ..ItemAnswerCounts::pair(a, b) };
    let pairs = possible.iter().flat_map(|a| possible.iter().map(move |b| pair(*a, *b)));
    let rows_of_items = kinds.iter().map(|(row, _)| {
        ItemAnswerCounts::new(row.iter().map(|(answer, n)| (*answer, f64::from(*n))).collect())
    });
    let rows: Vec<ItemAnswerCounts> = match unseen {
        Some(_) => rows_of_items.chain(pairs).collect(),
        None => rows_of_items.collect(),
    };
    let numbers = ratings.numbers().ok();
    let interval = match statistic {
        RowStatistic::Alpha(Level::Ratio) if MOST_ANSWERS < n_answers => None,
        RowStatistic::Alpha(level) => agreement_interval(&counts, unseen, seed, &|weights| {
            alpha_of_weights(&rows, weights, level, numbers, n_answers)
                .map(|ratio| 1.0 - ratio * (1.0 - 1.0 / n_ratings))
        }),
        RowStatistic::Fleiss => {
            let same: Vec<f64> = rows.iter().map(ItemAnswerCounts::same).collect();
            agreement_interval(&counts, unseen, seed, &|weights| {
                let shares = shares_of_ratings(&rows, weights, n_answers);
                let kappa = chance_corrected_value(
                    weighted_mean(&same, weights),
                    shares.iter().map(|share| share * share).sum(),
                );
                // Fleiss' kappa of few ratings is too low by as much as alpha corrects; the truth is that of alpha.
                kappa.map(|kappa| 1.0 - (1.0 - kappa) * (1.0 - 1.0 / n_ratings))
            })
        }
        RowStatistic::Gwet(worth) => {
            let observed: Vec<f64> = rows.iter().map(|row| row.worth(worth)).collect();
            let q = n_answers as f64;
            let factor = worth.iter().flatten().sum::<f64>() / (q * (q - 1.0));
            agreement_interval(&counts, unseen, seed, &|weights| {
                let by_chance = gwet_chance(&rows, weights, n_answers) * factor;
                chance_corrected_value(weighted_mean(&observed, weights), by_chance)
            })
        }
    };
    Coefficient::new(value, interval, counts.iter().sum::<f64>() as usize)
}

fn chance_corrected_value(observed: f64, by_chance: f64) -> Option<f64> {
    (by_chance < 1.0 - 1e-12).then(|| (observed - by_chance) / (1.0 - by_chance))
}

fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let (sum, all) = values
        .iter()
        .zip(weights)
        .fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    sum / all
}

fn ratings_by_answer(rows: &[ItemAnswerCounts], weights: &[f64], n_answers: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n_answers];
    for (row, weight) in rows.iter().zip(weights) {
        row.counts.iter().for_each(|(answer, n)| counts[*answer] += weight * n);
    }
    counts
}

fn shares_of_ratings(rows: &[ItemAnswerCounts], weights: &[f64], n_answers: usize) -> Vec<f64> {
    let mut counts = ratings_by_answer(rows, weights, n_answers);
    let all: f64 = counts.iter().sum();
    counts.iter_mut().for_each(|count| *count /= all);
    counts
}

/// Gwet's chance: how evenly answers are used, each item counting alike.
fn gwet_chance(rows: &[ItemAnswerCounts], weights: &[f64], n_answers: usize) -> f64 {
    let (mut shares, mut all) = (vec![0.0; n_answers], 0.0);
    for (row, weight) in rows.iter().zip(weights) {
        row.counts.iter().for_each(|(answer, n)| shares[*answer] += weight * n / row.n);
        all += weight;
    }
    shares.iter().map(|share| share / all * (1.0 - share / all)).sum()
}

/// The disagreement within items by that of all ratings, before the correction for few ratings.
fn alpha_of_weights(
    rows: &[ItemAnswerCounts],
    weights: &[f64],
    level: Level,
    numbers: Option<&[f64]>,
    n_answers: usize,
) -> Option<f64> {
    let counts = ratings_by_answer(rows, weights, n_answers);
    let all: f64 = counts.iter().sum();
    let (observed, expected) = match level {
        Level::Nominal => {
            let within =
                |(row, weight): (&ItemAnswerCounts, &f64)| weight * row.as_item * row.n * (1.0 - row.same());
            let observed: f64 = rows.iter().zip(weights).map(within).sum();
            (observed, counts.iter().map(|count| count * (all - count)).sum::<f64>())
        }
        Level::Ordinal => weighted_squared_disagreement(rows, weights, &counts, &middle_ranks(&counts)),
        Level::Interval => weighted_squared_disagreement(rows, weights, &counts, numbers?),
        Level::Ratio => {
            let numbers = numbers?;
            let apart = |a: usize, b: usize| {
                let sum = numbers[a] + numbers[b];
                if 0.0 < sum { ((numbers[a] - numbers[b]) / sum).powi(2) } else { 0.0 }
            };
            let within = |(row, weight): (&ItemAnswerCounts, &f64)| {
                let of = |a: usize| row.counts.iter().map(|(b, m)| m * apart(a, *b)).sum::<f64>();
                let sum = row.counts.iter().map(|(a, n)| n * of(*a)).sum::<f64>();
                weight * row.as_item * sum / (row.n - 1.0)
            };
            let of = |a: usize| (0..n_answers).map(|b| counts[b] * apart(a, b)).sum::<f64>();
            let expected = (0..n_answers).map(|a| counts[a] * of(a)).sum::<f64>();
            (rows.iter().zip(weights).map(within).sum(), expected)
        }
    };
    // Without pairs of answers this is `all`.
    let n_compared: f64 = rows.iter().zip(weights).map(|(row, weight)| weight * row.as_item * row.n).sum();
    (0.0 < expected).then(|| observed / n_compared * all * all / expected)
}

/// Distances are squares of those between the places of answers.
fn weighted_squared_disagreement(
    rows: &[ItemAnswerCounts],
    weights: &[f64],
    counts: &[f64],
    places: &[f64],
) -> (f64, f64) {
    let mut observed = 0.0;
    for (row, weight) in rows.iter().zip(weights) {
        let middle = row.counts.iter().map(|(at, n)| n * places[*at]).sum::<f64>() / row.n;
        let squares: f64 = row.counts.iter().map(|(at, n)| n * (places[*at] - middle).powi(2)).sum();
        observed += weight * row.as_item * 2.0 * row.n * squares / (row.n - 1.0);
    }
    let all: f64 = counts.iter().sum();
    let middle = counts.iter().zip(places).map(|(n, value)| n * value).sum::<f64>() / all;
    let squares: f64 = counts.iter().zip(places).map(|(n, value)| n * (value - middle).powi(2)).sum();
    (observed, 2.0 * all * squares)
}
