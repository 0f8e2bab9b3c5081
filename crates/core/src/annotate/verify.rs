//! Answers of judges as claims that a person confirms or corrects, and the ratings that follow from that.
//!
//! Parts decide: a criterion that rests on claims or requirements is the share of them that hold, and a corrected
//! branch of a tree leads to the questions behind it.

use std::collections::{BTreeMap, BTreeSet};

use super::build::scale_points;
use super::{Claim, Quote, Rating, ScalePoint, Value, Verification, Verified};
use crate::grade::{Grade, GraderKind, Outcome, part_name, score_of_points};
use crate::rubric::{AnswerTarget, CriterionKind, Question, Rubric};
use crate::suite::{DataRow, fill_for_reader};

/// Every answer of judges to one candidate, with the parts it rests on, in the order of the rubric. What failed or
/// was not asked is none; a tree has all of its questions, since a correction may lead to any of them. The row of the
/// candidate fills `{{ row.field }}` in the questions.
pub fn claims(rubric: &Rubric, grades: &[Grade], row: Option<&DataRow>) -> Vec<Claim> {
    let judged = grades.iter().filter(|grade| grade.grader.kind == GraderKind::Judge);
    let mut all: Vec<Claim> = Vec::new();
    for grade in judged {
        for claim in claims_from_grade(rubric, grade, row) {
            // Annotators see the answer of the first judge only; their correction also grades the other judges.
            if !all.iter().any(|known| known.id == claim.id) {
                all.push(claim);
            }
        }
    }
    let is_claimed = |question: &Question<'_>| all.iter().any(|claim| claim.criterion == question.id());
    let trees: BTreeSet<&str> =
        rubric.questions().filter(is_claimed).map(|question| question.criterion.id.as_str()).collect();
    let others: Vec<Claim> = rubric
        .questions()
        .filter(|question| question.node.is_some() && trees.contains(question.criterion.id.as_str()))
        .filter(|question| !is_claimed(question))
        .map(|question| claim_of_question(&question, None, row))
        .collect();
    all.extend(others);
    all.sort_by_key(|claim| rubric.position(&claim.criterion).unwrap_or(usize::MAX));
    all
}

/// What one grade says: its answer, and the points that it rests on.
pub fn claims_from_grade(rubric: &Rubric, grade: &Grade, row: Option<&DataRow>) -> Vec<Claim> {
    let rating = match &grade.outcome {
        Outcome::Scored { value, .. } => Rating::Scored { value: value.clone() },
        Outcome::NotApplicable => Rating::NotApplicable,
        Outcome::Abstained { .. } => Rating::Abstained,
        Outcome::Failed { .. } | Outcome::Deferred { .. } => return Vec::new(),
    };
    let question = rubric.questions().find(|question| question.id() == grade.criterion);
    let mut whole = match &question {
        Some(question) => claim_of_question(question, Some(rating.clone()), row),
        None => Claim { said: Some(rating.clone()), ..blank_claim(&grade.criterion) },
    };
    // Annotators can always confirm the judge's answer, even one between the points of the scale.
    if let Rating::Scored { value } = &rating
        && !whole.points.iter().any(|point| point.value == *value)
    {
        let unit = grade.outcome.unit();
        whole.points.push(ScalePoint { value: value.clone(), label: None, text: None, unit });
        whole.points.sort_by(|a, b| a.unit.unwrap_or(0.0).total_cmp(&b.unit.unwrap_or(0.0)));
    }
    let quotes = |all: &[crate::grade::Evidence]| all.iter().map(quote_from_evidence).collect();
    whole.reason = Some(grade.reason.as_str().to_owned()).filter(|reason| !reason.is_empty());
    whole.evidence = quotes(&grade.evidence);
    let of_parts = score_of_points(grade.points.iter().map(|point| point.holds));
    whole.from_parts =
        of_parts.zip(grade.outcome.unit()).is_some_and(|(of_parts, unit)| is_same_score(of_parts, unit));
    let part = |(at, point): (usize, &crate::grade::GradedPoint)| Claim {
        id: part_name(&grade.criterion, at),
        label: point.text.clone(),
        said: Some(Rating::Scored { value: Value::Bool(point.holds) }),
        evidence: quotes(&point.evidence),
        points: [(false, "Does not hold"), (true, "Holds")]
            .map(|(holds, label)| ScalePoint {
                value: Value::Bool(holds),
                label: Some(label.to_owned()),
                text: None,
                unit: Some(f64::from(u8::from(holds))),
            })
            .to_vec(),
        ..blank_claim(&grade.criterion)
    };
    let parts = grade.points.iter().enumerate().map(part);
    std::iter::once(whole.clone()).chain(parts).collect()
}

fn blank_claim(criterion: &str) -> Claim {
    Claim {
        id: criterion.to_owned(),
        criterion: criterion.to_owned(),
        label: criterion.to_owned(),
        text: None,
        said: None,
        reason: None,
        evidence: Vec::new(),
        points: Vec::new(),
        leads: BTreeMap::new(),
        from_parts: false,
    }
}

fn claim_of_question(question: &Question<'_>, rating: Option<Rating>, row: Option<&DataRow>) -> Claim {
    let criterion = question.criterion;
    let (label, text) = match question.node {
        Some(node) => (fill_for_reader(&node.ask, row), None),
        None => (criterion.title().to_owned(), Some(fill_for_reader(&criterion.description, row))),
    };
    Claim {
        label,
        text: text.filter(|text| !text.is_empty()),
        said: rating,
        points: scale_points(question),
        leads: leads(question),
        ..blank_claim(&question.id())
    }
}

