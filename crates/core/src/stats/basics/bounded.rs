//! Where a mean may really lie, in 95 of 100 cases, when the scores behind it have two ends.
//!
//! Student's interval covers 22 % instead of 95 % of five scores that pass with 95 %, since four times out of
//! five they are all equal. Here the mean is taken for a share: its variance says how many cases that are
//! passed or failed would say as much, and the exact interval of that share (Clopper and Pearson) is as skewed
//! as the mean of few scores near an end is (Korn and Graubard 1998).

use super::special::{beta_quantile, t_quantile};

/// The chance of a miss on each side.
const SIDE: f64 = 0.025;

/// A score at each end counts as seen by this much. Scores that are nearly alike may hide others:
/// of 20 that are around 0.95, one in three samples lacks the failures that one case in twenty is.
const UNSEEN: f64 = 0.25;

/// Values that belong together, such as the trials of one case: their sum and their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster {
    pub(crate) sum: f64,
    pub(crate) n: f64,
}

impl Cluster {
    pub(crate) fn single(value: f64) -> Self {
        Self { sum: value, n: 1.0 }
    }
}

/// The exact interval of a share, which need not be of a whole number (Clopper and Pearson).
pub(crate) fn exact_share(passed: f64, n: f64) -> (f64, f64) {
    let low = if passed <= 1e-9 { 0.0 } else { beta_quantile(SIDE, passed, n - passed + 1.0) };
    let high = if n - 1e-9 <= passed { 1.0 } else { beta_quantile(1.0 - SIDE, passed + 1.0, n - passed) };
    (low, high)
}

/// How far scores on 0..=1 are spread, from their number, mean and squared distances from it.
///
/// Scores that are all alike may still hide others: as if one more of each end had been seen.
pub(crate) fn unit_spread(n: f64, mean: f64, squares: f64) -> f64 {
    if n < 2.0 || squares / n <= 1e-9 {
        return equal_spread(n, mean);
    }
    (squares + UNSEEN * (mean * mean + (1.0 - mean) * (1.0 - mean))) / (n - 1.0)
}

/// The spread that scores on 0..=1 may have where those that were seen are equal.
pub(crate) fn equal_spread(n: f64, mean: f64) -> f64 {
    let share = (n * mean + 1.0) / (n + 2.0);
    share * (1.0 - share)
}

/// The interval of a mean on 0..=1 from its variance and what that is known by. `n_alike` is how many scores
/// that all pass or all fail would say as much.
pub(crate) fn unit_interval(mean: f64, variance: f64, degrees: f64, n_alike: f64) -> (f64, f64) {
    if variance <= 0.0 {
        return (mean, mean);
    }
    let most = mean * (1.0 - mean);
    if most <= 1e-9 {
        return exact_share(mean * n_alike, n_alike);
    }
    let n = (most / variance).max(1.0);
    // That the variance itself is known from few scores, the exact interval of a share does not know.
    let widened =
        (t_quantile(1.0 - SIDE, (n - 1.0).max(1.0)) / t_quantile(1.0 - SIDE, degrees.max(1.0))).powi(2);
    let n = n * widened.min(1.0);
    exact_share(mean * n, n)
}

/// The interval of a mean of scores on 0..=1, of which those of one cluster are not independent.
/// `None` for fewer than two clusters.
pub(crate) fn mean_interval(clusters: &[Cluster]) -> Option<(f64, f64)> {
    let n = clusters.len() as f64;
    if n < 2.0 {
        return None;
    }
    let ClusterMoments { mean, squares, n_values } = ClusterMoments::of(clusters);
    if squares / n <= 1e-9 {
        return Some(equal_interval(mean, n));
    }
    let is_pass_or_fail =
        |cluster: &Cluster| cluster.sum.abs() < 1e-12 || (cluster.sum - cluster.n).abs() < 1e-12;
    if (n_values - n).abs() < 1e-9 && clusters.iter().all(is_pass_or_fail) {
        return Some(exact_share(mean * n, n));
    }
    // No scores on 0..=1 vary more than passes and failures with the same mean.
    let most = mean * (1.0 - mean) / effective_number(clusters);
    Some(unit_interval(mean, (unit_spread(n, mean, squares) / n).min(most), n - 1.0, n))
}

/// How many clusters of equal size would determine the mean as well (Kish).
fn effective_number(clusters: &[Cluster]) -> f64 {
    let n_values: f64 = clusters.iter().map(|cluster| cluster.n).sum();
    n_values.powi(2) / clusters.iter().map(|cluster| cluster.n.powi(2)).sum::<f64>()
}

/// The interval of a mean of differences that are at most `span` either way. They are taken for scores between
/// the two ends, so that the interval never leaves them.
pub(crate) fn difference_interval(clusters: &[Cluster], span: f64) -> Option<(f64, f64)> {
    if span <= 0.0 {
        return None;
    }
    let to_score = |cluster: &Cluster| Cluster { sum: (cluster.sum / span + cluster.n) / 2.0, n: cluster.n };
    let scores: Vec<Cluster> = clusters.iter().map(to_score).collect();
    let (low, high) = mean_interval(&scores)?;
    Some((span * (2.0 * low - 1.0), span * (2.0 * high - 1.0)))
}

