//! What a judge said, as something that a person confirms or corrects.

use super::build::points;
use super::{Claim, Quote, Rating, ScalePoint, Value};
use crate::grade::{Grade, GraderKind, Outcome};
use crate::rubric::Rubric;

/// Every answer of judges to one candidate, with the claims it rests on. What broke or was not asked is none.
pub fn claims(rubric: &Rubric, grades: &[Grade]) -> Vec<Claim> {
    let judged = grades.iter().filter(|it| it.grader.kind == GraderKind::Judge);
    let mut found: Vec<Claim> = Vec::new();
    for grade in judged {
        for claim in claim(rubric, grade) {
            // Of several judges, the first one stands for the question; the others are graded by the same answer.
            if !found.iter().any(|it| it.id == claim.id) {
                found.push(claim);
            }
        }
    }
    found
}

/// What one grade says: its answer, and the points that it rests on.
pub fn claim(rubric: &Rubric, grade: &Grade) -> Vec<Claim> {
    let said = match &grade.outcome {
        Outcome::Scored { value, .. } => Rating::Scored { value: value.clone() },
        Outcome::NotApplicable => Rating::NotApplicable,
        Outcome::Abstained { .. } => Rating::Abstained,
        Outcome::Failed { .. } | Outcome::Deferred { .. } => return Vec::new(),
    };
    let question = rubric.questions().find(|it| it.id() == grade.criterion);
    let mut scale = question.as_ref().map(points).unwrap_or_default();
    // What the judge said can always be said again, even between the points that people are shown.
    if let Rating::Scored { value } = &said
        && !scale.iter().any(|it| it.value == *value)
    {
        scale.push(ScalePoint { value: value.clone(), label: None, text: None, unit: grade.outcome.unit() });
        scale.sort_by(|a, b| a.unit.unwrap_or(0.0).total_cmp(&b.unit.unwrap_or(0.0)));
    }
    let (label, text) = match &question {
        Some(it) => match it.node {
            Some(node) => (node.ask.clone(), None),
            None => (it.criterion.title().to_owned(), Some(it.criterion.description.clone())),
        },
        None => (grade.criterion.clone(), None),
    };
    let quotes = |all: &[crate::grade::Evidence]| all.iter().map(quote).collect();
    let whole = Claim {
        id: grade.criterion.clone(),
        criterion: grade.criterion.clone(),
        label,
        text: text.filter(|it| !it.is_empty()),
        said,
        reason: Some(grade.reason.as_str().to_owned()).filter(|it| !it.is_empty()),
        evidence: quotes(&grade.evidence),
        points: scale,
    };
    let point = |(at, point): (usize, &crate::grade::Point)| Claim {
        id: format!("{}#{}", grade.criterion, at + 1),
        criterion: grade.criterion.clone(),
        label: point.text.clone(),
        text: None,
        said: Rating::Scored { value: Value::Bool(point.holds) },
        reason: None,
        evidence: quotes(&point.evidence),
        points: [(false, "Does not hold"), (true, "Holds")]
            .map(|(it, label)| ScalePoint {
                value: Value::Bool(it),
                label: Some(label.to_owned()),
                text: None,
                unit: Some(f64::from(u8::from(it))),
            })
            .to_vec(),
    };
    let points = grade.points.iter().enumerate().map(point);
    std::iter::once(whole.clone()).chain(points).collect()
}

fn quote(evidence: &crate::grade::Evidence) -> Quote {
    let found = evidence.found.as_ref();
    Quote {
        part: found.map(|it| it.part.clone()),
        quote: evidence.quote.clone(),
        start: found.map(|it| it.start),
        end: found.map(|it| it.end),
    }
}
