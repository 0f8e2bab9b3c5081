//! Results of pairwise comparisons: strengths, and whether the position of a candidate matters.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rank::{BradleyTerryModel, Pair, Position, Preferred, Ranking, TieModel, fit_bradley_terry};
use crate::stats::basics::proportion::pass_rate;
use crate::stats::basics::undefined::Undefined;
use crate::stats::comparison::paired::mcnemar;

/// Strengths with ties and places estimated where the comparisons say something of them.
pub fn estimate_strengths(names: &[String], pairs: &[Pair], penalty: f64) -> Result<Ranking, Undefined> {
    let model = BradleyTerryModel { ties: TieModel::Davidson, position: Position::Estimated, penalty };
    // Without ties, or with one order throughout, there is nothing to estimate of them.
    fit_bradley_terry(names, pairs, model).or_else(|_| {
        fit_bradley_terry(names, pairs, BradleyTerryModel { penalty, ..BradleyTerryModel::default() })
    })
}

/// The strongest first.
pub fn order_by_strength(ranking: &Ranking) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranking.players.len()).collect();
    order.sort_by(|a, b| ranking.players[*b].strength.value.total_cmp(&ranking.players[*a].strength.value));
    order
}

/// Position bias: how often the candidate that was shown first won.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FirstWins {
    pub first_wins: usize,
    /// Cases that one of two won.
    pub n: usize,
    pub rate: f64,
    pub interval: (f64, f64),
    /// p-value of the difference from 0.5.
    pub p: f64,
}

/// Several answers about the same two on one case are one, by most of them. `None` where there is no winner.
pub fn first_wins(pairs: &[Pair]) -> Option<FirstWins> {
    let mut net_wins: BTreeMap<(usize, usize, usize), i64> = BTreeMap::new();
    for it in pairs {
        *net_wins.entry((it.case, it.first, it.second)).or_default() += match it.preferred {
            Preferred::First => 1,
            Preferred::Second => -1,
            Preferred::Neither => 0,
        };
    }
    let first = net_wins.values().filter(|value| 0 < **value).count();
    let second = net_wins.values().filter(|value| **value < 0).count();
    let share = pass_rate(first, first + second).ok()?;
    let p = mcnemar(first, second).exact_p;
    Some(FirstWins { first_wins: first, n: share.n, rate: share.rate, interval: share.interval, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stands_first_is_counted_where_somebody_won() {
        let says = |case, preferred| Pair::new(case, 0, 1, preferred);
        let mut pairs: Vec<Pair> = (0..9).map(|n| says(n, Preferred::First)).collect();
        pairs.extend([says(9, Preferred::Second), says(10, Preferred::Neither)]);
        let result = first_wins(&pairs).unwrap();
        assert_eq!((result.first_wins, result.n), (9, 10));
        // 11 of 1024 ways on either side.
        assert!((result.p - 22.0 / 1024.0).abs() < 1e-12 && 0.5 < result.interval.0, "{result:?}");
        assert_eq!(first_wins(&pairs[10..]), None);
        // A second judge who says the same adds nothing, and one who says the opposite takes it back.
        let twice: Vec<Pair> = pairs.iter().chain(&pairs).copied().collect();
        assert_eq!(first_wins(&twice), Some(result));
        pairs.push(says(0, Preferred::Second));
        assert_eq!(first_wins(&pairs).map(|win| (win.first_wins, win.n)), Some((8, 9)));
    }
}
