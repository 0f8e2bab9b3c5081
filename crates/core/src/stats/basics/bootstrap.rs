//! Intervals from drawing again, for a statistic of one sample.

use serde::Serialize;

use super::numbers::{all_equal, ensure_usable_share, ensure_usable_values, mean, squares, variance};
use super::resample::{Chance, draws};
use super::special::{normal_cdf, normal_quantile};
use super::undefined::Undefined;

/// The figure that is computed from a sample.
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
    ensure_usable_values("value", values, 2)?;
    ensure_usable_share("alpha", alpha)?;
    if all_equal(values) {
        return Undefined::because("all values are equal, so all bootstrap resamples are equal");
    }
    if n_draws < 2 {
        return Undefined::because("nothing was drawn");
    }
    let estimate = statistic.of(&mut values.to_vec());
    let mut statistics = draws(n_draws, seed, |chance| match statistic {
        Statistic::Mean => draw_mean(values, chance),
        Statistic::Median => statistic.of(&mut draw_values(values, chance)),
    });
    statistics.sort_unstable_by(f64::total_cmp);
    let (low, high) =
        (draw_quantile(&statistics, alpha / 2.0), draw_quantile(&statistics, 1.0 - alpha / 2.0));
    let (acceleration, jackknife_se) = jackknife(values, statistic);

    let under = statistics.partition_point(|statistics| *statistics < estimate)
        + statistics.partition_point(|statistics| *statistics <= estimate);
    let bias = normal_quantile(under as f64 / (2 * n_draws) as f64);
    let moved = |share: f64| {
        let z = bias + normal_quantile(share);
        draw_quantile(&statistics, normal_cdf(bias + z / (1.0 - acceleration * z)))
    };
    Ok(Bootstrap {
        estimate,
        percentile: (low, high),
        basic: (2.0 * estimate - high, 2.0 * estimate - low),
        bca: (moved(alpha / 2.0), moved(1.0 - alpha / 2.0)),
        acceleration,
        jackknife_se,
    })
}

/// As many values, resampled with replacement.
fn draw_values(values: &[f64], chance: &mut Chance) -> Vec<f64> {
    (0..values.len()).map(|_| values[chance.below(values.len())]).collect()
}

/// The mean of as many values, resampled with replacement. Two from each random number, added up apart, so that
/// one addition need not wait for the other.
fn draw_mean(values: &[f64], chance: &mut Chance) -> f64 {
    let n = values.len();
    // Beyond this, half a number of chance would favour some places by more than one part in 256.
    if 1 << 24 < n {
        return (0..n).map(|_| values[chance.below(n)]).sum::<f64>() / n as f64;
    }
    let place = |half: u64| ((half * n as u64) >> 32) as usize;
    let mut sums = [0.0; 4];
    for at in 0..n / 2 {
        let both = chance.next();
        let to = at % 2 * 2;
        sums[to] += values[place(both >> 32)];
        sums[to + 1] += values[place(both & 0xffff_ffff)];
    }
    let rest: f64 = (0..n % 2).map(|_| values[place(chance.next() >> 32)]).sum();
    (sums.iter().sum::<f64>() + rest) / n as f64
}

/// Where the mean may really lie: each draw is measured in its own standard errors (bootstrap-t), which
/// holds for skewed scores as well.
pub fn bootstrap_t(values: &[f64], alpha: f64, n_draws: usize, seed: u64) -> Result<(f64, f64), Undefined> {
    ensure_usable_values("value", values, 2)?;
    ensure_usable_share("alpha", alpha)?;
    if all_equal(values) {
        return Undefined::because("all values are equal, so their variance cannot be estimated");
    }
    let (n, middle) = (values.len(), mean(values));
    let se = |values: &[f64]| (variance(values) / n as f64).sqrt();
    let mut statistics = draws(n_draws, seed, |chance| {
        let draw = draw_values(values, chance);
        let off = mean(&draw) - middle;
        // A draw of equal values lies infinitely far out, unless it lies in the middle.
        if all_equal(&draw) { off.signum() * f64::MAX } else { off / se(&draw) }
    });
    statistics.sort_unstable_by(f64::total_cmp);
    let (low, high) =
        (draw_quantile(&statistics, alpha / 2.0), draw_quantile(&statistics, 1.0 - alpha / 2.0));
    let (from, to) = (middle - high * se(values), middle - low * se(values));
    if from.is_finite() && to.is_finite() && low.abs().max(high.abs()) < 1e6 {
        return Ok((from, to));
    }
    Undefined::because("too few values differ for a bootstrap interval")
}

/// Between two neighbours in proportion.
fn draw_quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() as f64 - 1.0);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// The acceleration of BCa, and the standard error.
fn jackknife(values: &[f64], statistic: Statistic) -> (f64, f64) {
    let n = values.len();
    let without = without_each(values, statistic);
    let middle = mean(&without);
    let (second, third) =
        (squares(&without), without.iter().map(|without| (middle - without).powi(3)).sum::<f64>());
    let acceleration = if 0.0 < second { third / (6.0 * second.powf(1.5)) } else { 0.0 };
    (acceleration, ((n as f64 - 1.0) / n as f64 * second).sqrt())
}

