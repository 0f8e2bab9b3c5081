//! Decides what a rubric says about a candidate, given an answer to each of its questions.
//!
//! Gates come first: one failed gate fails the candidate whatever its score.
//! A grader that broke never becomes a number.

mod open;
mod panel;
mod sheet;

pub use open::open;
pub use panel::{Combine, PanelVerdict, panel};
pub use sheet::{Ballot, Refused, Sheet};

use crate::grade::{Counts, FailedGate, Gate, Outcome, Status, Step, Verdict};
use crate::rubric::{
    Aggregation, Answers, Ask, CannotAssess, Criterion, Draft, Graph, Moment, OnError, Operator, Order,
    Polarity, Question, Rubric, Target, Unmet, Value,
};

/// Sums of fractions may miss a mark they reach on paper; this much is forgiven.
const SLACK: f64 = 1e-9;

/// One question's outcome, and whether a quote for it was found.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub outcome: &'a Outcome,
    pub quote: Quote,
}

/// What is known about the evidence behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Checks and people are not asked for quotes.
    NotAsked,
    Found,
    Missing,
}

/// What the rubric says.
///
/// `answers` stand in the order of [`Rubric::questions`]; `penalty` is what the rubric's length penalty takes off.
///
/// ```
/// use jurist_core::grade::{Outcome, Status, Value};
/// use jurist_core::rubric::{Ask, Criterion, Draft, Rubric, Scale};
/// use jurist_core::score::{Answer, Quote, verdict};
///
/// let criterion = |id: &str, weight| Criterion { weight, ..Criterion::new(id, "…", Ask::Question(Scale::likert(1, 5))) };
/// let rubric = Rubric::new(Draft { criteria: vec![criterion("a", 3.0), criterion("b", 1.0)], ..Draft::default() }).unwrap();
///
/// let outcomes = [5.0, 1.0].map(|it| Outcome::Scored { value: Value::Number(it), unit: Some((it - 1.0) / 4.0) });
/// let answers = outcomes.each_ref().map(|outcome| Answer { outcome, quote: Quote::NotAsked });
/// let verdict = verdict(&rubric, &answers, 0.0);
/// assert_eq!((verdict.score, verdict.native, verdict.status), (Some(0.75), Some(4.0), Status::Pass));
/// ```
///
/// # Panics
///
/// If there is not one answer per question.
pub fn verdict(rubric: &Rubric, answers: &[Answer<'_>], penalty: f64) -> Verdict {
    assert_eq!(answers.len(), rubric.n_questions(), "one answer per question");
    let unmet = rubric.order().map(|order| unmet(rubric, answers, order));
    let mut grading = Grading::new(rubric, answers, unmet.as_deref());
    let part = grading.list(&rubric.criteria, rubric.aggregation);
    grading.finish(part, penalty)
}

/// What the rubric says by outcomes that are known by their question's id; `None` unless there is one for each.
pub fn settled(rubric: &Rubric, outcome: impl Fn(&str) -> Option<Outcome>) -> Option<Verdict> {
    let outcomes: Vec<Outcome> = rubric.questions().map(|it| outcome(&it.id())).collect::<Option<_>>()?;
    let answers: Vec<Answer<'_>> =
        outcomes.iter().map(|outcome| Answer { outcome, quote: Quote::NotAsked }).collect();
    Some(verdict(rubric, &answers, 0.0))
}

/// What a criterion or a group comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// The contribution on 0..=1.
    Scored(f64),
    /// Leaves the denominator.
    Out,
    /// Leaves the denominator; and nobody could tell.
    Unknown,
}

