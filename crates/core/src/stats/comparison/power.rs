//! How many samples show a difference, if there is one.

use super::effect::cohen_h;
use crate::stats::basics::numbers::ensure_usable_share;
use crate::stats::basics::special::{normal_cdf, normal_quantile, shifted_t_cdf, t_quantile, two_sided_z};
use crate::stats::basics::undefined::Undefined;

/// What a test shall be able to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aim {
    /// How often it may see what is not there.
    pub alpha: f64,
    /// How often it shall see what is there.
    pub power: f64,
}

impl Aim {
    fn check(self) -> Result<(), Undefined> {
        ensure_usable_share("alpha", self.alpha)?;
        ensure_usable_share("power", self.power)?;
        if self.power <= self.alpha {
            return Undefined::because("a power under alpha needs no sample at all");
        }
        Ok(())
    }
}

/// Samples in each of two groups for a difference of `d` standard deviations, by Student's test.
pub fn n_per_group(d: f64, aim: Aim) -> Result<f64, Undefined> {
    check_effect(d)?;
    aim.check()?;
    smallest(2.0, aim.power, |n| t_power(2.0 * n - 2.0, d * (n / 2.0).sqrt(), aim.alpha))
}

/// Pairs for a mean difference of `d` standard deviations of differences.
pub fn n_pairs(d: f64, aim: Aim) -> Result<f64, Undefined> {
    check_effect(d)?;
    aim.check()?;
    smallest(2.0, aim.power, |n| t_power(n - 1.0, d * n.sqrt(), aim.alpha))
}

/// Samples in each of two groups to tell two shares apart, on Cohen's scale.
pub fn n_per_group_shares(first: f64, second: f64, aim: Aim) -> Result<f64, Undefined> {
    let h = cohen_h(first, second)?;
    check_effect(h)?;
    aim.check()?;
    let z = two_sided_z(aim.alpha);
    let power = |n: f64| {
        let shift = h.abs() * (n / 2.0).sqrt();
        normal_cdf(shift - z) + normal_cdf(-shift - z)
    };
    smallest(1e-3, aim.power, power)
}

/// The same by the difference itself, with the variance of no difference for alpha.
pub fn n_per_group_shares_normal(first: f64, second: f64, aim: Aim) -> Result<f64, Undefined> {
    check_effect(cohen_h(first, second)?)?;
    aim.check()?;
    let middle = f64::midpoint(first, second);
    let same = (2.0 * middle * (1.0 - middle)).sqrt();
    let apart = (first * (1.0 - first) + second * (1.0 - second)).sqrt();
    let reach = two_sided_z(aim.alpha) * same + normal_quantile(aim.power) * apart;
    Ok((reach / (first - second)).powi(2))
}

/// Samples that show a change of `change` in a mean from which single scores are `spread` away, when the
/// sampling costs `design_effect`.
pub fn n_to_detect(change: f64, spread: f64, design_effect: f64, aim: Aim) -> Result<usize, Undefined> {
    if !(0.0 < spread && 0.0 < design_effect && spread.is_finite() && design_effect.is_finite()) {
        return Undefined::because("a spread and a design effect above zero are needed");
    }
    Ok((n_pairs(change / spread, aim)? * design_effect).ceil() as usize)
}

/// How often Student's test sees a difference of `d` standard deviations with so many in each of two groups.
pub(crate) fn power_of_groups(d: f64, n: f64, alpha: f64) -> Result<f64, Undefined> {
    check_samples(n, alpha)?;
    Ok(t_power(2.0 * n - 2.0, d * (n / 2.0).sqrt(), alpha))
}

/// The same for so many pairs.
pub(crate) fn power_of_pairs(d: f64, n: f64, alpha: f64) -> Result<f64, Undefined> {
    check_samples(n, alpha)?;
    Ok(t_power(n - 1.0, d * n.sqrt(), alpha))
}

/// Power of the test for a difference of two shares with `n` in each group, on Cohen's scale.
pub(crate) fn power_of_shares(first: f64, second: f64, n: f64, alpha: f64) -> Result<f64, Undefined> {
    check_samples(n, alpha)?;
    let (shift, z) = (cohen_h(first, second)?.abs() * (n / 2.0).sqrt(), two_sided_z(alpha));
    Ok(normal_cdf(shift - z) + normal_cdf(-shift - z))
}

/// How often McNemar's test sees that the shares of pairs that change each way differ (Connor 1987).
pub(crate) fn power_of_changes(up: f64, down: f64, n: f64, alpha: f64) -> Result<f64, Undefined> {
    check_samples(n, alpha)?;
    let (all, apart) = (up + down, (up - down).abs());
    if !(0.0 <= up && 0.0 <= down && 0.0 < all && all <= 1.0) {
        return Undefined::because("the shares of pairs that change are not between 0 and 1 together");
    }
    let left = (all - apart * apart).max(1e-300).sqrt();
    Ok(normal_cdf((apart * n.sqrt() - two_sided_z(alpha) * all.sqrt()) / left))
}