/// Where each answer to a question of a tree leads, by the answer; answers that end the tree are left out.
fn leads(question: &Question<'_>) -> BTreeMap<String, String> {
    let (Some(node), CriterionKind::Tree(graph)) = (question.node, &question.criterion.ask) else {
        return BTreeMap::new();
    };
    let next = |(answer, target): (&str, &AnswerTarget)| {
        let AnswerTarget::Node(id) = target else { return None };
        let node = graph.nodes.iter().find(|node| node.id == *id)?;
        Some((answer.to_owned(), Question { criterion: question.criterion, node: Some(node) }.id()))
    };
    node.answers.targets().filter_map(next).collect()
}

/// A person's rating of a claim: their own, or the score of its parts. `None` while it is open.
pub(super) fn settled_rating(
    claims: &[Claim],
    verified: &BTreeMap<String, Verified>,
    claim: &Claim,
) -> Option<Rating> {
    if !claim.from_parts {
        return own_rating(verified, claim);
    }
    let parts = claims.iter().filter(|part| part.criterion == claim.criterion && part.id != claim.id);
    let ratings: Vec<Rating> = parts.map(|part| own_rating(verified, part)).collect::<Option<_>>()?;
    // A person who abstains from one part abstains from the whole claim.
    if ratings.contains(&Rating::Abstained) {
        return Some(Rating::Abstained);
    }
    let holds = ratings.iter().filter_map(|rating| match rating {
        Rating::Scored { value } => Some(*value == Value::Bool(true)),
        Rating::NotApplicable | Rating::Abstained => None,
    });
    let score = score_of_points(holds);
    Some(score.map_or(Rating::NotApplicable, |score| Rating::Scored { value: Value::Number(score) }))
}

fn own_rating(verified: &BTreeMap<String, Verified>, claim: &Claim) -> Option<Rating> {
    let verified = verified.get(&claim.id)?;
    match verified.verdict? {
        Verification::Confirmed => claim.said.clone(),
        Verification::Corrected => verified.rating.clone(),
    }
}

/// Why an answer to a claim contradicts its parts; `None` if it does not, or has none.
pub(super) fn contradiction(
    claims: &[Claim],
    verified: &BTreeMap<String, Verified>,
    claim: &Claim,
) -> Option<String> {
    if !claim.from_parts {
        return None;
    }
    let (own, of_parts) = (own_rating(verified, claim)?, settled_rating(claims, verified, claim)?);
    let is_same = match (&own, &of_parts) {
        (Rating::Scored { value: Value::Number(own) }, Rating::Scored { value: Value::Number(of_parts) }) => {
            is_same_score(*own, *of_parts)
        }
        (own, of_parts) => own == of_parts,
    };
    (!is_same).then(|| {
        format!(
            "{} contradicts its parts, which add up to {}; correct the parts instead, the total is computed from them",
            rating_words(&own),
            rating_words(&of_parts)
        )
    })
}

fn rating_words(rating: &Rating) -> String {
    match rating {
        Rating::Scored { value: Value::Number(number) } => {
            let rounded = (number * 1000.0).round() / 1000.0;
            rounded.to_string()
        }
        Rating::Scored { value } => value.to_string(),
        Rating::NotApplicable => "not applicable".to_owned(),
        Rating::Abstained => "cannot tell".to_owned(),
    }
}

fn is_same_score(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// The ids of claims that a person is asked about: all, except questions of a tree that their answers do not lead to.
/// Where a question is still open, the way goes on as the judge answered.
pub(super) fn reached_claims<'a>(
    claims: &'a [Claim],
    verified: &BTreeMap<String, Verified>,
) -> BTreeSet<&'a str> {
    let targets: BTreeSet<&str> =
        claims.iter().flat_map(|claim| claim.leads.values()).map(String::as_str).collect();
    let mut to_visit: Vec<&Claim> =
        claims.iter().filter(|claim| !targets.contains(claim.id.as_str())).collect();
    let mut reached = BTreeSet::new();
    while let Some(claim) = to_visit.pop() {
        if !reached.insert(claim.id.as_str()) {
            continue;
        }
        let answer = own_rating(verified, claim).or_else(|| claim.said.clone());
        let next = answer.and_then(|answer| claim.leads.get(&branch_name(&answer)?));
        to_visit.extend(next.and_then(|id| claims.iter().find(|claim| claim.id == *id)));
    }
    reached
}

/// The answer of a question in a tree, as its branches are named: 0.5 or more is a yes.
fn branch_name(rating: &Rating) -> Option<String> {
    let yes_no = |is_yes: bool| (if is_yes { "yes" } else { "no" }).to_owned();
    match rating {
        Rating::Scored { value: Value::Text(label) } => Some(label.clone()),
        Rating::Scored { value: Value::Bool(is_yes) } => Some(yes_no(*is_yes)),
        Rating::Scored { value: Value::Number(number) } => Some(yes_no(0.5 <= *number)),
        Rating::NotApplicable | Rating::Abstained => None,
    }
}

fn quote_from_evidence(evidence: &crate::grade::Evidence) -> Quote {
    let place = evidence.found.as_ref();
    Quote {
        part: place.map(|location| location.part.clone()),
        quote: evidence.quote.clone(),
        start: place.map(|location| location.start),
        end: place.map(|location| location.end),
    }
}
