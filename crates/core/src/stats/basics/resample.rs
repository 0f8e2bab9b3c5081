//! Intervals and tests by drawing again from what there is.

use super::bounded::Cluster;
use super::special::{normal_cdf, t_quantile};

const N_DRAWS: usize = 9_999;

/// Numbers that look like chance and are the same for the same seed (SplitMix64).
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of the numbers under `n`, each as likely as the others to within 2⁻⁶⁴.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the normal distribution (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if 0.0 < square && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// A number from the gamma distribution of this shape (Marsaglia and Tsang 2000).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape <= 0.0 {
            return 0.0;
        }
        if (shape - 1.0).abs() < 1e-12 {
            return -(1.0 - self.unit()).ln();
        }
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * (1.0 - self.unit()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if 0.0 < v && (1.0 - self.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// The numbers under `n` in an order of chance.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// The result of each of many draws. Each draw has its own random numbers.
pub(crate) fn draws(n: usize, seed: u64, draw: impl Fn(&mut Chance) -> f64) -> Vec<f64> {
    let one = |at: usize| draw(&mut Chance::new(Chance::new(seed ^ (at as u64) << 20).next()));
    (0..n).map(one).collect()
}

/// What encloses 95 of 100 draws; wider for few clusters, as Student's distribution is.
pub(crate) fn percentiles(draws: &mut [f64], n_clusters: usize) -> (f64, f64) {
    draws.sort_by(f64::total_cmp);
    let (n, n_draws) = (n_clusters as f64, draws.len());
    let wide = (n / (n - 1.0)).sqrt() * t_quantile(0.975, n - 1.0);
    let share = normal_cdf(-wide);
    let at = |share: f64| draws[((share * (n_draws as f64 + 1.0)).round() as usize).clamp(1, n_draws) - 1];
    (at(share), at(1.0 - share))
}

/// How often chance alone makes a mean at least as far from zero: signs of whole clusters are turned.
pub(crate) fn sign_test(clusters: &[Cluster], seed: u64) -> f64 {
    let n = clusters.len();
    let sums: Vec<f64> = clusters.iter().map(|cluster| cluster.sum).filter(|value| *value != 0.0).collect();
    let observed = sums.iter().sum::<f64>().abs() - 1e-12;
    if sums.is_empty() || n == 0 {
        return 1.0;
    }
    // Few enough to look at every way.
    if sums.len() <= 13 {
        let ways = 1_u32 << sums.len();
        let turned = |way: u32| {
            let signed =
                sums.iter().enumerate().map(|(at, value)| if way >> at & 1 == 1 { -value } else { *value });
            signed.sum::<f64>().abs()
        };
        let extreme = (0..ways).filter(|n| observed <= turned(*n)).count();
        return extreme as f64 / f64::from(ways);
    }
    let mut chance = Chance::new(seed ^ 0x5157);
    let extreme = (0..N_DRAWS)
        .filter(|_| {
            let mut bits = 0;
            let signed = sums.iter().enumerate().map(|(at, value)| {
                if at % 64 == 0 {
                    bits = chance.next();
                }
                if bits >> (at % 64) & 1 == 1 { -value } else { *value }
            });
            observed <= signed.sum::<f64>().abs()
        })
        .count();
    (extreme + 1) as f64 / (N_DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(values: &[f64]) -> Vec<Cluster> {
        values.iter().copied().map(Cluster::single).collect()
    }

    #[test]
    fn tests_count_what_chance_could_do() {
        // Of 2⁴ ways to turn four signs, two are as extreme as all alike.
        assert!((sign_test(&single(&[1.0, 1.0, 1.0, 1.0, 0.0]), 1) - 0.125).abs() < 1e-12);
        assert!((sign_test(&single(&[0.0, 0.0]), 1) - 1.0).abs() < 1e-12);
        let many: Vec<f64> = (0..60).map(|n| if n % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(0.9 < sign_test(&single(&many), 1));
        assert!(sign_test(&single(&[0.3; 40]), 1) < 0.001);
    }
}