/// The interval of scores that are all equal: at most this share of others was missed, and they may be anything.
fn equal_interval(mean: f64, n: f64) -> (f64, f64) {
    let missed = 1.0 - SIDE.powf(1.0 / n);
    (mean - missed * mean, mean + missed * (1.0 - mean))
}

/// The mean over clusters and how far they are from it, each by how much is in it.
struct ClusterMoments {
    mean: f64,
    squares: f64,
    n_values: f64,
}

impl ClusterMoments {
    fn of(clusters: &[Cluster]) -> Self {
        let n = clusters.len() as f64;
        let (sum, n_values) =
            clusters.iter().fold((0.0, 0.0), |(sum, all), cluster| (sum + cluster.sum, all + cluster.n));
        let mean = sum / n_values;
        let squares =
            clusters.iter().map(|cluster| ((cluster.sum - mean * cluster.n) * n / n_values).powi(2)).sum();
        Self { mean, squares, n_values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(values: &[f64]) -> Vec<Cluster> {
        values.iter().copied().map(Cluster::single).collect()
    }

    #[test]
    fn shares_are_exact_and_equal_scores_have_an_interval() {
        let (low, high) = mean_interval(&single(&[1.0; 20])).unwrap();
        // As scipy.stats.binomtest(20, 20).proportion_ci() says.
        assert!((low - 0.831_566_529_0).abs() < 1e-9 && 1.0 <= high, "{low} {high}");
        // 16.8 % of others may have been missed, and all of them may be 0, or 1.
        let (low, high) = mean_interval(&single(&[0.8; 20])).unwrap();
        assert!((low - 0.665_253).abs() < 1e-5 && (high - 0.833_687).abs() < 1e-5, "{low} {high}");
        assert_eq!(mean_interval(&single(&[1.0])), None);
    }

    #[test]
    fn a_lower_score_never_raises_the_lower_end_much() {
        let low = |last: f64| mean_interval(&single(&[1.0, 1.0, 1.0, 1.0, 1.0, last])).unwrap().0;
        let lows: Vec<f64> = [1.0, 0.99, 0.9375, 0.8, 0.5, 0.25, 0.0].map(low).to_vec();
        assert!(lows.is_sorted_by(|higher, lower| lower <= higher), "{lows:?}");
        // Of 6 passes, as of 6 scores that are nearly all 1.
        assert!((lows[0] - 0.5407).abs() < 1e-4 && 0.5 < lows[1], "{lows:?}");
    }

    #[test]
    fn trials_of_one_case_are_not_more_cases() {
        let many = vec![Cluster { sum: 5.0, n: 5.0 }; 10];
        let (low, _) = mean_interval(&many).unwrap();
        assert!((low - exact_share(10.0, 10.0).0).abs() < 1e-9, "{low}");
        let mixed: Vec<Cluster> =
            (0..10).map(|it| Cluster { sum: if it < 8 { 5.0 } else { 0.0 }, n: 5.0 }).collect();
        let (low, high) = mean_interval(&mixed).unwrap();
        assert!(low < 0.5 && 0.95 < high, "{low} {high}");
    }

    #[test]
    fn pairs_that_never_differ_may_still_differ_a_little() {
        let (low, high) = difference_interval(&single(&[0.0; 20]), 1.0).unwrap();
        assert!((high - 0.168_433).abs() < 1e-5 && (low + high).abs() < 1e-12, "{low} {high}");
        let one = [vec![1.0], vec![0.0; 19]].concat();
        let (low, high) = difference_interval(&single(&one), 1.0).unwrap();
        assert!(low < -0.05 && 0.15 < high, "{low} {high}");
        // Student's would be 0.026 wide; differences of 1 that one case in a hundred may have are in this one.
        let many: Vec<f64> = (0..100).map(|n| 0.1 + f64::from(n % 11 - 5) / 50.0).collect();
        let (low, high) = difference_interval(&single(&many), 1.0).unwrap();
        assert!((0.025..0.045).contains(&(high - low)), "{low} {high}");
    }

    #[test]
    fn intervals_stay_on_their_scale() {
        for values in [vec![-1.0, 0.0, 0.0], vec![1.0, 1.0], vec![1.0, -1.0], vec![0.9, 0.95, 1.0]] {
            let (low, high) = difference_interval(&single(&values), 1.0).unwrap();
            assert!(-1.0 <= low && low < high && high <= 1.0, "{values:?}: {low} {high}");
            // On 1 to 5 a difference is four times as large.
            let wide: Vec<f64> = values.iter().map(|value| value * 4.0).collect();
            let (wide_low, wide_high) = difference_interval(&single(&wide), 4.0).unwrap();
            assert!((wide_low - 4.0 * low).abs() < 1e-9 && (wide_high - 4.0 * high).abs() < 1e-9);
        }
        assert_eq!(difference_interval(&single(&[0.0, 0.0]), 0.0), None);
    }
}
