//! Criteria of a monitor's rubric, by the id of their question.

use jurist_core::rubric::{Criterion, Polarity, Rubric};

pub fn find_criterion(rubric: &Rubric, id: &str) -> Option<Criterion> {
    rubric.questions().find(|question| question.id() == id).map(|question| question.criterion.clone())
}

/// Whether a score on 0..=1 meets the criterion's pass mark; `None` without a pass mark.
pub fn is_met(rubric: &Rubric, criterion: &Criterion, unit: f64) -> Option<bool> {
    let contribution = if criterion.polarity == Polarity::Plain { unit } else { 1.0 - unit };
    Some(criterion.threshold.unwrap_or(rubric.pass_mark) <= contribution + 1e-9)
}
