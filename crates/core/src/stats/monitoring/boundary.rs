//! How far a sum of deviations may ever stray from zero (Howard et al. 2021), by its variance so far.

use crate::stats::basics::numbers::ensure_usable_share;
use crate::stats::basics::special::{normal_cdf, zeta};
use crate::stats::basics::undefined::Undefined;

/// Pieces over times that grow by `eta`, the chance of a miss falling with power `s`; `c` is the scale of sums
/// whose tails are heavier than normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stitched {
    pub alpha: f64,
    pub v_min: f64,
    pub c: f64,
    pub s: f64,
    pub eta: f64,
}

impl Stitched {
    pub fn new(alpha: f64, v_min: f64) -> Self {
        Self { alpha, v_min, c: 0.0, s: 1.4, eta: 2.0 }
    }

    pub fn at(&self, v: f64) -> Result<f64, Undefined> {
        ensure_usable_share("alpha", self.alpha)?;
        if !(0.0 < self.v_min && 1.0 < self.s && 1.0 < self.eta && 0.0 <= v && v.is_finite()) {
            return Undefined::because("a boundary needs v_min above 0, s and eta above 1, and a variance");
        }
        let v = v.max(self.v_min);
        let steps = (self.eta * v / self.v_min).ln().ln();
        let reach = self.s * steps + (zeta(self.s) / (self.alpha * self.eta.ln().powf(self.s))).ln();
        let k1 = (self.eta.powf(0.25) + self.eta.powf(-0.25)) / std::f64::consts::SQRT_2;
        let linear = self.c * reach * (self.eta.sqrt() + 1.0) / 2.0;
        Ok((k1 * k1 * v * reach + linear * linear).sqrt() + linear)
    }
}

/// One curve, narrowest where the variance is `v_opt`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalMixture {
    pub alpha: f64,
    pub v_opt: f64,
    /// For which alpha it is narrowest there.
    pub alpha_opt: f64,
    pub sides: BoundarySides,
}

/// Where a sum must not stray to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundarySides {
    Above,
    Both,
}

impl NormalMixture {
    pub fn at(&self, v: f64) -> Result<f64, Undefined> {
        ensure_usable_share("alpha", self.alpha)?;
        ensure_usable_share("alpha_opt", self.alpha_opt)?;
        if !(0.0 < self.v_opt && 0.0 <= v && v.is_finite()) {
            return Undefined::because("a boundary needs v_opt above 0 and a variance");
        }
        let alpha_opt =
            if self.sides == BoundarySides::Above { 2.0 * self.alpha_opt } else { self.alpha_opt };
        let reach = -2.0 * alpha_opt.ln();
        if reach <= 0.0 {
            return Undefined::because("alpha_opt is too large for one side");
        }
        let rho = self.v_opt / (reach + reach.ln_1p());
        let (all, goal) = (v + rho, -self.alpha.ln());
        let both = (all * ((1.0 + v / rho).ln() + 2.0 * goal)).sqrt();
        if self.sides == BoundarySides::Both {
            return Ok(both);
        }
        let grown = |sum: f64| {
            0.5 * (4.0 * rho / all).ln() + sum * sum / (2.0 * all) + normal_cdf(sum / all.sqrt()).ln()
        };
        let (mut low, mut high) = (0.0, both);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if grown(middle) < goal { low = middle } else { high = middle }
        }
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stitched_boundary_is_that_of_confseq() {
        let boundary = Stitched::new(0.05, 10.0);
        for (v, expected) in
            [(1.0, 9.224_047_697_5), (100.0, 35.680_490_298_9), (10_000.0, 392.645_695_157_8)]
        {
            assert!((boundary.at(v).unwrap() - expected).abs() < 1e-6);
        }
        assert!(Stitched::new(0.05, 0.0).at(1.0).is_err());
    }

    #[test]
    fn one_side_is_nearly_both_at_twice_the_chance() {
        let both = NormalMixture { alpha: 0.1, v_opt: 100.0, alpha_opt: 0.1, sides: BoundarySides::Both };
        let above = NormalMixture { alpha: 0.05, alpha_opt: 0.05, sides: BoundarySides::Above, ..both };
        for v in [10.0, 100.0, 1_000.0] {
            let (both, above) = (both.at(v).unwrap(), above.at(v).unwrap());
            assert!((above / both - 1.0).abs() < 0.01, "{above} {both}");
        }
        // By hand: rho = 100 / (4.605… + ln 5.605…).
        assert!((both.at(100.0).unwrap() - 27.639_385_725_679).abs() < 1e-9, "{:?}", both.at(100.0));
        assert!(NormalMixture { alpha_opt: 0.6, ..above }.at(1.0).is_err());
    }
}
