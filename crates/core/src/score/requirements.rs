//! Criteria that are not to be asked, because a criterion that they require is not met.

use super::{CriterionResult, QuestionAnswer, SLACK, VerdictBuilder};
use crate::rubric::{Criterion, CriterionKind, Moment, RequirementOrder, Rubric, Unmet};

/// Which criteria were not to be asked, because one that they require is not met.
pub(super) fn find_unmet_criteria(
    rubric: &Rubric,
    answers: &[QuestionAnswer<'_>],
    order: &RequirementOrder,
) -> Vec<Option<SkipReason>> {
    let flat = flatten_with_parents(&rubric.criteria);
    let mut unmet: Vec<Option<SkipReason>> = vec![None; flat.len()];
    let mut met: Vec<RequirementStatus> = vec![RequirementStatus::Yes; flat.len()];
    for moment in &order.moments {
        match *moment {
            Moment::Begin(at) => {
                let inherited = flat[at].parent.and_then(|index| unmet[index]);
                let required = || order.requires[at].iter().map(|&index| met[index]);
                let own = if required().any(|requirement_status| requirement_status == RequirementStatus::No)
                {
                    Some(SkipReason::Unmet(flat[at].criterion.unmet))
                } else if required()
                    .any(|requirement_status| requirement_status == RequirementStatus::CouldNotTell)
                {
                    Some(SkipReason::Unassessed(flat[at].criterion.unmet))
                } else {
                    let mut unknown = required().filter_map(|met| match met {
                        RequirementStatus::Unknown { broke } => Some(broke),
                        _ => None,
                    });
                    let first = unknown.next();
                    first.map(|broke| SkipReason::Unknown { broke: broke || unknown.any(|broke| broke) })
                };
                unmet[at] = inherited.or(own);
            }
            Moment::End(at) => {
                let spot = &flat[at];
                let mut grading = VerdictBuilder {
                    question: spot.question,
                    criterion: at,
                    ..VerdictBuilder::new(rubric, answers, Some(&unmet))
                };
                let mark = spot.criterion.threshold.unwrap_or(rubric.pass_mark);
                met[at] = match (grading.criterion(spot.criterion), unmet[at]) {
                    (_, Some(SkipReason::Unknown { broke })) => RequirementStatus::Unknown { broke },
                    // Not applicable is nothing to wait for, whatever the reason.
                    (_, Some(SkipReason::Unassessed(Unmet::NotApplicable))) => RequirementStatus::Yes,
                    (part, _) => grading.requirement_met(part, mark),
                };
            }
        }
    }
    unmet
}

impl VerdictBuilder<'_> {
    /// Whether a criterion that came to this meets what others require of it.
    fn requirement_met(&self, part: CriterionResult, mark: f64) -> RequirementStatus {
        match part {
            CriterionResult::Scored(contribution) if mark <= contribution.value + SLACK => {
                RequirementStatus::Yes
            }
            // Not applicable is nothing to wait for.
            CriterionResult::Out => RequirementStatus::Yes,
            CriterionResult::Scored(_) | CriterionResult::Excused => RequirementStatus::No,
            CriterionResult::Unknown if 0 < self.counts.failed => RequirementStatus::Unknown { broke: true },
            CriterionResult::Unknown if 0 < self.counts.deferred => {
                RequirementStatus::Unknown { broke: false }
            }
            CriterionResult::Unknown => RequirementStatus::CouldNotTell,
        }
    }
}

/// Why a criterion was not to be asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SkipReason {
    Unmet(Unmet),
    /// The same, because a grader looked at its requirement and could not tell.
    Unassessed(Unmet),
    /// Its requirement is undecided: its grader failed or has not been asked yet.
    Unknown {
        broke: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RequirementStatus {
    Yes,
    No,
    /// A grader looked: counts as not met.
    CouldNotTell,
    /// Its grader failed or has not been asked yet.
    Unknown {
        broke: bool,
    },
}

/// A criterion with its group and the position of its first question, in the order of [`Rubric::questions`].
pub(super) struct FlatCriterion<'a> {
    pub(super) criterion: &'a Criterion,
    parent: Option<usize>,
    pub(super) question: usize,
}

/// Every criterion and group, depth first.
pub(super) fn flatten_with_parents(criteria: &[Criterion]) -> Vec<FlatCriterion<'_>> {
    fn visit<'a>(
        criteria: &'a [Criterion],
        parent: Option<usize>,
        question: &mut usize,
        all: &mut Vec<FlatCriterion<'a>>,
    ) {
        for criterion in criteria {
            let at = all.len();
            all.push(FlatCriterion { criterion, parent, question: *question });
            match &criterion.ask {
                CriterionKind::Group(group) => visit(&group.criteria, Some(at), question, all),
                _ => *question += criterion.n_questions(),
            }
        }
    }
    let mut all = Vec::new();
    visit(criteria, None, &mut 0, &mut all);
    all
}

pub(super) fn count_descendants(criterion: &Criterion) -> usize {
    criterion.children().iter().map(|criterion| 1 + count_descendants(criterion)).sum()
}
