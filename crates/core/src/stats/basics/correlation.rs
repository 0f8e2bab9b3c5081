//! Whether two lists of numbers go up and down together: Pearson, Spearman, Kendall.

use super::measure::Coefficient;
use super::numbers::ranks;
use super::special::{normal_cdf, normal_quantile, t_cdf, t_quantile};
use super::undefined::Undefined;

/// A correlation, with how often chance alone makes as much of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    pub value: f64,
    pub p: f64,
    /// Pairs.
    pub n: usize,
    kind: CorrelationKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum CorrelationKind {
    Pearson,
    Spearman,
    Kendall,
}

/// Of fewer pairs, ranks say too little for an interval: that of five would cover 73 of 100 strong correlations.
const FEWEST_RANKS: usize = 10;

impl Correlation {
    /// Fisher's; for ranks with the variances of Bonett and Wright (2000) and of Fieller and others (1957). The
    /// last is too small for few pairs: only Student's distribution makes up for that.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let n = self.n as f64;
        let half = match self.kind {
            CorrelationKind::Pearson => normal_quantile(0.975) / (n - 3.0).sqrt(),
            _ if self.n < FEWEST_RANKS => return None,
            CorrelationKind::Spearman => {
                normal_quantile(0.975) * ((1.0 + self.value * self.value / 2.0) / (n - 3.0)).sqrt()
            }
            CorrelationKind::Kendall => t_quantile(0.975, n - 4.0) * (0.437 / (n - 4.0)).sqrt(),
        };
        let z = self.value.atanh();
        (3 < self.n && z.is_finite()).then(|| ((z - half).tanh(), (z + half).tanh()))
    }

    pub fn coefficient(&self) -> Coefficient {
        Coefficient::new(self.value, self.interval(), self.n)
    }
}

pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    ensure_correlation_defined(x, y)?;
    let value = linear(x, y);
    if !value.is_finite() {
        return Undefined::because("the numbers are too large to add");
    }
    Ok(Correlation { value, p: p_of(value, x.len()), n: x.len(), kind: CorrelationKind::Pearson })
}

pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    ensure_correlation_defined(x, y)?;
    let value = linear(&ranks(x), &ranks(y));
    Ok(Correlation { value, p: p_of(value, x.len()), n: x.len(), kind: CorrelationKind::Spearman })
}

/// τ-b, which takes ties into account.
pub fn kendall(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    let order = PairConcordance::new(x, y)?;
    let value = order.excess() / ((order.n_pairs - order.x.pairs) * (order.n_pairs - order.y.pairs)).sqrt();
    let value = value.clamp(-1.0, 1.0);
    Ok(Correlation { value, p: order.p(), n: x.len(), kind: CorrelationKind::Kendall })
}

/// Stuart's τ-c, for tables that are not square.
pub fn kendall_c(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    let order = PairConcordance::new(x, y)?;
    let (n, distinct) = (x.len() as f64, order.x.n_distinct.min(order.y.n_distinct) as f64);
    Ok(2.0 * order.excess() / (n * n * (distinct - 1.0) / distinct))
}

/// Somers' D of `y` by `x`: pairs that `x` does not tell apart are left out.
pub fn somers_d(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    let order = PairConcordance::new(x, y)?;
    Ok(order.excess() / (order.n_pairs - order.x.pairs))
}

/// How often chance makes as large a τ in large samples, whatever the number of pairs.
pub fn kendall_p_in_large_samples(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    Ok(PairConcordance::new(x, y)?.p_in_large_samples())
}

fn ensure_correlation_defined(x: &[f64], y: &[f64]) -> Result<(), Undefined> {
    if x.len() != y.len() {
        return Undefined::because(format!("{} numbers cannot be paired with {}", x.len(), y.len()));
    }
    if x.len() < 2 {
        return Undefined::because("a correlation needs two pairs or more");
    }
    if x.iter().chain(y).any(|value| !value.is_finite()) {
        return Undefined::because("not all of them are numbers");
    }
    for side in [x, y] {
        if side.iter().all(|value| (value - side[0]).abs() <= 0.0) {
            return Undefined::because("one variable is constant");
        }
    }
    Ok(())
}

