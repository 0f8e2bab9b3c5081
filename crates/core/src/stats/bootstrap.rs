//! Intervals from drawing again, for a statistic of one sample.

use serde::Serialize;

use super::numbers::{all_equal, mean, squares, usable, usable_share, variance};
use super::resample::Chance;
use super::special::{normal_cdf, normal_quantile};
use super::undefined::Undefined;

/// What is asked of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Mean,
    Median,
}

impl Statistic {
    fn of(self, values: &mut [f64]) -> f64 {
        match self {
            Self::Mean => mean(values),
            Self::Median => {
                values.sort_unstable_by(f64::total_cmp);
                let n = values.len();
                f64::midpoint(values[(n - 1) / 2], values[n / 2])
            }
        }
    }
}

/// The intervals that one set of draws gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    pub estimate: f64,
    pub percentile: (f64, f64),
    pub basic: (f64, f64),
    /// Corrected for bias and skew (Efron).
    pub bca: (f64, f64),
    pub acceleration: f64,
    /// From leaving out one value at a time.
    pub jackknife_se: f64,
}

pub fn bootstrap(
    values: &[f64],
    statistic: Statistic,
    alpha: f64,
    n_draws: usize,
    seed: u64,
) -> Result<Bootstrap, Undefined> {
    usable("value", values, 2)?;
    usable_share("alpha", alpha)?;
    if all_equal(values) {
        return Undefined::because("all values are equal, so that every draw is the same");
    }
    if n_draws < 2 {
        return Undefined::because("nothing was drawn");
    }
    let mut chance = Chance::new(seed);
    let estimate = statistic.of(&mut values.to_vec());
    let mut draw = vec![0.0; values.len()];
    let mut drawn: Vec<f64> = (0..n_draws)
        .map(|_| {
            draw.fill_with(|| values[chance.below(values.len())]);
            statistic.of(&mut draw)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let percentile = (at(&drawn, alpha / 2.0), at(&drawn, 1.0 - alpha / 2.0));
    let (acceleration, jackknife_se) = jackknife(values, statistic);

    let under = drawn.partition_point(|it| *it < estimate) + drawn.partition_point(|it| *it <= estimate);
    let bias = normal_quantile(under as f64 / (2 * n_draws) as f64);
    let moved = |share: f64| {
        let z = bias + normal_quantile(share);
        at(&drawn, normal_cdf(bias + z / (1.0 - acceleration * z)))
    };
    Ok(Bootstrap {
        estimate,
        percentile,
        basic: (2.0 * estimate - percentile.1, 2.0 * estimate - percentile.0),
        bca: (moved(alpha / 2.0), moved(1.0 - alpha / 2.0)),
        acceleration,
        jackknife_se,
    })
}

/// Where the mean may really lie: each draw is measured in its own standard errors (bootstrap-t), which
/// holds for skewed scores as well.
pub fn bootstrap_t(values: &[f64], alpha: f64, n_draws: usize, seed: u64) -> Result<(f64, f64), Undefined> {
    usable("value", values, 2)?;
    usable_share("alpha", alpha)?;
    if all_equal(values) {
        return Undefined::because("all values are equal, which says nothing of their spread");
    }
    let (n, middle) = (values.len(), mean(values));
    let se = |values: &[f64]| (variance(values) / n as f64).sqrt();
    let mut chance = Chance::new(seed);
    let mut draw = vec![0.0; n];
    let mut drawn: Vec<f64> = (0..n_draws)
        .map(|_| {
            draw.fill_with(|| values[chance.below(n)]);
            let off = mean(&draw) - middle;
            // A draw of equal values lies infinitely far out, unless it lies in the middle.
            if all_equal(&draw) { off.signum() * f64::MAX } else { off / se(&draw) }
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let (low, high) = (at(&drawn, alpha / 2.0), at(&drawn, 1.0 - alpha / 2.0));
    let found = (middle - high * se(values), middle - low * se(values));
    if found.0.is_finite() && found.1.is_finite() && low.abs().max(high.abs()) < 1e6 {
        return Ok(found);
    }
    Undefined::because("too few values differ, so that draws of equal values decide how wide it is")
}

/// Between two neighbours in proportion.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() as f64 - 1.0);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// The acceleration of BCa, and the standard error.
fn jackknife(values: &[f64], statistic: Statistic) -> (f64, f64) {
    let n = values.len();
    let without: Vec<f64> = (0..n)
        .map(|out| {
            let mut rest: Vec<f64> = values[..out].iter().chain(&values[out + 1..]).copied().collect();
            statistic.of(&mut rest)
        })
        .collect();
    let middle = mean(&without);
    let (second, third) = (squares(&without), without.iter().map(|it| (middle - it).powi(3)).sum::<f64>());
    let acceleration = if 0.0 < second { third / (6.0 * second.powf(1.5)) } else { 0.0 };
    (acceleration, ((n as f64 - 1.0) / n as f64 * second).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: [f64; 20] =
        [2.0, 3.0, 3.0, 4.0, 4.0, 4.0, 5.0, 1.0, 3.0, 4.0, 5.0, 2.0, 4.0, 4.0, 3.0, 5.0, 2.0, 4.0, 3.0, 4.0];

    #[test]
    fn intervals_are_those_of_scipy() {
        let found = bootstrap(&SAMPLE, Statistic::Mean, 0.05, 20_000, 1).unwrap();
        assert!((found.acceleration + 0.017_895_370_990_704).abs() < 1e-12, "{found:?}");
        assert!((found.jackknife_se - 0.245_753_406_572_738).abs() < 1e-12);
        let near = |found: (f64, f64), low: f64, high: f64| {
            assert!((found.0 - low).abs() < 0.02 && (found.1 - high).abs() < 0.02, "{found:?}");
        };
        near(found.percentile, 2.95, 3.9);
        near(found.bca, 2.95, 3.9);
        near(found.basic, 3.0, 3.95);
        let median = bootstrap(&SAMPLE, Statistic::Median, 0.05, 2_000, 1).unwrap();
        near(median.percentile, 3.0, 4.0);
        for (values, expected) in [
            (&[1.0][..], "only 1 value"),
            (&[2.0, 2.0, 2.0], "all values are equal"),
            (&[1.0, f64::INFINITY], "value 2 is not a number"),
        ] {
            let found = bootstrap(values, Statistic::Mean, 0.05, 99, 1).unwrap_err();
            assert!(found.to_string().contains(expected), "{found}");
            assert!(bootstrap_t(values, 0.05, 99, 1).unwrap_err().to_string().contains(expected));
        }
    }

    #[test]
    fn bootstrap_t_holds_what_it_promises_for_skewed_scores() {
        let mut chance = Chance::new(6);
        let held = (0..2_000)
            .filter(|seed| {
                // Squares of even chances: a third in the mean, most of them small.
                let sample: Vec<f64> = (0..30).map(|_| chance.unit().powi(2)).collect();
                let (low, high) = bootstrap_t(&sample, 0.05, 399, *seed).unwrap();
                low <= 1.0 / 3.0 && 1.0 / 3.0 <= high
            })
            .count();
        println!("bootstrap-t {held} of 2000");
        assert!((1_860..=1_940).contains(&held), "{held}");
    }
}
