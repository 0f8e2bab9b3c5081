//! More than two: p-values that hold together, and several agents on the same tasks.

use serde::Serialize;

use crate::stats::basics::numbers::{ensure_usable_values, ranks, ties};
use crate::stats::basics::special::chi_square_tail;
use crate::stats::basics::undefined::Undefined;

/// How p-values are raised so that they hold for all tests together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjustment {
    Bonferroni,
    Sidak,
    Holm,
    HolmSidak,
    Hochberg,
    Hommel,
    /// Keeps the share of false discoveries, not the chance of any.
    BenjaminiHochberg,
    /// The same, whatever the tests have to do with each other.
    BenjaminiYekutieli,
}

pub fn adjust(values: &[f64], adjustment: Adjustment) -> Result<Vec<f64>, Undefined> {
    ensure_usable_values("p-value", values, 1)?;
    if let Some(bad) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        return Undefined::because(format!("{bad} is not a p-value"));
    }
    let n = values.len() as f64;
    let sidak = |p: f64, n: f64| -(n * (-p).ln_1p()).exp_m1();
    let each = |raise: &dyn Fn(f64) -> f64| values.iter().map(|value| raise(*value).min(1.0)).collect();
    let harmonic: f64 = (1..=values.len()).map(|n| 1.0 / n as f64).sum();
    Ok(match adjustment {
        Adjustment::Bonferroni => each(&|it| it * n),
        Adjustment::Sidak => each(&|it| sidak(it, n)),
        Adjustment::Holm => holm(values),
        Adjustment::HolmSidak => from_smallest(values, |value, rank| sidak(value, n - rank)),
        Adjustment::Hochberg => from_largest(values, |value, rank| value * (n - rank)),
        Adjustment::Hommel => hommel(values),
        Adjustment::BenjaminiHochberg => from_largest(values, |value, rank| value * n / (rank + 1.0)),
        Adjustment::BenjaminiYekutieli => {
            from_largest(values, |value, rank| value * harmonic * n / (rank + 1.0))
        }
    })
}

/// P-values that hold for all together (Holm).
pub(crate) fn holm(values: &[f64]) -> Vec<f64> {
    from_smallest(values, |value, rank| value * (values.len() as f64 - rank))
}

fn ascending_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

/// No p-value becomes smaller than one before it.
fn from_smallest(values: &[f64], raise: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let (mut adjusted, mut most) = (vec![1.0; values.len()], 0.0_f64);
    for (rank, at) in ascending_order(values).into_iter().enumerate() {
        most = most.max(raise(values[at], rank as f64)).min(1.0);
        adjusted[at] = most;
    }
    adjusted
}

/// No p-value becomes larger than one after it.
fn from_largest(values: &[f64], raise: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let (mut adjusted, mut least) = (vec![1.0; values.len()], 1.0_f64);
    for (rank, at) in ascending_order(values).into_iter().enumerate().rev() {
        least = least.min(raise(values[at], rank as f64));
        adjusted[at] = least;
    }
    adjusted
}

/// Wright's algorithm (1992).
fn hommel(values: &[f64]) -> Vec<f64> {
    let order = ascending_order(values);
    let sorted: Vec<f64> = order.iter().map(|index| values[*index]).collect();
    let n = sorted.len();
    let mut raised = sorted.clone();
    for m in (2..=n).rev() {
        let (small, large) = sorted.split_at(n - m);
        let bound = large
            .iter()
            .enumerate()
            .map(|(at, p)| m as f64 * p / (at as f64 + 1.0))
            .fold(f64::INFINITY, f64::min);
        for (at, p) in small.iter().enumerate() {
            raised[at] = raised[at].max(bound.min(m as f64 * p));
        }
        for it in &mut raised[n - m..] {
            *it = it.max(bound);
        }
    }
    let mut adjusted = vec![1.0; n];
    for (at, p) in order.into_iter().zip(raised) {
        adjusted[at] = p.min(1.0);
    }
    adjusted
}

