//! Decides what a rubric says about a candidate, given an answer to each of its questions.
//!
//! Gates come first: one failed gate fails the candidate whatever its score, and one that could not be decided
//! keeps it from passing.
//! A grader that failed never becomes a number.

mod contribution;
mod native_mean;
mod open_questions;
mod requirements;
mod panel;
mod grade_book;

pub use crate::grade::PanelVerdict;
pub use grade_book::{CandidateVerdict, GradeBook, GradeRejection};
pub use open_questions::open_questions;
pub use panel::{Combine, combine_panel};

use std::collections::HashSet;

use crate::check::ScoredCriterion;
use crate::grade::{
    Counts, Evidence, FailedGate, Failure, Gate, GradedPoint, Outcome, TreePathStep, UndecidedGate, Verdict,
    VerdictStatus,
};
use crate::rubric::{
    Aggregation, AnswerTarget, CannotAssess, Criterion, CriterionKind, Draft, Graph, NodeAnswers, OnError,
    Operator, Polarity, Question, Rubric, Unmet,
};

use contribution::{CombinedContributions, Contribution};
use native_mean::NativeScaleMean;
use requirements::{SkipReason, count_descendants, find_unmet_criteria};

/// Sums of fractions may miss a mark they reach on paper; this much is forgiven.
const SLACK: f64 = 1e-9;

/// One question's outcome, and whether a quote for it was found.
#[derive(Debug, Clone, Copy)]
pub struct QuestionAnswer<'a> {
    pub outcome: &'a Outcome,
    pub quote: QuoteStatus,
}

/// What is known about the evidence behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteStatus {
    /// Checks and people are not asked for quotes.
    NotAsked,
    Found,
    Missing,
}

impl QuoteStatus {
    /// Evidence counts if a quote was found, and not more quotes were invented than found.
    pub fn of(n_found: usize, n_quotes: usize) -> Self {
        if 0 < n_found && n_quotes <= 2 * n_found { Self::Found } else { Self::Missing }
    }

    /// The same for quotes, each of which counts once, however often it is repeated.
    pub fn of_quotes(evidence: &[Evidence]) -> Self {
        let places = evidence.iter().filter_map(|evidence| evidence.found.as_ref());
        let n_found =
            places.map(|place| (place.part.as_str(), place.start, place.end)).collect::<HashSet<_>>().len();
        let unfound = evidence.iter().filter(|evidence| evidence.found.is_none());
        let n_unfound = unfound.map(|evidence| evidence.quote.as_str()).collect::<HashSet<_>>().len();
        Self::of(n_found, n_found + n_unfound)
    }

    /// The same for requirements: each that is met needs a quote. That none is met cannot be quoted.
    pub fn of_points(points: &[GradedPoint]) -> Self {
        let n_quotes = points.iter().filter(|point| point.holds || !point.evidence.is_empty()).count();
        let is_found = |point: &&GradedPoint| point.evidence.iter().any(|evidence| evidence.found.is_some());
        if n_quotes == 0 {
            Self::NotAsked
        } else {
            Self::of(points.iter().filter(is_found).count(), n_quotes)
        }
    }

    /// The evidence of a judge's answer. Nodes of trees are not asked for quotes, and of the recipes only
    /// `agent_as_judge`, for each requirement.
    pub fn of_answer(criterion: &Criterion, evidence: &[Evidence], points: &[GradedPoint]) -> Self {
        match &criterion.ask {
            CriterionKind::Recipe(method) if method.entry.name == "agent_as_judge" => Self::of_points(points),
            CriterionKind::Recipe(_) | CriterionKind::Tree(_) => Self::NotAsked,
            CriterionKind::Question(_) | CriterionKind::Check(_) | CriterionKind::Group(_) => {
                Self::of_quotes(evidence)
            }
        }
    }
}

