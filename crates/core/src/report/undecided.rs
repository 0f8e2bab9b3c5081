//! Gates that could not be decided, with every reason once.

use super::without_traceback;
use crate::grade::{Gate, Grade, Grader, Outcome, UndecidedGate, VerdictStatus};
use crate::run::CaseResult;

/// How much of a reason is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReasonLength {
    Full,
    /// Without the error message, which the line of the criterion has.
    Short,
}

/// Gates of one kind that could not be decided for the same reason.
struct UndecidedGroup<'a> {
    gate: Gate,
    reason: &'a str,
    criteria: Vec<&'a str>,
}

/// Why no grader was asked, if that is an error: the target failed, or the candidate cannot be read.
pub fn ungraded_reason(result: &CaseResult) -> Option<&str> {
    let first = error_message(result.grades.first()?)?;
    let is_ungraded = |grade: &Grade| {
        let is_error = matches!(grade.outcome, Outcome::Failed { .. });
        is_error && grade.grader.name == Grader::NONE && error_message(grade) == Some(first)
    };
    result.grades.iter().all(is_ungraded).then(|| without_traceback(first))
}

/// A line for each kind of gate and reason.
pub(super) fn list_undecided_gates(result: &CaseResult, length: ReasonLength) -> Vec<String> {
    let is_short = length == ReasonLength::Short;
    // A deferred criterion says itself what it waits for, and so does a case that no grader was asked about.
    if result.verdict.status == VerdictStatus::Deferred || (is_short && ungraded_reason(result).is_some()) {
        return Vec::new();
    }
    let mut groups: Vec<UndecidedGroup<'_>> = Vec::new();
    for gate in &result.verdict.undecided_gates {
        let reason = if is_short { without_error_message(result, gate) } else { gate.reason.as_str() };
        let criterion = gate.criterion.as_deref().unwrap_or("the rubric");
        match groups.iter_mut().find(|group| group.gate == gate.gate && group.reason == reason) {
            Some(group) => group.criteria.push(criterion),
            None => groups.push(UndecidedGroup { gate: gate.gate, reason, criteria: vec![criterion] }),
        }
    }
    let line = |group: &UndecidedGroup<'_>| {
        let (gate, criteria) = (group.gate.name(), group.criteria.join(", "));
        format!("gate {gate} of {criteria} could not be decided: {}", without_traceback(group.reason))
    };
    groups.iter().map(line).collect()
}

/// Whether the reason of an undecided gate says everything that a grade says.
pub(super) fn is_in_gate_reason(result: &CaseResult, grade: &Grade) -> bool {
    let Some(message) = error_message(grade) else { return false };
    let is_of_grade = |gate: &UndecidedGate| {
        gate.criterion.as_deref() == Some(grade.criterion.as_str()) && gate.reason.ends_with(message)
    };
    result.verdict.status != VerdictStatus::Deferred
        && message.ends_with(grade.reason.as_str())
        && result.verdict.undecided_gates.iter().any(is_of_grade)
}

fn without_error_message<'a>(result: &CaseResult, gate: &'a UndecidedGate) -> &'a str {
    let grades = result.grades.iter();
    let mut messages = grades
        .filter(|grade| gate.criterion.as_deref() == Some(grade.criterion.as_str()))
        .filter_map(error_message);
    let shortened = messages.find_map(|message| gate.reason.strip_suffix(message));
    shortened.map_or(gate.reason.as_str(), |start| start.trim_end_matches([':', ' ']))
}

/// Why a grade has no answer.
fn error_message(grade: &Grade) -> Option<&str> {
    let message = match &grade.outcome {
        Outcome::Failed { detail, .. } => detail,
        Outcome::Abstained { why } => why,
        Outcome::Scored { .. } | Outcome::NotApplicable | Outcome::Deferred { .. } => return None,
    };
    Some(message.as_str()).filter(|message| !message.is_empty())
}
