//! Sampling probabilities.

/// More than 0 and at most 1, so that its inverse can be used as a weight.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    pub const CERTAIN: Self = Self(1.0);

    pub fn new(value: f64) -> Option<Self> {
        (0.0 < value && value <= 1.0).then_some(Self(value))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Default for Probability {
    fn default() -> Self {
        Self::CERTAIN
    }
}
