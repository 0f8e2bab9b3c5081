//! Distributions, to about twelve digits.

use std::f64::consts::PI;

/// The natural logarithm of the gamma function, for positive numbers (Lanczos, g = 7).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let sum =
        TERMS.iter().enumerate().skip(1).fold(TERMS[0], |sum, (at, value)| sum + value / (x + at as f64));
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
pub(crate) fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || 1.0 <= x {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // What is no number never converges.
    if !(a + b + x).is_finite() {
        return f64::NAN;
    }
    // It converges fast on this side of the mean.
    if (a + 1.0) / (a + b + 2.0) < x {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / tiny(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    // Near the mean it takes about as many steps as the root of a and b.
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / tiny(1.0 + term * d);
            c = tiny(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction / before - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// How much of Student's distribution lies under `t`.
pub(crate) fn t_cdf(t: f64, degrees: f64) -> f64 {
    let tail = 0.5 * beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// How much of the normal distribution lies under `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    // A series for the middle, a continued fraction for the tails.
    let x = z.abs();
    let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    let upper = if x < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= x * x / f64::from(2 * n + 1);
            sum += term;
            if term < 1e-17 * sum {
                break;
            }
        }
        0.5 - density * sum
    } else {
        let fraction = (1..200).rev().fold(x, |below, n| x + f64::from(n) / below);
        density / fraction
    };
    if z < 0.0 { upper } else { 1.0 - upper }
}

/// The place under which so much of a distribution lies.
pub(crate) fn invert_cdf(share: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1e3, 1e3);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || high <= middle {
            break;
        }
        if cdf(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The same for a distribution of which both halves mirror each other around 0, and rise towards it.
///
/// Under 0 it is convex: each of Newton's steps from there comes closer, and none goes past.
fn mirrored_quantile(share: f64, cdf: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    let tail = share.min(1.0 - share);
    let mut place = if tail <= 0.0 { -1e3 } else { 0.0 };
    while -1e3 < place {
        let next = place - (cdf(place) - tail) / density(place);
        let is_lower = next < place - 1e-16 * place.abs();
        // Once it no longer falls, there are no more digits.
        if !is_lower {
            break;
        }
        place = next.max(-1e3);
    }
    if share < 0.5 { place } else { -place }
}

/// The place under which so much of the normal distribution lies.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    mirrored_quantile(share, normal_cdf, |value| (-value * value / 2.0).exp() / (2.0 * PI).sqrt())
}

/// How many standard errors an interval reaches to each side, for this chance of missing.
pub(crate) fn two_sided_z(alpha: f64) -> f64 {
    normal_quantile(1.0 - alpha / 2.0)
}

pub(crate) fn t_quantile(share: f64, degrees: f64) -> f64 {
    if 1e3 <= degrees {
        // Close to the normal distribution, how far off is a short series (Cornish and Fisher).
        let z = normal_quantile(share);
        let off = |terms: &[f64]| z * terms.iter().fold(0.0, |sum, value| sum * z * z + value);
        let series = [
            off(&[1.0, 1.0]) / 4.0,
            off(&[5.0, 16.0, 3.0]) / 96.0,
            off(&[3.0, 19.0, 17.0, -15.0]) / 384.0,
            off(&[79.0, 776.0, 1_482.0, -1_920.0, -945.0]) / 92_160.0,
        ];
        return z + series.iter().rev().fold(0.0, |sum, value| (sum + value) / degrees);
    }
    let front = (ln_gamma((degrees + 1.0) / 2.0) - ln_gamma(degrees / 2.0)).exp() / (degrees * PI).sqrt();
    let density = |value: f64| front * (1.0 + value * value / degrees).powf(-(degrees + 1.0) / 2.0);
    mirrored_quantile(share, |value| t_cdf(value, degrees), density)
}

/// The place under which so much of a beta distribution lies.
pub(crate) fn beta_quantile(share: f64, a: f64, b: f64) -> f64 {
    invert_cdf(share, |value| beta(a, b, value))
}

/// How much of a chi-square distribution lies above `x`.
pub(crate) fn chi_square_tail(x: f64, degrees: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let (a, x) = (degrees / 2.0, x / 2.0);
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..1000 {
            term *= x / (a + f64::from(n));
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // The continued fraction of the upper part, from its end.
    let fraction = (1..500)
        .rev()
        .map(f64::from)
        .fold(x + 1001.0 - a, |below, n| x + 2.0 * n - 1.0 - a - n * (n - a) / below);
    front / fraction
}

/// How much of Student's distribution lies under `t` when its middle is moved by `shift` (Lenth's series).
pub(crate) fn shifted_t_cdf(t: f64, degrees: f64, shift: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - shifted_t_cdf(-t, degrees, -shift);
    }
    let x = t * t / (degrees + t * t);
    let half = shift * shift / 2.0;
    let weight = |at: f64, gamma: f64| (at * half.ln() - half - ln_gamma(gamma)).exp();
    let mut sum = normal_cdf(-shift);
    if half == 0.0 {
        return sum + 0.5 * beta(0.5, degrees / 2.0, x);
    }
    let last = (half + 12.0 * half.sqrt() + 30.0).ceil() as u32;
    for at in (0..last).map(f64::from) {
        let odd = shift / std::f64::consts::SQRT_2 * weight(at, at + 1.5);
        sum += 0.5 * weight(at, at + 1.0) * beta(at + 0.5, degrees / 2.0, x);
        sum += 0.5 * odd * beta(at + 1.0, degrees / 2.0, x);
    }
    sum.clamp(0.0, 1.0)
}

/// Riemann's zeta function for `s` above 1 (Euler and Maclaurin).
pub(crate) fn zeta(s: f64) -> f64 {
    let n = 20.0_f64;
    let head: f64 = (1..20).map(|n| f64::from(n).powf(-s)).sum();
    let rising = |count: u32| (0..count).map(|n| s + f64::from(n)).product::<f64>();
    let tail = rising(1) / 12.0 * n.powf(-s - 1.0) - rising(3) / 720.0 * n.powf(-s - 3.0)
        + rising(5) / 30_240.0 * n.powf(-s - 5.0);
    head + n.powf(1.0 - s) / (s - 1.0) + 0.5 * n.powf(-s) + tail
}

/// The chance of a split at least as uneven as this one, where both sides are equally likely.
pub(crate) fn even_odds(left: u64, right: u64) -> f64 {
    let n = left + right;
    let ln_choose =
        |k: u64| ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0);
    let tail: f64 =
        (0..=left.min(right)).map(|k| (ln_choose(k) - n as f64 * std::f64::consts::LN_2).exp()).sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_published_values() {
        let check = |actual: f64, expected: f64| {
            assert!((actual - expected).abs() < 1e-10 * expected.abs().max(1.0), "{actual} {expected}");
        };
        check(ln_gamma(10.0), 362_880.0_f64.ln());
        check(ln_gamma(0.5), PI.sqrt().ln());
        check(normal_cdf(0.0), 0.5);
        check(normal_cdf(1.0), 0.841_344_746_068_543);
        check(normal_cdf(-1.959_963_984_540_054), 0.025);
        check(normal_cdf(-5.0), 2.866_515_718_791_946e-7);
        check(invert_cdf(0.975, normal_cdf), 1.959_963_984_540_054);
        check(t_cdf(2.0, 5.0), 0.949_030_260_585_071);
        check(t_quantile(0.975, 9.0), 2.262_157_162_740_992);
        check(t_quantile(0.025, 1.0), -12.706_204_736_174_7);
        check(t_quantile(0.5, 3.0), 0.0);
        for degrees in [1.0, 1.5, 2.0, 9.0, 99.5, 999.9, 1e3, 2_345.6] {
            for share in [1e-6, 0.025, 0.3, 0.8, 0.975, 0.9999] {
                check(t_quantile(share, degrees), invert_cdf(share, |value| t_cdf(value, degrees)));
            }
        }
        for share in [1e-12, 1e-6, 0.025, 0.3, 0.8, 0.975, 0.9999] {
            check(normal_quantile(share), invert_cdf(share, normal_cdf));
        }
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (-1e3, 1e3));
        check(beta(2.0, 3.0, 0.5), 0.6875);
        check(beta_quantile(0.975, 1.0, 10.0), 0.308_497_107_818_760_8);
        check(chi_square_tail(3.841_458_820_694_124, 1.0), 0.05);
        check(chi_square_tail(7.6, 2.0), (-3.8_f64).exp());
        check(chi_square_tail(0.5, 4.0), 1.25 * (-0.25_f64).exp());
        // Half of a normal distribution around 0 and a little of one around 3.
        check(shifted_t_cdf(2.0, 5.0, 0.0), t_cdf(2.0, 5.0));
        check(shifted_t_cdf(0.0, 7.0, 3.0), normal_cdf(-3.0));
        check(zeta(2.0), PI * PI / 6.0);
        check(zeta(1.4), 3.105_547_277_977_5);
        check(even_odds(1, 8), 0.039_062_5);
        check(even_odds(3, 3), 1.0);
    }
}
