//! A number about raters with where it may really lie, or why there is none.

use serde::Serialize;

use super::bounded::{Cluster, difference_interval, exact_share, mean_interval};
use super::numbers::mean;
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
    /// An interval without width would promise certainty and only says that nothing varied. Intervals that are
    /// corrected for few ratings can miss an estimate at the end of its range by a little; they are extended to it.
    pub(crate) fn new(value: f64, interval: Option<(f64, f64)>, n: usize) -> Self {
        let sound = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low + 1e-12 < *high;
        let interval = interval.filter(sound).map(|(low, high)| (low.min(value), high.max(value)));
        Self { value, interval, n }
    }
}

/// A coefficient, or why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CoefficientResult {
    Known(Coefficient),
    Undefined { undefined: String },
}

impl CoefficientResult {
    pub fn value(&self) -> Option<f64> {
        if let Self::Known(it) = self { Some(it.value) } else { None }
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        if let Self::Known(it) = self { it.interval } else { None }
    }
}

impl From<Result<Coefficient, Undefined>> for CoefficientResult {
    fn from(it: Result<Coefficient, Undefined>) -> Self {
        match it {
            Ok(known) => Self::Known(known),
            Err(Undefined(undefined)) => Self::Undefined { undefined },
        }
    }
}

/// A share of `n`, or the mean of as many numbers between 0 and 1, with the exact interval of a share.
pub(crate) fn share_with_interval(sum: f64, n: usize) -> Result<Coefficient, Undefined> {
    if n == 0 {
        return Undefined::because("there is nothing to count");
    }
    Ok(Coefficient::new(sum / n as f64, Some(exact_share(sum, n as f64)), n))
}

/// The mean of scores on 0..=1, one for each item.
pub(crate) fn mean_score_with_interval(values: &[f64]) -> Result<Coefficient, Undefined> {
    mean_with(values, mean_interval)
}

/// The mean of differences, one for each item, of which none can be more than `span`.
pub(crate) fn mean_difference_with_interval(values: &[f64], span: f64) -> Result<Coefficient, Undefined> {
    mean_with(values, |clusters| difference_interval(clusters, span))
}

/// The mean of distances, one for each item, from 0 to `span`.
pub(crate) fn mean_distance(values: &[f64], span: f64) -> Result<Coefficient, Undefined> {
    mean_with(values, |clusters| {
        let scores: Vec<Cluster> =
            clusters.iter().map(|cluster| Cluster { sum: cluster.sum / span, n: cluster.n }).collect();
        mean_interval(&scores).map(|(low, high)| (low * span, high * span))
    })
}

fn mean_with(
    values: &[f64],
    interval: impl Fn(&[Cluster]) -> Option<(f64, f64)>,
) -> Result<Coefficient, Undefined> {
    if values.is_empty() {
        return Undefined::because("there is nothing to count");
    }
    let clusters: Vec<Cluster> = values.iter().copied().map(Cluster::single).collect();
    let value = mean(values);
    if !value.is_finite() {
        return Undefined::because("the numbers are too large to add");
    }
    Ok(Coefficient::new(value, interval(&clusters), values.len()))
}