/// The statistic of all values but one, for each of them; not one by one, which would take n² steps.
fn without_each(values: &[f64], statistic: Statistic) -> Vec<f64> {
    let n = values.len();
    match statistic {
        Statistic::Mean => {
            let sum: f64 = values.iter().sum();
            values.iter().map(|value| (sum - value) / (n as f64 - 1.0)).collect()
        }
        Statistic::Median => {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            let left = |out: usize, place: usize| sorted[place + usize::from(out <= place)];
            (0..n).map(|out| f64::midpoint(left(out, (n - 2) / 2), left(out, (n - 1) / 2))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::agreement::ratings::tests::ratings;
    use crate::stats::agreement::{Level, measure_agreement};

    const SAMPLE: [f64; 20] =
        [2.0, 3.0, 3.0, 4.0, 4.0, 4.0, 5.0, 1.0, 3.0, 4.0, 5.0, 2.0, 4.0, 4.0, 3.0, 5.0, 2.0, 4.0, 3.0, 4.0];

    #[test]
    fn intervals_are_those_of_scipy() {
        let actual = bootstrap(&SAMPLE, Statistic::Mean, 0.05, 20_000, 1).unwrap();
        assert!((actual.acceleration + 0.017_895_370_990_704).abs() < 1e-12, "{actual:?}");
        assert!((actual.jackknife_se - 0.245_753_406_572_738).abs() < 1e-12);
        let near = |actual: (f64, f64), low: f64, high: f64| {
            assert!((actual.0 - low).abs() < 0.02 && (actual.1 - high).abs() < 0.02, "{actual:?}");
        };
        near(actual.percentile, 2.95, 3.9);
        near(actual.bca, 2.95, 3.9);
        near(actual.basic, 3.0, 3.95);
        let median = bootstrap(&SAMPLE, Statistic::Median, 0.05, 2_000, 1).unwrap();
        near(median.percentile, 3.0, 4.0);
        for (values, expected) in [
            (&[1.0][..], "only 1 value"),
            (&[2.0, 2.0, 2.0], "all values are equal"),
            (&[1.0, f64::INFINITY], "value 2 is not a number"),
        ] {
            let actual = bootstrap(values, Statistic::Mean, 0.05, 99, 1).unwrap_err();
            assert!(actual.to_string().contains(expected), "{actual}");
            assert!(bootstrap_t(values, 0.05, 99, 1).unwrap_err().to_string().contains(expected));
        }
    }

    #[test]
    fn bootstrap_t_holds_what_it_promises_for_skewed_scores() {
        let mut chance = Chance::new(6);
        let n_covered = (0..2_000)
            .filter(|seed| {
                // Squares of even chances: a third in the mean, most of them small.
                let sample: Vec<f64> = (0..30).map(|_| chance.unit().powi(2)).collect();
                let (low, high) = bootstrap_t(&sample, 0.05, 399, *seed).unwrap();
                low <= 1.0 / 3.0 && 1.0 / 3.0 <= high
            })
            .count();
        println!("bootstrap-t {n_covered} of 2000");
        assert!((1_860..=1_940).contains(&n_covered), "{n_covered}");
    }

    #[test]
    fn a_seed_gives_the_same_numbers_on_any_number_of_threads() {
        let work = || {
            let values: Vec<f64> = (0..300).map(|n| f64::from(n * 7 % 41) / 41.0).collect();
            let bootstrapped = bootstrap(&values, Statistic::Mean, 0.05, 500, 9).unwrap();
            let ratings = ratings("1 2 3 4 1 2 3\n 1 2 3 3 1 . 3\n 2 2 3 4 1 2 1");
            let agreed = measure_agreement(&ratings, Level::Ordinal, 9);
            serde_json::to_string(&(bootstrapped, agreed)).unwrap()
        };
        let alone = work();
        let together: Vec<String> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
            started.into_iter().map(|scoped_join_handle| scoped_join_handle.join().unwrap()).collect()
        });
        assert!(together.iter().all(|together| *together == alone));
    }

    #[test]
    fn leaving_one_out_is_as_good_as_computing_it_again() {
        for statistic in [Statistic::Mean, Statistic::Median] {
            for n in [2, 3, 19, 20] {
                let fast = without_each(&SAMPLE[..n], statistic);
                let again = |out: usize| {
                    let mut rest: Vec<f64> = [&SAMPLE[..out], &SAMPLE[out + 1..n]].concat();
                    statistic.of(&mut rest)
                };
                let mut slow: Vec<f64> = (0..n).map(again).collect();
                let mut fast = fast;
                fast.sort_by(f64::total_cmp);
                slow.sort_by(f64::total_cmp);
                assert!(fast.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-12), "{statistic:?} {n}");
            }
        }
    }
}
