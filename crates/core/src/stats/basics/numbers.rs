//! Conditions that numbers must meet before anything is computed from them, and their moments.

use super::undefined::Undefined;
use crate::quantity::plural;

/// All of them are numbers, and there are enough.
pub(crate) fn ensure_usable_values(what: &str, values: &[f64], at_least: usize) -> Result<(), Undefined> {
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Undefined::because(format!("{what} {} is not a number", at + 1));
    }
    match values.len() {
        0 if 0 < at_least => Undefined::because(format!("there is no {what}")),
        n if n < at_least => Undefined::because(format!(
            "there {} only {}, and at least {at_least} are needed",
            if n == 1 { "is" } else { "are" },
            plural(n, what)
        )),
        _ => Ok(()),
    }
}

/// Two lists that belong together, item by item.
pub(crate) fn ensure_usable_pairs(
    (left_name, left): (&str, &[f64]),
    (right_name, right): (&str, &[f64]),
    at_least: usize,
) -> Result<(), Undefined> {
    if left.len() != right.len() {
        return Undefined::because(format!(
            "{} cannot be paired with {}",
            plural(left.len(), left_name),
            plural(right.len(), right_name)
        ));
    }
    ensure_usable_values(left_name, left, at_least)?;
    ensure_usable_values(right_name, right, at_least)
}

/// A chance strictly between 0 and 1, such as 0.05.
pub(crate) fn ensure_usable_share(what: &str, share: f64) -> Result<(), Undefined> {
    if 0.0 < share && share < 1.0 {
        return Ok(());
    }
    Undefined::because(format!("the {what} is {share} and not between 0 and 1"))
}

pub(crate) fn all_equal(values: &[f64]) -> bool {
    values.iter().all(|value| value.total_cmp(&values[0]).is_eq())
}

/// All of them are 0 or 1.
pub(crate) fn all_pass_or_fail(values: &[f64]) -> bool {
    values.iter().all(|value| value * (1.0 - value) == 0.0)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of a sample (n − 1); of fewer than two, there is none.
pub(crate) fn variance(values: &[f64]) -> f64 {
    squares(values) / (values.len() as f64 - 1.0)
}

/// The variance of all there are (n).
pub(crate) fn population_variance(values: &[f64]) -> f64 {
    squares(values) / values.len() as f64
}

/// Without n.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

pub(crate) fn around(middle: f64, half: f64) -> (f64, f64) {
    (middle - half, middle + half)
}

/// The place of each value among them, from 1; equal values share the mean of their places.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let values = with_one_zero(values);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0.0;
    for tied in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        for at in tied {
            ranks[*at] = before + f64::midpoint(tied.len() as f64, 1.0);
        }
        before += tied.len() as f64;
    }
    ranks
}

/// How many values are equal to each other, group by group.
pub(crate) fn ties(values: &[f64]) -> Vec<f64> {
    let mut sorted = with_one_zero(values);
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|group| group.len() as f64).collect()
}

/// Zero has two signs and is one number.
fn with_one_zero(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value + 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_places_and_zero_is_one_value() {
        let values = [0.0, 3.0, -0.0, 1.0, 3.0];
        assert_eq!(ranks(&values), [1.5, 4.5, 1.5, 3.0, 4.5]);
        assert_eq!(ties(&values), [2.0, 1.0, 2.0]);
    }
}