/// A sum that does not depend on the order of what is added (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let larger_first = value.abs() <= self.sum.abs();
        self.lost += if larger_first { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    fn plus(mut self, value: f64) -> Self {
        self.add(value);
        self
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}

struct Grading<'a> {
    rubric: &'a Draft,
    answers: &'a [Answer<'a>],
    unmet: Option<&'a [Option<Skipped>]>,
    /// Positions of the next question and the next criterion, both depth first.
    question: usize,
    criterion: usize,
    counts: Counts,
    /// Grader failures that the rubric does not excuse.
    n_errors: u32,
    /// Every question was left out by a condition.
    vacuous: bool,
    /// Inside a group that has a condition.
    conditional: bool,
    failed_gates: Vec<FailedGate>,
    path: Vec<Step>,
    native: Native,
}

/// Sums in the scale's own units, as long as they say the same as the score: a flat list on one scale.
#[derive(Debug, Clone, Copy)]
enum Native {
    Nothing,
    Sum { bounds: (f64, f64), points: Sum, weight: Sum },
    Mixed,
}

impl<'a> Grading<'a> {
    fn new(rubric: &'a Draft, answers: &'a [Answer<'a>], unmet: Option<&'a [Option<Skipped>]>) -> Self {
        Self {
            rubric,
            answers,
            unmet,
            question: 0,
            criterion: 0,
            counts: Counts::default(),
            n_errors: 0,
            vacuous: true,
            conditional: false,
            failed_gates: Vec::new(),
            path: Vec::new(),
            native: Native::Nothing,
        }
    }

    fn list(&mut self, criteria: &[Criterion], aggregation: Aggregation) -> Part {
        let (mut points, mut total, mut worst) = (Sum::default(), Sum::default(), f64::INFINITY);
        let (mut scored, mut unknown) = (false, false);
        for criterion in criteria {
            let contribution = match self.criterion(criterion) {
                Part::Scored(it) => it,
                Part::Out => continue,
                Part::Unknown => {
                    unknown = true;
                    continue;
                }
            };
            scored = true;
            points.add(criterion.weight * contribution);
            // A penalty has no share of the denominator: without it the best score is still 1.
            total.add(criterion.weight.max(0.0));
            worst = worst.min(if criterion.weight < 0.0 { 1.0 - contribution } else { contribution });
        }
        match aggregation {
            _ if !scored => {
                if unknown {
                    Part::Unknown
                } else {
                    Part::Out
                }
            }
            Aggregation::Min => Part::Scored(worst),
            // Only weightless criteria applied; they say nothing about the score.
            Aggregation::WeightedAverage if total.value() <= 0.0 => Part::Unknown,
            Aggregation::WeightedAverage => Part::Scored((points.value() / total.value()).clamp(0.0, 1.0)),
        }
    }

    fn criterion(&mut self, criterion: &Criterion) -> Part {
        let at = self.criterion;
        self.criterion += 1;
        if let Some(unmet) = self.unmet.and_then(|it| it[at]) {
            return self.skip(criterion, unmet);
        }
        match &criterion.ask {
            Ask::Group(group) => {
                self.native = Native::Mixed;
                let outside = self.conditional;
                self.conditional |= criterion.when.is_some();
                let n_failed = self.counts.failed;
                let part = self.list(&group.criteria, group.aggregation);
                self.conditional = outside;
                match part {
                    Part::Scored(unit) => self.contribute(criterion, unit),
                    part => {
                        if is_gate(criterion)
                            && n_failed < self.counts.failed
                            && self.rubric.on_error == OnError::Skip
                        {
                            self.n_errors += 1;
                        }
                        part
                    }
                }
            }
            Ask::Tree(graph) => {
                self.native = Native::Mixed;
                let part = self.walk(criterion, graph);
                self.question += graph.nodes.len();
                part
            }
            Ask::Question(_) | Ask::Check(_) | Ask::Recipe(_) => {
                let answer = self.answers[self.question];
                self.question += 1;
                self.leaf(criterion, answer)
            }
        }
    }

    /// A criterion whose requirement is not met was not asked, whatever answer is there.
    fn skip(&mut self, criterion: &Criterion, skipped: Skipped) -> Part {
        self.native = Native::Mixed;
        self.criterion += n_below(criterion);
        let n_questions = criterion.n_questions();
        self.question += n_questions;
        self.counts.unmet += n_questions as u32;
        self.vacuous = false;
        match skipped {
            Skipped::Unmet(Unmet::Zero) => {
                // Nobody looked, so a guard has found nothing; but a score of 0 is under every other gate.
                self.gate(criterion, 0.0);
                Part::Scored(0.0)
            }
            Skipped::Unmet(Unmet::NotApplicable) => Part::Out,
            Skipped::Unknown => {
                // A gate that waits for a broken grader has not been passed.
                if is_gate(criterion) && self.rubric.on_error == OnError::Skip {
                    self.n_errors += 1;
                }
                Part::Out
            }
        }
    }

    fn leaf(&mut self, criterion: &Criterion, answer: Answer<'_>) -> Part {
        let Some(unit) = (match self.settle(criterion, answer.outcome) {
            Ok(unit) => unit,
            Err(part) => return part,
        }) else {
            return Part::Unknown;
        };
        if self.rubric.require_evidence && answer.quote == Quote::Missing && needs_quote(criterion, unit) {
            self.native = Native::Mixed;
            self.fail(Gate::Evidence, criterion);
            return Part::Scored(0.0);
        }
        self.native.add(criterion, answer.outcome);
        self.contribute(criterion, unit)
    }

    /// The number behind an outcome, or what the criterion comes to without one.
    fn settle(&mut self, criterion: &Criterion, outcome: &Outcome) -> Result<Option<f64>, Part> {
        self.vacuous &=
            matches!(outcome, Outcome::NotApplicable) && (self.conditional || criterion.when.is_some());
        match outcome {
            Outcome::Scored { unit, .. } => {
                self.counts.scored += 1;
                Ok(*unit)
            }
            Outcome::NotApplicable => {
                self.counts.not_applicable += 1;
                Err(Part::Out)
            }
            Outcome::Abstained { .. } => {
                self.counts.abstained += 1;
                match criterion.cannot_assess {
                    None | Some(CannotAssess::Skip) => Err(Part::Unknown),
                    Some(CannotAssess::Zero) => Err(self.contribute_zero(criterion)),
                    Some(CannotAssess::Fail) => {
                        self.fail(Gate::CannotAssess, criterion);
                        Err(self.contribute_zero(criterion))
                    }
                }
            }
            Outcome::Failed { .. } => {
                self.counts.failed += 1;
                match self.rubric.on_error {
                    OnError::Fail => self.fail(Gate::OnError, criterion),
                    // A gate that nobody could look at has not been passed.
                    OnError::Skip if !is_gate(criterion) => {}
                    OnError::Skip | OnError::Error => self.n_errors += 1,
                }
                Err(Part::Unknown)
            }
            Outcome::Deferred { .. } => {
                self.counts.deferred += 1;
                Err(Part::Unknown)
            }
        }
    }

    /// The worst that a criterion can contribute.
    fn contribute_zero(&mut self, criterion: &Criterion) -> Part {
        self.native = Native::Mixed;
        let unit = if criterion.polarity == Polarity::Plain && 0.0 <= criterion.weight { 0.0 } else { 1.0 };
        self.contribute(criterion, unit)
    }

    /// Turns an answer into a contribution and holds it against the criterion's gates.
    fn contribute(&mut self, criterion: &Criterion, unit: f64) -> Part {
        let contribution = if criterion.polarity == Polarity::Plain { unit } else { 1.0 - unit };
        let under = |mark: f64| contribution + SLACK < mark;
        if criterion.polarity == Polarity::Guard && criterion.threshold.map_or(0.5 <= unit, under) {
            self.fail(Gate::Guard, criterion);
        }
        self.gate(criterion, contribution);
        Part::Scored(contribution)
    }

    /// The gates that only look at the contribution.
    fn gate(&mut self, criterion: &Criterion, contribution: f64) {
        let under = |mark: f64| contribution + SLACK < mark;
        if criterion.required && under(criterion.threshold.unwrap_or(self.rubric.pass_mark)) {
            self.fail(Gate::Required, criterion);
        }
        if criterion.min_score.is_some_and(under) {
            self.fail(Gate::MinScore, criterion);
        }
    }

    fn fail(&mut self, gate: Gate, criterion: &Criterion) {
        self.failed_gates.push(FailedGate { gate, criterion: Some(criterion.id.clone()) });
    }

    /// From the root to a leaf, one answer per node.
    fn walk(&mut self, criterion: &Criterion, graph: &Graph) -> Part {
        let Some(mut at) = graph.position(&graph.root) else { return Part::Unknown };
        loop {
            let node = &graph.nodes[at];
            let outcome = self.answers[self.question + at].outcome;
            if let Err(part) = self.settle(criterion, outcome) {
                return part;
            }
            let Some((answer, target)) = taken(&node.answers, outcome) else { return Part::Unknown };
            let id = Question { criterion, node: Some(node) }.id();
            let mut step = Step { node: id, answer: answer.to_owned(), score: None, reason: None };
            match target {
                Target::Leaf(leaf) => {
                    (step.score, step.reason) = (Some(leaf.score), leaf.reason.clone());
                    self.path.push(step);
                    return self.contribute(criterion, leaf.score);
                }
                Target::Node(next) => {
                    self.path.push(step);
                    match graph.position(next) {
                        Some(next) => at = next,
                        None => return Part::Unknown,
                    }
                }
            }
        }
    }

    fn finish(mut self, part: Part, penalty: f64) -> Verdict {
        let incomplete = 0 < self.n_errors || 0 < self.counts.deferred;
        let aggregate = match part {
            Part::Scored(unit) if !incomplete => Some((unit - penalty).clamp(0.0, 1.0)),
            _ => None,
        };
        if self.rubric.strict && aggregate.is_some_and(|it| it + SLACK < 1.0) {
            self.failed_gates.push(FailedGate { gate: Gate::Strict, criterion: None });
        }
        let vacuous = part == Part::Out && self.vacuous && self.failed_gates.is_empty();
        let status = if !self.failed_gates.is_empty() {
            // Whatever the missing answers would have been, this gate has failed.
            Status::Fail
        } else if 0 < self.n_errors {
            Status::Error
        } else if 0 < self.counts.deferred {
            Status::Deferred
        } else {
            match aggregate {
                Some(score) if self.rubric.pass_mark <= score + SLACK => Status::Pass,
                Some(_) => Status::Fail,
                None if vacuous => Status::Pass,
                // Nobody could tell anything, and that is not a pass.
                None => Status::Error,
            }
        };
        Verdict {
            status,
            score: aggregate,
            native: aggregate
                .filter(|_| self.rubric.aggregation == Aggregation::WeightedAverage && penalty == 0.0)
                .and_then(|_| self.native.mean()),
            vacuous,
            failed_gates: self.failed_gates,
            path: self.path,
            counts: self.counts,
        }
    }
}

impl Native {
    fn add(&mut self, criterion: &Criterion, outcome: &Outcome) {
        let scale = match &criterion.ask {
            Ask::Question(scale) if criterion.polarity == Polarity::Plain => scale.bounds(),
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
                points: Sum::default().plus(weight * value),
                weight: Sum::default().plus(weight),
            },
            Self::Sum { bounds, points, weight: total } if bounds == own && 0.0 <= weight => {
                Self::Sum { bounds, points: points.plus(weight * value), weight: total.plus(weight) }
            }
            _ => Self::Mixed,
        };
    }

