//! Ratings and win rates that need no model of strengths: what each comparison moves, and who takes points from whom.

use serde::Serialize;

use super::rank::{MIDDLE, Pair, TEN_TO_ONE};

/// How Elo ratings move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elo {
    /// The most that one comparison moves a rating by.
    pub k: f64,
    /// Where everybody begins.
    pub initial: f64,
}

impl Default for Elo {
    fn default() -> Self {
        Self { k: 32.0, initial: MIDDLE }
    }
}

/// Ratings after all comparisons one after another. The last ones count most: for players that do not
/// change, strengths say more.
pub fn elo(n_players: usize, pairs: &[Pair], settings: Elo) -> Vec<f64> {
    let mut ratings = vec![settings.initial; n_players];
    for pair in pairs.iter().filter(|pair| pair.first != pair.second) {
        let advantage = ratings[pair.first] - ratings[pair.second];
        let expected = 1.0 / (1.0 + 10.0_f64.powf(-advantage / TEN_TO_ONE));
        let by = settings.k * pair.times * (pair.preferred.first_share() - expected);
        ratings[pair.first] += by;
        ratings[pair.second] -= by;
    }
    ratings
}

/// Points of each player against each other; a tie is half a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WinRates {
    points: Vec<Vec<f64>>,
}

impl WinRates {
    pub fn new(n_players: usize, pairs: &[Pair]) -> Self {
        let mut points = vec![vec![0.0; n_players]; n_players];
        for pair in pairs.iter().filter(|pair| pair.first != pair.second) {
            let share = pair.preferred.first_share();
            points[pair.first][pair.second] += share * pair.times;
            points[pair.second][pair.first] += (1.0 - share) * pair.times;
        }
        Self { points }
    }

    /// How often they were compared.
    pub fn n(&self, one: usize, other: usize) -> f64 {
        self.points[one][other] + self.points[other][one]
    }

    /// The share of points that one takes from another; `None` if they never met.
    pub fn rate(&self, one: usize, other: usize) -> Option<f64> {
        let n = self.n(one, other);
        (0.0 < n).then(|| self.points[one][other] / n)
    }

    /// Row against column.
    pub fn matrix(&self) -> Vec<Vec<Option<f64>>> {
        let n = self.points.len();
        (0..n).map(|one| (0..n).map(|other| self.rate(one, other)).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank::Preferred;
    use super::*;

    #[test]
    fn elo_moves_by_what_was_not_expected() {
        let pairs = [Pair::new(0, 0, 1, Preferred::First), Pair::new(1, 0, 1, Preferred::Neither)];
        let ratings = elo(2, &pairs, Elo::default());
        // 1016 against 984, then a tie where 0.546 was expected.
        assert!((ratings[0] - 1_014.530_498_471).abs() < 1e-6, "{ratings:?}");
        assert!((ratings[1] - 985.469_501_529).abs() < 1e-6, "{ratings:?}");
        assert_eq!(elo(3, &[], Elo { k: 8.0, initial: 1500.0 }), [1500.0; 3]);
    }

    #[test]
    fn win_rates_count_ties_as_half() {
        let pairs = [
            Pair::new(0, 0, 1, Preferred::First),
            Pair::new(1, 1, 0, Preferred::Neither),
            Pair::new(2, 1, 1, Preferred::First),
        ];
        let rates = WinRates::new(3, &pairs);
        assert_eq!(rates.matrix(), [[None, Some(0.75), None], [Some(0.25), None, None], [None, None, None]]);
    }
}
