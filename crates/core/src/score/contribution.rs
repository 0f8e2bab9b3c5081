//! What criteria contribute to a score, and between what it would lie whatever the missing answers were.

use crate::rubric::Aggregation;

/// A contribution on 0..=1, and between what it would lie whatever the answers were that are missing inside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Contribution {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Contribution {
    pub(super) fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    pub(super) fn invert(self) -> Self {
        Self { value: 1.0 - self.value, low: 1.0 - self.high, high: 1.0 - self.low }
    }
}

/// The contributions of a list, combined as its rubric or group says.
#[derive(Debug, Clone, Copy)]
pub(super) struct CombinedContributions {
    points: CompensatedSum,
    total: CompensatedSum,
    worst: f64,
}

impl Default for CombinedContributions {
    fn default() -> Self {
        Self { points: CompensatedSum::default(), total: CompensatedSum::default(), worst: f64::INFINITY }
    }
}

impl CombinedContributions {
    pub(super) fn add(&mut self, weight: f64, contribution: f64) {
        self.points.add(weight * contribution);
        // A penalty has no share of the denominator: without it the best score is still 1.
        self.total.add(weight.max(0.0));
        self.worst = self.worst.min(if weight < 0.0 { 1.0 - contribution } else { contribution });
    }

    /// `None` where only weightless criteria applied; they say nothing about the score.
    pub(super) fn score(&self, aggregation: Aggregation) -> Option<f64> {
        match aggregation {
            Aggregation::Min => Some(self.worst),
            Aggregation::WeightedAverage => {
                (0.0 < self.total.value()).then(|| (self.points.value() / self.total.value()).clamp(0.0, 1.0))
            }
        }
    }
}

/// A sum that does not depend on the order of what is added (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let larger_first = value.abs() <= self.sum.abs();
        self.lost += if larger_first { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn plus(mut self, value: f64) -> Self {
        self.add(value);
        self
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opposite_of_a_range_is_turned_round() {
        let contribution = Contribution { value: 0.75, low: 0.25, high: 0.875 };
        assert_eq!(contribution.invert(), Contribution { value: 0.25, low: 0.125, high: 0.75 });
    }

    #[test]
    fn a_small_number_is_not_lost_beside_a_large_one() {
        let sum = |values: [f64; 3]| values.into_iter().fold(CompensatedSum::default(), CompensatedSum::plus);
        assert_eq!(sum([1e16, 1.0, -1e16]).value().to_bits(), 1.0_f64.to_bits());
        assert_eq!(sum([1.0, 1e16, -1e16]).value().to_bits(), 1.0_f64.to_bits());
    }
}