    fn mean(self) -> Option<f64> {
        match self {
            Self::Sum { points, weight, .. } if 0.0 < weight.value() => Some(points.value() / weight.value()),
            _ => None,
        }
    }
}

fn is_gate(criterion: &Criterion) -> bool {
    criterion.required || criterion.min_score.is_some() || criterion.polarity == Polarity::Guard
}

/// What is not there cannot be quoted.
fn needs_quote(criterion: &Criterion, unit: f64) -> bool {
    let states_what_is_bad = criterion.polarity != Polarity::Plain || criterion.weight < 0.0;
    let is_clean = if states_what_is_bad { unit < 0.5 } else { false };
    let is_free_of_conflict = criterion.operator == Some(Operator::Contradiction) && 0.5 <= unit;
    !is_clean && !is_free_of_conflict
}

fn taken<'g>(answers: &'g Answers, outcome: &Outcome) -> Option<(&'g str, &'g Target)> {
    match (answers, outcome) {
        (Answers::YesNo { yes, no }, _) => {
            Some(if 0.5 <= outcome.unit()? { ("yes", yes) } else { ("no", no) })
        }
        (Answers::Choices(choices), Outcome::Scored { value, .. }) => choices
            .iter()
            .find(|it| it.0 == value.to_string())
            .map(|(label, target)| (label.as_str(), target)),
        _ => None,
    }
}

