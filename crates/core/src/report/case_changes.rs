//! Cases of two runs side by side: the old and the new answer, and the grades of each.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::outcome_text::{GraderStatement, format_evidence_quote};
use super::word_diff::{WordRun, diff_words};
use crate::grade::{Grade, Usd, VerdictStatus};
use crate::run::{CaseResult, Run};
use crate::suite::CaseOrigin;

/// One case in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseChange {
    pub case: String,
    /// The name that all trials of the case share.
    #[serde(skip)]
    pub base: String,
    /// Where the case is written, as the later run has it.
    pub origin: Option<CaseOrigin>,
    pub direction: ChangeDirection,
    /// Whether the two were graded with different rubrics.
    pub rubric_changed: bool,
    pub answer_changed: bool,
    pub before: CaseSide,
    pub after: CaseSide,
    /// From the old answer to the new one, in words; empty where one of them is not stored.
    pub answer_diff: Vec<WordRun>,
    pub criteria: Vec<CriterionChange>,
}

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeDirection {
    /// It passed and fails now, or its score is lower with the same verdict.
    Worse,
    Better,
    /// Same verdict, same score.
    Same,
    /// One of the two has no verdict, so the change is unknown.
    Undecided,
}

/// A case in one of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseSide {
    pub status: VerdictStatus,
    pub score: Option<f64>,
    /// `None` where the run does not hold what was graded.
    pub answer: Option<String>,
    pub cost: Option<Usd>,
}

/// What graders said about one criterion in each run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriterionChange {
    pub criterion: String,
    pub before: Vec<CriterionAnswer>,
    pub after: Vec<CriterionAnswer>,
}

/// One grader's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriterionAnswer {
    pub grader: String,
    pub answer: String,
    pub score: Option<f64>,
    pub reason: String,
    /// Quotes with their positions.
    pub evidence: Vec<String>,
}

/// Which cases are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeFilter {
    /// The verdict is another one.
    Verdict,
    Worse,
    Better,
    /// The answer is another one, and the verdict is the same.
    DifferentAnswer,
    /// One of the two has no verdict.
    Undecided,
    All,
}

impl ChangeFilter {
    pub const ALL: [(&'static str, Self); 6] = [
        ("verdict", Self::Verdict),
        ("worse", Self::Worse),
        ("better", Self::Better),
        ("different-answer", Self::DifferentAnswer),
        ("undecided", Self::Undecided),
        ("all", Self::All),
    ];

    fn accepts(self, change: &ChangePlace) -> bool {
        match self {
            Self::Verdict => change.verdict_changed,
            Self::Worse => change.direction == ChangeDirection::Worse,
            Self::Better => change.direction == ChangeDirection::Better,
            Self::DifferentAnswer => !change.verdict_changed && change.answer_changed,
            Self::Undecided => change.direction == ChangeDirection::Undecided,
            Self::All => true,
        }
    }
}

/// The place in each run of a case that both runs have, and how it changed; texts are read when they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePlace {
    pub case: String,
    /// Its place in the earlier run.
    pub before: usize,
    /// Its place in the later run.
    pub after: usize,
    pub direction: ChangeDirection,
    pub verdict_changed: bool,
    pub answer_changed: bool,
}

impl ChangePlace {
    /// The case with its answers, reasons and evidence.
    pub fn load(&self, before: &Run, after: &Run) -> CaseChange {
        CaseChange::new((before, &before.results.get(self.before)), (after, &after.results.get(self.after)))
    }

    fn rank(&self) -> u8 {
        match (self.direction, self.verdict_changed) {
            (ChangeDirection::Worse, true) => 0,
            (ChangeDirection::Undecided, _) => 1,
            (ChangeDirection::Worse, false) => 2,
            (ChangeDirection::Better, true) => 3,
            (ChangeDirection::Better, false) => 4,
            (ChangeDirection::Same, _) => 5,
        }
    }
}

/// All cases that two runs share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseChanges {
    /// What got worse first, then what is undecided, then what got better.
    places: Vec<ChangePlace>,
    pub counts: ChangeCounts,
}

impl CaseChanges {
    pub fn select(&self, filter: ChangeFilter) -> impl Iterator<Item = &ChangePlace> {
        self.places.iter().filter(move |place| filter.accepts(place))
    }
}

/// How many cases each filter accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    pub verdict: usize,
    pub worse: usize,
    pub better: usize,
    pub different_answer: usize,
    pub undecided: usize,
    pub all: usize,
}

/// Compares all cases that both runs have; of their texts nothing is kept. Trials are paired by their names. If no trial
/// of a case has the same name in both runs, because their number changed, they are paired in their order.
pub fn find_case_changes(before: &Run, after: &Run) -> CaseChanges {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut trials: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (at, result) in before.results.iter().enumerate() {
        trials.entry(result.base().to_owned()).or_default().push_back(at);
        places.insert(result.case, at);
    }
    let (mut changes, mut unpaired) = (Vec::new(), Vec::new());
    for (at, new) in after.results.iter().enumerate() {
        let Some(old_at) = places.get(&new.case).copied() else {
            unpaired.push(at);
            continue;
        };
        trials.remove(new.base());
        changes.push(compare_case_results((old_at, &before.results.get(old_at)), (at, &new)));
    }
    for at in unpaired {
        let new = after.results.get(at);
        if let Some(old_at) = trials.get_mut(new.base()).and_then(VecDeque::pop_front) {
            changes.push(compare_case_results((old_at, &before.results.get(old_at)), (at, &new)));
        }
    }
    changes.sort_by_key(ChangePlace::rank);
    let count = |filter: ChangeFilter| changes.iter().filter(|place| filter.accepts(place)).count();
    let counts = ChangeCounts {
        verdict: count(ChangeFilter::Verdict),
        worse: count(ChangeFilter::Worse),
        better: count(ChangeFilter::Better),
        different_answer: count(ChangeFilter::DifferentAnswer),
        undecided: count(ChangeFilter::Undecided),
        all: changes.len(),
    };
    CaseChanges { places: changes, counts }
}

