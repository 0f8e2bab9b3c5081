//! A number about raters with where it may really lie, or why there is none.

use serde::Serialize;

use super::ratings::Ratings;
use super::resample::{Chance, Cluster, interval, percentiles};
use super::special::normal_quantile;
use super::undefined::Undefined;

/// A coefficient with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    pub value: f64,
    /// Where it may really lie, in 95 of 100 cases; absent where the items are too few or too alike to say.
    pub interval: Option<(f64, f64)>,
    /// Items that say something about it.
    pub n: usize,
}

impl Coefficient {
    /// An interval without width would promise certainty and only says that nothing varied.
    pub(super) fn new(value: f64, interval: Option<(f64, f64)>, n: usize) -> Self {
        let sound = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low + 1e-12 < *high;
        Self { value, interval: interval.filter(sound), n }
    }
}

/// A coefficient, or why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measure {
    Known(Coefficient),
    Undefined { undefined: String },
}

impl Measure {
    pub fn value(&self) -> Option<f64> {
        if let Self::Known(it) = self { Some(it.value) } else { None }
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        if let Self::Known(it) = self { it.interval } else { None }
    }
}

impl From<Result<Coefficient, Undefined>> for Measure {
    fn from(it: Result<Coefficient, Undefined>) -> Self {
        match it {
            Ok(known) => Self::Known(known),
            Err(Undefined(undefined)) => Self::Undefined { undefined },
        }
    }
}

/// A share of `n`, or the mean of as many numbers between 0 and 1, with Wilson's interval.
pub(super) fn share(sum: f64, n: usize) -> Result<Coefficient, Undefined> {
    if n == 0 {
        return Undefined::because("there is nothing to count");
    }
    let (all, z) = (n as f64, normal_quantile(0.975));
    let (rate, grown) = (sum / all, 1.0 + z * z / all);
    let middle = (rate + z * z / (2.0 * all)) / grown;
    let half = z * ((rate * (1.0 - rate)).max(0.0) / all + z * z / (4.0 * all * all)).sqrt() / grown;
    Ok(Coefficient::new(rate, Some(((middle - half).max(0.0), (middle + half).min(1.0))), n))
}

/// The mean of numbers, one for each item.
pub(super) fn mean(values: &[f64], seed: u64) -> Result<Coefficient, Undefined> {
    if values.is_empty() {
        return Undefined::because("there is nothing to count");
    }
    let clusters: Vec<Cluster> = values.iter().map(|it| Cluster { sum: *it, n: 1.0 }).collect();
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Coefficient::new(value, interval(&clusters, seed), values.len()))
}

/// With an interval from drawing whole items again.
pub(super) fn over_items(
    ratings: &Ratings,
    seed: u64,
    statistic: impl Fn(&Ratings) -> Result<f64, Undefined>,
) -> Result<Coefficient, Undefined> {
    let value = statistic(ratings)?;
    let twice: Vec<usize> =
        ratings.by_item().enumerate().filter(|(_, it)| 2 <= it.clone().count()).map(|(at, _)| at).collect();
    let sample = ratings.unnamed().of_items(&twice);
    let mut drawn = sample.clone();
    let interval = redraw(twice.len(), ratings.n_raters(), seed, |items| {
        drawn.draw(&sample, items);
        statistic(&drawn).ok()
    });
    Ok(Coefficient::new(value, interval, twice.len()))
}

/// Where a statistic of `n` items lies when they are drawn again and again.
///
/// Draws for which it is undefined are left out; if they are many, so is the interval.
pub(super) fn redraw(
    n: usize,
    width: usize,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<(f64, f64)> {
    if n < 2 {
        return None;
    }
    let n_draws = n_draws(n * width);
    let mut chance = Chance::new(seed);
    let mut items = vec![0; n];
    let mut draw = || {
        items.fill_with(|| chance.below(n));
        statistic(&items)
    };
    let mut values: Vec<f64> = (0..n_draws).filter_map(|_| draw()).collect();
    (n_draws * 9 / 10 <= values.len()).then(|| percentiles(&mut values, n))
}

/// Fewer draws for millions of ratings, where the interval is narrow and each draw takes long.
fn n_draws(n_cells: usize) -> usize {
    (200_000_000 / n_cells.max(1)).clamp(199, 1_999)
}