/// Pairs for McNemar's test to see that the shares of pairs that change each way differ (Connor 1987).
pub(crate) fn n_pairs_changed(up: f64, down: f64, aim: Aim) -> Result<f64, Undefined> {
    aim.check()?;
    check_effect(up - down)?;
    power_of_changes(up, down, 10.0, aim.alpha)?;
    let (all, apart) = (up + down, (up - down).abs());
    let reach =
        two_sided_z(aim.alpha) * all.sqrt() + normal_quantile(aim.power) * (all - apart * apart).sqrt();
    Ok((reach / apart).powi(2))
}

fn check_samples(n: f64, alpha: f64) -> Result<(), Undefined> {
    ensure_usable_share("alpha", alpha)?;
    if 2.0 <= n && n.is_finite() {
        return Ok(());
    }
    Undefined::because(format!("{n} is not a sample size; at least two are needed"))
}

fn check_effect(d: f64) -> Result<(), Undefined> {
    if d == 0.0 || !d.is_finite() {
        return Undefined::because("a difference of zero cannot be detected");
    }
    Ok(())
}

fn t_power(degrees: f64, shift: f64, alpha: f64) -> f64 {
    let edge = t_quantile(1.0 - alpha / 2.0, degrees);
    1.0 - shifted_t_cdf(edge, degrees, shift.abs()) + shifted_t_cdf(-edge, degrees, shift.abs())
}

/// The smallest n, also between whole numbers, with this power.
fn smallest(from: f64, goal: f64, power: impl Fn(f64) -> f64) -> Result<f64, Undefined> {
    let (mut low, mut high) = (from, from.max(2.0));
    while power(high) < goal {
        if 1e7 < high {
            return Undefined::because("more than ten million samples would be needed");
        }
        (low, high) = (high, high * 2.0);
    }
    while 1e-9 * high < high - low {
        let middle = f64::midpoint(low, high);
        if power(middle) < goal { low = middle } else { high = middle }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Aim = Aim { alpha: 0.05, power: 0.8 };

    #[test]
    fn samples_are_those_of_statsmodels() {
        let near = |actual: Result<f64, Undefined>, expected: f64, tolerance: f64| {
            assert!((actual.clone().unwrap() - expected).abs() < tolerance, "{actual:?} {expected}");
        };
        near(n_per_group(0.5, Aim { power: 0.9, ..AIM }), 85.031_284_115_734, 1e-4);
        // Cohen's table: 64 and 34.
        near(n_per_group(0.5, AIM), 63.765_6, 1e-3);
        near(n_pairs(0.5, AIM), 33.367_1, 1e-3);
        near(n_per_group_shares(0.7, 0.75, AIM), 1_249.583_864_737_931, 1e-3);
        near(n_per_group_shares_normal(0.7, 0.75, AIM), 1_250.716_733_435_612, 1e-6);
        near(n_per_group_shares_normal(0.9, 0.95, AIM), 434.432_022_439_470, 1e-6);
        assert_eq!(n_to_detect(0.05, 0.1, 1.5, AIM).unwrap(), 51);
    }

    #[test]
    fn power_is_that_of_statsmodels() {
        let near = |actual: Result<f64, Undefined>, expected: f64| {
            assert!((actual.clone().unwrap() - expected).abs() < 1e-6, "{actual:?} {expected}");
        };
        near(power_of_pairs(0.5, 30.0, 0.05), 0.753_964_715_743_79);
        near(power_of_groups(0.5, 64.0, 0.05), 0.801_459_557_922_254);
        near(power_of_shares(0.7, 0.75, 500.0, 0.05), 0.425_614_364_070_655);
        // What is needed is enough.
        let n = n_pairs_changed(0.15, 0.05, AIM).unwrap();
        near(power_of_changes(0.15, 0.05, n, 0.05), 0.8);
        assert!(power_of_changes(0.9, 0.9, 10.0, 0.05).is_err() && power_of_pairs(0.5, 1.0, 0.05).is_err());
    }

    #[test]
    fn nothing_cannot_be_detected() {
        assert!(n_pairs(0.0, AIM).unwrap_err().to_string().contains("difference of zero"));
        assert!(n_per_group(0.5, Aim { power: 1.0, ..AIM }).is_err());
        assert!(n_per_group_shares(0.5, 0.5, AIM).is_err());
        assert!(n_to_detect(0.1, 0.0, 1.0, AIM).is_err());
        assert!(n_pairs(1e-9, AIM).unwrap_err().to_string().contains("ten million"));
    }
}