/// Friedman's test: whether several agents differ at all over the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Friedman {
    pub statistic: f64,
    pub p: f64,
}

/// Of each agent, its score on every task.
pub fn friedman(agents: &[Vec<f64>]) -> Result<Friedman, Undefined> {
    let k = agents.len() as f64;
    if agents.len() < 3 {
        return Undefined::because("at least three agents are needed; two are compared as pairs");
    }
    for scores in agents {
        ensure_usable_values("score", scores, 1)?;
        if scores.len() != agents[0].len() {
            return Undefined::because("the agents have not the same number of tasks");
        }
    }
    let n = agents[0].len() as f64;
    let (mut sums, mut tied) = (vec![0.0; agents.len()], 0.0);
    for task in 0..agents[0].len() {
        let scores: Vec<f64> = agents.iter().map(|agent| agent[task]).collect();
        for (sum, rank) in sums.iter_mut().zip(ranks(&scores)) {
            *sum += rank;
        }
        tied += ties(&scores).iter().map(|t| t * (t * t - 1.0)).sum::<f64>();
    }
    let untied = 1.0 - tied / (k * (k * k - 1.0) * n);
    if untied <= 0.0 {
        return Undefined::because("all agents score the same on every task");
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let statistic = (12.0 / (k * n * (k + 1.0)) * squares - 3.0 * n * (k + 1.0)) / untied;
    Ok(Friedman { statistic, p: chi_square_tail(statistic, k - 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_have_their_closed_forms() {
        // By hand.
        let values = [0.01, 0.02, 0.03, 0.04, 0.05];
        let check = |adjustment, expected: [f64; 5]| {
            let result = adjust(&values, adjustment).unwrap();
            assert!(
                result.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
                "{adjustment:?} {result:?}"
            );
        };
        check(Adjustment::Bonferroni, [0.05, 0.10, 0.15, 0.20, 0.25]);
        check(Adjustment::Holm, [0.05, 0.08, 0.09, 0.09, 0.09]);
        check(Adjustment::Hochberg, [0.05; 5]);
        check(Adjustment::Hommel, [0.05; 5]);
        check(Adjustment::BenjaminiHochberg, [0.05; 5]);
        check(Adjustment::BenjaminiYekutieli, [0.05 * 137.0 / 60.0; 5]);
        // Each 1 − (1 − p)^m, with m falling for Holm's.
        check(Adjustment::Sidak, values.map(|p: f64| 1.0 - (1.0 - p).powi(5)));
        check(Adjustment::HolmSidak, [0.049_009_950_1, 0.077_631_84, 0.087_327, 0.087_327, 0.087_327]);
        let mixed = adjust(&[0.04, 0.001, 0.03], Adjustment::BenjaminiHochberg).unwrap();
        assert!(mixed.iter().zip([0.04, 0.003, 0.04]).all(|(a, b)| (a - b).abs() < 1e-12), "{mixed:?}");
        assert!(adjust(&[], Adjustment::Holm).is_err());
        assert!(adjust(&[1.2], Adjustment::Holm).unwrap_err().to_string().contains("not a p-value"));
    }

    #[test]
    fn several_agents_are_ranked_task_by_task() {
        let agents =
            [vec![7.0, 9.9, 8.5, 5.1, 10.3], vec![5.3, 5.7, 4.7, 3.5, 7.7], vec![4.9, 7.6, 5.5, 2.8, 8.4]];
        let result = friedman(&agents).unwrap();
        assert!((result.statistic - 7.6).abs() < 1e-9 && (result.p - 0.022_370_771_856_165).abs() < 1e-12);
        assert!(friedman(&agents[..2]).is_err());
        assert!(
            friedman(&[vec![1.0], vec![1.0], vec![1.0]])
                .unwrap_err()
                .to_string()
                .contains("the same on every")
        );
    }
}