/// Compares two results, each with its place in its run.
fn compare_case_results(
    (before, old): (usize, &CaseResult),
    (after, new): (usize, &CaseResult),
) -> ChangePlace {
    let answers = stored_answer(old).zip(stored_answer(new));
    ChangePlace {
        case: new.case.clone(),
        before,
        after,
        direction: compare_verdicts(old, new),
        verdict_changed: old.verdict.status != new.verdict.status,
        answer_changed: answers.is_some_and(|(old, new)| old != new),
    }
}

/// Cases that both runs have and the filter accepts: what got worse first, then what is undecided, then what got
/// better.
pub fn list_case_changes(before: &Run, after: &Run, filter: ChangeFilter) -> Vec<CaseChange> {
    find_case_changes(before, after).select(filter).map(|place| place.load(before, after)).collect()
}

impl CaseChange {
    fn new((old_run, before): (&Run, &CaseResult), (new_run, after): (&Run, &CaseResult)) -> Self {
        let answers = stored_answer(before).zip(stored_answer(after));
        Self {
            case: after.case.clone(),
            base: after.base().to_owned(),
            origin: after.origin.clone().or_else(|| before.origin.clone()),
            direction: compare_verdicts(before, after),
            rubric_changed: before.rubric != after.rubric,
            answer_changed: answers.is_some_and(|(old, new)| old != new),
            before: CaseSide::of(before),
            after: CaseSide::of(after),
            answer_diff: answers.map(|(old, new)| diff_words(old, new)).unwrap_or_default(),
            criteria: list_criterion_changes((old_run, before), (new_run, after)),
        }
    }

    /// Whether the grades of all criteria are equal.
    pub fn same_grades(&self) -> bool {
        self.criteria.iter().all(|criterion| criterion.before == criterion.after)
    }
}

impl CaseSide {
    fn of(result: &CaseResult) -> Self {
        Self {
            status: result.verdict.status,
            score: result.verdict.score,
            answer: stored_answer(result).map(str::to_owned),
            cost: result.spend.cost,
        }
    }
}

/// The answer, or the diff where the candidate is one; `None` where the run was stored without what was graded.
pub fn stored_answer(result: &CaseResult) -> Option<&str> {
    let answer = result.material.answer();
    let diff = result.material.diff.as_deref().unwrap_or_default();
    [answer, diff].into_iter().find(|text| !text.is_empty())
}

/// By the verdict; among equal verdicts by the score.
fn compare_verdicts(before: &CaseResult, after: &CaseResult) -> ChangeDirection {
    use VerdictStatus::{Fail, Pass};
    match (before.verdict.status, after.verdict.status) {
        (Pass, Fail) => ChangeDirection::Worse,
        (Fail, Pass) => ChangeDirection::Better,
        (Pass, Pass) | (Fail, Fail) => match (before.verdict.score, after.verdict.score) {
            // Sums of the same grades may differ in their last digits.
            (Some(old), Some(new)) if new < old - 1e-9 => ChangeDirection::Worse,
            (Some(old), Some(new)) if old + 1e-9 < new => ChangeDirection::Better,
            _ => ChangeDirection::Same,
        },
        _ => ChangeDirection::Undecided,
    }
}

/// Criteria in the order of the later run, then those that only the earlier one has.
fn list_criterion_changes(before: (&Run, &CaseResult), after: (&Run, &CaseResult)) -> Vec<CriterionChange> {
    let mut changes: Vec<CriterionChange> = Vec::new();
    for ((run, result), is_new) in [(after, true), (before, false)] {
        for grade in &result.grades {
            let criterion = run.worth_name(result, &grade.criterion);
            let known = changes.iter().position(|change| change.criterion == criterion);
            let at = known.unwrap_or_else(|| {
                let criterion = criterion.into_owned();
                changes.push(CriterionChange { criterion, before: Vec::new(), after: Vec::new() });
                changes.len() - 1
            });
            let side = if is_new { &mut changes[at].after } else { &mut changes[at].before };
            side.push(CriterionAnswer::of(run, result, grade));
        }
    }
    changes
}

impl CriterionAnswer {
    fn of(run: &Run, result: &CaseResult, grade: &Grade) -> Self {
        let statement = GraderStatement::of(run, result, grade);
        Self {
            grader: statement.grader.to_owned(),
            answer: statement.answer.clone(),
            score: run.answer_worth(result, grade),
            reason: statement.reason.to_owned(),
            evidence: grade.evidence.iter().map(format_evidence_quote).collect(),
        }
    }

    /// In a line, without its quotes.
    pub fn line(&self) -> String {
        let words = format!("{} by {}", self.answer, self.grader);
        if self.reason.is_empty() { words } else { format!("{words} — {}", self.reason) }
    }
}