fn linear(x: &[f64], y: &[f64]) -> f64 {
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in deviations(x).into_iter().zip(deviations(y)) {
        (xy, xx, yy) = (xy + x * y, xx + x * x, yy + y * y);
    }
    (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0)
}

/// From the mean, by the largest of them, so that squares neither vanish nor overflow.
fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    values.iter().map(|value| (value - mean) / largest).collect()
}

fn p_of(value: f64, n: usize) -> f64 {
    let degrees = n as f64 - 2.0;
    if degrees <= 0.0 {
        return 1.0;
    }
    let t = value.abs() * (degrees / ((1.0 - value) * (1.0 + value))).sqrt();
    if t.is_finite() { 2.0 * t_cdf(-t, degrees) } else { 0.0 }
}

/// Pairs by whether both numbers order them the same way, counted while sorting (Knight 1966).
struct PairConcordance {
    n: f64,
    n_pairs: f64,
    discordant: f64,
    x: TieSums,
    y: TieSums,
    /// Pairs that neither tells apart.
    both: f64,
}

impl PairConcordance {
    fn new(x: &[f64], y: &[f64]) -> Result<Self, Undefined> {
        ensure_correlation_defined(x, y)?;
        let mut pairs: Vec<(f64, f64)> = x.iter().zip(y).map(|(x, y)| (x + 0.0, y + 0.0)).collect();
        pairs.sort_by(|(x1, y1), (x2, y2)| x1.total_cmp(x2).then(y1.total_cmp(y2)));
        let both = TieSums::new(pairs.chunk_by(|a, b| a == b).map(<[_]>::len)).pairs;
        let ties_x =
            TieSums::new(pairs.chunk_by(|(x1, _), (x2, _)| x1.total_cmp(x2).is_eq()).map(<[_]>::len));
        let mut by_y: Vec<f64> = pairs.into_iter().map(|(_, y)| y).collect();
        let discordant = inversions(&mut by_y) as f64;
        let ties_y = TieSums::new(by_y.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[_]>::len));
        let n = x.len() as f64;
        Ok(Self { n, n_pairs: n * (n - 1.0) / 2.0, discordant, x: ties_x, y: ties_y, both })
    }

    /// Concordant pairs less discordant ones.
    fn excess(&self) -> f64 {
        self.n_pairs - self.x.pairs - self.y.pairs + self.both - 2.0 * self.discordant
    }

    /// Exact without ties in up to 33 pairs.
    fn p(&self) -> f64 {
        let ties = self.x.pairs + self.y.pairs;
        let least = self.discordant.min(self.n_pairs - self.discordant);
        if ties <= 0.0 && (self.n <= 33.0 || (least <= 1.0 && self.n < 170.0)) {
            return kendall_exact_p(self.n as usize, least as usize);
        }
        self.p_in_large_samples()
    }

    fn p_in_large_samples(&self) -> f64 {
        let m = self.n * (self.n - 1.0);
        let mut variance = (m * (2.0 * self.n + 5.0) - self.x.fives - self.y.fives) / 18.0
            + 2.0 * self.x.pairs * self.y.pairs / m;
        if 2.0 < self.n {
            variance += self.x.triples * self.y.triples / (9.0 * m * (self.n - 2.0));
        }
        2.0 * normal_cdf(-self.excess().abs() / variance.sqrt())
    }
}

/// Groups of `t` equal numbers: the sums of t(t−1)/2, t(t−1)(t−2) and t(t−1)(2t+5).
struct TieSums {
    n_distinct: usize,
    pairs: f64,
    triples: f64,
    fives: f64,
}

