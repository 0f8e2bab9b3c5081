//! The parts that an answer rests on, claims or requirements: their names, grades and common score.

use super::{Grade, GraderKind, Outcome, Reason, Value};

/// The score of the parts of an answer from 0 to 1: the share of them that hold. `None` without parts.
pub fn score_of_points(holds: impl IntoIterator<Item = bool>) -> Option<f64> {
    let (mut n_met, mut n_points) = (0_u32, 0_u32);
    for holds in holds {
        n_met += u32::from(holds);
        n_points += 1;
    }
    (0 < n_points).then(|| f64::from(n_met) / f64::from(n_points))
}

/// The name of a part in grades, labels and exports: `spec#3` is the third part of `spec`. `at` counts from 0.
pub fn part_name(criterion: &str, at: usize) -> String {
    format!("{criterion}#{}", at + 1)
}

/// The criterion that a part belongs to; `None` if the name is not one of a part.
pub fn part_of(name: &str) -> Option<&str> {
    let (criterion, number) = name.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !criterion.is_empty()).then_some(criterion)
}

/// A judge's grade followed by one grade for each of its points, so that people can be compared with it part by
/// part. Other grades are left as they are: people answer parts one by one.
pub fn with_parts(grade: Grade) -> Vec<Grade> {
    let points = if grade.grader.kind == GraderKind::Judge { grade.points.as_slice() } else { &[] };
    let part = |(at, point): (usize, &super::GradedPoint)| Grade {
        criterion: part_name(&grade.criterion, at),
        outcome: Outcome::Scored {
            value: Value::Bool(point.holds),
            unit: Some(f64::from(u8::from(point.holds))),
        },
        reason: Reason::new(&point.text),
        evidence: point.evidence.clone(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: super::Spend::default(),
        attempts: Vec::new(),
        ..grade.clone()
    };
    let parts: Vec<Grade> = points.iter().enumerate().map(part).collect();
    std::iter::once(grade).chain(parts).collect()
}