/// Computes the verdict of a rubric.
///
/// `answers` are in the order of [`Rubric::questions`]; `penalty` is subtracted because of the rubric's length penalty.
///
/// ```
/// use jurist_core::grade::{Outcome, Value, VerdictStatus};
/// use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
/// use jurist_core::score::{QuestionAnswer, QuoteStatus, compute_verdict};
///
/// let criterion = |id: &str, weight| Criterion { weight, ..Criterion::new(id, "…", CriterionKind::Question(Scale::likert(1, 5))) };
/// let rubric = Rubric::new(Draft { criteria: vec![criterion("a", 3.0), criterion("b", 1.0)], ..Draft::default() }).unwrap();
///
/// let outcomes = [5.0, 1.0].map(|value| Outcome::Scored { value: Value::Number(value), unit: Some((value - 1.0) / 4.0) });
/// let answers = outcomes.each_ref().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked });
/// let verdict = compute_verdict(&rubric, &answers, 0.0);
/// assert_eq!((verdict.score, verdict.native, verdict.status), (Some(0.75), Some(4.0), VerdictStatus::Pass));
/// ```
///
/// # Panics
///
/// If there is not one answer per question.
pub fn compute_verdict(rubric: &Rubric, answers: &[QuestionAnswer<'_>], penalty: f64) -> Verdict {
    assert_eq!(answers.len(), rubric.n_questions(), "one answer per question");
    let unmet = rubric.order().map(|order| find_unmet_criteria(rubric, answers, order));
    let mut grading = VerdictBuilder::new(rubric, answers, unmet.as_deref());
    let part = grading.list(&rubric.criteria, rubric.aggregation);
    grading.finish(part, penalty)
}

/// A criterion without a score, so that a candidate cannot be compared by it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{criterion}` has no score")]
pub struct NotComparable {
    pub criterion: String,
    /// Whether no grader has been asked yet; otherwise a grader failed or abstained.
    pub deferred: bool,
}

/// What each criterion at the top of a rubric contributes, for `max-score`; comparisons themselves are left out.
///
/// # Panics
///
/// If there is not one answer per question.
pub fn scores_to_compare(
    rubric: &Rubric,
    answers: &[QuestionAnswer<'_>],
) -> Result<Vec<ScoredCriterion>, NotComparable> {
    collect_top_scores(rubric, answers, Criterion::is_comparison)
}

/// The same for code that computes a score of its own; criteria that are decided last are left out.
///
/// # Panics
///
/// If there is not one answer per question.
pub fn scores_for_code(
    rubric: &Rubric,
    answers: &[QuestionAnswer<'_>],
) -> Result<Vec<ScoredCriterion>, NotComparable> {
    collect_top_scores(rubric, answers, |criterion| criterion.is_comparison() || criterion.needs_scores())
}

fn collect_top_scores(
    rubric: &Rubric,
    answers: &[QuestionAnswer<'_>],
    is_left_out: impl Fn(&Criterion) -> bool,
) -> Result<Vec<ScoredCriterion>, NotComparable> {
    assert_eq!(answers.len(), rubric.n_questions(), "one answer per question");
    let unmet = rubric.order().map(|order| find_unmet_criteria(rubric, answers, order));
    let mut grading = VerdictBuilder::new(rubric, answers, unmet.as_deref());
    let mut scores = Vec::new();
    for criterion in &rubric.criteria {
        let before = grading.counts;
        let part = grading.criterion(criterion);
        if is_left_out(criterion) {
            continue;
        }
        let deferred = before.deferred < grading.counts.deferred;
        let names = vec![criterion.id.clone(), criterion.type_name().to_owned()];
        match part {
            // A group that is scored without one of its members would be compared by something else.
            _ if deferred || before.failed < grading.counts.failed => {
                return Err(NotComparable { criterion: criterion.id.clone(), deferred });
            }
            CriterionResult::Scored(contribution) => {
                scores.push(ScoredCriterion { names, score: contribution.value });
            }
            CriterionResult::Out => {}
            // An excuse lets a candidate pass without a score, but does not say which of two is better.
            CriterionResult::Unknown | CriterionResult::Excused => {
                return Err(NotComparable { criterion: criterion.id.clone(), deferred: false });
            }
        }
    }
    Ok(scores)
}

/// What the rubric says by outcomes that are known by their question's id; `None` unless there is one for each.
pub fn verdict_from_outcomes(rubric: &Rubric, outcome: impl Fn(&str) -> Option<Outcome>) -> Option<Verdict> {
    let outcomes: Vec<Outcome> =
        rubric.questions().map(|question| outcome(&question.id())).collect::<Option<_>>()?;
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    Some(compute_verdict(rubric, &answers, 0.0))
}

/// The result of a criterion or a group.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CriterionResult {
    Scored(Contribution),
    /// Leaves the denominator.
    Out,
    /// Leaves the denominator: no grader could tell, and the author wrote that this is fine.
    Excused,
    /// Leaves the denominator; and no grader could tell.
    Unknown,
}

struct VerdictBuilder<'a> {
    rubric: &'a Draft,
    answers: &'a [QuestionAnswer<'a>],
    unmet: Option<&'a [Option<SkipReason>]>,
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
    undecided_gates: Vec<UndecidedGate>,
    /// Criteria without an answer that their author did not excuse.
    unassessed: Vec<String>,
    path: Vec<TreePathStep>,
    native: NativeScaleMean,
}

impl<'a> VerdictBuilder<'a> {
    fn new(
        rubric: &'a Draft,
        answers: &'a [QuestionAnswer<'a>],
        unmet: Option<&'a [Option<SkipReason>]>,
    ) -> Self {
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
            undecided_gates: Vec::new(),
            unassessed: Vec::new(),
            path: Vec::new(),
            native: NativeScaleMean::Nothing,
        }
    }

    fn list(&mut self, criteria: &[Criterion], aggregation: Aggregation) -> CriterionResult {
        let (mut known, mut low, mut high) = (
            CombinedContributions::default(),
            CombinedContributions::default(),
            CombinedContributions::default(),
        );
        let (mut scored, mut unknown, mut excused) = (false, false, false);
        for criterion in criteria {
            let weight = criterion.weight;
            let range = match self.criterion(criterion) {
                CriterionResult::Scored(contribution) => {
                    scored = true;
                    known.add(weight, contribution.value);
                    contribution
                }
                CriterionResult::Out => continue,
                CriterionResult::Excused => {
                    excused = true;
                    continue;
                }
                CriterionResult::Unknown => {
                    unknown = true;
                    Contribution { value: 0.0, low: 0.0, high: 1.0 }
                }
            };
            // A penalty lowers the score by what it contributes.
            let (worst, best) = if weight < 0.0 { (range.high, range.low) } else { (range.low, range.high) };
            low.add(weight, worst);
            high.add(weight, best);
        }
        let bound = |combined: &CombinedContributions, value| combined.score(aggregation).unwrap_or(value);
        match known.score(aggregation) {
            _ if !scored && unknown => CriterionResult::Unknown,
            _ if !scored && excused => CriterionResult::Excused,
            _ if !scored => CriterionResult::Out,
            None => CriterionResult::Unknown,
            Some(value) => CriterionResult::Scored(Contribution {
                value,
                low: bound(&low, value),
                high: bound(&high, value),
            }),
        }
    }

    fn criterion(&mut self, criterion: &Criterion) -> CriterionResult {
        let at = self.criterion;
        self.criterion += 1;
        if let Some(unmet) = self.unmet.and_then(|skip_reasons| skip_reasons[at]) {
            return self.skip(criterion, unmet);
        }
        match &criterion.ask {
            CriterionKind::Group(group) => {
                self.native = NativeScaleMean::Mixed;
                let outside = self.conditional;
                self.conditional |= criterion.when.is_some();
                let (before, n_unassessed) = (self.counts, self.unassessed.len());
                let part = self.list(&group.criteria, group.aggregation);
                self.conditional = outside;
                let unassessed = self.unassessed.split_off(n_unassessed);
                let part = self.finish_group(criterion, part, before, &unassessed);
                self.unassessed.extend(unassessed);
                part
            }
            CriterionKind::Tree(graph) => {
                self.native = NativeScaleMean::Mixed;
                let part = self.walk(criterion, graph);
                self.question += graph.nodes.len();
                part
            }
            CriterionKind::Question(_) | CriterionKind::Check(_) | CriterionKind::Recipe(_) => {
                let answer = self.answers[self.question];
                self.question += 1;
                self.leaf(criterion, answer)
            }
        }
    }

    /// A criterion whose requirement is not met was not asked, whatever answer is there.
    fn skip(&mut self, criterion: &Criterion, skipped: SkipReason) -> CriterionResult {
        self.native = NativeScaleMean::Mixed;
        self.criterion += count_descendants(criterion);
        let n_questions = criterion.n_questions();
        self.question += n_questions;
        self.counts.unmet += n_questions as u32;
        self.vacuous = false;
        match skipped {
            SkipReason::Unmet(unmet) => self.skip_unmet(criterion, unmet),
            SkipReason::Unassessed(unmet) => {
                let n_failed = self.failed_gates.len();
                let part = self.skip_unmet(criterion, unmet);
                if n_failed == self.failed_gates.len() {
                    self.undecide_all(criterion, "it requires a criterion that could not be assessed", false);
                }
                // Had its requirement been met, it could have had any score.
                match part {
                    CriterionResult::Scored(unit) => {
                        CriterionResult::Scored(Contribution { high: 1.0, ..unit })
                    }
                    _ => CriterionResult::Unknown,
                }
            }
            SkipReason::Unknown { broke } => {
                // A gate behind a broken grader has not been passed, also where broken graders are skipped.
                let waits = !broke || self.rubric.on_error != OnError::Skip;
                let reason = "it requires a criterion that was not graded (grader error or deferral)";
                self.undecide_all(criterion, reason, waits);
                CriterionResult::Unknown
            }
        }
    }

    fn skip_unmet(&mut self, criterion: &Criterion, unmet: Unmet) -> CriterionResult {
        match unmet {
            Unmet::Zero => {
                // No grader has looked, so a guard has found nothing; but a score of 0 is under every other gate.
                let gates = self.marks_missed(criterion, 0.0);
                self.fail_all(gates, criterion);
                CriterionResult::Scored(Contribution::exact(0.0))
            }
            Unmet::NotApplicable => CriterionResult::Out,
        }
    }

    fn leaf(&mut self, criterion: &Criterion, answer: QuestionAnswer<'_>) -> CriterionResult {
        let unit = match self.settle(criterion, answer.outcome) {
            Ok(Some(unit)) => unit,
            Ok(None) => return self.answer_without_number(criterion),
            Err(part) => return part,
        };
        if lacks_evidence(self.rubric, criterion, answer.quote, unit) {
            self.native = NativeScaleMean::Mixed;
            self.fail(Gate::Evidence, criterion);
            return CriterionResult::Scored(Contribution::exact(0.0));
        }
        self.native.add(criterion, answer.outcome);
        self.contribute(criterion, unit)
    }

    fn answer_without_number(&mut self, criterion: &Criterion) -> CriterionResult {
        self.unassessed.push(criterion.id.clone());
        self.undecide(criterion, "its answer leads to no score", false);
        CriterionResult::Unknown
    }

    /// The number of an outcome, or the result of the criterion if there is none.
    fn settle(&mut self, criterion: &Criterion, outcome: &Outcome) -> Result<Option<f64>, CriterionResult> {
        self.vacuous &=
            matches!(outcome, Outcome::NotApplicable) && (self.conditional || criterion.when.is_some());
        match outcome {
            Outcome::Scored { unit, .. } => {
                self.counts.scored += 1;
                return Ok(*unit);
            }
            Outcome::NotApplicable => {
                self.counts.not_applicable += 1;
                return Err(CriterionResult::Out);
            }
            Outcome::Abstained { why } => {
                self.counts.abstained += 1;
                match criterion.cannot_assess {
                    Some(excuse) => return Err(self.abstain(criterion, excuse)),
                    None => {
                        self.undecide(criterion, with_detail("its grader could not assess it", why), false);
                    }
                }
            }
            Outcome::Failed { failure, detail } => {
                self.counts.failed += 1;
                match self.rubric.on_error {
                    OnError::Fail => self.fail(Gate::OnError, criterion),
                    // `on_error: skip` does not apply to gates: one that could not be decided has not been passed.
                    // Required evidence is such a gate.
                    OnError::Skip
                        if gate_of(criterion).is_none() && *failure != Failure::EvidenceNotFound => {}
                    OnError::Skip | OnError::Error => {
                        self.n_errors += 1;
                        let reason =
                            with_detail(&format!("its grader failed: {}", serialized_word(failure)), detail);
                        self.undecide(criterion, reason, true);
                    }
                }
            }
            Outcome::Deferred { why } => {
                self.counts.deferred += 1;
                self.undecide(
                    criterion,
                    format!("its grader was not available: {}", serialized_word(why)),
                    true,
                );
            }
        }
        self.unassessed.push(criterion.id.clone());
        Err(CriterionResult::Unknown)
    }

    /// The value of an answer that no grader could give, as the author wrote it.
    fn abstain(&mut self, criterion: &Criterion, excuse: CannotAssess) -> CriterionResult {
        let (worst, best) = if is_wanted(criterion) { (0.0, 1.0) } else { (1.0, 0.0) };
        let unit = match excuse {
            CannotAssess::Skip => return CriterionResult::Excused,
            CannotAssess::Pass => best,
            CannotAssess::Zero => worst,
            CannotAssess::Fail => {
                self.fail(Gate::CannotAssess, criterion);
                worst
            }
        };
        self.native = NativeScaleMean::Mixed;
        self.contribute(criterion, unit)
    }

    /// Turns an answer into a contribution and holds it against the criterion's gates.
    fn contribute(&mut self, criterion: &Criterion, unit: f64) -> CriterionResult {
        let contribution = contribution(criterion, Contribution::exact(unit));
        let gates = self.gates_failed_at(criterion, contribution.value);
        self.fail_all(gates, criterion);
        CriterionResult::Scored(contribution)
    }

    /// Turns what is inside a group into its contribution. Its gates are decided only if the answers that are missing
    /// inside it cannot turn them.
    fn finish_group(
        &mut self,
        criterion: &Criterion,
        part: CriterionResult,
        before: Counts,
        unassessed: &[String],
    ) -> CriterionResult {
        let waits = before.deferred < self.counts.deferred;
        let abstained = !waits && before.failed == self.counts.failed;
        let excuse = criterion.cannot_assess.filter(|_| abstained);
        let unit = match (part, excuse) {
            (CriterionResult::Scored(unit), _) => unit,
            (CriterionResult::Out, _) => return CriterionResult::Out,
            (CriterionResult::Excused | CriterionResult::Unknown, Some(excuse)) => {
                return self.abstain(criterion, excuse);
            }
            (CriterionResult::Excused | CriterionResult::Unknown, None) => {
                self.undecide(criterion, reason_of_group(unassessed), waits);
                return part;
            }
        };
        let contribution = contribution(criterion, unit);
        let gates = self.gates_failed_at(criterion, contribution.value);
        if gates.is_empty() && !self.gates_failed_at(criterion, contribution.low).is_empty() {
            match excuse {
                Some(CannotAssess::Skip | CannotAssess::Pass) => {}
                Some(CannotAssess::Zero | CannotAssess::Fail) => self.fail(Gate::CannotAssess, criterion),
                None => self.undecide(criterion, reason_of_group(unassessed), waits),
            }
        }
        self.fail_all(gates, criterion);
        CriterionResult::Scored(contribution)
    }

    fn gates_failed_at(&self, criterion: &Criterion, contribution: f64) -> Vec<Gate> {
        let is_found = match criterion.threshold {
            Some(mark) => contribution + SLACK < mark,
            None => 0.5 <= 1.0 - contribution,
        };
        let is_caught = criterion.polarity == Polarity::Guard && is_found;
        let guard = is_caught.then_some(Gate::Guard);
        guard.into_iter().chain(self.marks_missed(criterion, contribution)).collect()
    }

    /// The gates that only look at the contribution.
    fn marks_missed(&self, criterion: &Criterion, contribution: f64) -> Vec<Gate> {
        let under = |mark: f64| contribution + SLACK < mark;
        let required = criterion.required && under(criterion.threshold.unwrap_or(self.rubric.pass_mark));
        let minimum = criterion.min_score.is_some_and(under);
        [(required, Gate::Required), (minimum, Gate::MinScore)]
            .into_iter()
            .filter_map(|(is_missed, gate)| is_missed.then_some(gate))
            .collect()
    }

    fn fail_all(&mut self, gates: Vec<Gate>, criterion: &Criterion) {
        gates.into_iter().for_each(|gate| self.fail(gate, criterion));
    }

    /// Notes that a criterion's gate has no answer. One that `waits`, for a grader that was not asked or for a grader
    /// whose failure is counted already, is no error of its own. A criterion without a gate has nothing to decide.
    fn undecide(&mut self, criterion: &Criterion, reason: impl Into<String>, waits: bool) {
        let Some(gate) = gate_of(criterion) else { return };
        let criterion = Some(criterion.id.clone());
        self.undecided_gates.push(UndecidedGate { gate, criterion, reason: reason.into() });
        self.n_errors += u32::from(!waits);
    }

    /// The same for every gate of a criterion and of what is inside it.
    fn undecide_all(&mut self, criterion: &Criterion, reason: &str, waits: bool) {
        self.unassessed.push(criterion.id.clone());
        self.undecide(criterion, reason, waits);
        criterion.children().iter().for_each(|child| self.undecide_all(child, reason, waits));
    }

    fn fail(&mut self, gate: Gate, criterion: &Criterion) {
        self.failed_gates.push(FailedGate { gate, criterion: Some(criterion.id.clone()) });
    }

    /// From the root to a leaf, one answer per node.
    fn walk(&mut self, criterion: &Criterion, graph: &Graph) -> CriterionResult {
        let Some(mut at) = graph.position(&graph.root) else { return self.answer_without_number(criterion) };
        loop {
            let node = &graph.nodes[at];
            let outcome = self.answers[self.question + at].outcome;
            if let Err(part) = self.settle(criterion, outcome) {
                return part;
            }
            let Some((answer, target)) = chosen_branch(&node.answers, outcome) else {
                return self.answer_without_number(criterion);
            };
            let id = Question { criterion, node: Some(node) }.id();
            let mut step = TreePathStep { node: id, answer: answer.to_owned(), score: None, reason: None };
            match target {
                AnswerTarget::Leaf(leaf) => {
                    (step.score, step.reason) = (Some(leaf.score), leaf.reason.clone());
                    self.path.push(step);
                    return self.contribute(criterion, leaf.score);
                }
                AnswerTarget::Node(next) => {
                    self.path.push(step);
                    match graph.position(next) {
                        Some(next) => at = next,
                        None => return self.answer_without_number(criterion),
                    }
                }
            }
        }
    }

    fn finish(mut self, part: CriterionResult, penalty: f64) -> Verdict {
        if let CriterionResult::Scored(Contribution { value, low, .. }) = part
            && self.rubric.strict
            && 1.0 <= value - penalty + SLACK
            && low + SLACK < 1.0
        {
            let reason = reason_of_group(&self.unassessed);
            self.undecided_gates.push(UndecidedGate { gate: Gate::Strict, criterion: None, reason });
            self.n_errors += u32::from(self.counts.deferred == 0);
        }
        let incomplete = 0 < self.n_errors || 0 < self.counts.deferred;
        let aggregate = match part {
            CriterionResult::Scored(unit) if !incomplete => Some((unit.value - penalty).clamp(0.0, 1.0)),
            _ => None,
        };
        if self.rubric.strict && aggregate.is_some_and(|aggregate| aggregate + SLACK < 1.0) {
            self.failed_gates.push(FailedGate { gate: Gate::Strict, criterion: None });
        }
        let vacuous = part == CriterionResult::Out && self.vacuous && self.failed_gates.is_empty();
        let status = if !self.failed_gates.is_empty() {
            // Whatever the missing answers would have been, this gate has failed.
            VerdictStatus::Fail
        } else if 0 < self.n_errors {
            VerdictStatus::Error
        } else if 0 < self.counts.deferred {
            VerdictStatus::Deferred
        } else {
            match aggregate {
                Some(score) if self.rubric.pass_mark <= score + SLACK => VerdictStatus::Pass,
                Some(_) => VerdictStatus::Fail,
                None if vacuous => VerdictStatus::Pass,
                // No answer could be scored, and that is not a pass.
                None => VerdictStatus::Error,
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
            undecided_gates: self.undecided_gates,
            path: self.path,
            counts: self.counts,
        }
    }
}

