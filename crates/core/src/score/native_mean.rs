//! The mean of a flat list in the units of its scale.

use super::contribution::CompensatedSum;
use crate::grade::Outcome;
use crate::rubric::{Criterion, CriterionKind, Polarity, Value};

/// Sums in the scale's own units, as long as they say the same as the score: a flat list on one scale.
#[derive(Debug, Clone, Copy)]
pub(super) enum NativeScaleMean {
    Nothing,
    Sum { bounds: (f64, f64), points: CompensatedSum, weight: CompensatedSum },
    Mixed,
}

impl NativeScaleMean {
    pub(super) fn add(&mut self, criterion: &Criterion, outcome: &Outcome) {
        let scale = match &criterion.ask {
            CriterionKind::Question(scale) if criterion.polarity == Polarity::Plain => scale.bounds(),
            _ => None,
        };
        let (Some(own), Outcome::Scored { value: Value::Number(value), .. }) = (scale, outcome) else {
            *self = Self::Mixed;
            return;
        };
        let weight = criterion.weight;
        *self = match *self {
            Self::Nothing if 0.0 <= weight => Self::Sum {
                bounds: own,
                points: CompensatedSum::default().plus(weight * value),
                weight: CompensatedSum::default().plus(weight),
            },
            Self::Sum { bounds, points, weight: total } if bounds == own && 0.0 <= weight => {
                Self::Sum { bounds, points: points.plus(weight * value), weight: total.plus(weight) }
            }
            _ => Self::Mixed,
        };
    }

    pub(super) fn mean(self) -> Option<f64> {
        match self {
            Self::Sum { points, weight, .. } if 0.0 < weight.value() => Some(points.value() / weight.value()),
            _ => None,
        }
    }
}