/// Which criteria were not to be asked, because one that they require is not met.
fn unmet(rubric: &Rubric, answers: &[Answer<'_>], order: &Order) -> Vec<Option<Skipped>> {
    let flat = flat(&rubric.criteria);
    let mut unmet: Vec<Option<Skipped>> = vec![None; flat.len()];
    let mut met: Vec<Met> = vec![Met::Yes; flat.len()];
    for moment in &order.moments {
        match *moment {
            Moment::Begin(at) => {
                let inherited = flat[at].parent.and_then(|it| unmet[it]);
                let required = || order.requires[at].iter().map(|&it| met[it]);
                let own = if required().any(|it| it == Met::No) {
                    Some(Skipped::Unmet(flat[at].criterion.unmet))
                } else {
                    required().any(|it| it == Met::Unknown).then_some(Skipped::Unknown)
                };
                unmet[at] = inherited.or(own);
            }
            Moment::End(at) => {
                let spot = &flat[at];
                let mut grading = Grading {
                    question: spot.question,
                    criterion: at,
                    ..Grading::new(rubric, answers, Some(&unmet))
                };
                let mark = spot.criterion.threshold.unwrap_or(rubric.pass_mark);
                met[at] = match grading.criterion(spot.criterion) {
                    Part::Scored(contribution) if mark <= contribution + SLACK => Met::Yes,
                    // Not applicable is nothing to wait for.
                    Part::Out => Met::Yes,
                    Part::Unknown if 0 < grading.counts.failed + grading.counts.deferred => Met::Unknown,
                    // Somebody looked and could not tell: not met.
                    Part::Scored(_) | Part::Unknown => Met::No,
                };
            }
        }
    }
    unmet
}

/// Why a criterion was not to be asked.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Skipped {
    Unmet(Unmet),
    /// Whether its requirement is met nobody knows: its grader broke, or was not asked.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Met {
    Yes,
    No,
    /// Its grader broke, or was not asked.
    Unknown,
}

struct Flat<'a> {
    criterion: &'a Criterion,
    parent: Option<usize>,
    question: usize,
}

/// Every criterion and group, depth first.
fn flat(criteria: &[Criterion]) -> Vec<Flat<'_>> {
    fn visit<'a>(
        criteria: &'a [Criterion],
        parent: Option<usize>,
        question: &mut usize,
        all: &mut Vec<Flat<'a>>,
    ) {
        for criterion in criteria {
            let at = all.len();
            all.push(Flat { criterion, parent, question: *question });
            match &criterion.ask {
                Ask::Group(group) => visit(&group.criteria, Some(at), question, all),
                _ => *question += criterion.n_questions(),
            }
        }
    }
    let mut all = Vec::new();
    visit(criteria, None, &mut 0, &mut all);
    all
}

fn n_below(criterion: &Criterion) -> usize {
    criterion.children().iter().map(|it| 1 + n_below(it)).sum()
}

#[cfg(test)]
mod tests;
