//! Totals of the results of a run, above all of the cases that have no grade.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallRange, CaseResult, Run};
use crate::grade::{Deferral, Outcome, VerdictStatus};
use crate::quantity::plural;

/// Summary of the results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSummary {
    /// Number of results with status `pass`. Each trial of a case is one result.
    pub passed: usize,
    /// Number of results with status `fail`.
    pub failed: usize,
    /// Number of results with status `error`.
    pub errors: usize,
    /// Number of results with status `deferred`.
    pub deferred: usize,
    /// Judge calls that were projected before the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected_calls: Option<CallRange>,
    /// Absent where every case was graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_graded: Option<NotGraded>,
    /// Against the run that this one was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regressions: Option<Regressions>,
}

/// Number of ungraded cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotGraded {
    /// In words, with the most frequent reason and what to do about it.
    pub statement: String,
    /// Number of cases that were not graded.
    pub n_not_graded: usize,
    /// Number of all cases of the run.
    pub n_cases: usize,
    /// The most frequent first.
    pub reasons: Vec<NotGradedReason>,
}

/// Why some cases were not graded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotGradedReason {
    /// Reason as a fixed code, for programs.
    pub why: Deferral,
    /// Reason in words, for people.
    pub reason: String,
    /// Next step that would get them graded.
    pub remedy: String,
    /// Number of cases with this reason.
    pub n_cases: usize,
}

/// What got worse since another run, case by case.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regressions {
    /// Cases that passed and now fail.
    pub regressed: Vec<StatusChange>,
    /// Cases that passed before and have no verdict now, so that a regression is possible.
    pub undecided: Vec<UndecidedCase>,
    /// Cases whose trials differ within one of the runs; they are counted nowhere else.
    pub flaky: Vec<String>,
    /// Cases that fail and that the earlier run does not have; they are no regressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_failures: Vec<String>,
    /// Cases that failed and still fail; they are no regressions either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_failing: Vec<String>,
}

/// A case that passed and has no verdict now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndecidedCase {
    /// Name of the case.
    pub case: String,
    /// Absent where the case is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<VerdictStatus>,
}

/// A verdict that is another one now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusChange {
    /// Name of the case.
    pub case: String,
    /// Status in the earlier run.
    pub before: VerdictStatus,
    /// Status in this run.
    pub after: VerdictStatus,
    /// Score in the earlier run, as the mean over trials; absent if there is none.
    pub score_before: Option<f64>,
    /// Score in this run, as the mean over trials; absent if there is none.
    pub score_after: Option<f64>,
}

impl RunSummary {
    pub fn of(run: &Run) -> Self {
        let (mut counts, mut projected) = ([0; 4], None::<CallRange>);
        for result in run.results.iter() {
            counts[result.verdict.status as usize] += 1;
            projected = match (projected, result.projected_calls) {
                (Some(sum), Some(calls)) => Some(sum.plus(calls)),
                (sum, calls) => sum.or(calls),
            };
        }
        let [passed, failed, errors, deferred] = counts;
        let (not_graded, regressions) = (NotGraded::of(run), None);
        Self { passed, failed, errors, deferred, projected_calls: projected, not_graded, regressions }
    }
}

impl NotGraded {
    /// `None` where every case of the run was graded, or was to be and failed.
    pub fn of(run: &Run) -> Option<Self> {
        let deferred =
            || run.results.iter().filter(|result| result.verdict.status == VerdictStatus::Deferred);
        Self::of_some(deferred(), deferred().count(), run.results.len())
    }

    /// From some of the results that were not graded, and how many there are in all.
    pub fn of_some(
        deferred: impl Iterator<Item = CaseResult>,
        n_not_graded: usize,
        n_cases: usize,
    ) -> Option<Self> {
        let mut reasons: Vec<NotGradedReason> = Vec::new();
        for result in deferred {
            let first = result.grades.iter().find_map(|grade| match grade.outcome {
                Outcome::Deferred { why } => Some((why, grade.reason.as_str())),
                _ => None,
            });
            let (why, reason) = first.unwrap_or((Deferral::NotGraded, ""));
            let reason = if reason.is_empty() { deferral_reason(why) } else { reason };
            match reasons.iter_mut().find(|known| known.why == why && known.reason == reason) {
                Some(known) => known.n_cases += 1,
                None => {
                    let (reason, remedy) = (reason.to_owned(), remedy_of(why).to_owned());
                    reasons.push(NotGradedReason { why, reason, remedy, n_cases: 1 });
                }
            }
        }
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.n_cases));
        Self::new(n_not_graded, n_cases, reasons)
    }

    /// The same over several runs.
    pub fn of_all<'a>(runs: impl IntoIterator<Item = (&'a Option<Self>, usize)>) -> Option<Self> {
        let (mut n_not_graded, mut n_cases, mut reasons) = (0, 0, Vec::new());
        for (not_graded, n_results) in runs {
            n_cases += n_results;
            if let Some(part) = not_graded {
                n_not_graded += part.n_not_graded;
                reasons.extend(part.reasons.iter().cloned());
            }
        }
        reasons.sort_by_key(|reason: &NotGradedReason| std::cmp::Reverse(reason.n_cases));
        Self::new(n_not_graded, n_cases, reasons)
    }

    fn new(n_not_graded: usize, n_cases: usize, reasons: Vec<NotGradedReason>) -> Option<Self> {
        let first = reasons.first()?;
        let what = match (n_not_graded, n_cases) {
            (n, all) if n == all => "nothing was graded".to_owned(),
            (1, all) => format!("1 of {} was not graded", plural(all, "case")),
            (n, all) => format!("{n} of {} were not graded", plural(all, "case")),
        };
        let more = match reasons.len() - 1 {
            0 => String::new(),
            n => format!(" (and {})", plural(n, "other reason")),
        };
        // A reason that names the flag needs no advice.
        let remedy =
            if first.reason.contains("--judge") { String::new() } else { format!(" {}.", first.remedy) };
        let statement = format!("{what}: {}{more}.{remedy}", first.reason);
        Some(Self { statement, n_not_graded, n_cases, reasons })
    }
}

/// The text for a deferral without a reason.
fn deferral_reason(why: Deferral) -> &'static str {
    match why {
        Deferral::NoKey => "the judge's key is not set",
        Deferral::OverBudget => "the budget was used up",
        Deferral::SampledOut => "it was not in the sample",
        Deferral::WaitsForPerson => "a person answers this",
        Deferral::Unreachable => "a target or judge cannot be reached",
        Deferral::NotGraded => "no grade was given",
    }
}

fn remedy_of(why: Deferral) -> &'static str {
    match why {
        Deferral::NoKey => "Set the variable, or pass --judge or --agent with a model that you can reach",
        Deferral::OverBudget => "Raise --max-cost and continue with --resume",
        Deferral::SampledOut => "Raise the sample rate",
        Deferral::WaitsForPerson => "Give the answers under `labels:`, or collect human annotations",
        Deferral::Unreachable => "Fix this and run it again, or continue with --resume",
        Deferral::NotGraded => "Continue with --resume",
    }
}