/// The gate that a criterion is; the first where it is several.
fn gate_of(criterion: &Criterion) -> Option<Gate> {
    if criterion.required {
        Some(Gate::Required)
    } else if criterion.polarity == Polarity::Guard {
        Some(Gate::Guard)
    } else {
        criterion.min_score.map(|_| Gate::MinScore)
    }
}

/// Whether a criterion states something good, so that an answer of 1 is the best.
fn is_wanted(criterion: &Criterion) -> bool {
    criterion.polarity == Polarity::Plain && 0.0 <= criterion.weight
}

fn contribution(criterion: &Criterion, unit: Contribution) -> Contribution {
    if criterion.polarity == Polarity::Plain { unit } else { unit.invert() }
}

fn reason_of_group(unassessed: &[String]) -> String {
    match unassessed {
        [] => "nothing in it could be scored".to_owned(),
        names => format!("no grader could assess {}", names.join(", ")),
    }
}

fn with_detail(what: &str, detail: &str) -> String {
    if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") }
}

/// A variant as the data contract writes it.
fn serialized_word(variant: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}

/// Whether an answer needs a quote and none that carries it was found.
pub fn lacks_evidence(rubric: &Draft, criterion: &Criterion, quote: QuoteStatus, unit: f64) -> bool {
    rubric.require_evidence && quote == QuoteStatus::Missing && needs_quote(criterion, unit)
}

/// What is not there cannot be quoted.
fn needs_quote(criterion: &Criterion, unit: f64) -> bool {
    let states_what_is_bad = criterion.polarity != Polarity::Plain || criterion.weight < 0.0;
    let is_clean = if states_what_is_bad { unit < 0.5 } else { false };
    let is_free_of_conflict = criterion.operator == Some(Operator::Contradiction) && 0.5 <= unit;
    !is_clean && !is_free_of_conflict
}

fn chosen_branch<'g>(answers: &'g NodeAnswers, outcome: &Outcome) -> Option<(&'g str, &'g AnswerTarget)> {
    match (answers, outcome) {
        (NodeAnswers::YesNo { yes, no }, _) => {
            Some(if 0.5 <= outcome.unit()? { ("yes", yes) } else { ("no", no) })
        }
        (NodeAnswers::Choices(choices), Outcome::Scored { value, .. }) => choices
            .iter()
            .find(|(label, _)| *label == value.to_string())
            .map(|(label, target)| (label.as_str(), target)),
        _ => None,
    }
}

#[cfg(test)]
mod edge_tests;
#[cfg(test)]
mod tests;
