//! Intervals and tests by drawing again from what there is.

use super::special::{normal_cdf, quantile, t_cdf};

const N_DRAWS: usize = 9_999;

/// Numbers that look like chance and are the same for the same seed (SplitMix64).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// One of the numbers under `n`, each as likely as the others to within 2⁻⁶⁴.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number from 0 up to 1.
    #[cfg(test)]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The numbers under `n` in an order of chance.
    pub(super) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// What each of many draws comes to. Each has a chance of its own, so that they are the same on any number of
/// threads; `size` is how much work one of them is.
pub(super) fn draws(n: usize, size: usize, seed: u64, draw: impl Fn(&mut Chance) -> f64 + Sync) -> Vec<f64> {
    let one = |at: usize| draw(&mut Chance::new(Chance::new(seed ^ (at as u64) << 20).next()));
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Less than this is done before a thread has begun.
    if n.saturating_mul(size) < 1_000_000 || n_threads == 1 {
        return (0..n).map(one).collect();
    }
    let mut drawn = vec![0.0; n];
    let part = n.div_ceil(n_threads);
    std::thread::scope(|scope| {
        for (nth, part_of) in drawn.chunks_mut(part).enumerate() {
            let one = &one;
            scope.spawn(move || part_of.iter_mut().zip(nth * part..).for_each(|(to, at)| *to = one(at)));
        }
    });
    drawn
}

/// Values that belong together, such as the trials of one case: their sum and their number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    pub(super) sum: f64,
    pub(super) n: f64,
}

fn mean(clusters: impl Iterator<Item = Cluster>) -> f64 {
    let (sum, n) = clusters.fold((0.0, 0.0), |(sum, n), it| (sum + it.sum, n + it.n));
    sum / n
}

/// Where the mean may really lie, in 95 of 100 cases: whole clusters are drawn again. `None` for fewer than two.
pub(super) fn interval(clusters: &[Cluster], seed: u64) -> Option<(f64, f64)> {
    let n = clusters.len();
    if n < 2 {
        return None;
    }
    let mut means = draws(N_DRAWS, n, seed, |chance| mean((0..n).map(|_| clusters[chance.below(n)])));
    Some(percentiles(&mut means, n))
}

/// What encloses 95 of 100 draws; wider for few clusters, as Student's distribution is.
pub(super) fn percentiles(draws: &mut [f64], n_clusters: usize) -> (f64, f64) {
    draws.sort_by(f64::total_cmp);
    let (n, n_draws) = (n_clusters as f64, draws.len());
    let wide = (n / (n - 1.0)).sqrt() * quantile(0.975, |it| t_cdf(it, n - 1.0));
    let share = normal_cdf(-wide);
    let at = |share: f64| draws[((share * (n_draws as f64 + 1.0)).round() as usize).clamp(1, n_draws) - 1];
    (at(share), at(1.0 - share))
}

/// How often chance alone makes a mean at least as far from zero: signs of whole clusters are turned.
pub(super) fn sign_test(clusters: &[Cluster], seed: u64) -> f64 {
    let n = clusters.len();
    let sums: Vec<f64> = clusters.iter().map(|it| it.sum).filter(|it| *it != 0.0).collect();
    let found = sums.iter().sum::<f64>().abs() - 1e-12;
    if sums.is_empty() || n == 0 {
        return 1.0;
    }
    // Few enough to look at every way.
    if sums.len() <= 13 {
        let ways = 1_u32 << sums.len();
        let turned = |way: u32| {
            let signed = sums.iter().enumerate().map(|(at, it)| if way >> at & 1 == 1 { -it } else { *it });
            signed.sum::<f64>().abs()
        };
        let extreme = (0..ways).filter(|it| found <= turned(*it)).count();
        return extreme as f64 / f64::from(ways);
    }
    let mut chance = Chance::new(seed ^ 0x5157);
    let extreme = (0..N_DRAWS)
        .filter(|_| {
            let mut bits = 0;
            let signed = sums.iter().enumerate().map(|(at, it)| {
                if at % 64 == 0 {
                    bits = chance.next();
                }
                if bits >> (at % 64) & 1 == 1 { -it } else { *it }
            });
            found <= signed.sum::<f64>().abs()
        })
        .count();
    (extreme + 1) as f64 / (N_DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(values: &[f64]) -> Vec<Cluster> {
        values.iter().map(|it| Cluster { sum: *it, n: 1.0 }).collect()
    }

    #[test]
    fn intervals_hold_what_they_promise() {
        // Of 400 samples of 12 from a normal distribution around zero, about 95 % of the intervals hold zero.
        let mut chance = Chance::new(3);
        let mut normal = || (0..12).map(|_| chance.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0;
        let held = (0..400)
            .filter(|seed| {
                let sample: Vec<f64> = (0..12).map(|_| normal()).collect();
                interval(&single(&sample), *seed).is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
            })
            .count();
        assert!((368..=392).contains(&held), "{held}");
        assert_eq!(interval(&single(&[1.0]), 1), None);
        assert_eq!(interval(&single(&[0.5; 9]), 1), Some((0.5, 0.5)));
        let some = single(&[0.1, -0.3, 0.2, 0.4]);
        assert_eq!(interval(&some, 1), interval(&some, 1));
    }

    #[test]
    fn tests_count_what_chance_could_do() {
        // Of 2⁴ ways to turn four signs, two are as extreme as all alike.
        assert!((sign_test(&single(&[1.0, 1.0, 1.0, 1.0, 0.0]), 1) - 0.125).abs() < 1e-12);
        assert!((sign_test(&single(&[0.0, 0.0]), 1) - 1.0).abs() < 1e-12);
        let many: Vec<f64> = (0..60).map(|it| if it % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(0.9 < sign_test(&single(&many), 1));
        assert!(sign_test(&single(&[0.3; 40]), 1) < 0.001);
    }
}