impl TieSums {
    fn new(groups: impl Iterator<Item = usize>) -> Self {
        let mut ties = Self { n_distinct: 0, pairs: 0.0, triples: 0.0, fives: 0.0 };
        for t in groups.map(|group| group as f64) {
            ties.n_distinct += 1;
            ties.pairs += t * (t - 1.0) / 2.0;
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.fives += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

/// Sorts, and counts the pairs that stood the wrong way round.
fn inversions(values: &mut [f64]) -> u64 {
    let n = values.len();
    if n < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(n / 2);
    let mut count = inversions(left) + inversions(right);
    let mut merged = Vec::with_capacity(n);
    let (mut a, mut b) = (0, 0);
    while a < left.len() || b < right.len() {
        if b == right.len() || (a < left.len() && left[a] <= right[b]) {
            merged.push(left[a]);
            a += 1;
        } else {
            count += (left.len() - a) as u64;
            merged.push(right[b]);
            b += 1;
        }
    }
    values.copy_from_slice(&merged);
    count
}

/// Of all orders of `n`, twice the share with at most so many inversions.
fn kendall_exact_p(n: usize, most: usize) -> f64 {
    // Of the orders of the first numbers, the share with each count of inversions.
    let mut shares = vec![0.0; most + 1];
    shares[0] = 1.0;
    for size in 2..=n {
        let mut running = 0.0;
        let before = shares.clone();
        for (at, share) in shares.iter_mut().enumerate() {
            running += before[at];
            if size <= at {
                running -= before[at - size];
            }
            *share = running / size as f64;
        }
    }
    (2.0 * shares.iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual}, not {expected}");
    }

    #[test]
    fn correlations_have_the_values_of_scipy() {
        let x = [1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 3.0, 1.0, 2.0, 5.0];
        let y = [1.0, 1.0, 3.0, 3.0, 5.0, 4.0, 4.0, 5.0, 2.0, 2.0, 2.0, 4.0];
        let result = pearson(&x, &y).unwrap();
        check(result.value, 0.854_227_766_776_030_5);
        check(result.p, 0.000_403_724_159_252_881_3);
        check(result.interval().unwrap().0, 0.549_920_811_181_713_7);
        check(spearman(&x, &y).unwrap().value, 0.845_454_545_454_545_5);
        check(kendall(&x, &y).unwrap().value, 0.719_298_245_614_035);
        check(kendall(&x, &y).unwrap().p, 0.003_183_751_672_663_183);
        check(kendall_c(&x, &y).unwrap(), 0.711_805_555_555_555_6);
        check(somers_d(&x, &y).unwrap(), 0.719_298_245_614_035_1);
    }

    #[test]
    fn kendall_is_exact_for_few_pairs_without_ties() {
        // Of 4! orders, those with none or one inversion are 1 + 3.
        let p = |y: &[f64]| kendall(&[1.0, 2.0, 3.0, 4.0], y).unwrap().p;
        check(p(&[1.0, 2.0, 3.0, 4.0]), 2.0 / 24.0);
        check(p(&[1.0, 2.0, 4.0, 3.0]), 8.0 / 24.0);
        check(p(&[4.0, 3.0, 2.0, 1.0]), 2.0 / 24.0);
    }

    #[test]
    fn correlations_say_why_they_are_undefined() {
        let why = |x: &[f64], y: &[f64]| kendall(x, y).unwrap_err().to_string();
        assert!(why(&[1.0, 2.0], &[1.0]).contains("cannot be paired"));
        assert!(why(&[1.0], &[1.0]).contains("two pairs"));
        assert!(why(&[1.0, 1.0], &[1.0, 2.0]).contains("is constant"));
        assert!(why(&[1.0, f64::NAN], &[1.0, 2.0]).contains("numbers"));
        assert!(why(&[0.0, -0.0], &[1.0, 2.0]).contains("is constant"));
        assert!(pearson(&[-1e308, 1e308, 1e308, 1e308], &[1.0, 2.0, 3.0, 4.0]).is_err());
        check(pearson(&[0.0, 1e-300, 3e-300], &[1.0, 2.0, 4.0]).unwrap().value, 1.0);
        assert_eq!(pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]).unwrap().coefficient().interval, None);
    }
}
