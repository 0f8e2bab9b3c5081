//! How large a difference is, whether or not it can be shown.

use crate::stats::basics::numbers::{ensure_usable_values, mean, squares};
use crate::stats::basics::undefined::Undefined;

/// The difference of two groups in standard deviations (Cohen's d, both groups pooled).
pub fn cohen_d(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    ensure_usable_values("value of the first group", first, 2)?;
    ensure_usable_values("value of the second group", second, 2)?;
    let spread = ((squares(first) + squares(second)) / (first.len() + second.len() - 2) as f64).sqrt();
    if spread <= 0.0 {
        return Undefined::because("no value differs from the others of its group");
    }
    Ok((mean(first) - mean(second)) / spread)
}

/// Cohen's d without its bias in small groups.
pub fn hedges_g(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    let degrees = (first.len() + second.len()) as f64 - 2.0;
    Ok(cohen_d(first, second)? * (1.0 - 3.0 / (4.0 * degrees - 1.0)))
}

/// How much more often a value of the first group is the greater one than the smaller one, from −1 to 1.
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    ensure_usable_values("value of the first group", first, 1)?;
    ensure_usable_values("value of the second group", second, 1)?;
    let mut sorted = second.to_vec();
    sorted.sort_by(f64::total_cmp);
    let greater = |value: f64| {
        let (under, up_to) =
            (sorted.partition_point(|x| *x < value), sorted.partition_point(|x| *x <= value));
        under as f64 - (sorted.len() - up_to) as f64
    };
    Ok(first.iter().map(|first| greater(*first)).sum::<f64>() / (first.len() * second.len()) as f64)
}

/// The difference of two shares on a scale where it is as hard to see everywhere (Cohen's h).
pub fn cohen_h(first: f64, second: f64) -> Result<f64, Undefined> {
    if let Some(bad) = [first, second].into_iter().find(|value| !(0.0..=1.0).contains(value)) {
        return Undefined::because(format!("{bad} is not a share"));
    }
    Ok(2.0 * first.sqrt().asin() - 2.0 * second.sqrt().asin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_have_their_closed_forms() {
        let near = |actual: Result<f64, Undefined>, expected: f64| {
            assert!((actual.clone().unwrap() - expected).abs() < 1e-12, "{actual:?} {expected}");
        };
        near(cohen_d(&[3.0, 4.0, 5.0], &[1.0, 2.0, 3.0]), 2.0);
        near(hedges_g(&[3.0, 4.0, 5.0], &[1.0, 2.0, 3.0]), 1.6);
        near(cliffs_delta(&[3.0, 4.0, 5.0], &[1.0, 2.0, 3.0]), 8.0 / 9.0);
        near(cohen_h(0.75, 0.7), 0.112_081_929_530_810_64);
        assert!(cohen_d(&[1.0, 1.0], &[2.0, 2.0]).is_err());
        assert!(cliffs_delta(&[], &[2.0]).is_err());
        assert!(cohen_h(1.1, 0.5).is_err());
    }
}
